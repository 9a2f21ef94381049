"""Survivors -> which of them lie wholly in a longer one: excerpts, articles that somebody commented on, a paragraph removed.

Such a pair is no duplicate: the longer text says more. It goes to review, or the shorter one falls where the profile says so.
Survivors that share an anchor (``kernels/anchors.py``) meet; their sentences leave out pairs that only share a quotation; what is
left is measured exactly on the two texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.kernels.anchors import PROFILES, entries, meet, sketches
from dedup_lib.kernels.decide import DROP, GUARDED, REVIEW
from dedup_lib.kernels.guard import Guard, guarded
from dedup_lib.kernels.similarity import compare_texts
from dedup_lib.schemas import MEASURES, RANK, RELATION, Column, Table
from dedup_lib.stages.bridge import by_profile, map_batches, map_partitions, small
from dedup_lib.stages.resolve import Save, resolve
from dedup_lib.stages.settle import Settled
from dedup_lib.stages.verdicts import Verdicts
from dedup_lib.stages.verify import rule as near_rule
from dedup_lib.stages.verify import with_texts

SAME, CONTAINS = "same", "contains"  # the values of relation
ENTRIES_PER_PARTITION = 500_000  # of about 90 bytes
ROWS_OF_A_TASK = 5_000_000  # that may share one sentence; of more rows, boilerplate is left out before entries travel
_RANKS = 2**32  # more representatives than a run can have

_ENTRIES = Table(
    "entries",
    "one row for each survivor and anchor, see kernels/anchors.py",
    (
        Column("key", "bigint", "hash of a sentence; the low 8 bits are the profile"),
        RANK,
        Column("features", "int", "feature characters of the text"),
        Column("sketch", "binary", "the row's sentence hashes, 16 bits each"),
    ),
)
_CONTAINED = Table(
    "contained",
    "survivors of which one lies in the other, with exact measures",
    (
        Column("a", "bigint", "rank of the longer text's row"),
        Column("b", "bigint", "rank of the shorter text's row"),
        Column("outcome", "tinyint", "1 the shorter may be dropped, 2 review"),
        *MEASURES,
        RELATION,
    ),
)
_SHARED = Table(
    "shared",
    "pairs of survivors for each anchor that they share, and anchors that too many share",
    (
        Column("a", "bigint", "rank of the earlier row; null for an anchor that too many rows share"),
        Column("b", "bigint", "rank of the later row; else how many rows share the anchor"),
    ),
)


class Rule(NamedTuple):
    """When a text of one profile counts as part of another; plain values for the workers."""

    index: int  # place of the profile among all
    ngram: int
    min_containment: float
    min_features: int
    anchors: int
    rows_per_anchor: int
    guard: Guard | None
    outcome: int


class Contained(NamedTuple):
    """``settled`` with the contained pairs among its verified ones and the dropped rows among its losers; ``shared``."""

    settled: Settled
    shared: DataFrame | None


def rules(config: Config) -> dict[str, Rule]:
    """The rule of each profile that has one."""
    found = {}
    for index, (name, profile) in enumerate(sorted(config.profiles.items())):
        if (given := profile.contain) and profile.near:
            outcome = DROP if given.action == "drop" else REVIEW
            limits = given.min_containment, given.min_features, given.anchors, given.rows_per_anchor
            found[name] = Rule(index, profile.ngram, *limits, near_rule(profile).guard, outcome)
    return found


def contain(
    settled: Settled,
    signatures: DataFrame,
    normalized: DataFrame,
    verdicts: Verdicts | None,
    config: Config,
    rows: int,
    save: Save,
) -> Contained:
    """Find survivors that lie in others. A pair of review that turns out to be one is listed as such, and once; pairs that
    are duplicates kept apart by a verdict, or refused by the guard, are none.

    ``rows``: how many representatives there are. Every pair in ``settled.verified`` gets a ``relation``.
    """
    known = settled.verified.withColumn("relation", F.lit(SAME))
    chosen = rules(config)
    if not chosen:
        return Contained(settled._replace(verified=known), None)
    survivors = _survivors(signatures, settled.losers, chosen)
    shared = save(_shared(survivors, chosen, rows, save), _SHARED.name)
    least = min(rule.min_containment for rule in chosen.values())
    doubtful = known.where((F.col("outcome") == REVIEW) & (F.col("containment") >= least)).select("a", "b")
    decided = known.where(F.col("outcome").isin(DROP, GUARDED)).select("a", "b")
    answered = decided.union(verdicts.pairs.select("a", "b")) if verdicts else decided
    pairs = shared.where(F.col("a").isNotNull()).union(doubtful).distinct().join(answered, ["a", "b"], "left_anti")
    contained = save(_contained(save(pairs, "plausible"), survivors, normalized, settled.losers, chosen), _CONTAINED.name)
    losers = settled.losers
    if any(rule.outcome == DROP for rule in chosen.values()):
        losers = losers.union(_losers(contained, signatures, verdicts, save, config.candidates.max_rounds))
    both = contained.select(F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b"))
    every = known.join(both, ["a", "b"], "left_anti").unionByName(contained)
    return Contained(settled._replace(verified=save(every, "related"), losers=losers), shared)


def _survivors(signatures: DataFrame, losers: DataFrame, chosen: Mapping[str, Rule]) -> DataFrame:
    """The rows that stand and are long enough to be asked about."""
    long_enough = [(F.col("profile") == name) & (F.col("features") >= rule.min_features) for name, rule in chosen.items()]
    comparable = signatures.where(reduce(or_, long_enough) & F.col("minhash").isNotNull())
    return comparable.join(losers.select(F.col("b").alias("rank")), "rank", "left_anti")


def _shared(
    survivors: DataFrame, chosen: Mapping[str, Rule], rows: int, save: Save, rows_of_a_task: int = ROWS_OF_A_TASK
) -> DataFrame:
    """``shared``. No more entries of one anchor come to a task than the profile's limit or ``rows_of_a_task``."""
    narrow = survivors.where(F.col("sentences").isNotNull()).select("rank", "profile", "features", "sentences")
    given = map_batches(narrow, _ENTRIES, partial(_entries_batch, chosen=chosen))
    if rows <= rows_of_a_task:
        return _met(given, chosen, rows)
    common = save(_common(given, chosen), "common_anchors")
    skipped = common.select(F.lit(None).cast("bigint").alias("a"), F.col("rows").alias("b"))
    return _met(given.join(small(common, common.count()), "key", "left_anti"), chosen, rows).union(skipped)


