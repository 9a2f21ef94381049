"""The one place that reads and writes tables: input files and the tables of a run.

A run is a folder ``<output>/runs/<run_id>/`` with a Parquet folder for each table. Which one is published: ``publishing.py``.
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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

from dedup_lib.errors import ConfigError, InputError, no_room, redacted
from dedup_lib.files import Folder, is_data
from dedup_lib.kernels.pages import Pages, readable
from dedup_lib.publishing import BEGUN, RUNS, WORK, checked_run_id, current_run, publish
from dedup_lib.schemas import NEEDED_OF_A_VERDICT as NEEDED
from dedup_lib.schemas import PUBLISHED, VERDICTS
from dedup_lib.tables import quoted

if TYPE_CHECKING:
    from dedup_lib.resume import Checkpoints

__all__ = ["RunStore", "check_paths", "current_run", "existing", "read_input", "read_verdicts", "reading"]

_FROM_A_FILE = re.compile(r"(?:Parquet|Json|Csv) (?:argument )?error|FAILED_READ_FILE|CORRUPT|MALFORMED", re.IGNORECASE)
_JAVA_CLASS = re.compile(r"^:? ?(?:[a-z0-9]+\.)+[A-Z]\w+: ")
WORK_CODEC = "lz4"
# Texts and hashes hardly repeat: looking for repeats costs a third of the time of writing. The names of the two engines.
_WRITE_OPTIONS = {
    "parquet.enable.dictionary": "false",
    "dictionary_enabled": "false",
    "max_row_group_size": "32768",  # rows; the embedded engine holds a row group of each file in memory, by default a million
}
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
        columns = frame.schema.names
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
        # No fault of a file: a kernel's, the engine is gone, or what was read cannot be stored.
        if in_a_kernel or "_InactiveRpcError" in str(error) or no_room(error):
            raise
        raise InputError(
            f"input {', '.join(paths)}: cannot be read as {kind}: {first_line(error)}{_other(paths, kind)}"
        ) from error


def _other(paths: Sequence[str], kind: str) -> str:
    """What to try where the names of the files speak of another format."""
    for other, endings in (("json", (".json", ".jsonl")), ("csv", (".csv",))):
        if kind != other and all(path.endswith(endings) for path in paths):
            return f"; --set input.format={other}"
    return ""


def existing(path: str) -> list[str]:
    """The files and folders that a local path or glob names; a remote path as it is. Raises ``InputError`` if none."""
    if "://" in path:
        return [path]
    found = sorted(glob.glob(path)) or ([path] if os.path.exists(path) else [])
    if not found:
        raise InputError(f"input {path}: no such file or folder")
    return found


def data_files(paths: Sequence[str]) -> list[str]:
    """The files that engines read in local folders, paths and globs, in order. Raises ``InputError`` if a path names none."""
    found: set[str] = set()
    for place in (place for path in paths for place in existing(path)):
        inside = [entry.name for entry in Folder(place).entries("", recursive=True)] if os.path.isdir(place) else None
        found |= {place} if inside is None else {os.path.join(place, name) for name in inside if is_data(name)}
    return sorted(found)


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
    return redacted(told[0])[:300] if told else type(error).__name__


class Reading(NamedTuple):
    """A row for people: ``text`` is its content, raw; bytes decoded, a page's body alone."""

    text: str
    title: str | None
    source: str | None


