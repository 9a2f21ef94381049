"""The verdict table as a file that grows: read, merged with new judgements by an explicit rule, written in one step."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from dedup_lib.diff import visible
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.schemas import NEEDED_OF_A_VERDICT, VERDICTS
from dedup_lib.stages.verdicts import DUPLICATE, KNOWN, PROTECT

_SCHEMA = pa.schema([(name, pa.timestamp("us", "UTC") if name == "judged_at" else pa.string()) for name in VERDICTS.names])
_UNDATED = datetime.min.replace(tzinfo=UTC)


class Judgement(NamedTuple):
    """A row of the verdict table."""

    doc_id: str
    other_id: str | None
    verdict: str
    judged_by: str | None = None
    judged_at: datetime | None = None

    @property
    def about(self) -> tuple[str, ...]:
        """What is judged: two rows in either order, or one row that is protected."""
        return (self.doc_id,) if self.verdict == PROTECT else tuple(sorted((self.doc_id, self.other_id or "")))

    def told(self) -> str:
        """The judgement in words."""
        by = f" by {visible(self.judged_by)}" if self.judged_by else ""
        when = f" on {self.judged_at:%Y-%m-%d %H:%M}" if self.judged_at else ""
        return f"{self.verdict}{by}{when}"


class Conflict(NamedTuple):
    """Two judgements that cannot both hold."""

    first: Judgement
    second: Judgement

    def told(self) -> str:
        """The conflict in words, by the rows' names."""
        rows = " / ".join(visible(name[:60]) for name in max(self.first.about, self.second.about, key=len))
        return f"{rows}: {self.first.told()}, but {self.second.told()}"


class Merged(NamedTuple):
    """``rows``: the table after it; ``added``: new rows in it; ``known``: judgements that it held already."""

    rows: list[Judgement]
    added: int
    known: int
    conflicts: list[Conflict]


def merge(table: Sequence[Judgement], new: Iterable[Judgement]) -> Merged:
    """Append judgements. Of two that contradict each other the later one stays, of two of one time the one read last.

    Contradictory are two answers to one pair, and a duplicate whose ``doc_id`` (the row that would be dropped) is protected.
    Whether conflicts are acceptable is the caller's decision.
    """
    held = {row.about: row for row in table}
    added: dict[tuple[str, ...], Judgement] = {}
    known, conflicts = 0, []
    for row in sorted(new, key=_time):
        rivals = [other for other in _rivals(row, held) if other.verdict != row.verdict]
        if not rivals and row.about in held:
            known += 1
            continue
        conflicts += [Conflict(other, row) for other in rivals]
        if any(_time(other) > _time(row) for other in rivals):
            continue
        for other in rivals:
            held.pop(other.about)
            added.pop(other.about, None)
        held[row.about] = added[row.about] = row
    return Merged(list(held.values()), len(added), known, conflicts)


def _rivals(row: Judgement, held: dict[tuple[str, ...], Judgement]) -> list[Judgement]:
    """Rows of the table that say something else about the same, or of which one protects what the other drops."""
    found = [held[row.about]] if row.about in held else []
    if row.verdict == DUPLICATE and (row.doc_id,) in held:
        found.append(held[(row.doc_id,)])
    elif row.verdict == PROTECT:
        found += [other for other in held.values() if other.verdict == DUPLICATE and other.doc_id == row.doc_id]
    return found


def _time(row: Judgement) -> datetime:
    return row.judged_at or _UNDATED


def read_table(path: str) -> list[Judgement]:
    """The rows of a verdict table; none where there is no file yet. Raises ``InputError`` for what is no verdict table."""
    if not os.path.exists(path):
        return []
    try:
        table = _read_csv(path) if _is_csv(path) else pq.read_table(path, schema=None)
        missing = [name for name in NEEDED_OF_A_VERDICT if name not in table.column_names]
        if missing:
            raise InputError(f"verdicts {path}: lacks the column {', '.join(missing)}")
        columns = [
            table[name].cast(_SCHEMA.field(name).type)
            if name in table.column_names
            else pa.nulls(len(table), _SCHEMA.field(name).type)
            for name in _SCHEMA.names
        ]
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"verdicts {path}: cannot be read: {visible(str(error)[:200])}") from error
    rows = [Judgement(**row) for row in pa.table(columns, schema=_SCHEMA).to_pylist()]
    wrong = [row for row in rows if row.verdict not in KNOWN or not row.doc_id or not (row.other_id or row.verdict == PROTECT)]
    if wrong:
        raise InputError(
            f"verdicts {path}: {visible(str(wrong[0].doc_id))!r}, {wrong[0].verdict!r}: no verdict; correct the file"
        )
    return rows


def _is_csv(path: str) -> bool:
    return path.lower().endswith(".csv")


def _read_csv(path: str) -> pa.Table:
    types = {name: pa.string() if name != "judged_at" else pa.timestamp("us", "UTC") for name in VERDICTS.names}
    options = arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    return arrow_csv.read_csv(path, parse_options=arrow_csv.ParseOptions(newlines_in_values=True), convert_options=options)


def check_target(path: str) -> None:
    """Raise ``ConfigError`` for a verdict table that cannot be written as one file."""
    if "://" in path or os.path.isdir(path) or not path.lower().endswith((".csv", ".parquet")):
        raise ConfigError(f"--verdicts {path}: name a local file that ends in .parquet or .csv; it is made if it is not there")


def write_table(path: str, rows: Sequence[Judgement]) -> None:
    """Write the table so that a reader sees the old one or the new one. Raises ``ConfigError`` where that is not possible."""
    table = pa.Table.from_pylist([row._asdict() for row in rows], _SCHEMA)
    new = Path(path + ".new")
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        if _is_csv(path):
            new.write_text(_csv_text(table), encoding="utf-8")
        else:
            pq.write_table(table, new)
        os.replace(new, path)
    except OSError as error:
        raise ConfigError(f"--verdicts {path}: cannot be written: {error.strerror}") from None


def _csv_text(table: pa.Table) -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows([_cell(value) for value in row.values()] for row in table.to_pylist())
    return file.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if isinstance(value, datetime) else value
