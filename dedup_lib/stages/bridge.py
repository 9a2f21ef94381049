"""From kernels to tables: run a function on Arrow batches inside the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.schemas import Column, Table

_ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "tinyint": pa.int8(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "array<bigint>": pa.list_(pa.int64()),
    "array<string>": pa.list_(pa.string()),
}
BROADCAST_ROWS = 500_000  # of ids and measures: about 100 MB on each worker
# What kernels are given at a time. A few megabytes stay in a processor's cache, where they are a quarter faster than engines'
# own batches of 8,192 articles; what a kernel holds beside its input is a small multiple of it.
BATCH_BYTES = 4 * 2**20
BatchFunction = Callable[[pa.RecordBatch], Mapping[str, object]]


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow form of a table's columns."""
    return pa.schema([(column.name, _ARROW[column.type]) for column in columns])


def map_batches(frame: DataFrame, table: Table, function: BatchFunction) -> DataFrame:
    """Apply ``function`` to Arrow batches of bounded size; it returns the columns of ``table`` by name, one array for each."""
    schema = arrow_schema(table.columns)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in pieces(batch):
                yield to_batch(function(piece), schema)

    return frame.mapInArrow(run, table.ddl)


def pieces(batch: pa.RecordBatch, size: int = BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """Pieces of a batch of about so many bytes, at least one row each; of an empty batch none."""
    rows = max(batch.num_rows * size // max(batch.nbytes, 1), 1)
    return (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def map_partitions(frame: DataFrame, table: Table, function: BatchFunction) -> DataFrame:
    """Apply ``function`` to each partition as one batch. For narrow tables, repartitioned so that a partition is small."""
    schema = arrow_schema(table.columns)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if parts:
            yield to_batch(function(pa.Table.from_batches(parts).combine_chunks().to_batches()[0]), schema)

    return frame.mapInArrow(run, table.ddl)


def to_batch(columns: Mapping[str, object], schema: pa.Schema) -> pa.RecordBatch:
    """Columns by name (Arrow or numpy arrays, or lists) as one batch of exactly this schema."""
    return pa.RecordBatch.from_arrays([_array(columns[field.name], field.type) for field in schema], schema=schema)


def _array(values: object, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return values if values.type == kind else values.cast(kind)
    return pa.array(values, kind)


def packed(values: pa.Array, kind: str) -> np.ndarray:
    """Binary values of equal length, none null, as numbers of a kind ("<u4"): a row for each value."""
    if not len(values):
        return np.empty((0, 0), kind)
    size = len(values[0].as_py())
    fixed = values.cast(pa.binary(size))
    return np.frombuffer(fixed.buffers()[1], np.uint8)[fixed.offset * size :][: len(fixed) * size].reshape(-1, size).view(kind)


def by_profile(
    profiles: pa.Array, settings: Mapping[str, object], function: Callable[..., tuple], outputs: int
) -> tuple[pa.Array, ...]:
    """Call ``function(settings of a profile, row numbers)`` for each profile of a batch and put the rows back in order.

    Row numbers are None where one profile has all rows.
    """
    names = pc.unique(profiles).to_pylist()
    if len(names) == 1:
        return function(settings[names[0]], None)
    parts, order = [], []
    for name in names:
        rows = np.flatnonzero(pc.equal(profiles, name).to_numpy(zero_copy_only=False))
        parts.append(function(settings[name], pa.array(rows)))
        order.append(rows)
    back = pa.array(np.argsort(np.concatenate(order)))
    return tuple(pa.chunked_array([part[i] for part in parts]).combine_chunks().take(back) for i in range(outputs))


def small(frame: DataFrame, rows: int) -> DataFrame:
    """The frame, marked to be sent to every worker if it has few rows, so that the wide table it meets stays where it is."""
    return F.broadcast(frame) if rows <= BROADCAST_ROWS else frame
