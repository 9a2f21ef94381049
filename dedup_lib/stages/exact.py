"""``normalized`` -> ``exact``: rows that say the same stand behind one representative.

Rows with one key are equal after normalising and folding, hence duplicates of each other; equality of the raw or the merely
normalised text implies it. So one grouping finds all three exact methods, and each row is told the strongest that holds
between it and its representative.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.schemas import EXACT

_DAY = 86_400_000_000
_UNDATED = 10**9  # behind every day that a timestamp can name
_LONGEST = 2**31


def priority() -> list[Column]:
    """The order in which rows have the right to stay: earliest, then longest, then by id."""
    return [F.col("published").asc_nulls_last(), F.col("length").desc(), F.col("doc_id").asc()]


def group_exact(normalized: DataFrame, judged: DataFrame | None) -> DataFrame:
    """Find each row's representative, the first of its group by priority.

    ``judged`` holds the ``doc_id`` of rows that a verdict names: these are never grouped, so that the verdict can reach
    them.
    """
    if judged is None:
        rows = normalized.withColumn("pinned", F.lit(False))
    else:
        marked = judged.select("doc_id").distinct().withColumn("pinned", F.lit(True))
        rows = normalized.join(marked, "doc_id", "left").withColumn("pinned", F.coalesce("pinned", F.lit(False)))
    alone = F.when(F.col("pinned"), F.col("doc_id")).otherwise("")
    group = Window.partitionBy("profile", "key", alone).orderBy(*priority())
    narrow = rows.select("doc_id", "profile", "published", "length", "raw_sha1", "text_sha1", "key", "pinned")
    first = narrow.withColumns(
        {
            "rep_id": F.first("doc_id").over(group),
            "rep_raw": F.first("raw_sha1").over(group),
            "rep_text": F.first("text_sha1").over(group),
        }
    )
    method = (
        F.when(F.col("doc_id") == F.col("rep_id"), F.lit(None))
        .when(F.col("raw_sha1") == F.col("rep_raw"), "exact_raw")
        .when(F.col("text_sha1") == F.col("rep_text"), "exact_normalized")
        .otherwise("exact_folded")
    )
    return EXACT.conform(first.withColumn("method", method))


def rank_representatives(exact: DataFrame) -> DataFrame:
    """Number the representatives in the order of priority, from 0: ``rank`` beside the columns of ``exact``.

    A window over everything would pass through one task. Rows are numbered within a day (undated rows: within a length),
    and the day's first number is the count of all rows before it.
    """
    undated = F.lit(_UNDATED) + F.lit(_LONGEST) - F.col("length")
    slot = F.coalesce(F.floor(F.col("published") / F.lit(float(_DAY))).cast("bigint"), undated)
    reps = exact.where(F.col("method").isNull()).withColumn("slot", slot)
    counts = reps.groupBy("slot").agg(F.count("*").alias("rows"))
    before = F.sum("rows").over(Window.orderBy("slot")) - F.col("rows")
    starts = counts.select("slot", before.alias("start"))
    within = F.row_number().over(Window.partitionBy("slot").orderBy(*priority()))
    numbered = reps.withColumn("within", within).join(F.broadcast(starts), "slot")
    return numbered.withColumn("rank", (F.col("start") + F.col("within") - 1).cast("bigint")).drop("slot", "start", "within")