class RunStore:
    """The tables of one run. Creating the object touches nothing on disk. ``checkpoints``: tables that need not be made again."""

    def __init__(self, session: SparkSession, output: str, run_id: str, checkpoints: Checkpoints | None = None) -> None:
        self.session = session
        self.output = output
        self.run_id = checked_run_id(run_id)
        self.folder = os.path.join(output, RUNS, run_id)
        self.checkpoints = checkpoints
        self.files = Folder(output)
        self.claimed = False

    @property
    def work(self) -> str:
        """Folder of the work tables."""
        return os.path.join(self.folder, WORK)

    def claim(self, begun: Mapping[str, Any] | None = None, resumed: bool = False) -> None:
        """Claim the run's folder, once, and note in it how the run began. Raises ``ConfigError`` if another run has it, as none
        is written over, or if it cannot be made."""
        if self.claimed:
            return
        if not resumed and self.files.exists(f"{RUNS}/{self.run_id}"):
            raise ConfigError(f"run id {self.run_id!r}: {self.folder} exists already; choose another or leave it out")
        try:
            self.write_json(BEGUN, {"run_id": self.run_id, **(begun or {})})
        except OSError as error:
            told = error.strerror or str(error).splitlines()[0]
            raise ConfigError(f"output {self.output}: cannot be written: {told}; choose another folder") from None
        self.claimed = True

    def save(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a work table and return it as read back: the plan behind it is cut off, its row count is free."""
        return self._write(frame, f"{WORK}/{name}", WORK_CODEC)

    def publish(self, frame: DataFrame, name: str) -> DataFrame:
        """Write a published table and return it as read back."""
        return self._write(frame, name, "zstd")

    def _write(self, frame: DataFrame, place: str, codec: str) -> DataFrame:
        path = os.path.join(self.folder, place)
        if self.checkpoints is None or not self.checkpoints.has(place):
            frame.write.mode("overwrite").options(compression=codec, **_WRITE_OPTIONS).parquet(path)
            entries = self.files.entries(f"{RUNS}/{self.run_id}/{place}")
            if not any(entry.name.endswith(".parquet") for entry in entries):
                # The embedded engine leaves no file, and a reader could not tell the columns.
                self.files.write_bytes(f"{RUNS}/{self.run_id}/{place}/part-00000.parquet", _empty(frame.schema), durable=False)
            if self.checkpoints is not None:
                self.checkpoints.stored(place)
        return self.session.read.schema(frame.schema).parquet(path)

    def table(self, name: str) -> DataFrame:
        """A published table of this run."""
        if not self.files.exists(f"{RUNS}/{self.run_id}/{name}"):
            path = os.path.join(self.folder, name)
            raise InputError(f"{path}: no such table; is {self.output} the output folder of a finished run?")
        return self.session.read.parquet(os.path.join(self.folder, name))

    def batches(self, name: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Columns of a published table, batch by batch, in no order."""
        path = self.files.at(f"{RUNS}/{self.run_id}/{name}")
        yield from dataset.dataset(path, format="parquet", filesystem=self.files.system).to_batches(columns=list(columns))

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

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file into the run folder."""
        self.write_text(name, json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a text file into the run folder."""
        self.files.write(f"{RUNS}/{self.run_id}/{name}", text)

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the run folder. Raises ``InputError`` when there is none."""
        text = self.files.read(f"{RUNS}/{self.run_id}/{name}")
        if text is None:
            raise InputError(f"{os.path.join(self.folder, name)}: no such file; is the run complete?")
        try:
            return json.loads(text)
        except ValueError:
            raise InputError(f"{os.path.join(self.folder, name)}: is damaged; make the run again") from None

    def discard_work(self) -> None:
        """Remove the work tables."""
        self.files.delete(f"{RUNS}/{self.run_id}/{WORK}")

    def make_current(self) -> None:
        """Publish this run: see that its tables are on the disk, then move the pointer in one step."""
        self.files.sync([f"{RUNS}/{self.run_id}/{table.name}" for table in PUBLISHED])
        publish(self.files, self.run_id)


def _empty(schema: StructType) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(to_arrow_schema(schema, timezone="UTC").empty_table(), sink)
    return sink.getvalue().to_pybytes()


def check_paths(inputs: Sequence[str], output: str) -> None:
    """Refuse an output that lies inside an input, or an input that lies in the output's runs. Raises ``InputError``."""
    out = Path(os.path.realpath(output))
    for path in inputs:
        pattern = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path.rstrip("/")))
        inside = any(folder == Path(os.path.realpath(path)) or folder.match(pattern) for folder in (out, *out.parents))
        if inside or Path(pattern).is_relative_to(out / "runs"):
            raise InputError(f"output {output}: overlaps the input {path}; choose another folder")
