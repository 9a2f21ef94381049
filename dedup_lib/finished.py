"""Finished runs as the material of other jobs: the store and settings of a run, its rows, labels given for them."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.errors import InputError
from dedup_lib.kernels.normalize import NORMALIZER_VERSION
from dedup_lib.schemas import DROPPED
from dedup_lib.stages.identify import raw_rows
from dedup_lib.store import RunStore, current_run, read_input
from dedup_lib.tables import quoted


def label_frame(session: SparkSession, path: str) -> DataFrame:
    """Labels or verdicts as a table, from Parquet or CSV."""
    return read_input(session, [path], "csv" if path.lower().endswith(".csv") else "parquet")


def finished_run(session: SparkSession, folder: str) -> tuple[RunStore, Config]:
    """The store and the settings of a run, given by its folder or by the folder of runs (then the published one).

    Raises ``InputError`` when there is none, or when it was made by a version whose texts this one does not reproduce.
    """
    if os.path.isdir(os.path.join(folder, "runs")):
        store = RunStore(session, folder, current_run(folder))
    else:
        path = Path(os.path.abspath(folder))
        store = RunStore(session, str(path.parent.parent), path.name)
        if path.parent.name != "runs":
            raise InputError(f"run {folder}: not the folder of a run (OUTPUT/runs/RUN_ID), nor one with runs")
    manifest = store.read_json("manifest.json")
    if manifest["normalizer_version"] != NORMALIZER_VERSION:
        raise InputError(
            f"run {folder}: its texts were normalised by version {manifest['normalizer_version']}, this is version "
            f"{NORMALIZER_VERSION}; make the run again"
        )
    try:
        return store, Config.model_validate(manifest["settings"])
    except ValidationError as error:
        raise InputError(f"run {folder}: made with other settings than this version knows; make the run again") from error


def rows_of_run(store: RunStore, config: Config) -> DataFrame:
    """``raw``, ``doc_id`` and ``profile`` of every row that owns its id, wherever it ended."""
    own = {"documents": None, "dropped": None, "quarantine": "reason != 'duplicate_id'"}
    names = [name for name in store.table("dropped").columns if name not in DROPPED.names]
    parts = []
    for name, condition in own.items():
        table = store.table(name)
        parts.append((table.where(condition) if condition else table).select(*map(quoted, names)))
    whole = parts[0].unionByName(parts[1]).unionByName(parts[2])
    id_column = config.input.columns.doc_id if config.input.columns.doc_id in names else "doc_id"
    rows = raw_rows(whole, id_column, config.input.profile_column, config.profile)
    return rows.where(F.col("profile").isin(list(config.profiles)))
