"""Whether a result may be published: each gate has a value, levels, a verdict, a message and the rows behind it.

Values come from what the run has counted already, from its history, and from three queries: rows of each source, evidence, and
ids that stand twice. Rows are looked for only where a gate is not passed. Messages name ids and sources, never texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.comparisons import Finding, compared
from dedup_lib.config import Config
from dedup_lib.diff import visible
from dedup_lib.errors import DedupError, GateRefused, InputError
from dedup_lib.levels import Level, ShareLevel
from dedup_lib.run_history import Counts, Past
from dedup_lib.tables import quoted

PASS, WARN, FAIL, SILENT = "pass", "warn", "fail", "silent"
SHOWN = 10  # rows that are named
_LETTERS = 80  # characters of what names a row
_OF_THE_INPUT = ("empty_input", "file_age_hours", "publish_age_hours")  # exit code 4


class Judgement(NamedTuple):
    """What one gate says. ``value`` is None where it has nothing to go by; then the verdict is silent."""

    gate: str
    value: float | None
    warn: float | None
    fail: float | None
    verdict: str
    message: str
    rows: list[dict[str, Any]]


class Evidence(NamedTuple):
    """What the gates look at. ``rows``: the input rows with ``doc_id``; ``newest``: the newest publication time believed."""

    tables: Mapping[str, DataFrame]
    rows: DataFrame
    metrics: Mapping[str, Any]
    sources: Mapping[str, Counts]
    past: Sequence[Past]
    changed: Sequence[str]
    newest: datetime | None
    started: datetime
    id_column: str | None


def judge(given: Evidence, config: Config) -> list[Judgement]:
    """Ask every gate."""
    found = [_judged(finding, config) for finding in [*_absolute(given, config), *compared(given, config.gates, config)]]
    return sorted(found, key=lambda judgement: ORDER.index(judgement.gate))


def verdict_of(judgements: Sequence[Judgement]) -> str:
    """The worst verdict."""
    verdicts = {judgement.verdict for judgement in judgements}
    return next((verdict for verdict in (FAIL, WARN) if verdict in verdicts), PASS)


def refusal(judgements: Sequence[Judgement], where: str, config: Config) -> DedupError | None:
    """The error for a result that must not be published: ``InputError`` where the input alone is to blame."""
    failed = [judgement for judgement in judgements if judgement.verdict == FAIL]
    if not failed:
        return None
    if all(judgement.gate in _OF_THE_INPUT for judgement in failed):
        told = "; ".join(judgement.message for judgement in failed)
        return InputError(f"input {', '.join(config.input.path)}: {told}; nothing is published")
    told = "\n".join(f"{j.gate}: {j.message}{_named(j.rows)}" for j in failed)
    return GateRefused(f"{told}\nThe run stays in {where} (gates.json); the published result is unchanged")


def file_age(newest: int, at: datetime, config: Config) -> Judgement:
    """The freshness of the newest input file, which needs no reading. ``newest``: nanoseconds; 0 if the storage does not say."""
    hours = max(0.0, at.timestamp() - newest / 1e9) / 3600 if newest else None
    message = "" if hours is None else f"its newest file is {hours:,.1f} hours old"
    return _judged(Finding("file_age_hours", hours, message), config)


def _judged(finding: Finding, config: Config) -> Judgement:
    level: Level = getattr(config.gates, finding.gate)
    verdict, limit = PASS, None
    if finding.value is None:
        verdict = SILENT
    elif level.fail is not None and finding.value > level.fail:
        verdict, limit = FAIL, "fail"
    elif level.warn is not None and finding.value > level.warn:
        verdict, limit = WARN, "warn"
    message = finding.message
    if limit:
        shown = ".1%" if isinstance(level, ShareLevel) else "g"
        message += f" (gates.{finding.gate}.{limit} = {getattr(level, limit):{shown}})"
    rows = finding.rows() if limit and finding.rows else []
    value = None if finding.value is None else round(finding.value, 6)
    return Judgement(finding.gate, value, level.warn, level.fail, verdict, message, rows)


def _named(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows behind a verdict as words, safe for a terminal."""
    if not rows:
        return ""
    named = [
        ", ".join(f"{name} {_cut(name, visible(str(value)))}" for name, value in row.items() if value is not None) for row in rows
    ]
    return "\n  for example: " + "; ".join(named)


