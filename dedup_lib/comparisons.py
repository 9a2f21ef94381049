"""The gates that compare a run with those before it: how much is dropped, of all rows and of each source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.diff import visible
from dedup_lib.levels import Gates
from dedup_lib.run_history import Counts, Past
from dedup_lib.tables import quoted

if TYPE_CHECKING:
    from dedup_lib.gates import Evidence

_TOLD = 5  # sources that a message names
_IDS = 5  # rows that stand for a source


class Finding(NamedTuple):
    """What a gate found: its value (None: nothing to go by), in words, and how to find the rows behind it."""

    gate: str
    value: float | None
    message: str
    rows: Callable[[], list[dict[str, Any]]] | None = None


class _Strange(NamedTuple):
    """A source that is not as usual."""

    value: float
    source: str
    message: str
    table: str  # where its rows are


def compared(given: Evidence, gates: Gates, config: Config) -> list[Finding]:
    """The findings of the gates that need earlier runs."""
    past = given.past
    if len(past) < gates.history.at_least:
        why = f"{len(past)} earlier runs, {gates.history.at_least} are needed (gates.history.at_least)"
        names = "drop_rate", "source_drop_rate", "source_new_drop_rate", "source_rows_lost"
        return [Finding(name, None, why) for name in names]
    rows = given.metrics["rows"]
    whole = Counts(rows["input"], rows["documents"], rows["dropped"], rows["quarantine"])
    usual = median(run.whole.drop_rate for run in past)
    change = abs(whole.drop_rate - usual) if whole.rows >= gates.min_rows else None
    every = f"{whole.drop_rate:.1%} of the rows are dropped, usually {usual:.1%} (median of {len(past)} published runs)"
    return [
        Finding("drop_rate", change, every),
        _worst("source_drop_rate", list(_changed(given.sources, past, gates)), given, config),
        _worst("source_new_drop_rate", list(_new(given.sources, past, gates)), given, config),
        _worst("source_rows_lost", list(_lost(given.sources, past, gates)), given, config),
    ]


def known_sources(past: Sequence[Past]) -> list[str]:
    """The sources that earlier runs had, which are counted now however few rows they have."""
    return sorted({source for run in past for source in run.sources})


def _usual(source: str, past: Sequence[Past], gates: Gates) -> list[Counts]:
    """What earlier runs counted of a source, where that says something; empty if too few do."""
    found = [run.sources[source] for run in past if source in run.sources]
    found = [counts for counts in found if counts.rows >= gates.history.min_source_rows]
    return found if len(found) >= gates.history.at_least else []


def _changed(sources: Mapping[str, Counts], past: Sequence[Past], gates: Gates) -> Iterator[_Strange]:
    """Sources of whose rows another share is dropped than usual."""
    for source, counts in sources.items():
        usual = _usual(source, past, gates)
        if usual and counts.rows >= gates.history.min_source_rows:
            before = median(run.drop_rate for run in usual)
            words = f"drops {counts.drop_rate:.1%} of its {counts.rows:,} rows, usually {before:.1%}"
            table = "dropped" if counts.drop_rate > before else "documents"
            yield _Strange(abs(counts.drop_rate - before), source, words, table)


def _new(sources: Mapping[str, Counts], past: Sequence[Past], gates: Gates) -> Iterator[_Strange]:
    """Sources whose new rows are dropped more than usual: in a long history a bad week hardly moves the share of all."""
    for source, counts in sources.items():
        usual = _usual(source, past, gates)
        last = past[-1].sources.get(source)
        if usual and last and counts.rows - last.rows >= gates.history.min_source_rows:
            new = counts.rows - last.rows
            rate = min(1.0, max(0, counts.dropped - last.dropped) / new)
            before = median(run.drop_rate for run in usual)
            words = f"has {new:,} new rows and drops {rate:.1%} of them, usually {before:.1%}"
            yield _Strange(max(0.0, rate - before), source, words, "dropped")


def _lost(sources: Mapping[str, Counts], past: Sequence[Past], gates: Gates) -> Iterator[_Strange]:
    """Sources with fewer rows than usual, or none."""
    for source in known_sources(past):
        usual = _usual(source, past, gates)
        if usual:
            before = median(run.rows for run in usual)
            rows = sources[source].rows if source in sources else 0
            words = f"has {rows:,} rows, usually {before:,.0f}"
            yield _Strange(max(0.0, 1 - rows / before), source, words, "documents")


def _worst(gate: str, strange: list[_Strange], given: Evidence, config: Config) -> Finding:
    """The source that is strangest, and the next ones in words."""
    if not strange:
        return Finding(gate, None, "no source with enough rows now and before (gates.history.min_source_rows)")
    strange.sort(key=lambda one: (-one.value, one.source))
    level = getattr(config.gates, gate)
    above = [one for one in strange if level.warn is not None and one.value > level.warn] or strange[:1]
    told = "; ".join(f"source {_shown(one.source)} {one.message}" for one in above[:_TOLD])
    more = f"; and {len(above) - _TOLD} more sources" if len(above) > _TOLD else ""

    def behind() -> list[dict[str, Any]]:
        return [row for one in above[:_TOLD] for row in _rows_of(one, given, config)]

    return Finding(gate, strange[0].value, told + more, behind)


def _shown(source: str) -> str:
    return repr(visible(source)[:100]) if source else "unknown (rows without one)"


def _rows_of(strange: _Strange, given: Evidence, config: Config) -> list[dict[str, Any]]:
    """Some rows of a source, by id."""
    table, column = given.tables[strange.table], config.input.columns.source
    if column in table.columns:
        table = table.where(F.coalesce(F.col(quoted(column)).cast("string"), F.lit("")) == strange.source)
    elif strange.source:
        return [{"source": strange.source}]
    named = F.col(quoted(given.id_column or "doc_id")).cast("string").alias("doc_id")
    beside = [F.col("kept_id"), F.col("method")] if strange.table == "dropped" else []
    found = table.select(named, *beside).orderBy("doc_id").limit(_IDS).collect()
    return [{"source": strange.source, **row.asDict()} for row in found] or [{"source": strange.source}]
