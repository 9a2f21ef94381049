"""The pairs nearest to the cut, with their texts, from the stored pairs of a run."""

from __future__ import annotations

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.analysis.tables import BORDERLINE, MEASURED
from dedup_lib.config import Config
from dedup_lib.finished import rows_of_run
from dedup_lib.kernels.decide import FACTS_DIFFER
from dedup_lib.stages.bridge import small
from dedup_lib.stages.contain import SAME
from dedup_lib.stages.contents import readable_rows
from dedup_lib.store import RunStore

SHOWN = 4_000  # characters of a text


def borderline(store: RunStore, config: Config, each: int) -> DataFrame:
    """``borderline``: so many pairs of each profile, side of the cut and outcome, the nearest first."""
    chosen = store.save(_nearest(store.table("scores"), each), "analysis/borderline")
    count = chosen.count()
    ids = chosen.select("doc_id").union(chosen.select(F.col("other_id").alias("doc_id"))).distinct()
    rows = rows_of_run(store, config).join(small(ids, 2 * count), "doc_id")
    texts = readable_rows(rows, config).withColumn("text", F.substring("text", 1, SHOWN))
    others = texts.select(*[F.col(name).alias(other) for name, other in _TWINS.items()])
    named = chosen.join(small(texts, 2 * count), "doc_id").join(small(others, 2 * count), "other_id")
    return BORDERLINE.conform(named)


_TWINS = {"doc_id": "other_id", "title": "other_title", "text": "other_text"}


def _nearest(scores: DataFrame, each: int) -> DataFrame:
    told = [F.col("reason") == reason for reason in MEASURED]
    measured: Column = reduce(or_, told, F.col("reason").startswith(FACTS_DIFFER))
    pairs = scores.where(measured & (F.col("relation") == SAME)).withColumn(
        "side", F.when(F.col("jaccard") >= F.col("threshold"), "above").otherwise("below")
    )
    distance = F.abs(F.col("jaccard") - F.col("threshold"))
    order = Window.partitionBy("profile", "side", "outcome").orderBy(distance, "doc_id", "other_id")
    return pairs.withColumn("turn", F.row_number().over(order)).where(F.col("turn") <= each)
