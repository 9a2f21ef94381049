"""Verified pairs that were not decided by their measures -> ``questions``: what a person is asked.

Rows of one template that differ in the facts are alike by the thousand. They are one question: the pair that is most alike
stands for the family, and says how many rows belong to it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.config import Review
from dedup_lib.kernels.decide import DROP, FACTS_DIFFER, GUARDED, NONE
from dedup_lib.kernels.guard import differences
from dedup_lib.schemas import QUESTIONS
from dedup_lib.stages.bridge import map_batches, small
from dedup_lib.stages.resolve import Save
from dedup_lib.stages.settle import Settled
from dedup_lib.stages.verdicts import DUPLICATE, NOT_DUPLICATE, Verdicts

SHOWN = 5  # differing facts of a pair
_HOPS = 2  # from a row to the first row of its family: through a pivot of one bucket to a pivot of another
_NEAREST = (F.desc, "jaccard"), (F.asc, "hamming"), (F.asc, "a"), (F.asc, "b")


def open_questions(signatures: DataFrame, settled: Settled, verdicts: Verdicts | None, limits: Review, save: Save) -> DataFrame:
    """``questions``: review pairs and pairs that a verdict kept apart, both rows surviving."""
    kept = signatures.select("rank", "doc_id", "profile").join(
        settled.losers.select(F.col("b").alias("rank")), "rank", "left_anti"
    )
    ours = kept.select(F.col("rank").alias("a"), F.col("doc_id").alias("kept_id"), "profile")
    theirs = kept.select(F.col("rank").alias("b"), "doc_id")
    pairs = settled.verified.join(ours, "a").join(theirs, "b").withColumn("family", F.lit(None).cast("int"))
    if verdicts is None:
        return QUESTIONS.conform(_asked(pairs.where(F.col("outcome") != NONE), limits, save))
    apart = verdicts.pairs.where(F.col("verdict").isin(NOT_DUPLICATE, DUPLICATE)).select("a", "b").distinct()
    protected = verdicts.protected.select(F.col("rank").alias("b"))
    first = F.row_number().over(Window.partitionBy("b").orderBy("a"))
    alike = pairs.where(F.col("outcome") == DROP).join(protected, "b", "left_semi")
    stood_up = alike.withColumn("first", first).where(F.col("first") == 1).drop("first")
    judged = pairs.join(apart, ["a", "b"], "left_semi").unionByName(stood_up).distinct().withColumn("decision", F.lit("keep"))
    settled_pairs = judged.select("a", "b").union(alike.select("a", "b"))
    unjudged = pairs.where(F.col("outcome") != NONE).join(settled_pairs, ["a", "b"], "left_anti")
    return QUESTIONS.conform(judged.unionByName(_asked(unjudged, limits, save)))


def _asked(pairs: DataFrame, limits: Review, save: Save) -> DataFrame:
    """One pair for each family; of the other pairs the nearest of each row, so many with rows before and behind it."""
    pairs = save(pairs, "open_pairs")
    members = _families(pairs.where(F.col("outcome") == GUARDED).select("a", "b"), limits.family_from, save)
    ours = members.select(F.col("rank").alias("a"), F.col("family").alias("family_a"))
    theirs = members.select(F.col("rank").alias("b"), F.col("family").alias("family_b"))
    placed = pairs.drop("family").join(ours, "a", "left").join(theirs, "b", "left")
    related = (F.col("outcome") == GUARDED) & F.col("family_a").isNotNull() & F.col("family_b").isNotNull()
    nearest = [order(name) for order, name in _NEAREST]
    sizes = members.groupBy(F.col("family").alias("family_a")).agg(F.count("*").cast("int").alias("family"))
    inside = placed.where(related & (F.col("family_a") == F.col("family_b"))).join(sizes, "family_a")
    place = F.row_number().over(Window.partitionBy("family_a").orderBy(*nearest))
    families = inside.withColumn("place", place).where(F.col("place") == 1)
    later = F.greatest("a", "b")  # of a pair that is contained, b is the shorter text
    single = placed.where(~related).withColumn("family", F.lit(None).cast("int"))
    for row, most in ((later, limits.max_pairs_per_row), (F.least("a", "b"), limits.max_pairs_per_original)):
        turn = F.row_number().over(Window.partitionBy(row).orderBy(*nearest))
        single = single.withColumn("place", turn).where(F.col("place") <= most)
    asked = families.unionByName(single)
    return asked.drop("place", "family_a", "family_b").withColumn("decision", F.lit("review"))


def _families(guarded: DataFrame, family_from: int, save: Save) -> DataFrame:
    """``rank`` and ``family``, the first row of its family, of the rows that are alike but for the facts.

    A family is what gathers around rows with at least ``family_from`` such pairs.
    """
    hubs = guarded.groupBy("a").count().where(F.col("count") >= family_from).select("a")
    around = guarded.join(hubs, "a", "left_semi").groupBy("b").agg(F.min("a").alias("family"))
    members = around.select(F.col("b").alias("rank"), "family").union(hubs.select("a", "a")).groupBy("rank")
    members = save(members.agg(F.min("family").alias("family")), "families")
    for hop in range(_HOPS):
        onward = members.select(F.col("rank").alias("family"), F.col("family").alias("first"))
        members = save(members.join(onward, "family").select("rank", F.col("first").alias("family")), f"families_{hop}")
    return members


def with_differences(questions: DataFrame, count: int, normalized: DataFrame) -> DataFrame:
    """``questions`` with the differing facts listed in ``reason``; ``count`` is their number."""
    told = F.col("reason") == FACTS_DIFFER
    asked = questions.where(told)
    ids = asked.select("doc_id").union(asked.select(F.col("kept_id").alias("doc_id"))).distinct()
    texts = normalized.select("doc_id", "text", "heading").join(small(ids, count), "doc_id")
    kept = texts.select(
        F.col("doc_id").alias("kept_id"), F.col("text").alias("kept_text"), F.col("heading").alias("kept_heading")
    )
    both = asked.join(small(texts, 100 * count), "doc_id").join(small(kept, 100 * count), "kept_id")
    listed = map_batches(both, QUESTIONS, _list_differences)
    return listed.unionByName(questions.where(~told | F.col("reason").isNull()))


def _list_differences(batch: pa.RecordBatch) -> Mapping[str, object]:
    sides = [batch.column(name).to_pylist() for name in ("heading", "kept_heading", "text", "kept_text", "family")]
    reasons = [
        _reason([*differences(heading, other, SHOWN), *differences(ours, theirs, SHOWN)][:SHOWN], family)
        for heading, other, ours, theirs, family in zip(*sides, strict=True)
    ]
    return {name: batch.column(name) for name in QUESTIONS.names} | {"reason": reasons}


def _reason(pairs: list[tuple[str, str]], family: int | None) -> str:
    facts = "; ".join(f"{ours or '-'} / {theirs or '-'}" for ours, theirs in pairs)
    where = f" in a family of {family:,} rows" if family else ""
    return f"{FACTS_DIFFER}{where}: {facts}"
