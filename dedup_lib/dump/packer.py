"""A gzip file written by all cores: blocks are packed apart and follow each other, which every reader takes for one file."""

from __future__ import annotations

import gzip
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import BinaryIO

_BLOCK = 4 << 20  # bytes packed at once
_LEVEL = 5


class Packer:
    """Takes bytes, writes them packed. At most ``workers + 2`` blocks are in memory. The same bytes give the same file.

    ``tail`` are the last bytes, which are held back and may be taken off again; ``size`` counts all that were given.
    """

    HELD = 64

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = open(path, "wb")
        self._workers = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._workers)
        self._waiting: deque[Future[bytes]] = deque()
        self._parts: list[bytes] = []
        self._filled = 0
        self.tail = b""
        self.size = 0

    def __enter__(self) -> Packer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._parts.append(self.tail)
                self._send()
                while self._waiting:
                    self._file.write(self._waiting.popleft().result())
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self._pool.shutdown(cancel_futures=True)
            self._file.close()

    def write(self, data: bytes) -> None:
        """Append bytes. Raises ``OSError`` where the disk is full."""
        if not data:
            return
        self.size += len(data)
        whole = self.tail + data
        self.tail = whole[-self.HELD :]
        self._parts.append(whole[: -self.HELD])
        self._filled += len(whole) - len(self.tail)
        if self._filled >= _BLOCK:
            self._send()

    def _send(self) -> None:
        block = b"".join(self._parts)
        self._parts, self._filled = [], 0
        self._waiting.append(self._pool.submit(gzip.compress, block, _LEVEL, mtime=0))
        while len(self._waiting) > self._workers + 1:
            self._file.write(self._waiting.popleft().result())

    def take_back(self, count: int) -> None:
        """Take the last ``count`` bytes of ``tail`` off again."""
        self.tail = self.tail[: len(self.tail) - count]
        self.size -= count
