"""What the notebooks show of a run, aggregated in the engine: small tables, whatever the size of the run."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.store import RunStore
from dedup_lib.tables import quoted

LARGEST, PLACES, SOURCES, CHANGES = 20, 500, 20, 30


def members(store: RunStore, config: Config) -> DataFrame:
    """``doc_id``, ``title``, ``source``, ``time`` and ``kept_id`` (null for survivors) of all rows but those in quarantine."""
    columns = config.input.columns

    def text(table: DataFrame, name: str | None, most: int) -> Column:
        known = name in table.columns and dict(table.dtypes)[name] != "binary"
        return F.substring(F.col(quoted(name)).cast("string"), 1, most) if known else F.lit(None).cast("string")

    parts = []
    for table, kept in ((store.table("documents"), F.lit(None).cast("string")), (store.table("dropped"), F.col("kept_id"))):
        own = columns.doc_id if columns.doc_id in table.columns else "doc_id"
        shown = [text(table, name, most).alias(alias) for alias, name, most in (
            ("title", columns.title, 80), ("source", columns.source, 40), ("time", columns.publish_time, 40),
        )]  # fmt: skip
        parts.append(table.select(F.col(quoted(own)).cast("string").alias("doc_id"), *shown, kept.alias("kept_id")))
    return parts[0].unionByName(parts[1])


def cluster_sizes(store: RunStore) -> list[dict[str, Any]]:
    """How many clusters have 2, 3 to 4, 5 to 8 … rows."""
    sizes = store.table("clusters").groupBy("cluster_id").agg(F.count("*").alias("rows"))
    level = F.ceil(F.log2(F.col("rows").cast("double")) - 1e-9).cast("int")
    counted = sizes.groupBy(level.alias("level")).agg(F.count("*").alias("clusters")).orderBy("level").collect()
    return [{"size": _span(row["level"]), "clusters": row["clusters"]} for row in counted]


def _span(level: int) -> str:
    low, high = 2 ** (level - 1) + 1, 2**level
    return f"{high}" if low >= high else f"{low}-{high}"


def largest_clusters(store: RunStore, config: Config) -> list[dict[str, Any]]:
    """The largest clusters: id and title of the survivor, rows, sources, first and last time."""
    sizes = store.table("clusters").groupBy("cluster_id").agg(F.count("*").alias("rows"))
    top = sizes.orderBy(F.desc("rows"), "cluster_id").limit(LARGEST)
    rows = members(store, config).withColumn("cluster_id", F.coalesce("kept_id", "doc_id")).join(F.broadcast(top), "cluster_id")
    survivor = F.when(F.col("kept_id").isNull(), F.col("title"))
    found = rows.groupBy("cluster_id", "rows").agg(
        F.max(survivor).alias("title"), F.count_distinct("source").alias("sources"), F.min("time").alias("from"),
        F.max("time").alias("to"),
    )  # fmt: skip
    return [row.asDict() for row in found.orderBy(F.desc("rows"), "cluster_id").collect()]


def story(store: RunStore, config: Config, cluster_id: str) -> list[dict[str, Any]]:
    """The rows of one cluster that have a time, the earliest first."""
    rows = members(store, config).where(F.coalesce("kept_id", "doc_id") == F.lit(cluster_id))
    dated = rows.where(F.col("time").isNotNull()).orderBy("time", "doc_id").limit(PLACES)
    return [row.asDict() for row in dated.collect()]


def who_copies_whom(store: RunStore, config: Config) -> list[dict[str, Any]]:
    """Dropped rows by their source and the source of the row that stays, of the sources with most such rows."""
    rows = members(store, config).select("doc_id", "kept_id", F.coalesce("source", F.lit("")).alias("source"))
    kept = rows.select(F.col("doc_id").alias("kept_id"), F.col("source").alias("stays"))
    gone = rows.where(F.col("kept_id").isNotNull()).withColumnRenamed("source", "copies")
    counted = gone.join(kept, "kept_id").groupBy("copies", "stays").agg(F.count("*").alias("rows"))
    busiest = counted.groupBy("copies").agg(F.sum("rows").alias("all")).orderBy(F.desc("all"), "copies").limit(SOURCES)
    shown = counted.join(F.broadcast(busiest.select("copies")), "copies", "left_semi")
    return [row.asDict() for row in shown.orderBy(F.desc("rows"), "copies", "stays").limit(SOURCES * SOURCES).collect()]


def changes(before: RunStore, after: RunStore, config: Config) -> dict[str, Any]:
    """What two runs decided differently: ``counts`` by change and method, ``rows`` the first of them with both sides' ids."""
    both = []
    for store in (before, after):
        drops = store.table("pairs").where("decision = 'drop'").select("doc_id", "kept_id", "method", "jaccard", "reason")
        everything = members(store, config).select("doc_id", "title")
        both.append(everything.join(drops, "doc_id", "left"))
    old, new = (
        frame.select([F.col(name).alias(f"{side}_{name}") for name in frame.columns])
        for frame, side in zip(both, "on", strict=True)
    )
    joined = old.join(new, F.col("o_doc_id") == F.col("n_doc_id"), "full_outer")
    was, now = F.col("o_kept_id").isNotNull(), F.col("n_kept_id").isNotNull()
    kind = (
        F.when(F.col("o_doc_id").isNull(), "only_after").when(F.col("n_doc_id").isNull(), "only_before")
        .when(now & ~was, "newly_dropped").when(was & ~now, "newly_kept")
    )  # fmt: skip
    told = {
        name: F.when(now, F.col(f"n_{name}")).otherwise(F.col(f"o_{name}")) for name in ("kept_id", "method", "jaccard", "reason")
    }
    other = joined.withColumns(
        {"change": kind, "doc_id": F.coalesce("n_doc_id", "o_doc_id"), "title": F.coalesce("n_title", "o_title"), **told}
    )
    other = other.where(F.col("change").isNotNull())
    counts = other.groupBy("change", "method").count().orderBy("change", "method").collect()
    moved = other.where(F.col("change").startswith("newly")).select("change", "doc_id", "title", *told)
    shown = moved.orderBy("change", F.asc_nulls_last("jaccard"), "doc_id").limit(CHANGES)
    return {"counts": [row.asDict() for row in counts], "rows": [row.asDict() for row in shown.collect()]}


def differing_settings(before: RunStore, after: RunStore) -> list[dict[str, Any]]:
    """Settings by their full names that are not the same."""
    flat = [_flat(store.read_json("manifest.json")["settings"]) for store in (before, after)]
    names = sorted(set(flat[0]) | set(flat[1]))
    return [
        {"setting": name, "before": flat[0].get(name), "after": flat[1].get(name)}
        for name in names
        if flat[0].get(name) != flat[1].get(name)
    ]


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    return {name: leaf for key, below in value.items() for name, leaf in _flat(below, f"{path}.{key}".lstrip(".")).items()}