def _cut(name: str, value: str) -> str:
    """At most 80 characters: of a file the end, which tells it from others."""
    if len(value) <= _LETTERS:
        return value
    return f"…{value[1 - _LETTERS :]}" if name == "file" else f"{value[: _LETTERS - 1]}…"


def _absolute(given: Evidence, config: Config) -> list[Finding]:
    """The gates that need no earlier run."""
    rows, counted, gates = given.metrics["rows"], given.metrics, config.gates
    total = rows["input"]
    enough = total >= gates.min_rows

    def share(gate: str, part: int, of: int, what: str, behind: Callable[[], list[dict[str, Any]]] | None = None) -> Finding:
        return Finding(gate, part / of if of and enough else None, f"{part:,} of {of:,} {what} ({part / max(of, 1):.1%})", behind)

    undecodable = undecodable_rows(counted)
    worst = next(iter(counted["candidates"]["worst_buckets"]), {"rows": 0})
    cluster, survivor = largest_cluster(given, config)
    unread = counted.get("unreadable", {"files": 0, "rows": 0})  # a file is one line of quarantine, and many rows
    hidden = unread["rows"] - unread["files"]
    bad = rows["quarantine"] + hidden
    quarantined = _quarantined(given, config)
    return [
        Finding("empty_input", float(total == 0), f"holds {total:,} rows" if total else "holds no rows"),
        _conservation(given),
        _evidence(given),
        Finding(
            "changed_files", float(len(given.changed)), f"{len(given.changed):,} input files changed while they were read",
            lambda: [{"file": place} for place in given.changed[:SHOWN]],
        ),
        Finding(
            "quarantine_share", bad / (total + hidden) if total else 0.0,
            f"{bad:,} of {total + hidden:,} rows ({bad / max(total + hidden, 1):.1%}) could not be processed: "
            f"{counted['quarantine']}", quarantined,
        ),
        share("undecodable_share", undecodable, total, "rows have bytes of no character set", quarantined),
        share("largest_cluster", cluster, total, "rows are one cluster", lambda: [{"survivor": survivor}]),
        share(
            "hot_bucket", worst["rows"], counted["exact"]["representatives"], "texts share one bucket and are no duplicates",
            lambda: [{"doc_id": worst.get("first_doc_id"), "profile": worst.get("profile"), "kind": worst.get("kind")}],
        ),
        share("review_load", rows["review"], total, "rows are pairs for a person", lambda: _asked_most(given)),
        _publish_age(given),
    ]  # fmt: skip


def undecodable_rows(metrics: Mapping[str, Any]) -> int:
    """Rows whose bytes could not be read, wholly or in part."""
    return metrics["quarantine"].get("undecodable", 0) + metrics["flags"].get("bytes_replaced", 0)


def largest_cluster(given: Evidence, config: Config) -> tuple[int, str | None]:
    """The rows and the survivor of the largest cluster among near duplicates: half of a log may be one event."""
    near = [name for name, profile in config.profiles.items() if profile.near]
    documents = given.tables["documents"].where(F.col("profile").isin(near))
    row = documents.select("cluster_size", _id(given).alias("id")).orderBy(F.desc("cluster_size"), "id").limit(1).collect()
    return (row[0][0], row[0][1]) if row else (0, None)


def _publish_age(given: Evidence) -> Finding:
    if given.newest is None:
        return Finding("publish_age_hours", None, "no row has a publication time that can be believed")
    hours = max(0.0, (given.started - given.newest).total_seconds()) / 3600
    return Finding("publish_age_hours", hours, f"its newest publication time is {hours:,.1f} hours old")


