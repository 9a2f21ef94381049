"""Small files in a folder on any file system: a local one, HDFS, S3, GCS, Azure (whatever ``pyarrow.fs`` opens by its URI).

Everything that decides which run is published goes through here, and asks of a file system only that what was written can be
read and listed at once: no rename, no exclusive creation. On a local disk a file is replaced in one step and is on the disk
when the call returns; an object store replaces an object in one step by itself; on HDFS a reader may meet a file half written,
so whoever reads a file that matters must be able to tell (``publishing.py``).
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pyarrow as pa
from pyarrow import fs

from dedup_lib.errors import StorageUnknown

_NO_DATA = ("_", ".")  # how names begin that engines do not read as data


class Entry(NamedTuple):
    """A file: its path inside the folder, bytes, and when it was written (nanoseconds; 0 where the store does not say)."""

    name: str
    size: int
    written: int


class Folder:
    """A folder, given by a local path or a URI; making the object touches nothing."""

    def __init__(self, path: str, system: fs.FileSystem | None = None) -> None:
        self.path = path
        self.local = system is None and "://" not in path
        if system is not None:
            self.system, self.base = system, path
        elif self.local:
            self.system, self.base = fs.LocalFileSystem(), path or "."
        else:
            self.system, self.base = _opened(path)

    def at(self, name: str) -> str:
        """The path of a file or folder inside, as the file system itself writes it."""
        return posixpath.join(self.base, name) if name else self.base

    def read(self, name: str) -> str | None:
        """The content of a file; None if there is none."""
        if not self.is_file(name):
            return None
        try:
            with self.system.open_input_stream(self.at(name)) as stream:
                return stream.read().decode("utf-8", "replace")
        except FileNotFoundError:  # it went between the two calls
            return None

    def write(self, name: str, text: str, durable: bool = True) -> None:
        """Write a file whole: on a local disk by replacing it, elsewhere as the store does it.

        ``durable``: also when the power goes; else a process that dies is all that it outlives.
        """
        self.write_bytes(name, text.encode("utf-8"), durable)

    def write_bytes(self, name: str, content: bytes, durable: bool = True) -> None:
        """Write a file of bytes whole."""
        path = self.at(name)
        if self.local:
            _replace(path, content, durable)
            return
        if not self._keyed:
            self.system.create_dir(posixpath.dirname(path), recursive=True)
        with self.system.open_output_stream(path) as stream:
            stream.write(content)

    def is_file(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return self.system.get_file_info(self.at(name)).type == fs.FileType.File

    def exists(self, name: str = "") -> bool:
        """Whether there is a file or folder of that name; in an object store a folder is there when something lies in it."""
        return self.system.get_file_info(self.at(name)).type != fs.FileType.NotFound

    def entries(self, name: str = "", recursive: bool = False) -> list[Entry]:
        """The files below a folder, in order of their names; none if it does not exist."""
        found = [info for info in self._infos(name, recursive) if info.type == fs.FileType.File]
        return sorted(Entry(self._inside(info.path), info.size or 0, info.mtime_ns or 0) for info in found)

    def folders(self, name: str = "") -> list[str]:
        """Names of the folders right below a folder, in order."""
        return sorted(info.base_name for info in self._infos(name, False) if info.type == fs.FileType.Directory)

    def delete(self, name: str) -> None:
        """Delete a file or a folder with everything in it; nothing happens if it is gone already."""
        kind = self.system.get_file_info(self.at(name)).type
        try:
            if kind == fs.FileType.Directory:
                self.system.delete_dir(self.at(name))
            elif kind != fs.FileType.NotFound:
                self.system.delete_file(self.at(name))
        except FileNotFoundError:
            pass

    def sync(self, names: list[str]) -> None:
        """See to it that the files below these folders are on the disk; other stores answer when they have stored."""
        if self.local:
            paths = [self.at(entry.name) for name in names for entry in self.entries(name, recursive=True)]
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(_sync, paths))

    @property
    def _keyed(self) -> bool:
        """Whether folders are but the beginnings of names."""
        return self.system.type_name in ("s3", "gcs")

    def _infos(self, name: str, recursive: bool) -> Iterator[fs.FileInfo]:
        if self.local and not os.path.isdir(self.at(name)):
            return
        yield from self.system.get_file_info(fs.FileSelector(self.at(name), allow_not_found=True, recursive=recursive))

    def _inside(self, path: str) -> str:
        return posixpath.relpath(path, self.base)


def sized(number: float) -> str:
    """A number of bytes to read."""
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:,.0f} {unit}"
        number /= 1000
    return f"{number:,.1f} GB"


def is_data(name: str) -> bool:
    """Whether engines read a file of that name, relative to the input folder, as data."""
    return not any(part.startswith(_NO_DATA) and "=" not in part for part in name.split("/"))


def _opened(path: str) -> tuple[fs.FileSystem, str]:
    scheme = path.partition("://")[0]
    known = path.replace(f"{scheme}://", "s3://", 1) if scheme in ("s3a", "s3n") else path  # Hadoop's names of one store
    try:
        return fs.FileSystem.from_uri(known)
    except (OSError, ValueError, pa.ArrowException) as error:
        told = str(error).splitlines()[0][:200]
        raise StorageUnknown(f"{path}: this storage cannot be opened: {told}; see ARCHITECTURE.md, Publishing") from error


def _replace(path: str, content: bytes, durable: bool) -> None:
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    new = path + ".new"
    with open(new, "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(new, path)
    if durable:
        _sync(folder)


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
