"""``run_history``: what each run counted, whole and by source, so that runs can be compared without opening their tables.

One small Parquet file for each run below ``<output>/run_history/``; a run that is pruned leaves its file behind.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.files import Folder
from dedup_lib.schemas import DOCUMENTS, DROPPED, QUARANTINE
from dedup_lib.tables import Column, Table, quoted

RUN_HISTORY = Table(
    "run_history",
    "beside the runs: for each run one row, and one for each of its larger sources; the report and the gates read it",
    (
        Column("run_id", "string", "the run"),
        Column("source", "string", "a source; null in the row of the whole run"),
        Column("started", "timestamp", "when the run began, UTC"),
        Column("verdict", "string", "of the gates: pass, warn or fail"),
        Column("rows", "bigint", "input rows"),
        Column("documents", "bigint", "survivors"),
        Column("dropped", "bigint", "dropped rows"),
        Column("quarantine", "bigint", "rows that could not be processed"),
        Column("review", "bigint", "pairs for a person; null in rows of sources, as are all that follow"),
        Column("largest_cluster", "bigint", "rows of the largest cluster"),
        Column("undecodable", "bigint", "rows whose bytes could not be read, wholly or in part"),
        Column("seconds", "double", "what the run took; of a resumed run its last attempt"),
        Column("newest", "timestamp", "the newest publication time that is not in the future, UTC"),
        Column("settings", "string", "fingerprint of the settings"),
    ),
)
MOST_SOURCES = 1000  # of a run: the largest ones
_TYPES = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64(), "timestamp": pa.timestamp("us", "UTC")}
_SCHEMA = pa.schema([(column.name, _TYPES[column.type]) for column in RUN_HISTORY.columns])


class Counts(NamedTuple):
    """The rows of a run or of one of its sources."""

    rows: int
    documents: int
    dropped: int
    quarantine: int

    @property
    def drop_rate(self) -> float:
        """The share of dropped rows."""
        return self.dropped / self.rows if self.rows else 0.0


class Past(NamedTuple):
    """An earlier run."""

    run_id: str
    whole: Counts
    sources: Mapping[str, Counts]


def by_source(tables: Mapping[str, DataFrame], column: str | None, least: int, known: Sequence[str]) -> dict[str, Counts]:
    """The counts of the sources with at least so many rows, at most ``MOST_SOURCES``, and of those already known.

    Rows without a source are of the source ''. One pass over one column of each table.
    """
    names = DOCUMENTS.name, DROPPED.name, QUARANTINE.name
    parts = []
    for name in names:
        source = F.col(quoted(column)).cast("string") if column in tables[name].columns else F.lit(None).cast("string")
        part = tables[name].select(F.coalesce(source, F.lit("")).alias("source"), F.lit(name).alias("table"))
        parts.append(part.groupBy("source", "table").agg(F.count("*").alias("rows")))
    every = parts[0].union(parts[1]).union(parts[2])
    own = [F.sum(F.when(F.col("table") == name, F.col("rows")).otherwise(0)).alias(name) for name in names]
    counted = every.groupBy("source").agg(F.sum("rows").alias("rows"), *own)
    wanted = (F.col("rows") >= least) | F.col("source").isin(list(known)) if known else F.col("rows") >= least
    largest = counted.where(wanted).orderBy(F.desc("rows"), "source").limit(MOST_SOURCES + len(known)).collect()
    return {row["source"]: Counts(row["rows"], *(row[name] for name in names)) for row in largest}


def record(folder: Folder, run: Mapping[str, Any], whole: Counts, sources: Mapping[str, Counts]) -> None:
    """Write the file of a run. ``run``: the values of its row by name, ``whole`` beside them."""
    shared = {name: run[name] for name in ("run_id", "started", "verdict", "settings")}
    rows = [{**run, **whole._asdict(), "source": None}]
    rows += [{**shared, **counts._asdict(), "source": source} for source, counts in list(sources.items())[:MOST_SOURCES]]
    filled = [{name: row.get(name) for name in _SCHEMA.names} for row in rows]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(filled, _SCHEMA), sink)
    folder.write_bytes(_place(run["run_id"]), sink.getvalue())


def past(folder: Folder, run_ids: Sequence[str]) -> list[Past]:
    """What is known of these runs, in their order; runs without a file that can be read are left out."""
    found = []
    for run_id in run_ids:
        place = _place(run_id)
        if not folder.is_file(place):
            continue
        try:
            rows = pq.read_table(folder.at(place), filesystem=folder.system, schema=_SCHEMA).to_pylist()
            counts = [(row["source"], Counts(*(row[name] or 0 for name in Counts._fields))) for row in rows]
        except (OSError, pa.ArrowException):
            continue
        whole = [count for source, count in counts if source is None]
        if whole:
            found.append(Past(run_id, whole[0], {source: count for source, count in counts if source is not None}))
    return found


def instant(micros: int | None) -> datetime | None:
    """Microseconds since 1970 as a time in UTC."""
    return None if micros is None else pa.scalar(micros, _TYPES["timestamp"]).as_py()


def _place(run_id: str) -> str:
    return f"{RUN_HISTORY.name}/{run_id}.parquet"
