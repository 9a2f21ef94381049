"""One command's work: choose the table, run the pipeline on it, write clean dump, removed rows, SQL and report into the run."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dedup_lib.clean.evidence import collect
from dedup_lib.clean.page import page
from dedup_lib.clean.rows import DOC_ID, free_names, renamed, with_ids
from dedup_lib.config import Config
from dedup_lib.dump import charsets, listing
from dedup_lib.dump.ddl import Table
from dedup_lib.dump.deletion import Deletion, Target, undo, why_not
from dedup_lib.dump.guess import Choice, choose
from dedup_lib.dump.options import END, FILE, FLAGS, OFFSET, QUARANTINE, ROW, STATEMENT, Options
from dedup_lib.dump.plan import given_table, make_plan
from dedup_lib.dump.rewrite import REMOVED, rewrite
from dedup_lib.dump.source import read_dump
from dedup_lib.errors import ConfigError
from dedup_lib.evaluation.sheet import write_sheet
from dedup_lib.metrics import tell
from dedup_lib.pipeline import Result, Say, rebuild
from dedup_lib.store import RunStore


class Chosen(Protocol):
    """A table that is to be cleaned, of a dump or of a server. ``notes``: what a reader of the result must know, as sentences."""

    @property
    def source(self) -> str:
        """What is read, for settings and report."""

    @property
    def size(self) -> str:
        """How much that is."""

    choice: Choice
    renamed: dict[str, str]
    notes: list[str]


DELETE, UNDO, REPORT, SHEET, RUN = "delete.sql", "undo.sql", "report.html", "report.csv", "run.html"
_METADATA = (FILE, OFFSET, END, STATEMENT, ROW, FLAGS)


class Job(NamedTuple):
    """A dump, how to read it, and the table that was chosen; see ``Chosen``."""

    options: Options
    choice: Choice
    renamed: dict[str, str]
    notes: list[str]

    @property
    def source(self) -> str:
        """What is read, for settings and report."""
        return self.options.path

    @property
    def size(self) -> str:
        """How much that is."""
        return f"{self.choice.table.rows:,} rows"


def prepare(path: str, table: str | None, columns: dict[str, str], options: dict[str, str]) -> Job:
    """Look at the dump and choose. Raises ``ConfigError`` and ``InputError``: wrong options, no plain choice, damage."""
    checked = Options.of({"path": path, "table": table or "?", **options})
    found = listing.tables(path, checked.charset)
    if checked.ddl and table:
        _define(found, given_table(checked))
    choice = choose(found, f"dump {path}", table, columns)
    read = Options.of({**options, "path": path, "table": choice.title, "metadata": ",".join(_METADATA)})
    plan = make_plan(read)
    choice.table.columns = plan.table.columns
    names = free_names([column.name for column in plan.table.columns])
    notes = first_notes(choice, names)
    damage = [warning for warning in found.warnings if read.mode == QUARANTINE or "byte" not in warning]
    if choice.table.remark:
        notes.append(f"Character set: {choice.table.remark}.")
    if charsets.family(choice.table.charset):
        notes.append(
            f"Load the dumps with mysql --default-character-set={choice.table.charset}: the client must know two-byte characters."
        )
    return Job(read, choice, names, [*notes, *damage])


def first_notes(choice: Choice, names: dict[str, str]) -> list[str]:
    """What was guessed, and the new names of columns, as sentences."""
    notes = [f"Guessed: {'; '.join(choice.guessed)}."] if choice.guessed else []
    return notes + [f"Column {old} is called {new} in the tables of the run." for old, new in names.items()]


def _define(found: listing.Listing, table: Table) -> None:
    """Give a definition to the entries of a table that the dump does not define."""
    for entry in found.tables:
        if entry.name == table.name and not entry.columns:
            entry.columns, entry.key = table.columns, table.key


def configured(config: Config, job: Chosen) -> Config:
    """The settings of the run: its input is the chosen table. Raises ``ConfigError`` for an output that is no local folder."""
    if config.output.path and "://" in config.output.path:
        raise ConfigError(f"output.path (--output) {config.output.path}: what is made of a table needs a local folder")
    roles = {role: job.renamed.get(name, name) for role, name in job.choice.columns.items() if role != "id"}
    known = {name: roles.get(name) for name in ("url", "title", "source", "publish_time")}
    columns = config.input.columns.model_copy(update={"doc_id": DOC_ID, "charset": None, "content": roles["content"], **known})
    given = config.input.model_copy(update={"path": [job.source], "format": "mysql", "columns": columns})
    return config.model_copy(update={"input": given})


def clean(session: SparkSession, config: Config, job: Job, run_id: str | None = None, say: Say = tell) -> Result:
    """Run the pipeline on the table and write everything. Raises what ``rebuild`` and the reader raise."""
    given = {name: value for name, value in vars(job.options).items() if value is not None}
    frame = read_dump(session, **{**given, "metadata": ",".join(job.options.metadata)})
    rows = partial(_rows, frame=frame, job=job)
    return rebuild(session, configured(config, job), run_id, say, rows, partial(_finish, config=config, job=job, say=say))


def _rows(store: RunStore, frame: DataFrame, job: Job) -> DataFrame:
    """The table's rows, read once from the dump: stages read their input several times."""
    store.claim()
    saved = store.save(renamed(frame, job.renamed), "dump")
    id_column = job.choice.columns.get("id")
    rows, why = with_ids(saved, job.renamed.get(id_column, id_column) if id_column else None)
    if why:
        job.notes.append(why[0].upper() + why[1:] + ".")
    return rows


