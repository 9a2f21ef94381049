"""The tables that jobs/histogram.py makes beside those of a run."""

from __future__ import annotations

from dedup_lib.schemas import MEASURES, PROFILE, SCORES
from dedup_lib.tables import Column, Table

ALL = "all"  # of all lengths
MEASURED = ("jaccard", "hamming_and_jaccard", "below_threshold")  # reasons of scores that hang on drop_jaccard
BAND = Column("length_band", "string", "feature characters of the shorter text, as from-to, or all")
SCORE_HIST = Table(
    "score_hist",
    "how often each similarity occurs; exact copies count once",
    (
        PROFILE,
        BAND,
        Column(
            "kind",
            "string",
            "background: random pairs; sample: each drawn text with every other; nearest: with the one that is most alike; "
            "drop, review, guarded: the pairs of table scores by their outcome",
        ),
        Column("measure", "string", "jaccard, containment or hamming"),
        Column("bin", "int", "whole percent, rounded down; of hamming: bits"),
        Column("count", "bigint", "pairs; of nearest: texts"),
        Column("texts", "bigint", "drawn texts that have such a pair; null where the pairs are no sample"),
    ),
)
PROPOSALS = Table(
    "proposals",
    "the valley between unrelated and related texts, with its uncertainty",
    (
        PROFILE,
        BAND,
        Column("sampled", "bigint", "texts that were drawn"),
        Column("unrelated", "double", "Jaccard similarity that 999 of 1,000 random pairs do not reach"),
        Column("valley", "double", "the proposed threshold; null where the histogram has one peak only"),
        Column("valley_lo", "double", "95 % of the bootstrap samples have their valley from here on"),
        Column("valley_hi", "double", "and up to here"),
        Column("plain_lo", "double", "from here on the histogram is as low as at the valley: other thresholds as good"),
        Column("plain_hi", "double", "up to here"),
        Column("support", "double", "share of the bootstrap samples that have a valley"),
        Column("peak", "double", "the highest peak above the valley"),
        Column("drop_jaccard", "double", "the run's own thresholds"),
        Column("review_jaccard", "double", "the run's own thresholds"),
    ),
)
THRESHOLD_SWEEP = Table(
    "threshold_sweep",
    "what the run would have done with another drop_jaccard, all else equal",
    (
        PROFILE,
        Column("threshold", "double", "drop_jaccard"),
        Column("current", "boolean", "whether this is the run's own"),
        Column("dropped", "bigint", "rows that fall, exact copies included"),
        Column("clusters", "bigint", "survivors with rows behind them"),
        Column("largest", "bigint", "rows of the largest cluster"),
        Column(
            "review_pairs",
            "bigint",
            "pairs below the threshold with both rows standing, the nearest of each row; excerpts as the run found them",
        ),
        Column("guarded_pairs", "bigint", "alike pairs with differing facts, both rows standing, families not summarised"),
        Column("found", "double", "probability that a pair exactly at this threshold was compared at all"),
        Column("labels", "bigint", "labelled pairs; null without labels"),
        Column("precision", "double", "of the labelled pairs that lie in one cluster, the share labelled duplicate"),
        Column("precision_lo", "double", "95 % interval (Wilson)"),
        Column("precision_hi", "double", "95 % interval (Wilson)"),
        Column("recall", "double", "of the pairs labelled duplicate, the share in one cluster"),
        Column("recall_lo", "double", "95 % interval (Wilson)"),
        Column("recall_hi", "double", "95 % interval (Wilson)"),
        Column("f1", "double", "harmonic mean of both"),
    ),
)
BORDERLINE = Table(
    "borderline",
    "the pairs nearest to the cut, on both sides of it",
    (
        PROFILE,
        Column("side", "string", "above (dropped, or kept apart by the guard) or below"),
        Column("threshold", "double", "the Jaccard similarity that a drop of this pair needed"),
        *[column for column in SCORES.columns if column.name in ("doc_id", "other_id", "features", "outcome")],
        *[column for column in MEASURES if column.name != "threshold"],
        Column("title", "string", "title of doc_id"),
        Column("other_title", "string", "title of other_id"),
        Column("text", "string", "the beginning of the content of doc_id: raw; bytes decoded, a page's body alone"),
        Column("other_text", "string", "the same of other_id"),
    ),
)
ANALYSIS = (SCORE_HIST, PROPOSALS, THRESHOLD_SWEEP, BORDERLINE)
