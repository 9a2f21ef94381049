"""``normalized`` -> ``events``: lines that are equal but for what was masked, counted."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.schemas import EVENTS
from dedup_lib.stages.contents import readable_rows

_NEVER = 2**63 - 1  # behind every time: rows without one come last, as in exact.priority


def events(rows: DataFrame, normalized: DataFrame, config: Config) -> DataFrame:
    """``events``: groups of rows with one key, in the profiles that ask for it. ``rows`` holds ``raw`` and ``doc_id``.

    Grouped, not ranked in a window: half of all lines may be one event, and a window would hold it in one task.
    """
    profiles = [name for name, profile in config.profiles.items() if profile.events]
    if not profiles:
        return EVENTS.empty(rows.sparkSession)
    place = F.struct(F.coalesce("published", F.lit(_NEVER)), -F.col("length"), "doc_id")
    counted = (
        normalized.where(F.col("profile").isin(profiles))
        .groupBy("profile", "key")
        .agg(
            F.min("text").alias("event"),  # all are equal
            F.count("*").alias("count"),
            F.timestamp_micros(F.min("published")).alias("first_time"),
            F.timestamp_micros(F.max("published")).alias("last_time"),
            F.min(place).getField("doc_id").alias("example_id"),
        )
    )
    examples = readable_rows(rows.join(counted.select(F.col("example_id").alias("doc_id")), "doc_id"), config)
    shown = examples.select(F.col("doc_id").alias("example_id"), F.col("text").alias("example"))
    return EVENTS.conform(counted.join(shown, "example_id"))
