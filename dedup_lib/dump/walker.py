"""Walks through a dump from the first byte to the last: every one is of a row, of a statement, of a blank, or damaged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from dedup_lib.dump import scan as codes
from dedup_lib.dump.client import Client
from dedup_lib.dump.files import Window
from dedup_lib.dump.lexis import OPENED, is_blank
from dedup_lib.dump.names import STATEMENTS, Head, head
from dedup_lib.dump.rows import scan
from dedup_lib.errors import InputError

_NO_TEXTS = (b"CREATE", b"ALTER", b"DROP", b"LOCK", b"UNLOCK", b"SET", b"USE", b"COMMIT", b"START", b"BEGIN", b"TRUNCATE")
_NO_STATEMENT = "no SQL statement begins like this"
_SWALLOWED = "a quoted text in a definition holds statements, so that a quote must be missing"
_FIRST_WORD = re.compile(rb"[A-Za-z]+")
# Where reading goes on behind damage: a line that begins like a statement, behind one that ends like one.
_RESUME = re.compile(
    rb";[ \t]*(?:\r?\n[ \t]*)+(?=(?:INSERT|REPLACE|CREATE|DROP|ALTER|LOCK|UNLOCK|SET|USE|DELIMITER)\s|--\s|/\*[!M*]|#)",
    re.IGNORECASE,
)
_OVERLAP = 256  # bytes that are looked at twice in the search for it
_SHOWN = 1 << 16  # bytes of a damaged part that are kept
_MARK = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?php\s+(?:exit|die)[^?\n]*\?>)?")
_BEFORE = 40  # bytes before a statement that stay in the window


class Statement(NamedTuple):
    """A statement without rows; ``start`` and ``end`` are offsets in the file. ``opened``: the comment that opens it, if any.

    ``data``: its bytes; those of a conditional comment end with what closes it.
    """

    start: int
    end: int
    text: str
    data: bytes = b""
    opened: bytes = b""


class Rows(NamedTuple):
    """``count`` rows of the INSERTs with ``head``; bounds are positions in ``data``, which begins at ``base``.

    ``statement``: offset of the (latest) statement; ``end``: offset behind the latest row; ``full``: the limit was reached.
    """

    head: Head
    count: int
    data: np.ndarray
    base: int
    bounds: np.ndarray
    kinds: np.ndarray
    spans: np.ndarray
    statement: int
    end: int
    full: bool
    wanted: bool


class Damage(NamedTuple):
    """Bytes ``start`` to ``end`` that are no rows or statements; ``at``: the offset where that shows."""

    start: int
    end: int
    at: int
    statement: int
    problem: str
    begins: bytes
    sample: bytes


class Place(NamedTuple):
    """Where a walk can begin: the mode of the scanner, the head of the statement and its offset."""

    mode: int = codes.BETWEEN
    head: bytes = b""
    statement: int = 0


Select = Callable[[Head], np.ndarray | None]


class Walker:
    """One walk. ``select`` tells for a head which column each value of a row is of, None if its table is not wanted.

    ``recount`` is asked when a row has another number of values. ``room``: (rows, columns) of the tables of bounds, or (0, 0)
    to count rows only. ``limit`` is the offset from which on rows of a wanted table are handed over.
    """

    def __init__(self, part: Window, client: Client, select: Select, recount: Callable[[Head, int], np.ndarray | None]) -> None:
        self._part, self.client, self._select, self._recount = part, client, select, recount
        self.state = np.zeros(codes.STATE_SIZE, np.int64)
        self.limit = 1 << 62
        self.head = Head("", "", None)
        self._slots, self._raw = np.empty(0, np.int32), np.empty(0, np.uint8)
        self._wanted = False
        self.closed = 0  # offset behind the latest statement that ended after its last row was handed over
        self.state[codes.TUPLE] = -1
        self.make_room(0, 0)

    def make_room(self, rows: int, columns: int) -> None:
        """Tables for so many rows."""
        self._bounds, self._kinds = np.empty((rows, columns, 2), np.int64), np.empty((rows, columns), np.uint8)
        self._spans, self._no_spans = np.empty((rows, 4), np.int64), np.empty((0, 4), np.int64)

    @property
    def head_bytes(self) -> bytes:
        """The bytes of the INSERT head that the rows stand behind, up to VALUES."""
        return self._raw.tobytes()

    @property
    def offset(self) -> int:
        """Where the walk stands in the file."""
        return self._part.base + int(self.state[codes.POS])

    def place(self) -> Place:
        """From where another walk could go on here: at the statement if none of its rows were read."""
        mode = int(self.state[codes.MODE])
        if self.state[codes.START] > self.state[codes.TUPLE]:
            mode = codes.BETWEEN
        known = self._raw.tobytes() if mode != codes.BETWEEN else b""
        return Place(mode, known, self._part.base + int(self.state[codes.START]))

    def begin_at(self, place: Place) -> None:
        """Begin as another walk stood."""
        self.state[codes.MODE] = place.mode
        self.state[codes.START] = place.statement - self._part.base
        if place.mode != codes.BETWEEN:
            self._take_head(np.frombuffer(place.head, np.uint8))

    def begin_file(self) -> None:
        """Begin at the first byte: a byte order mark, and the line that keeps a web server from showing the file, are no SQL."""
        self._more(0)
        found = _MARK.match(self._part.data[: min(self._part.stop, _OVERLAP)].tobytes())
        self.state[codes.POS] = found.end()
        if self._part.data[found.end() : found.end() + 5].tobytes() == b"<?php":
            raise InputError("is a PHP program with SQL in it, no dump; restore it with the program that made it, and dump that")

    def _take_head(self, raw: np.ndarray) -> None:
        self._raw = raw
        self.head = head(self.client.text(raw.tobytes()))
        try:
            slots = self._select(self.head)
        except InputError as error:
            raise InputError(f"statement at byte {self._part.base + int(self.state[codes.START])}: {error}") from None
        self._wanted = slots is not None
        self._slots = slots if slots is not None else np.empty(0, np.int32)

    def events(self) -> Iterator[Statement | Rows | Damage]:
        """All that the file holds, in order."""
        part, state = self._part, self.state
        setting = None
        while True:
            if self.client.now is not setting:
                setting = self.client.now
                delimiter, rules = np.frombuffer(setting.delimiter.encode(), np.uint8), self.client.rules
            spans = self._spans if self._wanted else self._no_spans
            code = scan(
                part.data, part.stop, self.limit - part.base, delimiter, rules, state, self._raw, self._slots,
                self._wanted, self._bounds, self._kinds, spans,
            )  # fmt: skip
            if state[codes.CLOSED]:
                self.closed, state[codes.CLOSED] = part.base + int(state[codes.CLOSED]), 0
            if state[codes.ROWS]:
                yield self._rows(code == codes.FULL)
                state[codes.ROWS] = 0
            if code == codes.MORE:
                if not part.final:
                    self._more(max(0, int(state[codes.POS]) - _BEFORE))
                elif problem := self._endless():
                    yield from self._lost(problem, int(state[codes.POS]), int(state[codes.POS]))
                else:
                    yield from self._finish()
                    return
            elif code == codes.HEAD:
                self._take_head(part.data[state[codes.START] : state[codes.BODY]].copy())
                state[codes.POS], state[codes.MODE] = state[codes.BODY], codes.EXPECT
            elif code == codes.OTHER:
                yield from self._other()
            elif code == codes.DAMAGE:
                yield from self._damaged()

    def _more(self, keep: int) -> None:
        shift = self._part.more(keep)
        for field in (codes.POS, codes.START, codes.BODY, codes.END, codes.TUPLE, codes.ERROR_AT):
            self.state[field] -= shift

    def _rows(self, full: bool) -> Rows:
        base, count = self._part.base, int(self.state[codes.ROWS])
        end = base + int(self.state[codes.POS])
        return Rows(
            self.head, count, self._part.data, base, self._bounds[:count], self._kinds[:count], self._spans[:count],
            base + int(self.state[codes.START]), end, full, self._wanted,
        )  # fmt: skip

    def _other(self) -> Iterator[Statement | Damage]:
        start, end = int(self.state[codes.START]), int(self.state[codes.END])
        data = self._part.data[start:end].tobytes()
        word = _FIRST_WORD.match(data)
        if word is None or word[0].upper().decode() not in STATEMENTS:
            yield from self._lost(_NO_STATEMENT, start, start)
            return
        opened = OPENED.search(self._part.data[max(0, start - _BEFORE) : start].tobytes())
        given = data, opened[0] if opened else b""
        statement = Statement(self._part.base + start, self._part.base + end, self.client.text(data), *given)
        if word is not None and word[0].upper() in (b"INSERT", b"REPLACE") and self._select(head(statement.text)) is not None:
            problem = "an INSERT … SELECT or SET, whose rows cannot be read"
            yield Damage(statement.start, statement.end, statement.start, statement.start, problem, data[:60], data[:_SHOWN])
            return
        swallowed = _RESUME.search(data) if word[0].upper() in _NO_TEXTS and self.client.now.delimiter == ";" else None
        if swallowed:
            yield from self._lost(_SWALLOWED, start, start)
            return
        self.client.obey(statement.text)
        self._raw = np.empty(0, np.uint8)  # what follows is looked at anew
        yield statement

    def _damaged(self) -> Iterator[Damage]:
        problem, at, row = (int(self.state[field]) for field in (codes.ERROR, codes.ERROR_AT, codes.TUPLE))
        if problem != codes.WRONG_COUNT:
            start = int(self.state[codes.POS])
            yield from self._lost(codes.PROBLEMS[problem], at, start)
            return
        count = int(self.state[codes.COUNT])
        slots = self._recount(self.head, count)
        if slots is not None:
            self._slots = slots
            return
        end = int(self.state[codes.END])
        self.state[codes.POS], self.state[codes.MODE] = end, codes.AFTER
        problem = f"the row has {count} values for {len(self._slots)} columns"
        yield self._damage(problem, row, row, self._part.base + end, self._part.data[row:end].tobytes())

    def _damage(self, problem: str, start: int, at: int, end: int, shown: bytes) -> Damage:
        base, statement = self._part.base, int(self.state[codes.START])
        begins = self._part.data[max(0, statement) : max(0, statement) + 60].tobytes() if statement >= 0 else self._raw.tobytes()
        return Damage(base + start, end, base + at, base + statement, problem, begins, shown[:_SHOWN])

    def _lost(self, problem: str, at: int, start: int) -> Iterator[Damage]:
        """Damage whose end is not known: go on where a line begins like a statement, or stop at the end of the file."""
        part = self._part
        found = self._damage(problem, start, at, 0, part.data[start : start + _SHOWN].tobytes())
        place = at
        while True:
            match = _RESUME.search(memoryview(part.data)[place : part.stop])
            if match:
                place += match.end()
                break
            if part.final:
                place = part.stop if part.size is None else part.size - part.base
                break
            keep = max(place, part.stop - _OVERLAP)
            self._more(keep)
            place = 0
        self.state[codes.POS], self.state[codes.MODE] = place, codes.BETWEEN
        self._raw, self._wanted = np.empty(0, np.uint8), False
        end = part.base + place
        yield found._replace(end=end, sample=found.sample[: end - found.start])

    def _endless(self) -> str:
        """What is wrong with a statement that does not end here, if other statements seem to follow; '' if nothing does."""
        rest = self._part.data[int(self.state[codes.POS]) : self._part.stop].tobytes()
        if self.state[codes.MODE] != codes.BETWEEN or not _RESUME.search(rest) or is_blank(rest):
            return ""
        word = _FIRST_WORD.match(rest)
        if word is None or word[0].upper().decode() not in STATEMENTS:
            return _NO_STATEMENT
        if word[0].upper() in (b"INSERT", b"REPLACE"):
            return codes.PROBLEMS[codes.BAD_HEAD]
        return _SWALLOWED if word[0].upper() in _NO_TEXTS and self.client.now.delimiter == ";" else ""

    def _finish(self) -> Iterator[Damage]:
        """At the end of the file, or of the part that is read: nothing may be left but blanks and comments."""
        part, pos = self._part, int(self.state[codes.POS])
        stop = part.stop if part.size is None else part.size - part.base
        rest = part.data[pos:stop].tobytes()
        if part.size is None:  # too few bytes follow to see that the end of the statement is one
            rest = rest.rstrip().removesuffix(self.client.now.delimiter.encode())
        whole = self.state[codes.MODE] == codes.BETWEEN or part.size is None
        problem = f"the file is damaged ({part.broken})" if part.broken else "the file ends inside a statement"
        if part.broken or not whole or not is_blank(rest):
            start = pos if pos < stop or not whole else stop
            yield self._damage(problem, start, stop, part.base + stop, rest)