def _common(given: DataFrame, chosen: Mapping[str, Rule]) -> DataFrame:
    """``key`` and ``rows`` of the anchors that too many rows share."""
    profile = F.col("key").bitwiseAND(F.lit(PROFILES - 1))
    most = F.coalesce(*[F.when(profile == rule.index, rule.rows_per_anchor) for rule in chosen.values()])
    return given.groupBy("key").agg(F.count("*").alias("rows")).where(F.col("rows") > most)


def _met(given: DataFrame, chosen: Mapping[str, Rule], rows: int) -> DataFrame:
    partitions = max(8, -(-rows * max(rule.anchors for rule in chosen.values()) // ENTRIES_PER_PARTITION))
    most = np.zeros(PROFILES, np.int64)
    for rule in chosen.values():
        most[rule.index] = rule.rows_per_anchor
    return map_partitions(given.repartition(partitions, "key"), _SHARED, partial(_meet_partition, most=most))


def _entries_batch(batch: pa.RecordBatch, chosen: Mapping[str, Rule]) -> dict[str, object]:
    keys, rows = [], []
    for name, rule in chosen.items():
        own = np.flatnonzero(pc.equal(batch.column("profile"), name).to_numpy(zero_copy_only=False))
        given = entries(batch.column("sentences").take(pa.array(own)), rule.anchors, rule.index)
        keys.append(given.key), rows.append(own[given.row])
    row = pa.array(np.concatenate(rows))
    return {
        "key": np.concatenate(keys),
        "rank": batch.column("rank").take(row),
        "features": batch.column("features").take(row),
        "sketch": sketches(batch.column("sentences")).take(row),
    }


def _meet_partition(batch: pa.RecordBatch, most: np.ndarray) -> dict[str, object]:
    key, rank, features = (batch.column(name).to_numpy() for name in ("key", "rank", "features"))
    found = meet(key, rank, features, batch.column("sketch"), most)
    nobody = np.zeros(len(found.skipped), np.int64)
    skipped = np.arange(len(found.pairs) + len(nobody)) >= len(found.pairs)
    return {
        "a": pa.array(np.concatenate([found.pairs[:, 0], nobody]), mask=skipped),
        "b": np.concatenate([found.pairs[:, 1], found.skipped]),
    }


def _contained(
    pairs: DataFrame, survivors: DataFrame, normalized: DataFrame, losers: DataFrame, chosen: Mapping[str, Rule]
) -> DataFrame:
    """``contained``. A row that others fell for may not fall itself: they would lose their direct evidence."""
    sides = survivors.select("rank", "doc_id", "profile", "features", "shingles", "simhash")
    joined = with_texts(pairs, pairs.count(), sides, normalized)
    measured = map_batches(joined, _CONTAINED, partial(_contain_batch, chosen=chosen)).where(F.col("outcome").isNotNull())
    needed = losers.select(F.col("a").alias("b"), F.lit(True).alias("needed")).distinct()
    marked = measured.join(needed, "b", "left")
    return _CONTAINED.conform(marked.withColumn("outcome", F.when(F.col("needed"), REVIEW).otherwise(F.col("outcome"))))


def _contain_batch(batch: pa.RecordBatch, chosen: Mapping[str, Rule]) -> dict[str, object]:
    names = [name for name in _CONTAINED.names if name != "relation"]
    columns = by_profile(batch.column("profile_a"), chosen, partial(_compare, batch=batch), outputs=len(names))
    return dict(zip(names, columns, strict=True)) | {"relation": [CONTAINS] * batch.num_rows}


def _compare(rule: Rule, rows: pa.Array | None, batch: pa.RecordBatch) -> tuple[pa.Array, ...]:
    """The columns of ``contained`` but the last; ``outcome`` is null where neither text lies in the other.

    The shorter text has fewer feature characters and no more shingles. A pair that the guard refuses is none: what the longer
    text states otherwise is not in it, as in a notice of the same template, or a report that was brought up to date.
    """
    if rows is not None:
        batch = batch.take(rows)
    (a, b), features, shingles, simhash = (_sides(batch, name) for name in ("", "features", "shingles", "simhash"))
    jaccard, containment = compare_texts(batch.column("text_a"), batch.column("text_b"), rule.ngram)
    longer_first = features[0] > features[1]
    smaller = np.where(longer_first, shingles[1] <= shingles[0], shingles[0] <= shingles[1])
    within = (containment >= rule.min_containment) & (features[0] != features[1]) & smaller
    if rule.guard:
        inside = np.flatnonzero(within)
        first, second = (batch.column(name).take(pa.array(inside)) for name in ("text_a", "text_b"))
        within[inside] = ~guarded(first, second, np.minimum(*features)[inside], jaccard[inside], rule.guard)
    return (
        pa.array(np.where(longer_first, a, b)),
        pa.array(np.where(longer_first, b, a)),
        pa.array(np.full(len(within), rule.outcome, np.int8), mask=~within),
        pa.array(np.bitwise_count(simhash[0].view(np.uint64) ^ simhash[1].view(np.uint64)).astype(np.int32)),
        pa.array(jaccard),
        pa.array(containment),
        pa.array(np.full(len(within), rule.min_containment)),
        pa.array([f"contains: {share:.2f} of the shorter text" for share in containment.tolist()]),
    )


def _sides(batch: pa.RecordBatch, name: str) -> list[np.ndarray]:
    return [batch.column(f"{name}_{side}".strip("_")).to_numpy() for side in ("a", "b")]


def _losers(contained: DataFrame, signatures: DataFrame, verdicts: Verdicts | None, save: Save, max_rounds: int) -> DataFrame:
    """Who falls for whom, by the greedy rule from the longest text down: no row falls for one that falls itself."""
    edges = contained.where(F.col("outcome") == DROP).select("a", "b")
    if verdicts:
        edges = edges.join(verdicts.protected.select(F.col("rank").alias("b")), "b", "left_anti").select("a", "b")
    place = (F.lit(2**31 - 1) - F.col("features")) * F.lit(_RANKS) + F.col("rank")
    places = signatures.select("rank", place.alias("place"))
    ours = places.select(F.col("rank").alias("a"), F.col("place").alias("first"))
    theirs = places.select(F.col("rank").alias("b"), F.col("place").alias("second"))
    ordered = edges.join(ours, "a").join(theirs, "b").select(F.col("first").alias("a"), F.col("second").alias("b"))
    nobody = places.select("rank").where(F.lit(False))
    fallen = resolve(ordered, contained.count(), nobody, save, "contain", max_rounds).losers
    return fallen.select(*[F.col(side).bitwiseAND(F.lit(_RANKS - 1)).alias(side) for side in ("a", "b")])
