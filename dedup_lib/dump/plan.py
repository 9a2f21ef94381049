"""Before reading: which table it is, and the parts of the files that tasks can read at the same time.

A place where rows begin cannot be told from the bytes around it: a text may hold ``\\nINSERT INTO `news` VALUES (``. So a plain
file is scanned once from its beginning, by the same compiled scanner that reads it, at several hundred megabytes a second. What
it notes every ``split_bytes`` is a row's beginning, for certain, also within a statement as long as the file. Damage shows then,
before any task starts. Packed files are one part each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dedup_lib.dump import charsets, files
from dedup_lib.dump.client import Client, Setting
from dedup_lib.dump.ddl import Table, create_table
from dedup_lib.dump.names import Head
from dedup_lib.dump.options import FAIL, Options
from dedup_lib.dump.walker import Damage, Place, Rows, Statement, Walker
from dedup_lib.dump.wanted import Wanted
from dedup_lib.errors import InputError

_GAP = 4 << 20  # bytes without the wanted table that a part may hold; more is left out
_START, _BETWEEN = Setting(), Place()
_LINES = 1 << 28  # offset up to which lines are counted for a message


@dataclass(frozen=True)
class Split:
    """A part of a file: bytes ``start`` to ``end`` (None: all of it), and all that its reader must know of what is before.

    ``first_row``: number of rows before it, None where that is not known. ``damages`` lie beside the parts that are read.
    """

    path: str
    start: int = 0
    end: int | None = None
    setting: Setting = _START
    place: Place = _BETWEEN
    first_row: int | None = 0
    layout: tuple[str, ...] = ()
    database: str = ""
    damages: tuple[Damage, ...] = ()


@dataclass
class Plan:
    """The table, the parts to read, and the number of rows, None where a file is packed."""

    table: Table
    splits: list[Split]
    rows: int | None = 0


def damaged(path: str, found: Damage, row: int | None = None) -> str:
    """What a user is told of damage: file, line, byte, statement, row, and what to do."""
    line = f", line {_line(path, found.at)}" if found.at < _LINES else ""
    where = f" behind row {row}" if row is not None else ""
    begins = found.begins.decode("utf-8", "replace").split("\n")[0]
    return (
        f"dump {path}: byte {found.at}{line}: {found.problem}{where}; "
        f"the statement begins at byte {found.statement} ({begins} …); "
        "get the dump again, or read the rest with the option mode=quarantine"
    )


def _line(path: str, offset: int) -> int:
    lines = 1
    with files.window(path) as part:
        while not part.final and part.base + part.stop < offset:
            lines += int((part.data[: part.stop] == 10).sum())
            part.more(part.stop)
        return lines + int((part.data[: max(0, offset - part.base)] == 10).sum())


def make_plan(options: Options) -> Plan:
    """The plan for a table. Raises ``InputError``: no such table, damage (unless it goes to quarantine), no dump."""
    paths = files.paths(options.path)
    return _make_plan(options, tuple((path, *files.identity(path)) for path in paths))


@lru_cache(maxsize=32)
def _make_plan(options: Options, identities: tuple) -> Plan:
    paths = [identity[0] for identity in identities]
    wanted = Wanted(options.table, given_table(options))
    splits: list[Split] = []
    rows: int | None = 0
    seen: dict[str, None] = {}
    if len(paths) > 1 and wanted.learning:
        _define(paths, options, wanted, seen)
    for path in paths:
        scout = Scout(path, options, wanted, seen)
        if files.packing(path) == files.PLAIN:
            splits += scout.explore(rows)
            rows = None if rows is None else rows + scout.rows
        else:
            if wanted.learning:
                scout.learn()
            splits.append(Split(path, first_row=rows if len(paths) == 1 else None))
            rows = None
    if wanted.table is None:
        raise InputError(f"dump {options.path}: no table {options.table}; it has {', '.join(seen) or 'none'}")
    return Plan(wanted.table, splits, rows)


def _define(paths: list[str], options: Options, wanted: Wanted, seen: dict[str, None]) -> None:
    """Look for the definition in all files: backups of many files have it in one of its own."""
    for path in paths:
        scout = Scout(path, options, wanted, seen)
        if any(isinstance(event, Statement) and scout.created(event) for event in scout.events(strict=False)):
            return
    wanted.forget()


def given_table(options: Options) -> Table | None:
    """The definition that the option ``ddl`` gives. Raises ``InputError`` if it is none of the wanted table."""
    if options.ddl is None:
        return None
    if not os.path.isfile(options.ddl):
        table = create_table(options.ddl, "")
        if table is None:
            raise InputError(f"dump option ddl: {options.ddl[:60]!r} is neither a file nor a CREATE TABLE")
        return table
    wanted, seen = Wanted(options.table), {}
    scout = Scout(options.ddl, options, wanted, seen)
    for event in scout.events():
        if isinstance(event, Statement) and scout.created(event):
            return wanted.table
    raise InputError(f"dump option ddl: {options.ddl} has no CREATE TABLE {options.table}; it has {', '.join(seen) or 'none'}")


@dataclass
class _Part:
    """A part that is being measured: ``rows`` and ``end`` of what is known of it."""

    start: int
    setting: Setting
    place: Place
    before: int
    layout: tuple[str, ...]
    end: int = 0
    hit: bool = False  # whether there is damage in it


class Scout:
    """Goes through one file for the wanted table. ``seen`` takes the names of all tables; ``rows`` counts the wanted ones."""

    def __init__(self, path: str, options: Options, wanted: Wanted, seen: dict[str, None]) -> None:
        self._path, self._options, self._wanted, self._seen = path, options, wanted, seen
        self._splits: list[Split] = []
        self._loose: list[Damage] = []
        self._part: _Part | None = None
        self._measuring = False
        self.rows = 0

    def events(self, strict: bool = True) -> Iterator[Statement | Rows | Damage]:
        """All events of the file; if ``strict``, raises ``InputError`` at damage unless it goes to quarantine."""
        self.client = client_for(self._path, self._options, self._wanted)
        with files.window(self._path) as part:
            self._walker = Walker(part, self.client, self._select, self._wanted.recount)
            self._walker.begin_file()
            self._size = part
            for event in self._walker.events():
                if isinstance(event, Damage) and strict and self._options.mode == FAIL:
                    raise InputError(damaged(self._path, event))
                yield event

    def _select(self, head: Head) -> np.ndarray | None:
        database = head.database or self.client.now.database
        self._seen.setdefault(f"{database}.{head.table}" if database else head.table)
        slots = self._wanted.select(head)
        if slots is not None and self._measuring:
            place = self._walker.place()
            if self._part and place.statement - self._part.end > _GAP:
                self._close()
            if self._part is None:
                self._begin(place.statement, Place())
        return slots

    def created(self, event: Statement) -> bool:
        """Whether the statement defines the wanted table."""
        table = defined(event, self.client)
        if table is None:
            return False
        self._seen.setdefault(table.title)
        return self._wanted.create(table)

    def learn(self) -> None:
        """Stop at the definition of the table, or at its first rows."""
        for event in self.events():
            if isinstance(event, Statement) and self.created(event):
                return
            if isinstance(event, Rows) and event.wanted:
                return

    def explore(self, before: int | None) -> list[Split]:
        """The parts that hold rows of the table; ``before``: number of rows in earlier files, None if it is not known."""
        self._measuring, self._before = True, before
        for event in self.events():
            if isinstance(event, Statement):
                self.created(event)
            elif isinstance(event, Damage):
                self._hit(event)
            elif event.wanted:
                self._take(event)
        self._close()
        if self._loose:
            end = self._loose[-1].end
            self._splits.append(Split(self._path, end, end, first_row=None, damages=tuple(self._loose)))
        return self._splits

    def _begin(self, start: int, place: Place) -> None:
        self._part = _Part(start, self.client.now, place, self.rows, self._wanted.layout, start)
        self._walker.limit = start + self._options.split_bytes

    def _take(self, event: Rows) -> None:
        self.rows += event.count
        self._part.end = event.end
        if event.full:
            place = self._walker.place()
            here = event.end if place.mode else place.statement
            self._part.end = here
            self._close()
            self._begin(here, place)

    def _hit(self, event: Damage) -> None:
        """Damage that a part's reader will meet, or that lies beside the parts."""
        if self._part and event.start - self._part.end <= _GAP:
            self._part.end, self._part.hit = max(self._part.end, event.end), True
        else:
            self._loose.append(event)

    def _close(self) -> None:
        part, self._part = self._part, None
        if part is None or (part.end == part.start and not part.hit):
            return
        end = None if self._size.size is not None and part.end >= self._size.size else part.end
        row = None if self._before is None else self._before + part.before
        layout, database = part.layout, self._wanted.database
        self._splits.append(Split(self._path, part.start, end, part.setting, part.place, row, layout, database))


def client_for(path: str, options: Options, wanted: Wanted, setting: Setting | None = None) -> Client:
    """The client that reads a file, known to ``wanted``. Without ``setting`` it stands at the file's beginning."""
    hint = wanted.table.charset if wanted.table else None
    client = Client(files.sample(path, charsets.SAMPLE), options.charset, options.backslash, setting or Setting(hint=hint))
    wanted.client = client
    return client


def defined(event: Statement, client: Client) -> Table | None:
    """The table that a statement defines, whose character set is a hint for dumps that declare none."""
    table = create_table(event.text, client.now.database) if event.text[:6].upper() == "CREATE" else None
    if table is not None and table.charset:
        client.now = client.now._replace(hint=table.charset)
    return table
