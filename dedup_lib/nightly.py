"""Around the stages of a run: the lock, where to begin, the gates, what is left for tomorrow, and publishing.

``pipeline.rebuild`` holds the order: open a night, run the stages, judge, write what people read, publish. Everything here is
decided from files and counters; the queries of the gates are theirs (``gates.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dedup_lib.comparisons import known_sources
from dedup_lib.config import Config
from dedup_lib.errors import DedupError, InputError, StorageUnknown
from dedup_lib.exposition import exposition
from dedup_lib.files import Folder
from dedup_lib.fingerprints import Facts, changed, facts
from dedup_lib.gates import (
    FAIL,
    WARN,
    Evidence,
    Judgement,
    file_age,
    judge,
    largest_cluster,
    refusal,
    undecodable_rows,
    verdict_of,
)
from dedup_lib.journal import Journal
from dedup_lib.locking import Lock
from dedup_lib.metrics import Line
from dedup_lib.publishing import JUDGED, mend, now, published_runs
from dedup_lib.resume import How, Start, begin
from dedup_lib.run_history import Counts, by_source, instant, past, record
from dedup_lib.store import RunStore

ANYHOW = How()
PROMETHEUS = "metrics.prom"
_TRUSTED_FUTURE = timedelta(days=1)  # a publication time further ahead is a mistake of the site


class Night:
    """One attempt at a run, from the lock to the pointer."""

    def __init__(
        self, config: Config, lock: Lock, start: Start, known: Facts | None, say: Callable[[str], None], how: How
    ) -> None:
        self.config, self.lock, self.start, self.facts, self.say, self.how = config, lock, start, known, say, how
        self.judgements: list[Judgement] = []
        self.refusal: DedupError | None = None
        self._past = past(lock.folder, published_runs(lock.folder)[-config.gates.history.runs :])

    @property
    def fingerprint(self) -> str | None:
        """Of the result; None where it is not known what it rests on."""
        return self.facts.whole if self.facts else None

    @property
    def latest(self) -> int:
        """The latest publication time that is believed, in microseconds."""
        return int((self.start.started + _TRUSTED_FUTURE).timestamp() * 1e6)

    def store(self, session: SparkSession) -> RunStore:
        """The run's tables."""
        return RunStore(session, self.config.output.path, self.start.run_id, self.start.checkpoints)

    def journal(self, store: RunStore) -> Journal:
        """The run's timer and log."""
        self._store = store
        self._journal = Journal(store, self.config.input.path, self.start.attempt, self.say, self.how.last)
        return self._journal

    def claim(self, store: RunStore) -> None:
        """Make the run's folder, and note how the run began."""
        parts = self.facts.parts if self.facts else {}
        begun = {"started": self.start.started.isoformat(), "attempt": self.start.attempt, "parts": parts}
        store.claim(begun, self.start.resumed)

    def evidence(
        self,
        tables: Mapping[str, DataFrame],
        rows: DataFrame,
        counted: Mapping[str, Any],
        newest: int | None,
        id_column: str | None,
    ) -> Evidence:
        """What the gates look at. ``newest``: the newest publication time that is believed, in microseconds."""
        least = self.config.gates.history.min_source_rows
        sources = by_source(tables, self.config.input.columns.source, least, known_sources(self._past))
        altered = changed(self.facts.files, self.config.input.path) if self.facts else []
        when, started = instant(newest), self.start.started
        return Evidence(tables, rows, counted, sources, self._past, altered, when, started, id_column)

    def judge(self, given: Evidence) -> None:
        """Ask the gates; write gates.json, metrics.prom and the line of history. ``refusal`` is the error of a refused run."""
        fresh = [file_age(max((e.written for _, e in self.facts.files), default=0), now(), self.config)] if self.facts else []
        self.judgements = [*fresh, *judge(given, self.config)]
        verdict = verdict_of(self.judgements)
        self.refusal = refusal(self.judgements, self._store.folder, self.config)
        self._tell()
        compared = [run.run_id for run in self._past]
        gates = [judgement._asdict() for judgement in self.judgements]
        self._remember(given, verdict)
        self._expose(given)
        told = {"run_id": self._store.run_id, "verdict": verdict, "compared_with": compared, "gates": gates}
        self._store.write_json(JUDGED, told)  # last: a run that is judged is whole

    def publish(self) -> None:
        """Publish the run, or raise what its gates say."""
        if self.refusal is not None:
            self._journal.refused(self.refusal)
            self.discard(self._store)
            raise self.refusal
        self._journal.complete()
        self.lock.check()
        self._store.make_current()
        self.discard(self._store)
        self.say(Line(f"published: run {self._store.run_id}", event="published", run_id=self._store.run_id))

    def blame(self, error: Exception) -> None:
        """Raise ``InputError`` if input files changed since the run began: then they are why a stage failed."""
        altered = changed(self.facts.files, self.config.input.path) if self.facts else []
        if altered and not (isinstance(error, DedupError) and not isinstance(error, InputError)):
            raise InputError(
                f"input file {altered[0]}{f' and {len(altered) - 1} more' if altered[1:] else ''}: changed or deleted while it "
                "was read; nothing is published; start the job again when the files are complete"
            ) from error

    def discard(self, store: RunStore) -> None:
        """Remove the work tables: after the pointer, so that a run that dies before has them when it goes on."""
        if not self.config.output.keep_work:
            store.discard_work()

    def _tell(self) -> None:
        for judgement in self.judgements:
            if judgement.verdict in (WARN, FAIL):
                level = {"level": "warning" if judgement.verdict == WARN else "error"}
                told = {"event": "gate", **judgement._asdict(), **level}
                del told["message"]
                self.say(Line(f"gate {judgement.gate} {judgement.verdict}s: {judgement.message}", **told))

    def _remember(self, given: Evidence, verdict: str) -> None:
        rows = given.metrics["rows"]
        whole = Counts(rows["input"], rows["documents"], rows["dropped"], rows["quarantine"])
        run = {
            "run_id": self._store.run_id,
            "started": given.started,
            "verdict": verdict,
            "settings": self.config.fingerprint(),
            "review": rows["review"],
            "largest_cluster": largest_cluster(given, self.config)[0],
            "undecodable": undecodable_rows(given.metrics),
            "seconds": given.metrics["seconds"]["total"],
            "newest": given.newest,
        }
        record(self.lock.folder, run, whole, given.sources)

    def _expose(self, given: Evidence) -> None:
        text = exposition(self.config.output.path, given.metrics, self.judgements, now(), self.refusal is None)
        self._store.write_text(PROMETHEUS, text)
        if self.config.output.textfile:
            target = Path(self.config.output.textfile)
            try:
                Folder(str(target.parent)).write(target.name, text)
            except OSError as error:  # the result is more than its figures
                self.say(
                    Line(f"output.textfile {target}: cannot be written: {error.strerror}", event="textfile", level="warning")
                )


