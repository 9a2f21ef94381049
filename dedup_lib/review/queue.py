"""Which questions come first, and which need not be asked."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.stages.contain import CONTAINS
from dedup_lib.stages.verdicts import PROTECT

DROPPED = "drop"
_STEP = 0.02  # pairs whose distance from the threshold is within one step are equally near


def in_order(review: DataFrame, sizes: DataFrame) -> DataFrame:
    """``review`` with the questions first whose answers are worth most; adds ``short_of`` and ``rows``.

    ``short_of``: what the pair lacks of its threshold, 0 where only a guard withheld it. Of equally near pairs those of most
    rows come first: a family's rows, and those that stand behind the two. ``sizes``: ``doc_id`` and ``cluster_size``.
    """
    measure = F.when(F.col("relation") == CONTAINS, F.col("containment")).otherwise(F.col("jaccard"))
    short_of = F.greatest(F.coalesce(F.col("threshold") - measure, F.lit(1.0)), F.lit(0.0))
    behind = sizes.select("doc_id", F.col("cluster_size").alias("_ours"))
    before = sizes.select(F.col("doc_id").alias("kept_id"), F.col("cluster_size").alias("_theirs"))
    sized = review.join(behind, "doc_id", "left").join(before, "kept_id", "left")
    rows = F.coalesce("family", F.lit(0)) + F.coalesce("_ours", F.lit(1)) + F.coalesce("_theirs", F.lit(1))
    ranked = sized.withColumns({"short_of": short_of, "rows": rows}).drop("_ours", "_theirs")
    nearness = F.floor(F.col("short_of") / _STEP + 1e-9)
    return ranked.orderBy(nearness, F.desc("rows"), "short_of", F.desc("jaccard"), "doc_id", "kept_id")


def unanswered(pairs: DataFrame, verdicts: DataFrame | None) -> DataFrame:
    """``pairs`` (``doc_id``, ``kept_id``, …) without those that a verdict answers, in whichever order it names the two."""
    if verdicts is None:
        return pairs
    ours, theirs = F.least("doc_id", "kept_id"), F.greatest("doc_id", "kept_id")
    first, second = F.least("doc_id", "other_id"), F.greatest("doc_id", "other_id")
    judged = verdicts.where(F.col("verdict") != PROTECT).select(first.alias("_a"), second.alias("_b")).distinct()
    protected = verdicts.where(F.col("verdict") == PROTECT).select("doc_id").distinct()
    named = pairs.withColumns({"_a": ours, "_b": theirs})
    return named.join(judged, ["_a", "_b"], "left_anti").drop("_a", "_b").join(protected, "doc_id", "left_anti")


def once(pairs: DataFrame) -> DataFrame:
    """Each two rows once, however the pair came about: what is alike before what is contained."""
    both = Window.partitionBy(F.least("doc_id", "kept_id"), F.greatest("doc_id", "kept_id"))
    turn = F.row_number().over(both.orderBy(F.desc("relation"), F.desc("jaccard"), "doc_id"))
    return pairs.withColumn("_turn", turn).where(F.col("_turn") == 1).drop("_turn")


def drops_to_ask(pairs: DataFrame) -> DataFrame:
    """Drops whose texts were not equal as they came in, one for each survivor, those nearest to their threshold first."""
    lot = F.xxhash64("doc_id", F.lit("drops"))
    doubtful = pairs.where((F.col("decision") == DROPPED) & ~F.col("method").isin("exact_raw", "verdict"))
    turn = F.row_number().over(Window.partitionBy("kept_id").orderBy("jaccard", lot, "doc_id"))
    first = doubtful.withColumn("_turn", turn).where(F.col("_turn") == 1).drop("_turn")
    return first.orderBy(F.col("jaccard") - F.col("threshold"), "jaccard", lot, "doc_id")
