"""Which questions come first, and which need not be asked."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.stages.contain import CONTAINS

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