def _finish(store: RunStore, metrics: dict[str, Any], config: Config, job: Job, say: Say) -> None:
    """Write what the owner of the table gets."""
    plan = make_plan(job.options)
    table, key = plan.table, job.choice.table.key
    note = note_of(store, metrics)
    dropped = dropped_offsets(store)
    target = target_of(job.choice, store.run_id)
    reason = why_not(table, key)
    write = partial(rewrite, job.options, table, dropped, store.folder, note=note)
    if reason:
        job.notes.append(f"No {DELETE}: {reason}.")
        written = write(deletion=None)
    else:
        with open(os.path.join(store.folder, DELETE), "w", encoding="utf-8") as file:
            deletion = Deletion(file, target, note)
            written = write(deletion=deletion)
            deletion.close()
        if deletion.unchecked:
            job.notes.append(
                f"{DELETE} leaves out {deletion.unchecked:,} rows whose bytes or key the dump does not hold plainly."
            )
        write_undo(store, target, note)
    if written.triggers:
        job.notes.append(f"The table has triggers, which fire when {REMOVED} is loaded; load it before they are created.")
    made = [*written.files, REMOVED, *([] if reason else [DELETE, UNDO])]
    say(f"{'':<12} {written.size:,} bytes of dump, {written.clean_size:,} of clean dump")
    report(store, metrics, config, job, made)


def report(store: RunStore, metrics: dict[str, Any], config: Config, job: Chosen, made: list[str]) -> None:
    """Write ``report.html`` and ``report.csv``. ``made``: names of the files beside them."""
    config = configured(config, job)
    made = [*made, REPORT, SHEET, *([RUN] if config.output.report else [])]
    found = collect(store, metrics, config)
    heading = {"source": job.source, "table": job.choice.title, "run": store.run_id, "settings": config.fingerprint()}
    with open(os.path.join(store.folder, REPORT), "w", encoding="utf-8") as file:
        file.write(page(found, heading, job.notes, made))
    with open(os.path.join(store.folder, SHEET), "w", encoding="utf-8-sig", newline="") as file:
        write_sheet(found.lines, file)


def note_of(store: RunStore, metrics: dict[str, Any]) -> str:
    """The first line of the SQL files."""
    return f"dedup, run {store.run_id}: {metrics['rows']['dropped']} rows of {metrics['rows']['input']} dropped"


def write_undo(store: RunStore, target: Target, note: str) -> None:
    """Write ``undo.sql``."""
    with open(os.path.join(store.folder, UNDO), "w", encoding="utf-8") as file:
        file.write(undo(target, note))


def target_of(choice: Choice, run_id: str) -> Target:
    """What ``delete.sql`` works on."""
    table, columns = choice.table, {column.name: column for column in choice.table.columns}
    compared = [columns[choice.columns[role]] for role in ("title", "content") if role in choice.columns]
    hashed = tuple(column for column in compared if pa.types.is_string(column.type) or pa.types.is_binary(column.type))
    backup = f"{table.name[:40]}_dropped_{hashlib.sha1(run_id.encode()).hexdigest()[:8]}"
    return Target(table.name, tuple(columns[name] for name in table.key if name in columns), hashed, backup)


def dropped_offsets(store: RunStore) -> dict[str, np.ndarray]:
    """For each file the offsets of the rows that were dropped, sorted int64."""
    found: dict[str, list[np.ndarray]] = {}
    for batch in store.batches("dropped", [FILE, OFFSET]):
        files = batch.column(FILE).dictionary_encode()
        codes, offsets = files.indices.to_numpy(zero_copy_only=False), batch.column(OFFSET).to_numpy(zero_copy_only=False)
        for code, name in enumerate(files.dictionary.to_pylist()):
            found.setdefault(name, []).append(offsets[codes == code])
    return {name: np.sort(np.concatenate(parts)) for name, parts in found.items()}


def plan_lines(job: Chosen) -> list[str]:
    """What a run would work on, as lines to read."""
    roles = ", ".join(f"{role}={name}" for role, name in job.choice.columns.items())
    return [f"table             {job.choice.title}: {job.size}", f"columns           {roles}", *job.notes]
