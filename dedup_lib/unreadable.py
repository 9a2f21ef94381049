"""Input files that cannot be read: found, named with the reason, left out, and counted.

Footers of local Parquet files are looked at before a run. Pages are decoded a second time only when the engine failed, and types
are compared only when it could not merge them, so a healthy input costs nothing. Files of lines are decoded once before the run.
What is left out is a line of ``quarantine`` for each file; how many rows it stands for is taken from its footer, or guessed from
its size.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from dedup_lib.errors import InputError, redacted
from dedup_lib.schemas import Column, Table
from dedup_lib.store import data_files, existing, read_input

UNREADABLE = Table(
    "unreadable",
    "input files that could not be read",
    (
        Column("file", "string", "its path"),
        Column("reason", "string", "what is wrong with it"),
        Column("rows", "bigint", "rows in it by its footer, else guessed from its size"),
    ),
)
_NAMED = 3
_THREADS = 8
_PIECE = 1 << 20
# What engines do not read, or not alike; a file may hold it and be whole.
_STRANGE = (
    pa.types.is_unsigned_integer, pa.types.is_dictionary, pa.types.is_float16, pa.types.is_decimal256, pa.types.is_time,
    pa.types.is_duration, pa.types.is_fixed_size_binary, lambda kind: pa.types.is_timestamp(kind) and kind.unit == "ns",
)  # fmt: skip


_WIDE_ENOUGH = {
    "uint8": ("smallint", "int", "bigint"), "uint16": ("int", "bigint"), "uint32": ("bigint",), "uint64": ("decimal(20,0)",),
}  # fmt: skip


class Bad(NamedTuple):
    """A file that is left out; ``rows``: how many it holds, None where that cannot be told."""

    file: str
    reason: str
    rows: int | None = None


class Loaded(NamedTuple):
    """The rows of the readable files, and the files that are not."""

    frame: DataFrame
    bad: list[Bad]


def load(session: SparkSession, paths: Sequence[str], kind: str, known: Sequence[Bad] = ()) -> Loaded:
    """The input without the files that cannot be read; ``known`` were found before.

    Raises ``InputError`` where no file is left, or one cannot be left out.
    """
    if any("://" in path for path in paths):
        return Loaded(read_input(session, paths, kind), [])
    if kind != "parquet":
        if kind in ("json", "csv"):
            _check_text(data_files(paths), kind)
        return Loaded(read_input(session, paths, kind), [])
    files = data_files(paths)
    bad = {found.file: found for found in (*_checked(files, _footer), *known)}
    try:
        frame = read_input(session, _without(paths, bad), kind)
        _check_width(frame, [file for file in files if file not in bad])
        return Loaded(frame, _sized(bad, files))
    except InputError as error:
        whole = [file for file in files if file not in bad]
        others = {found.file: found for found in _outvoted(whole) or _checked(whole, _pages)}
        if not others:
            raise InputError(f"{error}{_strange(whole)}") from None
        bad |= others
    return Loaded(read_input(session, _without(paths, bad), kind), _sized(bad, files))


def _check_text(files: Sequence[str], kind: str) -> None:
    """Raise ``InputError`` for a file of lines that is no UTF-8: engines put other characters in its place and say nothing."""
    for file in files:
        decoder, at = getincrementaldecoder("utf-8")(), 0
        try:
            with pa.input_stream(file, compression="detect") as stream:
                while piece := stream.read(_PIECE):
                    decoder.decode(piece)
                    at += len(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise InputError(
                f"input {file}: cannot be read as {kind}: byte {at + error.start:,} or one near it is no UTF-8; convert the file "
                "(iconv -f GB18030 -t UTF-8), or give the texts as bytes in Parquet, whose character set is found for each"
            ) from None
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"input {file}: cannot be read as {kind}: {_told(error)}") from None


def damaged(paths: Sequence[str], kind: str) -> list[Bad]:
    """The files with pages that cannot be decoded, or text that is no UTF-8: reads every local Parquet file."""
    if kind != "parquet" or any("://" in path for path in paths):
        return []
    return _checked(data_files(paths), _pages)


def table(session: SparkSession, bad: Sequence[Bad]) -> DataFrame:
    """What was left out as a table."""
    return session.createDataFrame(list(map(tuple, bad)), UNREADABLE.ddl) if bad else UNREADABLE.empty(session)


def _without(paths: Sequence[str], bad: dict[str, Bad]) -> list[str]:
    """Paths that name the same files but the bad ones. Folders of partitions are named whole, since they hold columns."""
    if not (kept := [file for file in data_files(paths) if file not in bad]):
        named = "; ".join(f"{found.file}: {found.reason}" for found in list(bad.values())[:_NAMED])
        raise InputError(f"input {', '.join(paths)}: cannot be read as parquet: {named or 'no file in it'}")
    places = [place for path in paths for place in existing(path)]
    partitioned = any("=" in os.path.relpath(file, place) for place in places if os.path.isdir(place) for file in kept)
    if not partitioned:
        return [_literal(file) for file in kept]
    if bad:
        named = "; ".join(f"{found.file}: {found.reason}" for found in list(bad.values())[:_NAMED])
        raise InputError(
            f"input {', '.join(paths)}: cannot be read as parquet: {named}; "
            "files in folders of partitions cannot be left out: move them away or write them anew"
        )
    return list(paths)


def _literal(file: str) -> str:
    """A file name as a glob that matches it alone: engines take every path for one."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in file)


