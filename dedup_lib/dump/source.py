"""The data source ``mysqldump`` of both engines, over the same reader.

    session.dataSource.register(MysqlDump)
    session.read.format("mysqldump").option("table", "news").load("dump.sql")

The plan is made where the session is; each of its parts is a partition. Files must be where workers can read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from dedup_lib.dump import reader
from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import Plan, Split, make_plan
from dedup_lib.errors import ConfigError

FORMAT = "mysqldump"


class Part(InputPartition):
    """One part of a dump."""

    def __init__(self, split: Split) -> None:
        super().__init__(0)
        self.split = split


class Reader(DataSourceReader):
    """Reads the parts of a plan."""

    def __init__(self, plan: Plan, options: Options, names: Sequence[str]) -> None:
        self._table, self._splits, self._options, self._names = plan.table, plan.splits, options, list(names)

    def partitions(self) -> Sequence[InputPartition]:
        """One for each part; an empty one for a table without rows."""
        return [Part(split) for split in self._splits] or [Part(Split(self._options.path, 1, 1))]

    def read(self, partition: Part) -> Iterator[pa.RecordBatch]:
        """Arrow batches of a part."""
        for batch in reader.read(partition.split, self._table, self._options):
            yield batch if batch.schema.names == self._names else batch.select(self._names)


class MysqlDump(DataSource):
    """The data source. Its options are those of ``options.Options``; a table's columns are those of its CREATE TABLE."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """The table's columns and the metadata that was asked for. Raises ``ConfigError`` and ``InputError``."""
        options = Options.of(self.options)
        return _spark_schema(make_plan(options), options)

    def reader(self, schema: StructType | pa.Schema) -> DataSourceReader:
        """A reader of the planned parts, of all columns or of some. Raises ``ConfigError`` if ``schema`` has any others."""
        options = Options.of(self.options)
        plan = make_plan(options)
        if isinstance(schema, pa.Schema):  # the embedded engine's form
            schema = from_arrow_schema(schema, prefer_timestamp_ntz=True)
        there = {field.name: field.dataType for field in _spark_schema(plan, options)}
        if wrong := [field.name for field in schema if there.get(field.name) != field.dataType]:
            raise ConfigError(f"dump schema: {', '.join(wrong)}: the table has {_spark_schema(plan, options).simpleString()}")
        return Reader(plan, options, schema.fieldNames())


def _spark_schema(plan: Plan, options: Options) -> StructType:
    return from_arrow_schema(reader.schema(plan.table, options), prefer_timestamp_ntz=True)


def read_dump(session: SparkSession, path: str, table: str, **options: object) -> DataFrame:
    """One table of a dump on either engine. Raises ``ConfigError`` or ``InputError`` in the words of the reader."""
    given = {name: str(value) for name, value in options.items() if value is not None}
    checked = Options.of({**given, "path": path, "table": table})
    schema = _spark_schema(make_plan(checked), checked)  # here, since engines wrap errors in theirs
    session.dataSource.register(MysqlDump)
    return session.read.format(FORMAT).schema(schema).options(table=table, **given).load(path)
