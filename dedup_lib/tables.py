"""What a table is: a name and columns with types and meanings. The tables themselves stand in ``schemas.py``."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class Column(NamedTuple):
    """A column: its name, its type as Spark's DDL writes it, and what it means."""

    name: str
    type: str
    meaning: str


class Table(NamedTuple):
    """A named list of columns. ``raw`` says whether the input's own columns stand before them."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    raw: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the own columns, in order."""
        return [column.name for column in self.columns]

    @property
    def ddl(self) -> str:
        """The own columns as a schema string."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)

    def conform(self, frame: DataFrame) -> DataFrame:
        """Exactly this table's own columns, in order and type."""
        return frame.select(*[F.col(column.name).cast(column.type).alias(column.name) for column in self.columns])

    def empty(self, session: SparkSession) -> DataFrame:
        """A table of this kind without rows."""
        return session.createDataFrame([], self.ddl)


def quoted(name: str) -> str:
    """A column name of the user as an identifier, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"
