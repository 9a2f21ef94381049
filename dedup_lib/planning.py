"""What a run would do, without doing it."""

from __future__ import annotations

from pyspark.sql import SparkSession

from dedup_lib import metrics, room
from dedup_lib.checks import check_settings, checked_columns
from dedup_lib.config import Config
from dedup_lib.files import Folder
from dedup_lib.nightly import known_facts
from dedup_lib.publishing import now
from dedup_lib.resume import How, begin
from dedup_lib.stages.candidates import meetings
from dedup_lib.unreadable import load


def plan(session: SparkSession, config: Config, run_id: str | None = None, how: How = How()) -> list[str]:  # noqa: B008
    """Lines to read: checks settings and input, writes nothing. Raises what ``rebuild`` would raise for them."""
    check_settings(config)
    raw, bad = load(session, config.input.path, config.input.format)
    columns = checked_columns(raw, config)
    rows = raw.count()
    said: list[str] = []
    known = known_facts(config, said.append)
    start = begin(Folder(config.output.path), known, "new", run_id, now(), how, said.append)
    begins = "nothing to do: the published run has this result" if start.unchanged else "; ".join(said) or "a new run"
    lines = [
        f"engine            {config.model_dump(include={'engine'})['engine']}",
        f"input             {', '.join(config.input.path)}: {rows:,} rows, columns {', '.join(raw.columns)}",
        f"id                {columns.doc_id or 'none: made from the content of each row'}",
        f"priority          {columns.publish_time or 'no publication time'}, then length, then id",
        f"output            {config.output.path} (settings {config.fingerprint()})",
        f"begins            {begins}",
    ]
    lines += [f"unreadable        {found.file}: {found.reason}" for found in bad]
    if needed := room.estimate(config, rows):
        lines.append(f"room              {needed.line()}")
    for name, chances in metrics.thresholds(config, meetings(config, rows)).items():
        lines.append(f"profile {name:<10}" + ", ".join(f"{key} {value}" for key, value in chances.items()))
    return lines
