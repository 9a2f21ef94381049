"""Run the job on a few rows and read what it published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from dedup_lib.kernels.guard import Guard, guarded
from dedup_lib.pipeline import rebuild
from dedup_lib.settings import load_settings
from dedup_lib.store import current_run

SCHEMA = pa.schema(
    [
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("content", pa.string()),
        ("source", pa.string()),
        ("publish_time", pa.timestamp("us")),
    ]
)
DECIDED = ("documents", "dropped", "pairs", "clusters", "review", "quarantine", "flags", "templates", "events")
TABLES = (*DECIDED, "scores")  # which pairs are compared rests on the budgets too, what is decided does not
OF_THE_RUN = ("run_id", "decided_at")  # columns that name the run, not the result
LENIENT = "gates.quarantine_share.fail=1"
UNREPORTED = "output.report=false"  # what most tests look at are the tables


def write_rows(rows: Iterable[Mapping[str, Any]], folder: Path, files: int = 1, schema: pa.Schema = SCHEMA) -> Path:
    """Rows as Parquet files, dealt out one by one."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{name: row.get(name) for name in schema.names} for row in rows]
    for number in range(files):
        pq.write_table(pa.Table.from_pylist(rows[number::files], schema), folder / f"part-{number:03d}.parquet")
    return folder


def run(session, rows: Sequence[Mapping[str, Any]], folder: Path, *overrides: str, files: int = 1) -> dict[str, list[dict]]:
    """Deduplicate rows; the published tables by name, and ``metrics``."""
    source = write_rows(rows, folder / "input", files)
    return run_on(session, str(source), folder / "output", *overrides)


def run_on(session, source: str, output: Path, *overrides: str) -> dict[str, Any]:
    """Deduplicate files; the published tables by name, and ``metrics``."""
    settings = load_settings(None, [f"input.path={json.dumps(source)}", f"output.path={output}", LENIENT, UNREPORTED, *overrides])
    rebuild(session, settings.config, say=lambda line: None)
    return published(output)


def published(output: Path) -> dict[str, Any]:
    """The tables of the published run as lists of rows, in no order, and ``metrics``."""
    folder = Path(output) / "runs" / current_run(str(output))
    tables: dict[str, Any] = {name: ds.dataset(str(folder / name), format="parquet").to_table().to_pylist() for name in TABLES}
    return tables | {"metrics": json.loads((folder / "metrics.json").read_text())}


def digest(tables: Mapping[str, list[dict]], names: Sequence[str] = TABLES) -> str:
    """A hash of the whole result, or of some of its tables, whatever the order of rows."""
    lines = []
    for name in names:
        for row in tables[name]:
            kept = {key: value for key, value in row.items() if key not in OF_THE_RUN}
            lines.append(name + json.dumps(kept, sort_keys=True, ensure_ascii=False, default=str))
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()


def kept_apart(first: str, second: str, features: int, similar: float) -> bool:
    """Whether the default guard keeps two normalised texts apart; ``features`` of the shorter one, their Jaccard similarity."""
    return bool(guarded(pa.array([first]), pa.array([second]), np.array([features]), np.array([similar]), _guard())[0])


@cache
def _guard() -> Guard:
    return Guard(**load_settings().config.profiles["news"].near.guard.model_dump())


def survivors(tables: Mapping[str, list[dict]]) -> set[str]:
    """Ids of the documents."""
    return {row["doc_id"] for row in tables["documents"]}


def drops(tables: Mapping[str, list[dict]]) -> dict[str, tuple[str, str]]:
    """For each dropped id, its survivor and the method."""
    return {row["doc_id"]: (row["kept_id"], row["method"]) for row in tables["pairs"] if row["decision"] == "drop"}


def evidence_is_direct(tables: Mapping[str, list[dict]]) -> bool:
    """G2: one line for each drop, and it names a survivor."""
    listed = [row["doc_id"] for row in tables["pairs"] if row["decision"] == "drop"]
    gone = [row["doc_id"] for row in tables["dropped"]]
    return sorted(listed) == sorted(gone) and {kept for kept, _ in drops(tables).values()} <= survivors(tables)
