"""What other thresholds would have done: the greedy rule over the stored pairs of a run, at one ``drop_jaccard`` after another.

Every stored pair has a *level*: the highest ``drop_jaccard`` at which it is still a duplicate. Nothing is signed, compared or
looked for again, so the answer is as complete as the run's own candidates: between ``review_jaccard`` and the run's threshold
pairs were found with the probability ``found``; above it, rows that had fallen in a hot bucket were not compared with each
other, so that a much higher threshold drops a few rows more than said here. Below ``review_jaccard`` no pair is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.analysis.tables import MEASURED
from dedup_lib.config import Profile
from dedup_lib.evaluation.labels import Clusters, Pairs
from dedup_lib.evaluation.metrics import rates
from dedup_lib.kernels.bands import Bands
from dedup_lib.kernels.decide import DROP, GUARDED, NONE, hamming_limit
from dedup_lib.kernels.greedy import walk
from dedup_lib.stages.verify import rule

ALWAYS, NEVER = 2.0, -1.0
FIRST_STEP = 1  # of one hundred; at 0 everything would be one text


class Graph(NamedTuple):
    """The stored pairs of one profile by number of their texts, numbered by priority."""

    ids: list[str]
    weight: np.ndarray  # int64: rows that are exactly equal to a text, itself included
    first: np.ndarray  # int64: the earlier text of each pair
    second: np.ndarray
    jaccard: np.ndarray
    level: np.ndarray  # the highest drop_jaccard at which the pair is a duplicate
    guarded: np.ndarray  # bool: kept apart since the facts differ
    contained: np.ndarray  # bool


class Standing(NamedTuple):
    """What a threshold makes of a graph."""

    survivor: np.ndarray  # int64: for each text the one that stands for it
    fallen: int
    clusters: int
    largest: int
    review_pairs: int
    guarded_pairs: int


def levels(scores: pa.Table, profile: Profile) -> np.ndarray:
    """The level of each pair of ``scores``: ALWAYS where another rule made it a duplicate, NEVER where it is none at any.

    ``held`` marks review pairs that the guard would refuse as duplicates.
    """
    limits, near = rule(profile), profile.comparison
    jaccard, outcome = scores["jaccard"].to_numpy(), scores["outcome"].to_numpy()
    hamming = pc.fill_null(scores["hamming"], 64).to_numpy()
    close = (hamming <= hamming_limit(scores["features"].to_numpy(), limits.hamming_limits)) & (jaccard >= near.hamming_jaccard)
    by_measure = np.asarray(pc.is_in(scores["reason"], value_set=pa.array(MEASURED)))
    contained = np.asarray(pc.equal(scores["relation"], "contains"))
    level = np.where(close, ALWAYS, jaccard)
    level = np.where(by_measure | contained, level, np.where(outcome == DROP, ALWAYS, NEVER))
    held = np.asarray(pc.fill_null(scores["held"], False))
    return np.where(np.isin(outcome, (NONE, GUARDED)) | held, NEVER, level)


def graph(scores: pa.Table, weights: dict[str, int], verdicts: pa.Table | None, profile: Profile) -> Graph:
    """The pairs of one profile, with what people decided about them; ``weights`` of texts with exact copies."""
    level = levels(scores, profile)
    ids, ranks = {}, {}
    for name, rank in (("doc_id", "rank"), ("other_id", "other_rank")):
        ranks |= dict(zip(scores[name].to_pylist(), scores[rank].to_pylist(), strict=True))
    ids = sorted(ranks, key=ranks.__getitem__)
    number = {doc_id: at for at, doc_id in enumerate(ids)}
    first, second = (np.array([number[i] for i in scores[name].to_pylist()], np.int64) for name in ("other_id", "doc_id"))
    if verdicts is not None:
        level = _judged(level, first, second, number, verdicts)
    outcome, contained = scores["outcome"].to_numpy(), np.asarray(pc.equal(scores["relation"], "contains"))
    weight = np.array([weights.get(doc_id, 1) for doc_id in ids], np.int64)
    return Graph(ids, weight, first, second, scores["jaccard"].to_numpy(), level, outcome == GUARDED, contained)


def _judged(level: np.ndarray, first: np.ndarray, second: np.ndarray, number: dict[str, int], verdicts: pa.Table) -> np.ndarray:
    """Levels after the verdicts. A pair that was judged is always among the stored ones."""
    place = {pair: at for at, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    level = level.copy()
    for row in verdicts.to_pylist():
        ours, theirs = number.get(row["doc_id"]), number.get(row["other_id"])
        if row["verdict"] == "protect":
            level[second == ours] = NEVER
        elif (at := place.get((min(ours, theirs), max(ours, theirs)) if None not in (ours, theirs) else None)) is not None:
            level[at] = ALWAYS if row["verdict"] == "duplicate" else NEVER
    for row in verdicts.to_pylist():  # a protected row stays, whatever else was said of it
        if row["verdict"] == "protect":
            level[second == number.get(row["doc_id"], -1)] = NEVER
    return level


def stand(graph: Graph, threshold: float, per_row: int) -> Standing:
    """Walk down the texts at this threshold. ``per_row``: review pairs that a text may have with those before it."""
    edges = graph.level >= threshold
    losers = walk(np.stack([graph.first[edges], graph.second[edges]], axis=1), np.empty(0, np.int64)).losers
    survivor = np.arange(len(graph.ids))
    survivor[losers[:, 1]] = losers[:, 0]
    sizes = np.bincount(survivor, weights=graph.weight, minlength=len(survivor)).astype(np.int64)
    stands = survivor == np.arange(len(survivor))
    open_pairs = ~edges & stands[graph.first] & stands[graph.second]
    asked = np.flatnonzero(open_pairs & ~graph.guarded)
    order = asked[np.lexsort((graph.first[asked], -graph.jaccard[asked], graph.second[asked]))]
    later = graph.second[order]
    turn = np.arange(len(order)) - np.searchsorted(later, later)
    grown = stands & (sizes > 1)
    return Standing(
        survivor,
        len(losers),
        int(np.count_nonzero(grown)),
        int(sizes.max(initial=0)),
        int(np.count_nonzero(turn < per_row)),
        int(np.count_nonzero(open_pairs & graph.guarded)),
    )


def found_at(profile: Profile, jaccard: float) -> float:
    """The probability that a pair of this similarity shares a band of the run's signatures."""
    return Bands(*profile.bands).meeting_probability(jaccard)


