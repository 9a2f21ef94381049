"""How well a decision agrees with labels: pure functions over Arrow and numpy, no engine.

Labels name pairs or clusters (``labels``). They span a universe of pairs (``universe``); each method scores every pair of it
(``methods``, on ``measures`` and ``baselines``); the scores are counted by label, kind and length (``universe.tally``), and
precision, recall and F1 at every threshold follow from the counts (``metrics``, ``tables``, ``report``).
"""
