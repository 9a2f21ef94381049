"""The nightly rebuild: the list of stages, what is stored between them, and what is said about it.

This is the only module in which tables are computed; everything it calls describes tables or writes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib import metrics, nightly, room
from dedup_lib.checks import check_settings
from dedup_lib.config import Config
from dedup_lib.errors import InputError
from dedup_lib.intake import Given, Intake
from dedup_lib.journal import Stopped
from dedup_lib.metrics import tell
from dedup_lib.nightly import ANYHOW, Night
from dedup_lib.report import try_report
from dedup_lib.resume import How
from dedup_lib.schemas import (
    CLUSTERS,
    DECISIONS,
    DOCUMENTS,
    DROPPED,
    EVENTS,
    EXACT,
    FLAGS,
    NORMALIZED,
    PAIRS,
    QUARANTINE,
    QUESTIONS,
    REVIEW,
    SCORES,
    SIGNATURES,
    TEMPLATES,
)  # fmt: skip
from dedup_lib.stages import outcome, review, templates
from dedup_lib.stages.candidates import meetings
from dedup_lib.stages.contain import contain
from dedup_lib.stages.events import events
from dedup_lib.stages.exact import group_exact, rank_representatives
from dedup_lib.stages.normalize import normalize
from dedup_lib.stages.settle import Settled, settle
from dedup_lib.stages.sign import signatures
from dedup_lib.stages.verdicts import Verdicts, judged_ids, ranked_verdicts, wrong_verdicts
from dedup_lib.store import RunStore, read_verdicts, reading

Say = Callable[[str], None]
Finish = Callable[[RunStore, dict[str, Any]], None]


class Result(NamedTuple):
    """What became of a run. ``state``: published; unchanged (the published run has this result already); stopped (--until)."""

    store: RunStore
    metrics: dict[str, Any]
    state: str = "published"


def rebuild(
    session: SparkSession,
    config: Config,
    run_id: str | None = None,
    say: Say = tell,
    given: Given | None = None,
    finish: Finish | None = None,
    how: How = ANYHOW,
) -> Result:
    """Deduplicate the configured input (or the rows that ``given`` makes) into a run folder and publish it.

    Goes on where an unfinished run of the same input, settings and code ended, unless ``given`` or ``how`` say otherwise.
    ``finish`` is called with the store and the metrics when all gates are passed, before readers see the run.

    Raises ``InputError`` for an input that cannot be used, ``GateRefused`` for a result that must not be published (it stays
    in its folder), ``Locked`` when another run works in the output, ``DedupError`` when a stage fails.
    """
    check_settings(config)
    with room.watched(config), nightly.opened(config, run_id, say, how, known=given is None) as night:
        if night.start.unchanged:
            store = night.store(session)
            night.discard(store)  # a run that died behind the pointer left its work tables
            return Result(store, store.read_json("metrics.json"), "unchanged")
        run = _Run(night.store(session), night, config, say, given)
        try:
            counted = run.execute()
        except Stopped:
            return Result(run.store, {}, "stopped")
        except Exception as error:
            night.blame(error)
            raise
        night.judge(night.evidence(run.tables, run.rows, counted, run.newest, run.intake.columns.doc_id))
        try_report(run.store, config, say, night.refusal)
        if night.refusal is None and finish is not None:
            finish(run.store, counted)
        night.publish()
    return Result(run.store, counted)


class _Run:
    """One run of the pipeline; ``execute`` is its table of contents."""

    def __init__(self, store: RunStore, night: Night, config: Config, say: Say, given: Given | None = None) -> None:
        self.store = store
        self.given = given
        self.config = config
        self.started = night.start.started
        self.night = night
        self.timer = night.journal(store)

    def execute(self) -> dict[str, Any]:
        """Run all stages, write all tables, return the metrics."""
        self.rows, normalized, unusable = self.take_in()
        normalized = self.learn(normalized)
        verdict_table = self.verdicts()
        exact = self.exact(normalized, verdict_table)
        signed = self.rank(normalized, exact)
        verdicts = ranked_verdicts(verdict_table, signed) if verdict_table is not None else None
        settled = self.settle(signed, normalized, verdicts)
        decided = self.decide(exact, signed, settled, verdicts)
        tables = self.publish(self.rows, unusable, decided, signed, normalized, settled, verdicts)
        return self.report(signed, settled, tables, verdicts)

    def take_in(self) -> tuple[DataFrame, DataFrame, DataFrame]:
        """Input rows, and what ``normalize`` makes of them; once more without damaged files if they stop the engine."""
        self.intake = intake = Intake(self.store, self.night, self.config, self.timer, self.given)
        try:
            rows = intake.read()
            return rows, *self.normalize(rows)
        except Exception:
            if not intake.finds_damage():
                raise
            rows = intake.read()
            return rows, *self.normalize(rows)

    def normalize(self, rows: DataFrame) -> tuple[DataFrame, DataFrame]:
        """``normalized``, and the ids of rows that cannot be compared, with the reason."""
        with self.timer("normalize"):
            usable = rows.where((F.col("copy") == 1) & F.col("profile").isin(list(self.config.profiles)))
            with reading(self.config.input.path, self.config.input.format):
                done = self.store.save(normalize(usable, self.config), NORMALIZED.name)
            unusable = done.where(F.col("unusable").isNotNull()).select("doc_id", "unusable")
            self.flagged = done.where(F.col("flags").isNotNull()).select("doc_id", "flags")
            normalized = NORMALIZED.conform(done.where(F.col("unusable").isNull()))
            counts, present = Counter(), set()
            believed = F.max(F.when(F.col("published") <= self.night.latest, F.col("published")))
            grouped = done.groupBy("unusable", "profile").agg(F.count("*"), believed)
            self.newest = None
            for unusable_as, profile, number, newest in grouped.collect():
                self.newest = max(filter(None, (self.newest, newest)), default=None)
                counts[unusable_as or ""] += number
                if not unusable_as:
                    present.add(profile)
            self.count = counts.pop("", 0)
            self.refused = counts.total()
            self.used = self.config.of_profiles(present)
            self.progress("normalize", rows=self.count, **counts)
        return normalized, unusable

    def learn(self, normalized: DataFrame) -> DataFrame:
        """``normalized`` without the templates that were learned from it."""
        with self.timer("templates"):
            self.templates, self.taken_off = TEMPLATES.empty(self.store.session), {}
            if not templates.learners(self.used):
                return normalized
            self.templates = self.store.save(templates.learn(normalized, self.used, self.store.save), TEMPLATES.name)
            found = self.templates.where("NOT vetoed").select("profile", "position", "unit").distinct().collect()
            rows = 0
            if found:
                keys = templates.learned(found)
                normalized, rows = templates.without_templates(normalized, keys, self.used, self.store.save)
            self.taken_off = {"learned": self.templates.count(), "removed": len(found), "rows": rows}
            self.progress("templates", **self.taken_off)
            return normalized

    def verdicts(self) -> DataFrame | None:
        """The verdict table, checked."""
        path = self.config.input.verdicts
        with self.timer("verdicts"):
            if not path:
                return None
            table = self.store.save(read_verdicts(self.store.session, path), "verdicts")
            wrong = wrong_verdicts(table).limit(10).collect()
            if wrong:
                lines = [f"{row.doc_id!r}, {row.other_id!r}, {row.verdict!r}: {row.problem}" for row in wrong]
                raise InputError(f"verdicts {path}: " + "; ".join(lines))
        return table

    def exact(self, normalized: DataFrame, verdict_table: DataFrame | None) -> DataFrame:
        """``exact``: representatives and the rows behind them."""
        with self.timer("exact"):
            judged = judged_ids(verdict_table) if verdict_table is not None else None
            exact = self.store.save(group_exact(normalized, judged), EXACT.name)
            by_method = metrics.count_by(exact.where(F.col("method").isNotNull()), "method")
            self.progress("exact", rows=self.count, **by_method)
        return exact

    def rank(self, normalized: DataFrame, exact: DataFrame) -> DataFrame:
        """``signatures`` of the representatives."""
        with self.timer("rank"):
            ranked = rank_representatives(exact)
            signed = self.store.save(signatures(normalized, ranked, self.count, self.used), SIGNATURES.name)
            self.lengths = metrics.lengths(signed)
            self.progress("rank", **self.lengths)
        return signed

    def settle(self, signed: DataFrame, normalized: DataFrame, verdicts: Verdicts | None) -> Settled:
        """Candidates, verification and resolution; then survivors that lie in others."""
        with self.timer("settle"):
            count = self.lengths["representatives"]
            self.meetings = meetings(self.used, count)
            settled = settle(signed, normalized, self.meetings, verdicts, self.used, count, self.store.save, self.detail)
            self.progress("settle", verified=settled.verified.count(), fallen=settled.losers.count())
        with self.timer("contain"):
            found = contain(settled, signed, normalized, verdicts, self.used, count, self.store.save)
            self.containment = metrics.containment(found)
            self.progress("contain", **self.containment)
        return found.settled

    def decide(self, exact: DataFrame, signed: DataFrame, settled: Settled, verdicts: Verdicts | None) -> DataFrame:
        """``decisions``: one row for each comparable row."""
        with self.timer("decide"):
            self.decided = self.store.save(outcome.decisions(exact, signed, settled, verdicts), DECISIONS.name)
        return self.decided

    def questions(self, signed: DataFrame, normalized: DataFrame, settled: Settled, verdicts: Verdicts | None) -> DataFrame:
        """``questions``: what a person is asked."""
        asked = self.store.save(review.open_questions(signed, settled, verdicts, self.used.review, self.store.save), "asked")
        return self.store.save(review.with_differences(asked, asked.count(), normalized), QUESTIONS.name)

    def publish(
        self,
        rows: DataFrame,
        unusable: DataFrame,
        decided: DataFrame,
        signed: DataFrame,
        normalized: DataFrame,
        settled: Settled,
        verdicts: Verdicts | None,
    ) -> dict[str, DataFrame]:
        """Write the published tables."""
        with self.timer("publish"):
            questions = self.questions(signed, normalized, settled, verdicts)
            own = rows.where(F.col("copy") == 1)
            tables = {
                DOCUMENTS.name: outcome.documents(own, decided, self.count, self.intake.columns.doc_id),
                DROPPED.name: outcome.dropped(own, decided, self.count, self.intake.columns.doc_id),
                PAIRS.name: outcome.audit(decided, questions, self.store.run_id, self.started),
                CLUSTERS.name: outcome.clusters(decided),
                REVIEW.name: outcome.review_table(own, questions, questions.count(), self.used),
                QUARANTINE.name: outcome.quarantine(
                    rows,
                    unusable,
                    self.refused,
                    list(self.config.profiles),
                    self.intake.columns.doc_id,
                    self.intake.unreadable,
                ),
                FLAGS.name: outcome.flags(self.flagged),
                TEMPLATES.name: self.templates,
                EVENTS.name: events(own, normalized, self.used),
                SCORES.name: outcome.scores(signed, settled, self.lengths["representatives"]),
            }
            written = {name: self.store.publish(table, name) for name, table in tables.items()}
            self.written = {name: table.count() for name, table in written.items()}
            self.tables = written
            self.progress("publish", **self.written)
        return written

    def report(self, signed: DataFrame, settled: Settled, tables: dict[str, DataFrame], said: Verdicts | None) -> dict[str, Any]:
        """Write ``metrics.json`` and ``manifest.json``."""
        counts = self.intake.rows_read, self.count, self.taken_off, self.lengths, self.containment
        counted = metrics.collect(*counts, signed, settled, self.meetings, self.written, tables, self.timer)
        counted |= {"lengths": metrics.by_length(self.decided), "verdicts": metrics.by_verdict(said, settled)}
        counted["unreadable"] = self.intake.left_out()
        counted["room"] = self.intake.needed | room.taken(self.store.folder, self.config.engine)
        self.store.write_json("metrics.json", counted)
        every = meetings(self.config, self.lengths["representatives"])
        told = metrics.manifest(self.config, self.store.run_id, self.started, every)
        self.store.write_json("manifest.json", told | {"fingerprint": self.night.fingerprint})
        return counted

    def progress(self, stage: str, **counts: int) -> None:
        """One line about a stage: time so far, counts."""
        self.timer.progress(stage, **counts)

    def detail(self, text: str) -> None:
        """One line about a part of a stage."""
        self.timer.detail(text)
