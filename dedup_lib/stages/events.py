"""``normalized`` -> ``events``: lines that are equal but for what was masked, counted."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.schemas import EVENTS
from dedup_lib.stages.contents import readable_rows
from dedup_lib.stages.exact import priority


def events(rows: DataFrame, normalized: DataFrame, config: Config) -> DataFrame:
    """``events``: groups of rows with one key, in the profiles that ask for it. ``rows`` holds ``raw`` and ``doc_id``."""
    profiles = [name for name, profile in config.profiles.items() if profile.events]
    group = Window.partitionBy("profile", "key")
    counted = normalized.where(F.col("profile").isin(profiles)).withColumns(
        {
            "place": F.row_number().over(group.orderBy(*priority())),
            "count": F.count("*").over(group),
            "first_time": F.timestamp_micros(F.min("published").over(group)),
            "last_time": F.timestamp_micros(F.max("published").over(group)),
        }
    )
    first = counted.where(F.col("place") == 1).withColumnRenamed("text", "event")
    examples = readable_rows(rows.join(first.select("doc_id"), "doc_id"), config)
    shown = examples.select("doc_id", F.col("text").alias("example"))
    return EVENTS.conform(first.join(shown, "doc_id").withColumn("example_id", F.col("doc_id")))
