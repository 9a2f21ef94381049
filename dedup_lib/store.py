"""The one place that reads and writes: input files, the tables of a run, and the pointer to the published run.

A run is a folder ``<output>/runs/<run_id>/`` with a Parquet folder for each table. ``<output>/CURRENT`` holds the id of the
published run; it is replaced as the last act of a run, so readers see the previous run until then.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as dataset
import pyarrow.parquet as pq
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.kernels.pages import Pages, readable
from dedup_lib.schemas import NEEDED_OF_A_VERDICT as NEEDED
from dedup_lib.schemas import VERDICTS
from dedup_lib.tables import quoted

CURRENT = "CURRENT"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_FROM_A_FILE = re.compile(r"(?:Parquet|Json|Csv) (?:argument )?error|FAILED_READ_FILE|CORRUPT|MALFORMED", re.IGNORECASE)
_JAVA_CLASS = re.compile(r"^:? ?(?:[a-z0-9]+\.)+[A-Z]\w+: ")
WORK_CODEC = "lz4"
# Texts and hashes hardly repeat: looking for repeats costs a third of the time of writing. The names of the two engines.
_WRITE_OPTIONS = {"parquet.enable.dictionary": "false", "dictionary_enabled": "false"}
# Rows that cannot be parsed stop the run: left to themselves, the engines drop them or fill them with nulls.
_READ_OPTIONS = {
    "parquet": {"mergeSchema": "true"},
    "json": {"mode": "FAILFAST"},
    "csv": {"header": "true", "multiLine": "true", "escape": '"', "mode": "FAILFAST"},
}


def read_input(session: SparkSession, paths: Sequence[str], kind: str) -> DataFrame:
    """The input rows. Raises ``InputError`` naming the path when it is missing, empty or unreadable."""
    if kind not in _READ_OPTIONS:
        raise ConfigError(
            f"input.format {kind!r}: tables of MySQL are read by jobs/clean_dump.py alone; use it, or another format"
        )
    files = [file for path in paths for file in existing(path)]
    with reading(paths, kind):
        frame = session.read.format(kind).options(**_READ_OPTIONS[kind]).load(files)
        columns = frame.columns
        frame.limit(1).toArrow()  # types that the engine cannot read show now, not when the result is written
    if not columns:
        raise InputError(f"input {', '.join(paths)}: holds no {kind} file with rows and columns")
    return frame


@contextmanager
def reading(paths: Sequence[str], kind: str) -> Iterator[None]:
    """Turn what an engine says of files it cannot read into an ``InputError``."""
    try:
        yield
    except (PySparkException, Py4JError, pa.ArrowException) as error:
        in_a_kernel = isinstance(error, PythonException) and not _FROM_A_FILE.search(str(error))
        if in_a_kernel or "_InactiveRpcError" in str(error):  # or the engine is gone: no fault of a file
            raise
        raise InputError(f"input {', '.join(paths)}: cannot be read as {kind}: {first_line(error)}") from error


def existing(path: str) -> list[str]:
    """The files and folders that a local path or glob names; a remote path as it is. Raises ``InputError`` if none."""
    if "://" in path:
        return [path]
    found = sorted(glob.glob(path)) or ([path] if os.path.exists(path) else [])
    if not found:
        raise InputError(f"input {path}: no such file or folder")
    return found


def read_verdicts(session: SparkSession, path: str) -> DataFrame:
    """The verdict table, from Parquet or CSV. Raises ``InputError`` when it cannot be read or lacks a column."""
    frame = read_input(session, [path], "csv" if path.lower().endswith(".csv") else "parquet")
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        raise InputError(f"verdicts {path}: lacks the column {', '.join(missing)}; it needs {', '.join(NEEDED)}")
    absent = [F.lit(None).alias(name) for name in VERDICTS.names if name not in frame.columns]
    return VERDICTS.conform(frame.select("*", *absent))


def first_line(error: Exception) -> str:
    """What a user needs of an engine's error."""
    lines = [_JAVA_CLASS.sub("", line.strip()) for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("An error occurred while calling")]
    return told[0][:300] if told else type(error).__name__


class Reading(NamedTuple):
    """A row for people: ``text`` is its content, raw; bytes decoded, a page's body alone."""

    text: str
    title: str | None
    source: str | None


