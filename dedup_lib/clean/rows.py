"""The rows of a dump as input of a run: an id for each, and columns whose names the result leaves free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, IntegralType, StringType

from dedup_lib.dump.options import ERROR, FILE, OFFSET, ROW
from dedup_lib.schemas import DOCUMENTS, DROPPED, QUARANTINE
from dedup_lib.tables import quoted

DOC_ID = "doc_id"


def free_names(columns: Sequence[str]) -> dict[str, str]:
    """New names for the columns whose own the result needs: the old name and as many ``_`` as it takes."""
    taken = {DOC_ID, *(name for table in (DOCUMENTS, DROPPED, QUARANTINE) for name in table.names)}
    found: dict[str, str] = {}
    for name in columns:
        new = name
        while new in taken or (new != name and new in columns):
            new += "_"
        if new != name:
            found[name] = new
    return found


def renamed(frame: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """The frame with some columns renamed."""
    return frame.select(*[F.col(quoted(name)).alias(names.get(name, name)) for name in frame.columns])


def with_ids(rows: DataFrame, id_column: str | None) -> tuple[DataFrame, str]:
    """The rows with ``doc_id``, and why that is not the id column's value, as a sentence ('' if it is).

    Without a column of whole numbers or text that tells all rows apart, the id is the row's number in the table; where files
    are packed and the number is not known, the file's name and the row's offset.
    """
    place = (
        F.coalesce(F.col(ROW).cast("string"), F.concat_ws(":", FILE, F.col(OFFSET).cast("string")))
        if ROW in rows.columns
        else None
    )
    why = _why_not(rows, id_column)
    if not why:
        own = F.col(quoted(id_column)).cast("string")
        made = own if place is None else F.coalesce(own, F.concat(F.lit("at "), place))
    elif place is None:
        return rows.withColumn(DOC_ID, F.lit(None).cast("string")), f"{why}; doc_id is made from the row's content"
    else:
        made = place
        why += "; doc_id is the row's number in the table, from 0"
    return rows.select(made.alias(DOC_ID), *[F.col(quoted(name)) for name in rows.columns]), why


def _why_not(rows: DataFrame, id_column: str | None) -> str:
    if id_column is None:
        return "the table has no id column"
    if not isinstance(rows.schema[id_column].dataType, (IntegralType, StringType, DecimalType)):
        return f"the id column {id_column} holds neither whole numbers nor text"
    read = rows.where(F.col(ERROR).isNull()) if ERROR in rows.columns else rows
    counted = read.groupBy(F.col(quoted(id_column)).cast("string").alias("id")).count()
    wrong = counted.where("count > 1 OR id IS NULL").orderBy("id").limit(1).collect()
    if not wrong:
        return ""
    return f"the id column {id_column} has the value {wrong[0]['id']!r} in {wrong[0]['count']:,} rows"
