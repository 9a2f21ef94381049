"""Cleaning a table of a live server: the run, and SQL that takes the duplicates out of the table it was read from."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.clean.rows import DOC_ID, free_names, renamed, with_ids
from dedup_lib.clean.run import DELETE, UNDO, configured, first_notes, note_of, report, target_of, write_undo
from dedup_lib.config import Config
from dedup_lib.dump import charsets
from dedup_lib.dump.ddl import Table
from dedup_lib.dump.deletion import Deletion, Target, why_not
from dedup_lib.dump.guess import Choice, choose
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.metrics import tell
from dedup_lib.pipeline import Result, Say, rebuild
from dedup_lib.server.rows import DELETE as LINE
from dedup_lib.server.rows import ZONE, schema
from dedup_lib.server.source import Connection
from dedup_lib.store import RunStore
from dedup_lib.tables import quoted

_NO_DUMP = "Read from the server itself: there is no clean dump, and the table is not touched; delete.sql does that."


class Job(NamedTuple):
    """A server, its table that was chosen, and how it is read; see ``run.Chosen``. ``reason``: why there is no delete.sql."""

    connection: Connection
    choice: Choice
    renamed: dict[str, str]
    notes: list[str]
    partition: str | None
    conditions: list[str]
    reason: str

    @property
    def source(self) -> str:
        """What is read, for settings and report."""
        return f"mysql://{self.connection.server}"

    @property
    def size(self) -> str:
        """How much that is."""
        parts = f"in {len(self.conditions):,} parts by {self.partition}" if len(self.conditions) > 1 else "in one part"
        return f"about {self.choice.table.rows:,} rows, read {parts}"


def check_engine(engine: str) -> None:
    """Raise ``ConfigError`` for an engine without JDBC, or one in another process, which would be sent the password."""
    if engine != "spark":
        raise ConfigError(
            f"engine: {engine} cannot read a server; use --engine spark (it needs Java 17, see tools/java.sh), or "
            "a dump: mysqldump DATABASE TABLE > dump.sql, then --dump dump.sql"
        )


def prepare(connection: Connection, table: str | None, columns: dict[str, str]) -> Job:
    """Ask the server for its tables and choose. Raises ``ConfigError`` (options) and ``InputError`` (server, no plain choice)."""
    found, sizes = connection.tables()
    if not found.tables:
        raise InputError(f"server {connection.server}: has no such database, or none whose tables this user may read")
    choice = choose(found, f"server {connection.server}", table, columns)
    schema(choice.title, choice.table.columns)
    partition, conditions, why = connection.parts(choice.table, sizes[choice.table.name])
    names = free_names([column.name for column in choice.table.columns])
    reason = why_not(Table(choice.table.database, choice.table.name, choice.table.columns, None), choice.table.key)
    notes = [_NO_DUMP, *first_notes(choice, names)]
    notes += [f"{sentence[0].upper()}{sentence[1:]}." for sentence in (why, reason and f"no {DELETE}: {reason}") if sentence]
    return Job(connection, choice, names, notes, partition, conditions, reason)


def clean(session: SparkSession, config: Config, job: Job, run_id: str | None = None, say: Say = tell) -> Result:
    """Run the pipeline on the table and write everything. Raises what ``rebuild`` and the connection raise."""
    rows, finish = partial(_rows, job=job), partial(_finish, config=config, job=job, say=say)
    return rebuild(session, configured(config, job), run_id, say, rows, finish)


def _rows(store: RunStore, job: Job) -> DataFrame:
    """The table's rows, read once from the server: they may change while stages read their input several times."""
    target = None if job.reason else target_of(job.choice, store.run_id)
    frame = job.connection.rows(job.choice.table, target, job.partition, job.conditions)
    store.claim()
    with job.connection.telling():
        saved = store.save(renamed(frame, job.renamed), "server")
    key = [job.renamed.get(name, name) for name in job.choice.table.key]
    id_column = job.choice.columns.get("id")
    if id_column is None and len(key) > 1:
        return _with_joined_ids(saved, key)
    rows, why = with_ids(saved, job.renamed.get(id_column, id_column) if id_column else None)
    if why:
        job.notes.append(why[0].upper() + why[1:] + ".")
    return rows


def _with_joined_ids(rows: DataFrame, key: list[str]) -> DataFrame:
    """The rows with the values of the key as ``doc_id``, each with its length before it so that no two keys are one id."""
    values = [F.col(quoted(name)).cast("string") for name in key]
    parts = [F.concat(F.length(value).cast("string"), F.lit(":"), value) for value in values]
    return rows.select(F.concat_ws(" ", *parts).alias(DOC_ID), *[F.col(quoted(name)) for name in rows.columns])


def _finish(store: RunStore, metrics: dict[str, Any], config: Config, job: Job, say: Say) -> None:
    """Write what the owner of the table gets."""
    made = []
    if not job.reason:
        target, note = target_of(job.choice, store.run_id), note_of(store, metrics)
        unchecked = _write_deletion(store, target, note, [job.renamed.get(name, name) for name in job.choice.table.key])
        write_undo(store, target, note)
        made = [DELETE, UNDO]
        if unchecked:
            job.notes.append(f"{DELETE} leaves out {unchecked:,} rows whose key cannot be written plainly.")
    report(store, metrics, config, job, made)
    say(f"{'':<12} no clean dump is written, since none was read; {', '.join(made) or 'no SQL either'}")


def _write_deletion(store: RunStore, target: Target, note: str, key: list[str]) -> int:
    """Write ``delete.sql``, in the order of the key; the number of rows it cannot hold."""
    ordered = store.table("dropped").select(LINE, *map(quoted, key), "doc_id").orderBy(*map(quoted, key), "doc_id")
    with open(os.path.join(store.folder, DELETE), "w", encoding="utf-8") as file:
        deletion = Deletion(file, target, note)
        deletion.session(charsets.BINARY, ZONE)
        for row in ordered.select(LINE).toLocalIterator():
            deletion.add(row[LINE])
        deletion.close()
    return deletion.unchecked
