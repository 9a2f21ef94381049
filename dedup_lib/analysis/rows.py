"""The texts of a corpus as the pipeline compares them, from a finished run or from raw input."""

from __future__ import annotations

import os
import shutil

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.checks import checked_columns
from dedup_lib.config import Config
from dedup_lib.finished import rows_of_run
from dedup_lib.schemas import NORMALIZED
from dedup_lib.stages.contents import pages_of
from dedup_lib.stages.exact import group_exact
from dedup_lib.stages.identify import distinct_ids, raw_rows, shared_ids
from dedup_lib.stages.normalize import normalize
from dedup_lib.stages.templates import learned, without_templates
from dedup_lib.stages.verdicts import judged_ids
from dedup_lib.store import RunStore, read_input, read_verdicts

SCRATCH = "analysis"  # below a run's work tables, removed at the end


def texts_of_run(store: RunStore, config: Config) -> DataFrame:
    """``normalized`` of a run, without its templates: its work tables where it kept them, else made again by its settings."""
    if os.path.isdir(os.path.join(store.work, NORMALIZED.name)):
        done = store.session.read.parquet(os.path.join(store.work, NORMALIZED.name))
    else:
        done = normalize(rows_of_run(store, config), config)
    return _without_learned(store, NORMALIZED.conform(done.where(F.col("unusable").isNull())), config)


def _without_learned(store: RunStore, normalized: DataFrame, config: Config) -> DataFrame:
    found = store.table("templates").where("NOT vetoed").select("profile", "position", "unit").distinct().collect()
    if not found:
        return normalized
    saved = store.save(normalized, f"{SCRATCH}/normalized")
    return without_templates(saved, learned(found), config, lambda frame, name: store.save(frame, f"{SCRATCH}/{name}"))[0]


def texts_of_input(session: SparkSession, config: Config) -> DataFrame:
    """``normalized`` of raw input: no run is needed, and no templates are learned."""
    raw = read_input(session, config.input.path, config.input.format)
    columns = checked_columns(raw, config)
    rows = raw_rows(raw, columns.doc_id, config.input.profile_column, config.profile)
    shared = shared_ids(rows)
    rows = rows.withColumn("copy", F.lit(1)) if shared.isEmpty() else distinct_ids(rows, shared, columns, pages_of(config))
    usable = rows.where((F.col("copy") == 1) & F.col("profile").isin(list(config.profiles)))
    return NORMALIZED.conform(normalize(usable, config).where(F.col("unusable").isNull()))


def representatives(session: SparkSession, normalized: DataFrame, config: Config) -> DataFrame:
    """``exact``: for each row the first one that says the same, itself where ``method`` is null."""
    path = config.input.verdicts
    known = path is not None and exists(path)
    return group_exact(normalized, judged_ids(read_verdicts(session, path)) if known else None)


def exists(path: str) -> bool:
    """Whether a file is still there; of a remote one that is not known, so it is believed."""
    return "://" in path or os.path.exists(path)


def tidy(store: RunStore) -> None:
    """Remove what was stored on the way."""
    shutil.rmtree(os.path.join(store.work, SCRATCH), ignore_errors=True)
    if os.path.isdir(store.work) and not os.listdir(store.work):
        os.rmdir(store.work)