class Placed(NamedTuple):
    """Labels by number: ``place`` of each labelled row in the graph (beyond its texts where it has no stored pair), and either
    ``pairs`` (two rows, duplicate or not) or ``truth``, the cluster of each row."""

    place: np.ndarray
    pairs: np.ndarray | None
    truth: np.ndarray | None


def placed(labels: Pairs | Clusters, representative: dict[str, str], graph: Graph) -> Placed:
    """``representative``: the text whose exact copy a row is, of the rows of this profile; others take no part."""
    number = {doc_id: at for at, doc_id in enumerate(graph.ids)}
    ids = [doc_id for doc_id in labels.ids if doc_id in representative]
    place = np.array([number.setdefault(representative[doc_id], len(number)) for doc_id in ids], np.int64)
    row = {doc_id: at for at, doc_id in enumerate(ids)}
    if isinstance(labels, Pairs):
        every = zip(labels.first, labels.second, labels.duplicate, strict=True)
        pairs = [(row[a], row[b], same) for a, b, same in every if a in row and b in row]
        return Placed(place, np.array(pairs, np.int64).reshape(-1, 3), None)
    truth = dict(zip(labels.ids, labels.cluster, strict=True))
    codes: dict[str, int] = {}
    return Placed(place, None, np.array([codes.setdefault(truth[doc_id], len(codes)) for doc_id in ids], np.int64))


def labelled(labels: Placed, standing: Standing) -> tuple[int, int, int, int]:
    """True and false positives, pairs labelled duplicate and different, when the texts stand so."""
    beyond = np.arange(len(standing.survivor), labels.place.max(initial=-1) + 1)
    cluster = np.concatenate([standing.survivor, beyond])[labels.place]
    if labels.pairs is not None:
        together = cluster[labels.pairs[:, 0]] == cluster[labels.pairs[:, 1]]
        same = labels.pairs[:, 2] == 1
        return int((together & same).sum()), int((together & ~same).sum()), int(same.sum()), int((~same).sum())
    rows = len(cluster)
    both = _pairs_within(cluster * (rows + 1) + labels.truth)
    proposed, duplicates = _pairs_within(cluster), _pairs_within(labels.truth)
    return both, proposed - both, duplicates, rows * (rows - 1) // 2 - duplicates


def _pairs_within(codes: np.ndarray) -> int:
    sizes = np.unique(codes, return_counts=True)[1].astype(object)
    return int((sizes * (sizes - 1) // 2).sum()) if len(codes) else 0


def rated(counts: tuple[int, int, int, int] | None) -> dict[str, float | int | None]:
    """The columns of ``threshold_sweep`` that need labels."""
    if counts is None or not sum(counts[2:]):
        return {}
    return {"labels": sum(counts[2:]), **rates(*counts)._asdict()}


def thresholds(profile: Profile) -> list[float]:
    """The steps of a sweep: from the review threshold, below which no pair is stored, by hundredths to 1, and the run's own."""
    near = profile.comparison
    steps = {step / 100 for step in range(FIRST_STEP, 101) if step / 100 >= near.review_jaccard}
    return sorted(steps | {near.drop_jaccard})


def exact_weights(exact: DataFrame, ids: DataFrame) -> dict[str, int]:
    """How many rows are exactly equal to each of these texts, itself included, where these are more than one."""
    sizes = exact.groupBy("rep_id").agg(F.count("*").alias("rows")).where(F.col("rows") > 1)
    found = sizes.join(ids.select(F.col("doc_id").alias("rep_id")), "rep_id", "left_semi").toArrow()
    return dict(zip(found["rep_id"].to_pylist(), found["rows"].to_pylist(), strict=True))