@contextmanager
def opened(config: Config, run_id: str | None, say: Callable[[str], None], how: How, known: bool) -> Iterator[Night]:
    """Lock the output, decide where to begin, and say so. ``known``: whether the input's files are all that the result rests on.

    Raises ``Locked``, ``ConfigError`` for what the user cannot have, ``InputError`` for files that are missing or too old.
    """
    at = now()
    resting = known_facts(config, say) if known else None
    folder = Folder(config.output.path)
    if resting is not None:
        stale = refusal([file_age(max((e.written for _, e in resting.files), default=0), at, config)], "", config)
        if stale is not None:
            raise stale
    with Lock(folder, how.take_over, config.output.lock_stale_after) as lock:
        for note in lock.notes:
            say(Line(note, event="lock", level="warning"))
        mend(folder)
        new_id = f"{at:%Y%m%dT%H%M%SZ}-{config.fingerprint()}"
        start = begin(folder, resting, new_id, run_id, at, how, say)
        lock.names(start.run_id)
        if start.unchanged:
            say(Line(f"nothing to do: run {start.run_id} is published and was made from the same files, settings and code; "
                     "--fresh makes another", event="unchanged", run_id=start.run_id))  # fmt: skip
        yield Night(config, lock, start, resting, say, how)


def known_facts(config: Config, say: Callable[[str], None]) -> Facts | None:
    """What the result rests on; None where only the engine can open the input's storage."""
    try:
        return facts(config)
    except StorageUnknown as error:
        say(Line(f"files cannot be listed, so nothing is taken from earlier runs: {error}", event="storage", level="warning"))
        return None
