"""What must hold of settings and input before a run begins."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame

from dedup_lib.config import Columns, Config
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.schemas import DOCUMENTS, DROPPED, QUARANTINE
from dedup_lib.session import CONNECT
from dedup_lib.store import check_paths


def check_settings(config: Config) -> None:
    """Raise ``ConfigError`` for paths that are missing, overlap or cannot be written."""
    for name, value in (("input.path (--input)", config.input.path), ("output.path (--output)", config.output.path)):
        if not value:
            raise ConfigError(f"{name}: not set")
    if config.engine.startswith(CONNECT):
        paths = [*config.input.path, config.output.path, *filter(None, [config.input.verdicts])]
        if relative := [path for path in paths if "://" not in path and not os.path.isabs(path)]:
            raise ConfigError(
                f"path {', '.join(relative)}: a Spark Connect server works elsewhere; write whole paths, which it sees too"
            )
    check_paths(config.input.path, config.output.path)


def checked_columns(raw: DataFrame, config: Config) -> Columns:
    """The column map, with columns that the input lacks set to None. Raises ``InputError`` for what cannot work."""
    columns = config.input.columns
    types = {field.name: field.dataType.simpleString() for field in raw.schema.fields}
    where = f"input {', '.join(config.input.path)}"
    if columns.content not in types:
        raise InputError(f"{where}: has no column {columns.content!r} (input.columns.content); it has {', '.join(types)}")
    if types[columns.content] not in ("string", "binary"):
        raise InputError(f"{where}: column {columns.content!r} is {types[columns.content]}, neither text nor bytes")
    wanted = config.input.profile_column
    if wanted and wanted not in types:
        raise InputError(f"{where}: has no column {wanted!r} (input.profile_column); it has {', '.join(types)}")
    own = {name for table in (DOCUMENTS, DROPPED, QUARANTINE) for name in table.names}
    own |= {"doc_id"} if columns.doc_id not in types else set()
    own -= {wanted}
    taken = sorted(own & set(types))
    if taken:
        raise InputError(f"{where}: column {', '.join(taken)} has a name that the result needs; rename it in the input")
    absent = {name: None for name in ("doc_id", "title", "publish_time") if getattr(columns, name) not in types}
    return columns.model_copy(update=absent)
