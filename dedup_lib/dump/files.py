"""Bytes of a dump, plain or packed (.gz, .bz2, .zst, .zip; told by their first bytes), through a window that moves on."""

from __future__ import annotations

import bz2
import glob
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import BinaryIO

import numpy as np
import zstandard
from pyarrow import fs

from dedup_lib.errors import InputError

CHUNK = 8 << 20  # bytes read at once
PADDING = b"\n\n\n\n"  # stands behind the file's end, so that nothing is incomplete there but what really is
_PACKED = 1 << 16  # packed bytes that are unpacked at once; they may become a thousand times as many
PLAIN = "plain"
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_BROKEN = (EOFError, OSError, zlib.error, zstandard.ZstdError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


def paths(path: str) -> list[str]:
    """The files that a path, a folder or a glob names, in order of name. Raises ``InputError`` if there is none."""
    if "://" in path:
        return [path]
    found = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(path, "*") if os.path.isdir(path) else path))
    found = [file for file in found if os.path.isfile(file) and not os.path.basename(file).startswith((".", "_"))]
    if not found:
        raise InputError(f"dump {path}: no such file")
    return found


def packing(path: str) -> str:
    """``plain``, ``gzip``, ``bzip2``, ``zstd`` or ``zip``. Raises ``InputError`` if the file cannot be opened."""
    with _raw(path) as file:
        first = file.read(4)
    return next((kind for magic, kind in _MAGIC.items() if first.startswith(magic)), PLAIN)


@contextmanager
def _raw(path: str) -> Iterator[BinaryIO]:
    try:
        if "://" in path:
            system, inside = fs.FileSystem.from_uri(path)
            file = system.open_input_file(inside)
        else:
            file = open(path, "rb", buffering=0)
    except OSError as error:
        raise InputError(f"dump {path}: cannot be opened: {error.strerror or error}") from error
    with file:
        yield file


class _Unpacked:
    """A packed file, read until it ends or breaks: what stands before the damage is given out first."""

    def __init__(self, file: BinaryIO, new: Callable) -> None:
        self._file, self._new, self._unpacker = file, new, new()
        self._have, self._error = memoryview(b""), None

    def readinto(self, space: memoryview) -> int:
        """Fill a part of ``space``; 0 at the end. Raises ``EOFError`` or the unpacker's error."""
        while not self._have:
            if self._error:
                raise self._error
            packed = self._file.read(_PACKED)
            try:
                if not packed:
                    if not self._unpacker.eof:
                        raise EOFError("the packed file ends before its end mark")
                    return 0
                self._have = memoryview(self._unpack(packed))
            except _BROKEN as error:
                self._error = error
        part = self._have[: len(space)]
        space[: len(part)] = part
        self._have = self._have[len(part) :]
        return len(part)

    def _unpack(self, packed: bytes) -> bytes:
        """A file may be several packed ones in a row, and be filled up with zeros."""
        found = b""
        while packed:
            if self._unpacker.eof:
                packed = packed.lstrip(b"\0")
                if not packed:
                    break
                self._unpacker = self._new()
            found += self._unpacker.decompress(packed)
            packed = self._unpacker.unused_data if self._unpacker.eof else b""
        return found


_UNPACKERS: dict[str, Callable] = {
    "gzip": lambda: zlib.decompressobj(31),
    "bzip2": bz2.BZ2Decompressor,
    "zstd": lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj(),
}


@contextmanager
def _unpacked(path: str, file: BinaryIO, kind: str) -> Iterator[BinaryIO]:
    if kind in _UNPACKERS:
        yield _Unpacked(file, _UNPACKERS[kind])
    elif kind == "zip":
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
            if len(names) != 1:
                raise InputError(f"dump {path}: holds {len(names)} files ({', '.join(names[:5])}); unpack it and name one")
            with archive.open(names[0]) as member:
                yield member
    else:
        yield file


class Window:
    """A part of a file in memory: ``data[:stop]`` are the bytes from ``base`` on; ``final`` when nothing follows.

    ``broken`` tells why a packed file could not be unpacked to its end. ``size`` is the file's unpacked length, once known.
    """

    def __init__(self, file: BinaryIO, start: int = 0, end: int | None = None, chunk: int = CHUNK) -> None:
        self.data = np.empty(2 * chunk, np.uint8)
        self.base, self.stop, self.end = start, 0, end
        self.final, self.broken, self.size = False, "", None
        self._file, self._chunk = file, chunk

    def more(self, keep: int) -> int:
        """Forget the bytes before ``keep``, read on; returns by how much positions have moved."""
        if keep:
            self.data[: self.stop - keep] = self.data[keep : self.stop].copy()
            self.base += keep
            self.stop -= keep
        if len(self.data) - self.stop < self._chunk + len(PADDING):
            self.data = np.concatenate([self.data, np.empty(len(self.data), np.uint8)])
        self._fill()
        return keep

    def _fill(self) -> None:
        space = memoryview(self.data)[self.stop : self.stop + self._chunk]
        if self.end is not None:
            space = space[: max(0, self.end - self.base - self.stop)]
        filled = self._read(space)
        self.stop += filled
        if filled < len(space) or not len(space):
            self.final = True
            if self.end is None:
                self.size = self.base + self.stop
                self.data[self.stop : self.stop + len(PADDING)] = np.frombuffer(PADDING, np.uint8)
                self.stop += len(PADDING)

    def _read(self, space: memoryview) -> int:
        """Fill the space; less only at the end of the file, or where it breaks."""
        filled = 0
        try:
            while filled < len(space) and (got := self._file.readinto(space[filled:])):
                filled += got
        except _BROKEN as error:
            self.broken = f"{error or type(error).__name__}"
        return filled


@contextmanager
def window(path: str, start: int = 0, end: int | None = None, chunk: int = CHUNK) -> Iterator[Window]:
    """A window on a file; ``start`` and ``end`` for plain ones only. Raises ``InputError`` naming a file that is no dump."""
    kind = packing(path)
    with _raw(path) as file:
        if start:
            file.seek(start)
        try:
            with _unpacked(path, file, kind) as unpacked:
                yield Window(unpacked, start, end, chunk)
        except zipfile.BadZipFile as error:
            raise InputError(f"dump {path}: the archive is damaged: {error}; fetch it again") from error


def identity(path: str) -> tuple:
    """What changes when a local file does."""
    if "://" in path:
        return ()
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def sample(path: str, size: int) -> bytes:
    """The first bytes, unpacked. Raises ``InputError`` if the file is UTF-16, as some shells write it."""
    return _sample(path, size, identity(path))


@lru_cache(maxsize=8)
def _sample(path: str, size: int, state: tuple) -> bytes:
    with window(path, chunk=min(CHUNK, size)) as part:
        while part.stop < size and not part.final:
            part.more(0)
        found = part.data[: min(size, part.stop)].tobytes()
        if part.final and part.size is not None:
            found = found[: part.size]
    if found.startswith(_WIDE):
        raise InputError(f"dump {path}: is UTF-16, as PowerShell's > writes it; convert it first: iconv -f UTF-16 -t UTF-8")
    return found
