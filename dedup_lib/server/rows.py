"""Bytes of a server -> typed rows with flags, and for each what ``delete.sql`` needs: the reader of dumps without a dump."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dedup_lib.dump import charsets, columns, lexis
from dedup_lib.dump.columns import Cells
from dedup_lib.dump.ddl import Column
from dedup_lib.dump.deletion import Target, entries
from dedup_lib.dump.options import FLAGS
from dedup_lib.dump.scan import NULL, NUMBER, STRING
from dedup_lib.errors import InputError

DELETE = "_delete"
ZONE = "+00:00"  # of the sessions that read


def schema(title: str, own: Sequence[Column]) -> pa.Schema:
    """The table's columns, ``_flags`` as in dumps, and ``_delete``: the row's line of ``delete.sql``, null if it cannot be there.

    Raises ``InputError`` if a column of the table has the name of one of those.
    """
    if clash := sorted({column.name for column in own} & {FLAGS, DELETE}):
        raise InputError(f"table {title}: has columns {', '.join(clash)}, which the result needs; read a view with other names")
    return pa.schema([*(pa.field(column.name, column.type) for column in own), (FLAGS, pa.string()), (DELETE, pa.string())])


def typed(
    batch: pa.RecordBatch, own: Sequence[Column], target: Target | None, zone: str | None, shape: pa.Schema
) -> pa.RecordBatch:
    """A batch of bytes, a column for each of ``own``, as ``shape``. Without ``target`` nothing can be deleted."""
    flags: dict[int, list[str]] = {}
    arrays, cells = [], {}
    for column, values in zip(own, batch.columns, strict=True):
        cells[column.name] = _cells(column, values, zone)

        def flag(row: int, name: str, detail: str, column: str = column.name) -> None:
            flags.setdefault(row, []).append(f"{name}\t{column}: {detail}")

        arrays.append(columns.array(column, cells[column.name], flag))
    count = batch.num_rows
    arrays.append(pa.array(["\n".join(flags[row]) if row in flags else None for row in range(count)], pa.string()))
    arrays.append(pa.array([None] * count if target is None else entries(target, cells), pa.string()))
    cast = [array if array.type == field.type else array.cast(field.type) for array, field in zip(arrays, shape, strict=True)]
    return pa.RecordBatch.from_arrays(cast, schema=shape)


def _cells(column: Column, values: pa.Array, zone: str | None) -> Cells:
    wide = values.cast(pa.large_binary())
    _, offsets, data = wide.buffers()
    ends = np.frombuffer(offsets, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    numeric = column.declared.startswith("bit") or not (pa.types.is_string(column.type) or pa.types.is_binary(column.type) or
                                                        pa.types.is_temporal(column.type))  # fmt: skip
    valid = wide.is_valid().to_numpy(zero_copy_only=False)
    kinds = np.where(valid, NUMBER if numeric else STRING, NULL).astype(np.uint8)
    charset = charsets.BINARY if column.charset else charsets.UTF8
    return Cells(raw, np.stack([ends[:-1], ends[1:]], axis=1), kinds, lexis.rules("", True), charset, ZONE, zone)