def _conservation(given: Evidence) -> Finding:
    """Rows in and rows out, and ids that are in documents and dropped together more than once."""
    rows, tables = given.metrics["rows"], given.tables
    out = sum(rows[name] for name in ("documents", "dropped", "quarantine"))
    ids = [tables[name].select(_id(given).alias("doc_id")) for name in ("documents", "dropped")]
    twice = ids[0].union(ids[1]).groupBy("doc_id").agg(F.count("*").alias("times")).where("times > 1")
    number = twice.count()

    def behind() -> list[dict[str, Any]]:
        bad = tables["quarantine"].select(_id(given).alias("doc_id"))
        lost = given.rows.select("doc_id").join(ids[0].union(ids[1]).union(bad), "doc_id", "left_anti")
        named = [{"doc_id": row[0], "twice": True} for row in twice.select("doc_id").orderBy("doc_id").limit(SHOWN).collect()]
        return named + [{"doc_id": row[0], "lost": True} for row in lost.orderBy("doc_id").limit(SHOWN).collect()]

    message = f"{rows['input']:,} rows in, {out:,} rows out, {number:,} ids twice"
    return Finding("conservation", float(abs(rows["input"] - out) + number), message, behind)


def _evidence(given: Evidence) -> Finding:
    """Dropped rows whose line in ``pairs`` is missing, stands twice, or names another row or one that is no survivor."""
    tables = given.tables
    drops = tables["dropped"].select(_id(given).alias("doc_id"), "kept_id")
    pairs = tables["pairs"].where(F.col("decision") == "drop")
    listed = pairs.groupBy("doc_id").agg(F.count("*").alias("lines"), F.min("kept_id").alias("listed"))
    both = drops.join(listed, "doc_id", "full")
    unlike = ~F.coalesce((F.col("lines") == 1) & (F.col("listed") == F.col("kept_id")), F.lit(False))
    standing = tables["documents"].select(_id(given).alias("kept_id"))
    homeless = drops.join(standing, "kept_id", "left_anti").select("doc_id", "kept_id")
    wrong = both.where(unlike).select("doc_id", "kept_id").union(homeless).distinct()
    number = wrong.count()

    def behind() -> list[dict[str, Any]]:
        return [row.asDict() for row in wrong.orderBy("doc_id", "kept_id").limit(SHOWN).collect()]

    return Finding("evidence", float(number), f"{number:,} dropped rows without evidence", behind)


def _quarantined(given: Evidence, config: Config) -> Callable[[], list[dict[str, Any]]]:
    def behind() -> list[dict[str, Any]]:
        table = given.tables["quarantine"]
        source = config.input.columns.source
        named = [_id(given).alias("doc_id"), *[name for name in ("reason", "file") if name in table.columns]]
        named += [F.col(quoted(source)).cast("string").alias("source")] if source in table.columns else []
        return [row.asDict() for row in table.select(*named).orderBy("reason", "doc_id").limit(SHOWN).collect()]

    return behind


def _asked_most(given: Evidence) -> list[dict[str, Any]]:
    asked = given.tables["review"].groupBy("kept_id").agg(F.count("*").alias("pairs"))
    return [row.asDict() for row in asked.orderBy(F.desc("pairs"), "kept_id").limit(SHOWN).collect()]


def _id(given: Evidence) -> F.Column:
    return F.col(quoted(given.id_column or "doc_id")).cast("string")


ORDER = (
    "empty_input", "file_age_hours", "publish_age_hours", "conservation", "evidence", "changed_files", "quarantine_share",
    "undecodable_share", "drop_rate", "source_drop_rate", "source_new_drop_rate", "source_rows_lost", "largest_cluster",
    "hot_bucket", "review_load",
)  # fmt: skip
