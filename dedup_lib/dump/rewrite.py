"""A dump without some rows of a table, those rows as a dump of their own, and SQL for the live table: two walks, bounded memory.

The first walk finds the bytes that go and writes what the rows that go become; the second copies the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dedup_lib.dump import files
from dedup_lib.dump.columns import Cells
from dedup_lib.dump.cuts import Cutter, copy
from dedup_lib.dump.ddl import Table
from dedup_lib.dump.deletion import Deletion
from dedup_lib.dump.options import FAIL, Options
from dedup_lib.dump.packer import Packer
from dedup_lib.dump.plan import client_for, damaged, defined
from dedup_lib.dump.walker import Damage, Rows, Statement, Walker
from dedup_lib.dump.wanted import Wanted
from dedup_lib.errors import DedupError, InputError

CLEAN, REMOVED = "clean.sql.gz", "removed.sql.gz"
_STATEMENT = 1 << 20  # bytes of an INSERT in removed.sql
_SESSION = re.compile(r"\s*(?:SET|USE)\b", re.IGNORECASE)
_NOT_AGAIN = re.compile(r"GLOBAL|GTID_PURGED|SQL_LOG_BIN|PASSWORD", re.IGNORECASE)
_TRIGGER = re.compile(r"CREATE\b.{0,200}?\bTRIGGER\b.{0,300}?\bON\s+[`\"]?([^`\"\s]+)", re.IGNORECASE | re.DOTALL)
_PACKED = re.compile(r"(?:\.(?:gz|bz2|zst|zip))?$", re.IGNORECASE)


@dataclass
class Rewritten:
    """What was written: the clean files, rows taken out, bytes of the dump and of the clean files, unpacked."""

    files: list[str] = field(default_factory=list)
    rows: int = 0
    size: int = 0
    clean_size: int = 0
    triggers: bool = False  # whether the dump has triggers of the table, which removed.sql would fire


class Removed:
    """Writes the rows that go as INSERTs, each within the session that the dump has set up at its place."""

    def __init__(self, out: Packer, note: str) -> None:
        self._out = out
        self._session: list[bytes] = []
        self._head, self._filled = b"", 0
        out.write(f"\n-- {note}\n-- Load it behind the clean dump, and the table is what it was.\n".encode())

    def statement(self, event: Statement) -> None:
        """Note what changes the session."""
        if _SESSION.match(event.text) and not _NOT_AGAIN.search(event.text):
            self._session.append(event.opened + event.data + b";\n")

    def rows(self, event: Rows, head: bytes, gone: np.ndarray) -> None:
        """The rows that go, as they stand in the dump."""
        for start, end in event.spans[gone, :2].tolist():
            if self._session or head != self._head or self._filled > _STATEMENT:
                self._end()
                self._out.write(b"".join(self._session) + head + b"\n")
                self._session, self._head = [], head
            self._out.write((b",\n" if self._filled else b"") + event.data[start:end].tobytes())
            self._filled += end - start

    def _end(self) -> None:
        if self._filled:
            self._out.write(b";\n")
        self._filled = 0

    def close(self) -> None:
        """End the last statement and restore the session as the dump does."""
        self._end()
        self._out.write(b"".join(self._session) + b"COMMIT;\n")


def rewrite(
    options: Options, table: Table, dropped: Mapping[str, np.ndarray], folder: str, deletion: Deletion | None, note: str
) -> Rewritten:
    """Write ``clean.sql.gz`` (of several files ``clean/NAME.gz``) and ``removed.sql.gz`` into ``folder``.

    ``dropped``: for each file the offsets of the rows that go, sorted int64. Raises ``DedupError`` if a row is not found where
    it was read, ``InputError`` at damage unless it goes to quarantine.
    """
    paths = files.paths(options.path)
    found = Rewritten()
    with Packer(os.path.join(folder, REMOVED)) as out:
        removed = Removed(out, note)
        cuts = {path: _walk(path, options, table, dropped.get(path), removed, deletion, found) for path in paths}
        removed.close()
    if len(paths) > 1:
        os.makedirs(os.path.join(folder, "clean"), exist_ok=True)
    for path in paths:
        name = CLEAN if len(paths) == 1 else os.path.join("clean", _PACKED.sub("", os.path.basename(path)) + ".gz")
        with Packer(os.path.join(folder, name)) as out:
            copy(path, cuts[path], out)
        found.files.append(name)
        found.clean_size += out.size
    return found


def _walk(
    path: str, options: Options, table: Table, dropped: np.ndarray | None, removed: Removed, deletion: Deletion | None,
    found: Rewritten,
) -> np.ndarray:  # fmt: skip
    """The cuts of one file."""
    cutter = Cutter(dropped if dropped is not None else np.empty(0, np.int64))
    wanted = Wanted(options.table, table)
    client = client_for(path, options, wanted)
    with files.window(path) as part:
        walker = Walker(part, client, wanted.select, wanted.recount)
        walker.make_room(options.batch_rows, len(table.columns))
        walker.begin_file()
        walker.limit = options.batch_bytes
        for event in walker.events():
            if isinstance(event, Rows):
                if event.wanted:
                    gone = cutter.take(_in_the_file(event), walker.closed)
                    if gone.any():
                        removed.rows(event, walker.head_bytes, gone)
                        _delete(event, gone, walker, table, deletion)
                walker.limit = walker.offset + options.batch_bytes
            elif isinstance(event, Statement):
                removed.statement(event)
                trigger = _TRIGGER.match(event.text)
                found.triggers |= bool(trigger and trigger[1].rpartition(".")[2] == table.name)
                if (created := defined(event, client)) is not None:
                    wanted.create(created)
            elif options.mode == FAIL:
                raise InputError(damaged(path, event))
            else:
                _keep(cutter, event, walker)
        found.size += part.base + part.stop if part.size is None else part.size
        cuts = cutter.cuts(walker.closed)
    found.rows += cutter.found
    if dropped is not None and cutter.found != len(dropped):
        raise DedupError(f"dump {path}: {len(dropped) - cutter.found} dropped rows are not where they were; was it changed?")
    return cuts


def _in_the_file(event: Rows) -> np.ndarray:
    """The spans as offsets in the file; the end of a statement stays 0 where there is none."""
    spans = event.spans + event.base
    spans[event.spans[:, 3] == 0, 3] = 0
    return spans


def _keep(cutter: Cutter, event: Damage, walker: Walker) -> None:
    """Damaged bytes stay where they are, and the head of their statement with them."""
    cutter.take(np.array([[event.start, event.end, event.statement, 0]], np.int64), walker.closed)


def _delete(event: Rows, gone: np.ndarray, walker: Walker, table: Table, deletion: Deletion | None) -> None:
    if deletion is None:
        return
    client = walker.client
    cells = {
        column.name: Cells(event.data, np.ascontiguousarray(event.bounds[gone, place]),
                           np.ascontiguousarray(event.kinds[gone, place]), client.rules, client.charset, client.now.zone, None)
        for place, column in enumerate(table.columns)
    }  # fmt: skip
    deletion.take(cells)
