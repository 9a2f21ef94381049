"""Which bytes of a dump go when rows go: a row with its comma, a statement with its line, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dedup_lib.dump import files
from dedup_lib.dump.lexis import OPENED
from dedup_lib.dump.packer import Packer
from dedup_lib.errors import InputError

_LAST = 16  # bytes of a statement's end in which a comment may close


class Cutter:
    """Follows the rows of one file in order. ``dropped``: offsets of the rows that go, sorted int64.

    ``cuts`` (int64, n x 3) are then the byte ranges that go, in order, and 1 where one is a whole statement.
    """

    def __init__(self, dropped: np.ndarray) -> None:
        self._dropped = dropped
        self._cuts: list[np.ndarray] = []
        self._statement = self._end = -1  # of the latest row
        self._kept = False  # whether its statement has a row that stays
        self._lead = -1  # first row of its statement, while none stays
        self._open = False  # whether the statement may go on
        self.found = 0

    def take(self, spans: np.ndarray, closed: int) -> np.ndarray:
        """Take the next rows; which of them go (bool). ``spans``: int64, rows x 4: start, end, start of the statement, and its
        end at its last row, else 0; ``closed``: the walker's."""
        starts, statements = spans[:, 0], spans[:, 2]
        places = np.searchsorted(self._dropped, starts)
        places[places == len(self._dropped)] = 0
        gone = self._dropped[places] == starts if len(self._dropped) else np.zeros(len(starts), bool)
        self.found += int(gone.sum())
        if self._open and (closed > self._end or statements[0] != self._statement):
            self._finish(closed)
        heads = np.flatnonzero(np.diff(statements, prepend=self._statement if self._open else -1) != 0)
        bounds = np.unique(np.concatenate([[0], heads, [len(starts)]]))
        gone_before = np.concatenate([[0], np.cumsum(gone)])
        for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            fresh = statements[first] != self._statement or not self._open
            untouched = gone_before[last] == gone_before[first] and (fresh or self._kept)
            if untouched:
                self._statement, self._kept, self._lead = int(statements[first]), True, -1
            else:
                self._segment(spans[first:last], gone[first:last], fresh)
            self._end, self._open = int(spans[last - 1, 1]), True
            if spans[last - 1, 3]:
                self._finish(int(spans[last - 1, 3]))
        return gone

    def _segment(self, spans: np.ndarray, gone: np.ndarray, fresh: bool) -> None:
        """Rows of one statement, of which some go."""
        if fresh:
            self._statement, self._kept, self._lead = int(spans[0, 2]), False, int(spans[0, 0])
        at = 0
        if not self._kept:
            at = int(np.argmin(gone))
            if gone[at]:
                return  # all of them, up to here
            if spans[at, 0] > self._lead:
                self._cut(self._lead, int(spans[at, 0]), 0)
            self._kept = True
        before = np.concatenate([[self._end], spans[:-1, 1]])
        later = np.flatnonzero(gone)
        later = later[later >= at]
        if len(later):
            self._cuts.append(np.stack([before[later], spans[later, 1], np.zeros(len(later), np.int64)], 1))

    def _finish(self, closed: int) -> None:
        """The statement ends at ``closed``; at an earlier place only if it is damaged, and then its head stays."""
        if self._open and not self._kept:
            whole = closed >= self._end
            self._cut(self._statement if whole else self._lead, closed if whole else self._end, int(whole))
        self._open = False

    def _cut(self, start: int, end: int, whole: int) -> None:
        self._cuts.append(np.array([[start, end, whole]], np.int64))

    def cuts(self, closed: int) -> np.ndarray:
        """All cuts, at the end of the file."""
        self._finish(closed)
        return np.concatenate(self._cuts) if self._cuts else np.empty((0, 3), np.int64)


def pieces(path: str) -> Iterator[tuple[int, np.ndarray]]:
    """The bytes of a file, unpacked: offset and uint8 array, which is good until the next one.

    Raises ``InputError`` if a packed file breaks off.
    """
    with files.window(path) as part:
        while True:
            part.more(part.stop)
            end = part.stop if part.size is None else part.size - part.base
            yield part.base, part.data[:end]
            if part.broken:
                raise InputError(f"dump {path}: byte {part.base + end}: the file is damaged ({part.broken}); get it again")
            if part.final:
                return


def copy(path: str, cuts: np.ndarray, out: Packer) -> None:
    """Write a file without its cuts. Of a statement that goes, its line's end goes too where it stood on a line of its own."""
    ranges = iter(cuts.tolist())
    start, end, whole = next(ranges, (1 << 62, 0, 0))
    eat = False  # whether a line's end is to go
    for base, data in pieces(path):
        view, at, stop = memoryview(data), base, base + len(data)
        while at < stop:
            if eat:
                at += 2 if data[at - base] == 13 and at + 1 < stop and data[at + 1 - base] == 10 else int(data[at - base] == 10)
                eat = False
            upto = min(max(at, start), stop)
            out.write(bytes(view[at - base : upto - base]))
            at = min(max(upto, end), stop) if upto >= start else upto
            if end > stop or upto < start:
                continue
            if whole:
                eat = _closes(view[max(0, end - base - _LAST) : end - base].tobytes(), out)
            start, end, whole = next(ranges, (1 << 62, 0, 0))


def _closes(last: bytes, out: Packer) -> bool:
    """Take off what opened the comment that a statement's end closes; whether the statement began a line."""
    if last.rstrip(b"; \r\n").endswith(b"*/") and (opened := OPENED.search(out.tail)):
        out.take_back(len(out.tail) - opened.start())
    return out.tail[-1:] in (b"", b"\n")
