"""What happens to a run while it works: its stages begin, end and fail, are timed, told and noted as lineage.

``lineage.jsonl`` holds one OpenLineage run event a line (START, then COMPLETE or FAIL, for each stage and for the run), with the
tables that a stage read from earlier ones and wrote, and their rows as far as they are known.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from dedup_lib import __version__
from dedup_lib.fingerprints import STAGES
from dedup_lib.metrics import Line, Timer
from dedup_lib.publishing import RUNS, WORK
from dedup_lib.store import RunStore

LINEAGE = "lineage.jsonl"
PRODUCER = f"urn:dedup-lib:{__version__}"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = "https://openlineage.io/spec/facets"
_SPACE = uuid.UUID("6f2d7c1e-3a54-5b0c-9d7e-51f0a4c8e6b2")  # of the ids of our runs
JOB = "dedup"
# What each stage reads, beside what it writes: tables of earlier stages.
_READS = {
    "normalize": (), "templates": ("normalized",), "verdicts": (), "exact": ("normalized",), "rank": ("exact", "normalized"),
    "settle": ("signatures", "normalized"), "contain": ("signatures", "normalized"), "decide": ("exact", "signatures"),
    "publish": ("decisions", "signatures", "normalized"),
}  # fmt: skip
_READS_INPUT = ("read", "normalize", "publish")


class Stopped(Exception):
    """The run ended where the user wanted it to end (``--until``)."""


class Journal(Timer):
    """The timer of a run that also notes its stages: ``with journal("exact"): ...``."""

    def __init__(self, store: RunStore, inputs: list[str], attempt: int, say: Callable[[str], None], last: str | None = None):
        super().__init__()
        self.store, self.inputs, self.say, self.last = store, inputs, say, last
        self._lines = self._before()
        self._run = str(uuid.uuid5(_SPACE, f"{store.folder}/{store.run_id}/{attempt}"))
        self._event("START", JOB, self._run, self._input(), [])

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a stage, note what it wrote, and stop behind it if it is the last one wanted."""
        marks = self.store.checkpoints
        if marks is not None:
            marks.stage = stage
        run, reads = str(uuid.uuid5(_SPACE, f"{self._run}/{stage}")), [self._table(name) for name in _READS.get(stage, ())]
        inputs = [*(self._input() if stage in _READS_INPUT else []), *reads]
        self._event("START", f"{JOB}.{stage}", run, inputs, [])
        try:
            with super().__call__(stage):
                yield
        except BaseException as error:
            self._event("FAIL", f"{JOB}.{stage}", run, inputs, [], error)
            self._event("FAIL", JOB, self._run, self._input(), [], error)
            self.say(Line(f"[{self.total():6.1f} s] {stage:<10} failed", event="failed", stage=stage, error=type(error).__name__))
            raise
        self._event("COMPLETE", f"{JOB}.{stage}", run, inputs, self._written(stage))
        if marks is not None:
            marks.done(stage)
        if stage == self.last:
            raise Stopped(stage)

    def progress(self, stage: str, **counts: int) -> None:
        """One line about a stage: time so far, counts."""
        facts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        text = f"[{self.total():6.1f} s] {stage:<10} {facts}"
        self.say(Line(text, event="stage", stage=stage, seconds=round(self.total(), 3), counts=counts))

    def detail(self, text: str) -> None:
        """One line about a part of a stage."""
        self.say(Line(f"[{self.total():6.1f} s] {'':<10} {text}", event="detail", seconds=round(self.total(), 3)))

    def complete(self) -> None:
        """Note that the run is done: judged and, if it may be, published."""
        self._event("COMPLETE", JOB, self._run, self._input(), self._written(STAGES[-1]))

    def refused(self, error: Exception) -> None:
        """Note that the run is done and must not be published."""
        self._event("FAIL", JOB, self._run, self._input(), self._written(STAGES[-1]), error)

    def _before(self) -> list[str]:
        """The lines of earlier attempts."""
        text = self.store.files.read(f"{RUNS}/{self.store.run_id}/{LINEAGE}") or ""
        return [line for line in text.splitlines() if line.endswith("}")]

    def _event(
        self, kind: str, job: str, run: str, inputs: list[dict], outputs: list[dict], error: BaseException | None = None
    ) -> None:
        facets: dict[str, Any] = {}
        if run != self._run:
            parent = {"run": {"runId": self._run}, "job": {"namespace": self.store.output, "name": JOB}}
            facets["parent"] = _facet("1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet", **parent)
        if error is not None:  # the kind alone: what an engine says may quote a document
            message = {"message": type(error).__name__, "programmingLanguage": "Python"}
            facets["errorMessage"] = _facet("1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet", **message)
        event = {
            "eventType": kind,
            "eventTime": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "run": {"runId": run, "facets": facets},
            "job": {"namespace": self.store.output, "name": job},
            "inputs": inputs,
            "outputs": outputs,
            "producer": PRODUCER,
            "schemaURL": SCHEMA,
        }
        self._lines.append(json.dumps(event, ensure_ascii=False))
        if self.store.claimed and kind != "START":
            self.store.write_text(LINEAGE, "\n".join(self._lines) + "\n")

    def _input(self) -> list[dict[str, Any]]:
        return [{"namespace": path.partition("://")[0] if "://" in path else "file", "name": path} for path in self.inputs]

    def _table(self, name: str) -> dict[str, Any]:
        return {"namespace": self.store.output, "name": f"{self.store.run_id}.{name}"}

    def _written(self, stage: str) -> list[dict[str, Any]]:
        """The tables that a stage stored, with their size and, where it is known, their rows."""
        found = []
        marks = self.store.checkpoints.progress.tables if self.store.checkpoints else {}
        for place, mark in sorted(marks.items()):
            if mark.stage == stage:
                statistics = {"size": mark.bytes} | ({} if mark.rows is None else {"rowCount": mark.rows})
                schema = "1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet"
                found.append(
                    self._table(place.removeprefix(f"{WORK}/"))
                    | {"outputFacets": {"outputStatistics": _facet(schema, **statistics)}}
                )
        return found


def _facet(schema: str, **values: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{_FACETS}/{schema}", **values}
