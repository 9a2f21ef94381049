"""What the report of a run tells, read from its published tables: aggregates and a few rows, chosen the same way every time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.errors import InputError
from dedup_lib.publishing import JUDGED
from dedup_lib.review.queue import in_order
from dedup_lib.store import Reading, RunStore
from dedup_lib.tables import quoted

BINS = 50  # of the similarity from 0 to 1; a similarity of 1 has one for itself
METHODS = ("near", "exact_folded", "exact_normalized", "exact_raw", "verdict")
_LEAST_ALIKE, _DRAWN = 3, 2  # samples of each method
_QUESTIONS, _CLUSTERS, _SOURCES, _TEMPLATES, _UNUSABLE, _EVENTS = 10, 15, 12, 20, 10, 15

Row = dict[str, Any]


@dataclass
class Facts:
    """``pairs``: counts by decision, method, relation, profile, rule and bin of the similarity; ``readings``: texts by id."""

    metrics: dict[str, Any]
    manifest: dict[str, Any]
    gates: list[Row]  # as in gates.json; those that had nothing to go by are left out
    profiles: dict[str, int]
    pairs: list[Row]
    reposted: list[Row]
    copying: list[Row]
    clusters: list[Row]
    samples: list[Row]
    questions: list[Row]
    templates: list[Row]
    quarantine: list[Row]
    events: list[Row]
    readings: dict[str, Reading]


def collect(store: RunStore) -> Facts:
    """Everything that is shown. Raises ``InputError`` where the run is incomplete."""
    metrics, manifest = store.read_json("metrics.json"), store.read_json("manifest.json")
    rows, columns = metrics["rows"], manifest["settings"]["input"]["columns"]
    documents, dropped, pairs = (store.table(name) for name in ("documents", "dropped", "pairs"))
    source = columns["source"] if columns["source"] in documents.columns else None
    kept = documents.select(_id(documents, columns).alias("doc_id"), _text(source).alias("source"), "cluster_size", "profile")
    gone = dropped.select("kept_id", _text(source).alias("source"))
    reposted, copying = _sources(kept, gone) if source and rows["dropped"] else ([], [])
    clusters = _clusters(kept, gone) if rows["dropped"] else []
    samples = _samples(pairs) if rows["pairs"] else []
    questions = _rows(in_order(store.table("review"), kept).limit(_QUESTIONS)) if rows["review"] else []
    templates = store.table("templates").orderBy(F.desc("documents"), "profile", "source", "position", "unit")
    events = store.table("events").orderBy(F.desc("count"), "profile", "event")
    shown = {row[side] for row in samples for side in ("doc_id", "kept_id")} | {row["doc_id"] for row in clusters}
    return Facts(
        metrics=metrics,
        manifest=manifest,
        gates=_gates(store),
        profiles={row["profile"]: row["count"] for row in kept.groupBy("profile").count().orderBy("profile").collect()},
        pairs=_counted(pairs) if rows["pairs"] else [],
        reposted=reposted,
        copying=copying,
        clusters=clusters,
        samples=samples,
        questions=questions,
        templates=_rows(templates.limit(_TEMPLATES)) if rows["templates"] else [],
        quarantine=_quarantine(store.table("quarantine"), columns) if rows["quarantine"] else [],
        events=_rows(events.limit(_EVENTS)) if rows["events"] else [],
        readings=store.readings(sorted(shown), manifest["settings"]["input"]) if shown else {},
    )


def _gates(store: RunStore) -> list[Row]:
    try:
        judged = store.read_json(JUDGED)["gates"]
    except InputError:  # a run of before there were any
        return []
    return [gate for gate in judged if gate["value"] is not None]


def _id(table: DataFrame, columns: dict[str, str | None]) -> F.Column:
    return F.col(quoted(columns["doc_id"] if columns["doc_id"] in table.columns else "doc_id")).cast("string")


def _text(name: str | None) -> F.Column:
    return (F.col(quoted(name)) if name else F.lit(None)).cast("string")


def _rows(frame: DataFrame) -> list[Row]:
    return [row.asDict() for row in frame.collect()]


def _counted(pairs: DataFrame) -> list[Row]:
    names = ["decision", "method", "relation", "profile", "rule", "bin"]
    rule = F.regexp_extract(F.coalesce("reason", F.lit("")), "^[a-z_]+", 0)
    binned = pairs.withColumns({"rule": rule, "bin": F.floor(F.col("jaccard") * BINS + 1e-9).cast("int")})
    return _rows(binned.groupBy(*names).count().orderBy(*names))


def _sources(kept: DataFrame, gone: DataFrame) -> tuple[list[Row], list[Row]]:
    """The sources whose articles others repeat most, and those of which most was dropped."""
    nothing = F.lit(0)
    ours = kept.select("source", (F.col("cluster_size") - 1).alias("behind"), F.lit(1).alias("kept"), nothing.alias("dropped"))
    theirs = gone.select("source", nothing.alias("behind"), nothing.alias("kept"), F.lit(1).alias("dropped"))
    sums = [F.sum(name).alias(name) for name in ("behind", "kept", "dropped")]
    by_source = ours.unionByName(theirs).groupBy(F.coalesce("source", F.lit("")).alias("source")).agg(*sums)
    tops = [by_source.where(F.col(n) > 0).orderBy(F.desc(n), "source").limit(_SOURCES) for n in ("behind", "dropped")]
    return _rows(tops[0]), _rows(tops[1])


def _clusters(kept: DataFrame, gone: DataFrame) -> list[Row]:
    """The largest clusters: the survivor's id and source, rows, and from how many sources the copies come."""
    largest = _rows(kept.where("cluster_size > 1").orderBy(F.desc("cluster_size"), "doc_id").limit(_CLUSTERS))
    behind = gone.where(F.col("kept_id").isin([row["doc_id"] for row in largest]))
    spread = dict(behind.groupBy("kept_id").agg(F.countDistinct("source")).collect())
    return [row | {"sources": spread.get(row["doc_id"], 0)} for row in largest]


def _samples(pairs: DataFrame) -> list[Row]:
    """Of each method the least alike drops and some drawn from the rest; of the pairs kept apart by a verdict as many."""
    lot = F.xxhash64("doc_id", F.lit("sample"))
    parts = []
    for decision, method in [("drop", method) for method in METHODS] + [("keep", "verdict")]:
        mine = pairs.where((F.col("decision") == decision) & (F.col("method") == method))
        if method == "near":
            parts.append(mine.orderBy("jaccard", "doc_id").limit(_LEAST_ALIKE))
        parts.append(mine.orderBy(lot, "doc_id", "kept_id").limit(_DRAWN))
    chosen = _rows(reduce(DataFrame.union, parts).distinct())
    place = {method: number for number, method in enumerate(METHODS)}
    chosen.sort(key=lambda row: (row["jaccard"] or 0.0, row["doc_id"], row["kept_id"]))
    return sorted(chosen, key=lambda row: (place[row["method"]], row["decision"]))


def _quarantine(table: DataFrame, columns: dict[str, str | None]) -> list[Row]:
    """Some rows that could not be compared."""
    chosen = table.select(_id(table, columns).alias("doc_id"), "reason", "file").orderBy("reason", "doc_id")
    return _rows(chosen.limit(_UNUSABLE))
