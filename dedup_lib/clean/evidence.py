"""What a report tells of a finished run, read from its published tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.dump.options import FLAGS
from dedup_lib.evaluation.sheet import MAX_LINES
from dedup_lib.kernels.times import to_micros
from dedup_lib.store import RunStore
from dedup_lib.tables import quoted

CLUSTERS, EXAMPLES, QUESTIONS = 20, 5, 40  # shown of each
_EXCERPT = 80  # characters
_US_PER_DAY = 86_400_000_000


@dataclass
class Pair:
    """Two rows with their texts, and why they stand together."""

    row: dict[str, Any]
    title: str
    kept_title: str
    text: str
    kept_text: str


@dataclass
class Evidence:
    """``years``: kept and dropped rows by year ('' where no time is known); ``flags``: rows by what was not plainly read."""

    metrics: dict[str, Any]
    years: dict[str, tuple[int, int]]
    flags: dict[str, int]
    clusters: list[tuple[str, str, int]]
    examples: list[Pair]
    questions: list[Pair]
    lines: pa.Table = field(default_factory=lambda: pa.table({}))


def collect(store: RunStore, metrics: dict[str, Any], config: Config) -> Evidence:
    """Everything that is shown; texts of the few rows that are, no others."""
    columns = config.input.columns
    years = _years(store, columns.publish_time)
    titles = _titles(store, columns.title, columns.content, columns.publish_time)
    return Evidence(
        metrics,
        years,
        _flags(store),
        _clusters(store, titles),
        _examples(store, titles),
        _questions(store),
        _lines(store, titles),
    )


def _years(store: RunStore, column: str | None) -> dict[str, tuple[int, int]]:
    if column is None:
        return {}
    counted = [Counter(), Counter()]
    for counts, name in zip(counted, ("documents", "dropped"), strict=True):
        for batch in store.batches(name, [column]):
            micros = to_micros(batch.column(0)).drop_null().to_numpy(zero_copy_only=False)
            days = np.floor_divide(micros, _US_PER_DAY).astype("datetime64[D]")
            values, numbers = np.unique(days.astype("datetime64[Y]").astype(str), return_counts=True)
            counts.update(dict(zip(values.tolist(), numbers.tolist(), strict=True)))
            counts[""] += len(batch) - len(micros)
    return {
        year: (counted[0][year], counted[1][year]) for year in sorted({*counted[0], *counted[1]}) if any(c[year] for c in counted)
    }


def _flags(store: RunStore) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name in ("documents", "dropped", "quarantine"):
        for batch in store.batches(name, [FLAGS]) if FLAGS in store.table(name).columns else ():
            for text in batch.column(0).drop_null().to_pylist():
                found.update({line.split("\t")[0] for line in text.split("\n")})
    for row in store.table("flags").groupBy("flag").count().collect():
        found[row["flag"]] += row["count"]
    return dict(sorted(found.items()))


def _titles(store: RunStore, title: str | None, content: str, time: str | None) -> DataFrame:
    """``doc_id``, ``title``, ``text`` (its beginning) and ``time`` of all rows but those in quarantine."""

    def text_of(frame: DataFrame, name: str | None) -> F.Column:
        if name is None or dict(frame.dtypes)[name] == "binary":
            return F.lit(None).cast("string")
        return F.substring(F.col(quoted(name)).cast("string"), 1, _EXCERPT)

    parts = []
    for name in ("documents", "dropped"):
        frame = store.table(name)
        when = F.col(quoted(time)).cast("string") if time else F.lit(None).cast("string")
        parts.append(
            frame.select(
                "doc_id", text_of(frame, title).alias("title"), text_of(frame, content).alias("text"), when.alias("time")
            )
        )
    return parts[0].unionByName(parts[1])


def _clusters(store: RunStore, titles: DataFrame) -> list[tuple[str, str, int]]:
    """The largest clusters: id and title of the survivor, rows."""
    sizes = store.table("clusters").groupBy("cluster_id").agg(F.count("*").alias("rows"))
    largest = sizes.orderBy(F.desc("rows"), "cluster_id").limit(CLUSTERS)
    named = largest.join(titles, F.col("cluster_id") == F.col("doc_id"), "left")
    rows = sorted(named.collect(), key=lambda row: (-row["rows"], row["cluster_id"]))
    return [(row["cluster_id"], row["title"] or row["text"] or "", row["rows"]) for row in rows]


def _examples(store: RunStore, titles: DataFrame) -> list[Pair]:
    """Drops of every method, the least alike first."""
    drops = store.table("pairs").where(F.col("decision") == "drop")
    rows = []
    for method in ("near", "exact_folded", "exact_normalized", "exact_raw", "verdict"):
        chosen = drops.where(F.col("method") == method).orderBy("jaccard", "doc_id").limit(EXAMPLES)
        rows += [row.asDict() for row in chosen.collect()]
    ids = sorted({i for row in rows for i in (row["doc_id"], row["kept_id"])})
    named = {row["doc_id"]: row["title"] or "" for row in titles.where(F.col("doc_id").isin(ids)).collect()} if ids else {}
    texts = store.texts(ids, store.read_json("manifest.json")["settings"]["input"]) if ids else {}
    sides = [(row, row["doc_id"], row["kept_id"]) for row in rows]
    return [Pair(row, named.get(a, ""), named.get(b, ""), texts.get(a, ""), texts.get(b, "")) for row, a, b in sides]


def _questions(store: RunStore) -> list[Pair]:
    """Pairs for a person, the most alike first."""
    asked = store.table("review").orderBy(F.desc("jaccard"), "doc_id", "kept_id").limit(QUESTIONS).collect()
    return [
        Pair(row.asDict(), row["title"] or "", row["kept_title"] or "", row["text"] or "", row["kept_text"] or "")
        for row in asked
    ]


def _lines(store: RunStore, titles: DataFrame) -> pa.Table:
    """The rows of ``report.csv``."""
    pairs = store.table("pairs").where(F.col("decision").isin("drop", "review"))
    kept = titles.select(*[F.col(name).alias(f"kept_{name}") for name in titles.columns]).withColumnRenamed(
        "kept_doc_id", "kept_id"
    )
    joined = pairs.join(titles, "doc_id", "left").join(kept, "kept_id", "left")
    names = ["decision", "doc_id", "title", "time", "kept_id", "kept_title", "kept_time", "method", "jaccard", "reason", "text",
             "kept_text"]  # fmt: skip
    ordered = joined.select(*names).orderBy("decision", "kept_id", "doc_id").limit(MAX_LINES).toArrow()
    place = ordered.column_names.index("jaccard")
    return ordered.set_column(place, "jaccard", pc.round(ordered["jaccard"], 4))