def _checked(files: Sequence[str], check: Callable[[str], Bad | None]) -> list[Bad]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return [found for found in pool.map(check, files) if found]


def _footer(file: str) -> Bad | None:
    try:
        with pq.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            twice = [name for name, times in Counter(names).items() if times > 1]
            return Bad(file, f"column {twice[0]!r} stands twice", opened.metadata.num_rows) if twice else None
    except FileNotFoundError:
        raise InputError(f"input file {file}: was deleted while the run began; start it again") from None
    except (OSError, pa.ArrowException) as error:
        return Bad(file, _told(error))


def _pages(file: str) -> Bad | None:
    """A file of which a page cannot be decoded."""
    rows = None
    try:
        with pq.ParquetFile(file) as opened:
            rows = opened.metadata.num_rows
            for batch in opened.iter_batches(batch_size=1024):
                batch.validate(full=True)
    except FileNotFoundError:
        raise InputError(f"input file {file}: was deleted while it was read; start again") from None
    except (OSError, pa.ArrowException) as error:
        return Bad(file, _told(error), rows)
    return None


def _told(error: Exception) -> str:
    return redacted(str(error).splitlines()[0] if str(error) else type(error).__name__)[:200]


def _outvoted(files: Sequence[str]) -> list[Bad]:
    """Files with a column of another type than most rows have it; of equally many, than the first file has it."""
    schemas = {file: (pq.read_schema(file), pq.read_metadata(file).num_rows) for file in files}
    votes: dict[str, Counter[str]] = {}
    for schema, rows in schemas.values():
        for field in schema:
            votes.setdefault(field.name, Counter())[str(field.type)] += rows
    usual = {name: counted.most_common(1)[0][0] for name, counted in votes.items()}
    found = []
    for file, (schema, rows) in schemas.items():
        others = [field for field in schema if str(field.type) != usual[field.name]]
        if others:
            field = others[0]
            found.append(Bad(file, f"column {field.name!r} is {field.type}, in most rows {usual[field.name]}", rows))
    return found


def _check_width(frame: DataFrame, files: Sequence[str]) -> None:
    """Raise ``InputError`` if the engine takes unsigned numbers for signed ones of their width: large ones would not fit."""
    taken = {field.name: field.dataType.simpleString() for field in frame.schema}
    for file in files:
        for field in pq.read_schema(file):
            if str(field.type) in _WIDE_ENOUGH and taken.get(field.name) not in _WIDE_ENOUGH[str(field.type)]:
                raise InputError(f"input {file}: cannot be read as parquet")


def _strange(files: Sequence[str]) -> str:
    """Columns whose type explains why an engine does not read the files, and what to do."""
    for file in files:
        for field in pq.read_schema(file):
            if any(is_strange(field.type) for is_strange in _STRANGE):
                advice = "write it as a signed integer, a string, or a timestamp in microseconds"
                return f"; in {file} column {field.name!r} is {field.type}: {advice}"
    return ""


def _sized(bad: dict[str, Bad], files: Sequence[str]) -> list[Bad]:
    """The bad files in order; rows that no footer tells are guessed from the size, by what the readable files hold."""
    if all(found.rows is not None for found in bad.values()):
        return sorted(bad.values())
    whole = [file for file in files if file not in bad]
    rows = sum(pq.read_metadata(file).num_rows for file in whole)
    per_byte = rows / max(sum(map(os.path.getsize, whole)), 1)
    guess = partial(_guess, per_byte=per_byte)
    return sorted((found if found.rows is not None else guess(found) for found in bad.values()), key=lambda found: found.file)


def _guess(found: Bad, per_byte: float) -> Bad:
    return found._replace(rows=max(round(os.path.getsize(found.file) * per_byte), 1))
