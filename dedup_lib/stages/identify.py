"""Input rows -> rows with one id each.

A row travels as ``raw`` (a struct of all input columns, untouched, so that no column name of ours can meet one of theirs),
``doc_id``, ``profile`` and ``copy``: 1 for the row that owns its id, more for later rows with the same id, 0 for a row without
an id in a column that cannot hold a made one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from dedup_lib.config import Columns
from dedup_lib.kernels.pages import Pages, readable
from dedup_lib.kernels.times import to_micros
from dedup_lib.tables import quoted

MADE_ID_LENGTH = 24
_EXTRA = [
    StructField("digest", StringType()),
    StructField("published", LongType()),
    StructField("length", IntegerType()),
]


def raw_rows(raw: DataFrame, id_column: str | None, profile_column: str | None, profile: str) -> DataFrame:
    """``raw``, ``doc_id`` (null where the input has none) and ``profile`` for each input row."""
    doc_id = _field(id_column).cast("string") if id_column else F.lit(None).cast("string")
    named = _field(profile_column).cast("string") if profile_column else F.lit(None).cast("string")
    whole = raw.select(F.struct(*[F.col(quoted(name)) for name in raw.columns]).alias("raw"))
    return whole.select("raw", doc_id.alias("doc_id"), F.coalesce(named, F.lit(profile)).alias("profile"))


def _field(name: str) -> F.Column:
    return F.col("raw").getField(name)


def shared_ids(rows: DataFrame) -> DataFrame:
    """The ids that several rows have, and null if any row has none."""
    counted = rows.groupBy("doc_id").agg(F.count("*").alias("rows"))
    return counted.where((F.col("rows") > 1) | F.col("doc_id").isNull()).select("doc_id")


def distinct_ids(rows: DataFrame, shared: DataFrame, columns: Columns, pages: Pages) -> DataFrame:
    """Give each row an id of its own or a ``copy`` number above 1; ``shared`` are the ids to look at.

    A row without an id gets the hash of all its columns, and equal rows without ids a number behind it, unless its id
    column is not of text. Of several rows
    with one given id the first by priority owns it. Every tie is broken by the row's content, never by its position.
    """
    named = rows.where(F.col("doc_id").isNotNull())
    clean = named.join(shared, "doc_id", "left_anti")
    doubtful = named.join(shared, "doc_id", "left_semi").unionByName(rows.where(F.col("doc_id").isNull()))
    schema = StructType([*doubtful.schema.fields, *_EXTRA])
    id_column = columns.doc_id
    described = doubtful.mapInArrow(partial(_describe, columns=columns.model_dump(), pages=pages), schema)
    made = F.substring("digest", 1, MADE_ID_LENGTH)
    same = Window.partitionBy(F.coalesce("doc_id", made), F.col("doc_id").isNull()).orderBy(
        F.col("published").asc_nulls_last(), F.col("length").desc(), "digest"
    )
    numbered = described.withColumn("copy", F.row_number().over(same))
    suffix = F.when(F.col("copy") > 1, F.concat(F.lit("-"), F.col("copy").cast("string"))).otherwise("")
    taken = named.select(F.col("doc_id").alias("given")).distinct()  # an earlier run's made ids may be given ids here
    numbered = numbered.join(taken, F.col("doc_id").isNull() & (F.concat(made, suffix) == F.col("given")), "left")
    suffix = F.concat(suffix, F.when(F.col("given").isNotNull(), "-made").otherwise(""))
    settled = numbered.select(
        "raw",
        F.coalesce("doc_id", F.concat(made, suffix)).alias("doc_id"),
        "profile",
        F.when(F.col("doc_id").isNull(), int(id_column is None or can_hold_made_ids(rows, id_column)))
        .otherwise(F.col("copy"))
        .cast("int")
        .alias("copy"),
    )
    return clean.withColumn("copy", F.lit(1)).unionByName(settled)


def can_hold_made_ids(rows: DataFrame, id_column: str) -> bool:
    """Whether the input's id column is of text."""
    return isinstance(rows.schema["raw"].dataType[id_column].dataType, StringType)


def _describe(batches: Iterator[pa.RecordBatch], columns: Mapping[str, str | None], pages: Pages) -> Iterator[pa.RecordBatch]:
    """Add what orders rows of one id: a digest of all columns, the publication time, the length."""
    for batch in batches:
        raw = batch.column("raw")
        digests = pa.array([_digest(row) for row in raw.to_pylist()], pa.string())
        names = {field.name for field in raw.type}
        given = {role: pc.struct_field(raw, name) for role, name in columns.items() if name in names}
        published = to_micros(given["publish_time"]) if "publish_time" in given else pa.nulls(len(raw), pa.int64())
        texts = readable(given["content"], given.get("charset"), given.get("source"), pages).texts
        lengths = pc.fill_null(pc.utf8_length(texts), 0).cast(pa.int32())
        names = [*batch.schema.names, *(field.name for field in _EXTRA)]
        yield pa.RecordBatch.from_arrays([*batch.columns, digests, published, lengths], names=names)


def _digest(row: dict[str, object]) -> str:
    return hashlib.sha1(json.dumps(row, sort_keys=True, default=str).encode()).hexdigest()
