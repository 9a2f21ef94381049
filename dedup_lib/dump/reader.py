"""The rows of one table as Arrow batches of its columns' types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from dedup_lib.dump import columns, files
from dedup_lib.dump import options as names
from dedup_lib.dump.columns import Cells
from dedup_lib.dump.ddl import Table
from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import Split, client_for, damaged, defined
from dedup_lib.dump.walker import Damage, Rows, Statement, Walker
from dedup_lib.dump.wanted import Wanted
from dedup_lib.errors import InputError

_METADATA = {
    names.FILE: pa.string(), names.OFFSET: pa.int64(), names.END: pa.int64(), names.STATEMENT: pa.int64(), names.ROW: pa.int64(),
    names.FLAGS: pa.string(), names.ERROR: pa.string(),
}  # fmt: skip


def schema(table: Table, options: Options) -> pa.Schema:
    """The table's columns, then the metadata that was asked for. Every column may be null, whatever the definition says.

    ``_file``; ``_offset`` and ``_end``: byte range of the row ``(…)`` in the unpacked file; ``_statement``: offset of its
    statement; ``_row``: its number in the table, from 0, null if earlier files are packed; ``_flags``: what was not plainly read,
    lines of a flag, a tab, the column and a detail; ``_error``: what is wrong with the bytes from ``_offset`` to ``_end``.
    Raises ``InputError`` if a column of the table has the name of such a column.
    """
    own = [pa.field(column.name, column.type) for column in table.columns]
    if clash := {field.name for field in own} & set(options.metadata):
        raise InputError(f"table {table.title}: has columns {', '.join(clash)}, which the option metadata asks for too")
    return pa.schema([*own, *(pa.field(name, _METADATA[name]) for name in options.metadata)])


def read(split: Split, table: Table, options: Options) -> Iterator[pa.RecordBatch]:
    """The rows of a part, in order, in batches of about ``batch_bytes`` of the file and at most ``batch_rows`` rows.

    Raises ``InputError`` at damage; in the mode ``quarantine`` it becomes a row of nulls with ``_error``.
    """
    shape = schema(table, options)
    for found in split.damages:
        yield _quarantined(found, split.path, shape)
    if split.end is not None and split.start >= split.end:
        return
    wanted = Wanted(options.table, table, split.layout, split.database)
    client = client_for(split.path, options, wanted, split.setting if split.start else None)
    row = split.first_row
    with files.window(split.path, split.start, split.end) as part:
        walker = Walker(part, client, wanted.select, wanted.recount)
        walker.make_room(options.batch_rows, len(table.columns))
        walker.begin_at(split.place) if split.start else walker.begin_file()
        walker.limit = split.start + options.batch_bytes
        for event in walker.events():
            if isinstance(event, Rows):
                if event.wanted:
                    yield _batch(event, row, table, options, shape, walker, split.path)
                    row = None if row is None else row + event.count
                walker.limit = walker.offset + options.batch_bytes
            elif isinstance(event, Statement):
                if (created := defined(event, client)) is not None:
                    wanted.create(created)
            elif options.mode == names.FAIL:
                raise InputError(damaged(split.path, event, row))
            else:
                yield _quarantined(event, split.path, shape)


def _batch(
    rows: Rows, first: int | None, table: Table, options: Options, shape: pa.Schema, walker: Walker, path: str
) -> pa.RecordBatch:
    client = walker.client
    flags: dict[int, list[str]] = {}
    arrays = []
    for place, column in enumerate(table.columns):
        bounds, kinds = np.ascontiguousarray(rows.bounds[:, place]), np.ascontiguousarray(rows.kinds[:, place])
        cells = Cells(rows.data, bounds, kinds, client.rules, client.charset, client.now.zone, options.timezone)

        def flag(row: int, name: str, detail: str, column: str = column.name) -> None:
            flags.setdefault(row, []).append(f"{name}\t{column}: {detail}")

        arrays.append(columns.array(column, cells, flag))
    spans = rows.spans + rows.base
    given = {
        names.FILE: lambda: [path] * rows.count,
        names.OFFSET: lambda: spans[:, 0],
        names.END: lambda: spans[:, 1],
        names.STATEMENT: lambda: spans[:, 2],
        names.ROW: lambda: [None] * rows.count if first is None else np.arange(first, first + rows.count),
        names.FLAGS: lambda: ["\n".join(flags[row]) if row in flags else None for row in range(rows.count)],
        names.ERROR: lambda: [None] * rows.count,
    }
    arrays += [pa.array(given[name](), _METADATA[name]) for name in options.metadata]
    return pa.RecordBatch.from_arrays([_as(array, field.type) for array, field in zip(arrays, shape, strict=True)], schema=shape)


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def _quarantined(found: Damage, path: str, shape: pa.Schema) -> pa.RecordBatch:
    """A row that stands for damaged bytes."""
    known: Mapping[str, object] = {
        names.FILE: path, names.OFFSET: found.start, names.END: found.end, names.STATEMENT: found.statement,
        names.ERROR: damaged_part(path, found),
    }  # fmt: skip
    return pa.RecordBatch.from_pylist([{field.name: known.get(field.name) for field in shape}], schema=shape)


def damaged_part(path: str, found: Damage) -> str:
    """What is wrong with a damaged part, and how it begins."""
    begins = found.sample[:200].decode("utf-8", "replace")
    where = f"statement at byte {found.statement}; bytes {found.start} to {found.end}"
    return f"dump {path}: byte {found.at}: {found.problem}; {where}: {begins}"
