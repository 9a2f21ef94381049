"""The content of input rows as people and kernels read it: bytes decoded, a page's body alone."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Columns, Config
from dedup_lib.kernels.pages import Pages, readable
from dedup_lib.schemas import DOC_ID, Column, Table
from dedup_lib.stages.bridge import map_batches

_READABLE = Table(
    "readable",
    "rows for people to read",
    (DOC_ID, Column("title", "string", "as in the input"), Column("text", "string", "content: bytes decoded, of pages the body")),
)


def pages_of(config: Config) -> Pages:
    """The settings of pages as plain values."""
    return Pages(**config.input.pages.model_dump())


def raw_contents(rows: DataFrame, columns: Columns) -> list[F.Column]:
    """``content``, ``charset`` and ``source`` out of ``raw``; null where the input has no such column."""
    content = F.col("raw").getField(columns.content).alias("content")
    return [content, _text(rows, columns, "charset"), _text(rows, columns, "source")]


def readable_rows(rows: DataFrame, config: Config) -> DataFrame:
    """``doc_id``, ``title`` and ``text`` of input rows."""
    columns = config.input.columns
    narrow = rows.select("doc_id", _text(rows, columns, "title"), *raw_contents(rows, columns))
    return map_batches(narrow, _READABLE, partial(_read_batch, pages=pages_of(config)))


def _text(rows: DataFrame, columns: Columns, role: str) -> F.Column:
    name = getattr(columns, role)
    present = name in rows.schema["raw"].dataType.fieldNames()
    return (F.col("raw").getField(name) if present else F.lit(None)).cast("string").alias(role)


def _read_batch(batch: pa.RecordBatch, pages: Pages) -> dict[str, pa.Array]:
    texts = readable(batch.column("content"), batch.column("charset"), batch.column("source"), pages).texts
    return {"doc_id": batch.column("doc_id"), "title": batch.column("title"), "text": texts}