class RunStore:
    """The tables of one run. Creating the object touches nothing on disk."""

    def __init__(self, session: SparkSession, output: str, run_id: str) -> None:
        if not _RUN_ID.fullmatch(run_id):
            raise ConfigError(f"run id {run_id!r}: use letters, digits, '-', '_' and '.', at most 100")
        self.session = session
        self.output = output
        self.run_id = run_id
        self.folder = os.path.join(output, "runs", run_id)
        self._claimed = False

    @property
    def work(self) -> str:
        """Folder of the work tables."""
        return os.path.join(self.folder, "_work")

    def claim(self) -> None:
        """Claim the run's folder, once. Raises ``ConfigError`` if another run has it, as none is written over, or if it cannot
        be made."""
        if "://" in self.folder or self._claimed:
            return
        self._claimed = True
        try:
            os.makedirs(self.folder)
        except FileExistsError:
            raise ConfigError(f"run id {self.run_id!r}: {self.folder} exists already; choose another or leave it out") from None
        except OSError as error:
            raise ConfigError(f"output {self.output}: cannot be written: {error.strerror}; choose another folder") from None

    def save(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a work table and return it as read back: the plan behind it is cut off, its row count is free."""
        return self._write(frame, os.path.join(self.work, name), WORK_CODEC)

    def publish(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a published table and return it as read back."""
        return self._write(frame, os.path.join(self.folder, name), "zstd")

    def _write(self, frame: DataFrame, path: str, codec: str) -> DataFrame:
        frame.write.mode("overwrite").options(compression=codec, **_WRITE_OPTIONS).parquet(path)
        if "://" not in path and not glob.glob(os.path.join(glob.escape(path), "*.parquet")):
            _write_empty(path, frame.schema)  # the embedded engine leaves no file, and a reader could not tell the columns
        return self.session.read.schema(frame.schema).parquet(path)

    def table(self, name: str) -> DataFrame:
        """A published table of this run."""
        path = os.path.join(self.folder, name)
        if not os.path.isdir(path):
            raise InputError(f"{path}: no such table; is {self.output} the output folder of a finished run?")
        return self.session.read.parquet(path)

    def batches(self, name: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Columns of a published table of a local folder, batch by batch, in no order."""
        yield from dataset.dataset(os.path.join(self.folder, name), format="parquet").to_batches(columns=list(columns))

    def rows(self, name: str, ids: Sequence[str], columns: Mapping[str, str | None]) -> DataFrame:
        """The rows of a table with raw columns that have these ids, with ``_id`` and ``_content`` beside them."""
        table = self.table(name)
        id_column = columns["doc_id"] if columns["doc_id"] in table.columns else "doc_id"
        found = table.withColumns({"_id": F.col(quoted(id_column)).cast("string"), "_content": F.col(quoted(columns["content"]))})
        return found.where(F.col("_id").isin(list(ids)))

    def texts(self, ids: Sequence[str], settings: Mapping[str, Any]) -> dict[str, str]:
        """The content of a few rows, as ``readings`` has it."""
        return {doc_id: reading.text for doc_id, reading in self.readings(ids, settings).items()}

    def readings(self, ids: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Reading]:
        """A few rows as people read them, wherever they ended. ``settings``: of the input."""
        found: dict[str, Reading] = {}
        columns, pages = settings["columns"], Pages(**settings.get("pages", {}))
        for name in ("quarantine", "dropped", "documents"):
            rows = self.rows(name, ids, columns)
            roles = ("charset", "source", "title")
            beside = {c: columns.get(c) if columns.get(c) in rows.columns else None for c in roles}
            given = [(F.col(quoted(n)) if n else F.lit(None)).cast("string").alias(c) for c, n in beside.items()]
            table = rows.select("_id", "_content", *given).toArrow().combine_chunks()
            doc_ids, content, charset, source, title = (column.combine_chunks() for column in table.columns)
            texts = readable(content, charset, source, pages).texts
            parts = (pc.fill_null(texts, ""), title, source)
            told = map(Reading, *(part.to_pylist() for part in parts))
            found |= dict(zip(doc_ids.to_pylist(), told, strict=True))
        return found

    def write_text(self, name: str, text: str) -> None:
        """Write a text file into the run folder."""
        _replace(Path(self.folder, name), text)

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a JSON file into the run folder."""
        self.write_text(name, json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n")

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the run folder. Raises ``InputError`` when there is none."""
        try:
            return json.loads(Path(self.folder, name).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise InputError(f"{error.filename}: no such file; is the run complete?") from error

    def discard_work(self) -> None:
        """Remove the work tables."""
        shutil.rmtree(self.work, ignore_errors=True)

    def make_current(self) -> None:
        """Publish this run: replace the pointer in one step."""
        _replace(Path(self.output, CURRENT), self.run_id + "\n")


def _write_empty(path: str, schema: StructType) -> None:
    os.makedirs(path, exist_ok=True)
    pq.write_table(to_arrow_schema(schema, timezone="UTC").empty_table(), os.path.join(path, "part-00000.parquet"))


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def current_run(output: str) -> str:
    """The id of the published run. Raises ``InputError`` when nothing is published."""
    try:
        return Path(output, CURRENT).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{output}: nothing is published here (no file {CURRENT})") from error


def check_paths(inputs: Sequence[str], output: str) -> None:
    """Refuse an output that lies inside an input, or an input that lies in the output's runs. Raises ``InputError``."""
    out = Path(os.path.realpath(output))
    for path in inputs:
        pattern = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path.rstrip("/")))
        inside = any(folder == Path(os.path.realpath(path)) or folder.match(pattern) for folder in (out, *out.parents))
        if inside or Path(pattern).is_relative_to(out / "runs"):
            raise InputError(f"output {output}: overlaps the input {path}; choose another folder")
