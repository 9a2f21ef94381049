"""What people decided, in terms of ranks. A verdict always wins over the measures.

``duplicate`` joins two rows by an edge, ``not_duplicate`` forbids one, ``protect`` keeps one row whatever it resembles.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.kernels.decide import DROP

DUPLICATE, NOT_DUPLICATE, PROTECT = "duplicate", "not_duplicate", "protect"
KNOWN = (DUPLICATE, NOT_DUPLICATE, PROTECT)


class Verdicts(NamedTuple):
    """Verdicts on rows of this corpus: ``pairs`` (a, b, verdict) with a before b, ``protected`` (rank)."""

    pairs: DataFrame
    protected: DataFrame


def wrong_verdicts(verdicts: DataFrame) -> DataFrame:
    """Rows that say nothing (an unknown verdict, a pair of a row with itself) or contradict another row, with a ``problem``."""
    known = F.col("verdict").isin(*KNOWN)
    pair = F.col("verdict") != PROTECT
    first, second = F.least("doc_id", "other_id"), F.greatest("doc_id", "other_id")
    problem = (
        F.when(~known | F.col("verdict").isNull(), "the verdict must be duplicate, not_duplicate or protect")
        .when(F.col("doc_id").isNull(), "doc_id is missing")
        .when(pair & F.col("other_id").isNull(), "other_id is missing")
        .when(pair & (F.col("doc_id") == F.col("other_id")), "a row is judged against itself")
    )
    malformed = verdicts.withColumn("problem", problem).where(F.col("problem").isNotNull())
    judged = verdicts.where(known & pair).select(first.alias("doc_id"), second.alias("other_id"), "verdict")
    both = judged.groupBy("doc_id", "other_id").agg(F.min("verdict").alias("verdict"), F.max("verdict").alias("other"))
    contrary = both.where(F.col("verdict") != F.col("other")).select(
        "doc_id", "other_id", "verdict", F.lit("judged both duplicate and not_duplicate").alias("problem")
    )
    return malformed.select("doc_id", "other_id", "verdict", "problem").union(contrary)


def judged_ids(verdicts: DataFrame) -> DataFrame:
    """``doc_id`` of every row that a verdict names."""
    others = verdicts.where(F.col("other_id").isNotNull()).select(F.col("other_id").alias("doc_id"))
    return verdicts.select("doc_id").union(others).distinct()


def ranked_verdicts(verdicts: DataFrame, signatures: DataFrame) -> Verdicts:
    """Verdicts by rank; those on rows that are not in the corpus are left out."""
    ranks = signatures.where("pinned").select("doc_id", "rank")
    others = ranks.select(F.col("doc_id").alias("other_id"), F.col("rank").alias("other"))
    pairs = verdicts.where(F.col("verdict") != PROTECT).join(ranks, "doc_id").join(others, "other_id")
    ordered = pairs.select(F.least("rank", "other").alias("a"), F.greatest("rank", "other").alias("b"), "verdict")
    protected = verdicts.where(F.col("verdict") == PROTECT).join(ranks, "doc_id").select("rank")
    return Verdicts(ordered.distinct(), protected.distinct())


def apply_verdicts(verified: DataFrame, verdicts: Verdicts | None) -> DataFrame:
    """The edges (``a``, ``b``): duplicates by their measures or by verdict, less what a verdict forbids."""
    measured = verified.where(F.col("outcome") == DROP).select("a", "b")
    if verdicts is None:
        return measured
    forbidden = verdicts.pairs.where(F.col("verdict") == NOT_DUPLICATE).select("a", "b")
    wanted = verdicts.pairs.where(F.col("verdict") == DUPLICATE).select("a", "b")
    edges = measured.join(forbidden, ["a", "b"], "left_anti").union(wanted).distinct()
    return edges.join(verdicts.protected.select(F.col("rank").alias("b")), "b", "left_anti").select("a", "b")


def effects(verdicts: Verdicts, verified: DataFrame) -> DataFrame:
    """``effect`` and ``count``: what the verdicts did to the rule's answers.

    ``restored``: pairs that the rule would drop and a verdict keeps apart, and rows that it would drop and a verdict protects;
    ``joined``: pairs that only a verdict makes duplicates; ``confirmed``: verdicts that say what the rule says.
    """
    ruled = verified.groupBy("a", "b").agg(F.max(F.when(F.col("outcome") == DROP, 1).otherwise(0)).alias("dropped"))
    judged = verdicts.pairs.join(ruled, ["a", "b"], "left").withColumn("drop", F.coalesce(F.col("dropped") == 1, F.lit(False)))
    would_fall = ruled.where("dropped = 1").select(F.col("b").alias("rank")).distinct()
    protected = verdicts.protected.join(would_fall, "rank").select(F.lit("restored").alias("effect"))
    same = F.col("verdict") == DUPLICATE
    effect = F.when(same == F.col("drop"), "confirmed").when(same, "joined").otherwise("restored")
    return judged.select(effect.alias("effect")).unionByName(protected).groupBy("effect").count()
