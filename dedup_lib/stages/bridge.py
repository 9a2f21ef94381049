"""From kernels to tables: run a function on Arrow batches inside the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame

from dedup_lib.schemas import Column, Table

_ARROW = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "tinyint": pa.int8(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
}
BatchFunction = Callable[[pa.RecordBatch], Mapping[str, object]]


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow form of a table's columns."""
    return pa.schema([(column.name, _ARROW[column.type]) for column in columns])


def map_batches(frame: DataFrame, table: Table, function: BatchFunction) -> DataFrame:
    """Apply ``function`` to each Arrow batch; it returns the columns of ``table`` by name, one array for each."""
    schema = arrow_schema(table.columns)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield to_batch(function(batch), schema)

    return frame.mapInArrow(run, table.ddl)


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
