"""Whether there is room for a run, said before it starts: disk for its tables and, embedded, memory for its engine.

The figures per byte and row were measured (ARCHITECTURE.md, "How it grows") on texts that compress badly; a run needs less
rather than more.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.config import Config
from dedup_lib.errors import ConfigError, DedupError, no_room
from dedup_lib.files import sized
from dedup_lib.store import data_files

DISK_PER_TEXT = 2.2  # bytes of a run's tables, work tables among them, for each byte of text in the input
DISK_PER_ROW = 1_200  # and for each row: hashes and signatures, candidate pairs
MEMORY_AT_REST = 1.5e9  # the embedded engine with compiled kernels, dictionaries and batches on their way
MEMORY_PER_TEXT = 4.0
PACKED = 5  # bytes of text in a byte of a compressed JSON or CSV file
FOOTERS = 50  # Parquet files whose footers are read; the others are taken to be like them
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class Room(NamedTuple):
    """Bytes that a run needs and those that are there; None: not known, or not this machine's."""

    disk_needed: int
    disk_free: int | None
    memory_needed: int | None
    memory_free: int | None

    def line(self) -> str:
        """What is said before the start."""
        parts = [("disk", self.disk_needed, self.disk_free), ("memory", self.memory_needed, self.memory_free)]
        told = [
            f"{sized(need)} of {name} ({sized(free)} free)" for name, need, free in parts if need is not None and free is not None
        ]
        return "needs about " + ", ".join(told)


def estimate(config: Config, rows: int) -> Room | None:
    """The room for so many rows of the configured input. None where its size is not known: no local files."""
    text = text_bytes(config.input.path, config.input.format)
    if text is None:
        return None
    embedded = config.engine == "embedded"
    return Room(
        int(text * DISK_PER_TEXT + rows * DISK_PER_ROW),
        _free_disk(config.output.path),
        int(MEMORY_AT_REST + text * MEMORY_PER_TEXT) if embedded else None,
        free_memory() if embedded else None,
    )


def secure(config: Config, rows: int, say: Callable[[str], None]) -> dict[str, int | None]:
    """Say what a run of so many rows needs, and return it. Raises ``ConfigError`` unless it is there or nobody wants to know."""
    needed = estimate(config, rows)
    if needed is None:
        return {}
    say(needed.line())
    if config.output.check_room:
        check(needed, config)
    return {"disk_needed": needed.disk_needed, "memory_needed": needed.memory_needed}


def check(room: Room, config: Config) -> None:
    """Raise ``ConfigError`` where a run would end for want of room."""
    anyway = "or, where you know better, --set output.check_room=false"
    if room.disk_free is not None and room.disk_needed > room.disk_free:
        raise ConfigError(
            f"output {config.output.path}: the tables of this run need about {sized(room.disk_needed)}, "
            f"{sized(room.disk_free)} are free; choose another folder, remove old runs, {anyway}"
        )
    if room.memory_needed is not None and room.memory_needed > room.memory_free:
        raise ConfigError(
            f"engine embedded: this corpus needs about {sized(room.memory_needed)} of memory, {sized(room.memory_free)} are "
            f"free; use --engine spark, whose memory does not grow with the corpus, a larger machine, {anyway}"
        )


@contextmanager
def watched(config: Config) -> Iterator[None]:
    """Turn what a full or unwritable disk makes of a run into a ``DedupError`` that names it."""
    try:
        yield
    except DedupError:
        raise
    except Exception as error:
        if not no_room(error):
            raise
        places = {"output": config.output.path, "temporary files": tempfile.gettempdir()}
        told = [f"{name} {place} ({_disk(place)})" for name, place in places.items()]
        raise DedupError(
            f"a disk is full or cannot be written: {', '.join(told)}; nothing was published; make room (publish.py prune removes "
            "old runs) and run it again: it goes on with what is stored"
        ) from error


def _disk(place: str) -> str:
    free = _free_disk(place)
    return "not of this machine" if free is None else f"{sized(free)} free"


def text_bytes(paths: Sequence[str], kind: str) -> int | None:
    """About how many bytes of text local files hold. None for files elsewhere, or that cannot be read."""
    if any("://" in path for path in paths):
        return None
    try:
        files = data_files(paths)
        sizes = [os.path.getsize(file) for file in files]
        if kind != "parquet":
            packed = (".gz", ".bz2", ".zst", ".zip")
            return sum(size * (PACKED if file.endswith(packed) else 1) for file, size in zip(files, sizes, strict=True))
        step = -(-len(files) // FOOTERS) or 1
        seen = [_unpacked(file) for file in files[::step]]
        return int(sum(sizes) * (sum(seen) / max(sum(sizes[::step]), 1)))
    except (OSError, pa.ArrowException):
        return None


def _unpacked(file: str) -> int:
    metadata = pq.read_metadata(file)
    return sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))


def _free_disk(output: str) -> int | None:
    if "://" in output:
        return None
    there = next(folder for folder in (Path(output).absolute(), *Path(output).absolute().parents) if folder.exists())
    return shutil.disk_usage(there).free


def free_memory() -> int:
    """Bytes that this process may still take: of the machine, or of its container if that has a limit."""
    free = psutil.virtual_memory().available
    for file in _CGROUPS:
        try:
            limit = Path(file).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, int(limit) - psutil.Process().memory_info().rss)
    return free


def taken(folder: str, engine: str) -> dict[str, int]:
    """Bytes on disk of a local run with its work tables, and the most memory that an embedded engine took (Linux, macOS)."""
    found = {}
    if "://" not in folder:
        found["disk_used"] = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    if engine == "embedded":
        unit = 1 if sys.platform == "darwin" else 1024
        found["memory_used"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return found
