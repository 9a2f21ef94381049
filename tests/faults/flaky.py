"""A run whose input makes every task fail that reads it for the first time: python -m tests.faults.flaky INPUT OUTPUT"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from dedup_lib.pipeline import rebuild
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.store import RunStore, read_input
from tests.pipeline.helpers import UNREPORTED

SAID = "this task fails on its first attempt"


def failing_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, in a second attempt; the first one ends behind the first batch."""
    for batch in batches:
        yield batch
        if TaskContext.get().attemptNumber() == 0:
            raise RuntimeError(SAID)


def main(source: str, output: str) -> None:
    """Run on two cores with three more attempts for each task."""
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder.config("spark.driver.memory", "2g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    settings = load_settings(None, [f"input.path={source}", f"output.path={output}", "engine=spark", UNREPORTED])

    def given(store: RunStore) -> DataFrame:
        rows = read_input(store.session, [source], "parquet")
        return rows.mapInArrow(failing_once, rows.schema)

    with open_session("spark") as session:
        rebuild(session, settings.config, given=given)
        session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
