"""Where a run begins: anew, where an earlier one ended, or not at all because its result is published already.

Every table that a run stores is a checkpoint. ``<run>/_work/progress.json`` names those that are whole, each with the fingerprint
of what it rests on (``fingerprints.py``), and the stages that are done. A table is taken off the list before it is written again
and put on it afterwards, so a run that is killed at any moment leaves a list that is true. What is on it with the right
fingerprint is read instead of computed: results are a function of what the fingerprint covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from pydantic import BaseModel, ValidationError

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.files import Folder
from dedup_lib.fingerprints import STAGES, Facts, differences, stage_number
from dedup_lib.locking import boot
from dedup_lib.publishing import (
    BEGUN,
    JUDGED,
    MANIFEST,
    RUNS,
    WORK,
    checked_run_id,
    current_run,
    history,
    read_json,
)  # fmt: skip
from dedup_lib.schemas import PUBLISHED

PROGRESS = "progress.json"
_TOLD = 3  # differences that are named
_FEW_FILES = 64


class How(NamedTuple):
    """How the user wants a run to begin and end: ``--fresh``, ``--from``, ``--until``, ``--take-over``."""

    fresh: bool = False
    first: str | None = None
    last: str | None = None
    take_over: bool = False


class TableMark(BaseModel):
    """A table that is whole: the stage that stored it, the stage's fingerprint, and what lies on the disk."""

    stage: str
    fingerprint: str
    files: int
    bytes: int
    rows: int | None = None  # of tables of few files: others are not opened just for that


class Progress(BaseModel):
    """The content of ``progress.json``."""

    boot: str = ""
    stages: dict[str, str] = {}
    tables: dict[str, TableMark] = {}


class Checkpoints:
    """The stored tables of one run. Without ``facts`` nothing is remembered and everything is computed."""

    def __init__(self, folder: Folder, run_id: str, facts: Facts | None, progress: Progress | None = None) -> None:
        self.folder, self.run_id, self.facts = folder, run_id, facts
        self.progress = progress or Progress()
        self.progress.boot = boot() if folder.local else ""
        self.stage = STAGES[0]
        self.reused: list[str] = []  # tables that were read instead of computed
        self._seen: set[str] = set()

    @property
    def _file(self) -> str:
        return f"{RUNS}/{self.run_id}/{WORK}/{PROGRESS}"

    def has(self, place: str) -> bool:
        """Whether a table, named by its folder, is whole and what would be computed now. Else it is forgotten."""
        if place in self._seen:
            raise RuntimeError(f"table {place} is stored twice in one run")
        self._seen.add(place)
        mark = self.progress.tables.get(place)
        if self.facts is None or mark is None:
            return False
        whole = mark.stage == self.stage and mark.fingerprint == self.facts.until[self.stage]
        if whole and (mark.files, mark.bytes) == self._measured(place):
            self.reused.append(place)
            return True
        del self.progress.tables[place]
        self._save()
        return False

    def stored(self, place: str) -> None:
        """Note that a table is whole."""
        files, size = self._measured(place)
        key = self.facts.until[self.stage] if self.facts else ""
        rows = self._counted(place) if files <= _FEW_FILES else None
        self.progress.tables[place] = TableMark(stage=self.stage, fingerprint=key, files=files, bytes=size, rows=rows)
        if self.facts is not None:
            self._save()

    def done(self, stage: str) -> None:
        """Note that a stage is done."""
        if self.facts is not None and self.progress.stages.get(stage) != self.facts.until[stage]:
            self.progress.stages[stage] = self.facts.until[stage]
            self._save()

    def forget_from(self, number: int) -> None:
        """Forget a stage and all after it."""
        late = set(STAGES[number:])
        self.progress.stages = {stage: mark for stage, mark in self.progress.stages.items() if stage not in late}
        self.progress.tables = {name: mark for name, mark in self.progress.tables.items() if mark.stage not in late}

    def ready(self) -> list[str]:
        """The stages from the first one on that are done, and whose tables rest on what holds now."""
        found: list[str] = []
        for stage in STAGES:
            if self.facts is None or self.progress.stages.get(stage) != self.facts.until[stage]:
                break
            found.append(stage)
        return found

    def usable(self) -> int:
        """How many tables rest on what holds now."""
        until = self.facts.until if self.facts else {}
        return sum(until.get(mark.stage) == mark.fingerprint for mark in self.progress.tables.values())

    def _measured(self, place: str) -> tuple[int, int]:
        entries = self.folder.entries(f"{RUNS}/{self.run_id}/{place}", recursive=True)
        sizes = [entry.size for entry in entries if entry.name.endswith(".parquet")]
        return len(sizes), sum(sizes)

    def _counted(self, place: str) -> int:
        entries = self.folder.entries(f"{RUNS}/{self.run_id}/{place}", recursive=True)
        paths = [self.folder.at(entry.name) for entry in entries if entry.name.endswith(".parquet")]
        return sum(pq.read_metadata(path, filesystem=self.folder.system).num_rows for path in paths)

    def _save(self) -> None:
        self.folder.write(self._file, self.progress.model_dump_json() + "\n", synced=False)  # a restart makes it worthless


class Start(NamedTuple):
    """Where a run begins. ``unchanged``: the published run has this result already."""

    run_id: str
    started: datetime
    attempt: int
    resumed: bool
    unchanged: bool
    checkpoints: Checkpoints


def begin(
    folder: Folder, facts: Facts | None, new_id: str, run_id: str | None, at: datetime, how: How, say: Callable[[str], None]
) -> Start:
    """Choose where to begin, and say why. ``new_id``: the name of a new run when the user gave no ``run_id``.

    Raises ``ConfigError`` for stages that do not exist, and for ``--from`` when what stands before it is not there.
    """
    first = stage_number(how.first, "--from") if how.first else None
    last = stage_number(how.last, "--until") if how.last else len(STAGES) - 1
    if first is not None and (first > last or how.fresh or facts is None):
        raise ConfigError(f"--from {how.first}: goes neither with --fresh nor with an earlier --until")
    if facts is not None and not how.fresh:
        if first is None and (published := _published_alike(folder, facts, run_id)):
            return Start(published, at, 1, False, True, Checkpoints(folder, published, None))
        found = _unfinished(folder, run_id)
        if found is None and first:
            raise ConfigError(f"--from {how.first}: there is no unfinished run to go on with; leave it out")
        if found and (start := _resumed(folder, facts, found, first, how, say)):
            return start
    name = checked_run_id(run_id) if run_id else _free(folder, new_id)
    if folder.exists(f"{RUNS}/{name}"):
        raise ConfigError(f"run id {name!r}: {folder.path}/{RUNS}/{name} exists already; choose another or leave it out")
    return Start(name, at, 1, False, False, Checkpoints(folder, name, facts))


def _free(folder: Folder, name: str) -> str:
    """A name that no run has: two may begin in one second, and clocks go back."""
    taken = set(folder.folders(RUNS))
    return next(free for number in count(1) if (free := name if number == 1 else f"{name}-{number}") not in taken)


def _resumed(
    folder: Folder, facts: Facts, found: tuple[str, dict[str, Any]], first: int | None, how: How,
    say: Callable[[str], None],
) -> Start | None:  # fmt: skip
    """The start from an unfinished run, if anything of it can be used."""
    name, begun = found
    progress, why = _progress(folder, name)
    checkpoints = Checkpoints(folder, name, facts, progress)
    ready = checkpoints.ready()
    if first is not None:
        if len(ready) < first:
            raise ConfigError(
                f"--from {how.first}: of run {name} {_and(ready) or 'no stage'} can be used: "
                f"{why or _reason(begun, facts, len(ready))}; leave it out"
            )
        checkpoints.forget_from(first)
        ready, why = ready[:first], f"--from {how.first}"
    if not checkpoints.usable():
        say(f"run {name} is unfinished, but nothing of it can be used: {why or _reason(begun, facts, 0)}")
        return None
    rest = len(ready)
    told = f"{_and(ready)} taken from it" if ready else "some tables taken from it"
    if rest < len(STAGES):
        told += f"; {STAGES[rest]} and what follows done again: {why or _reason(begun, facts, rest)}"
    say(f"going on with run {name}, begun {begun['started']}: {told}")
    started = datetime.fromisoformat(begun["started"])
    started = started if started.tzinfo else started.replace(tzinfo=UTC)
    return Start(name, started, _number(begun.get("attempt")) + 1, True, False, checkpoints)


def _published_alike(folder: Folder, facts: Facts, run_id: str | None) -> str | None:
    """The published run, if it was made from the same and the user asks for no other name."""
    try:
        current = current_run(folder)
    except InputError:
        return None
    place = f"{RUNS}/{current}"
    manifest = read_json(folder, f"{place}/{MANIFEST}") or {}
    if manifest.get("fingerprint") != facts.whole or run_id not in (None, current):
        return None
    whole = read_json(folder, f"{place}/metrics.json") and all(folder.exists(f"{place}/{table.name}") for table in PUBLISHED)
    return current if whole else None


def _unfinished(folder: Folder, run_id: str | None) -> tuple[str, dict[str, Any]] | None:
    """The unfinished run that began last (or the named one), and its ``run.json``."""
    moves = history(folder)
    published = {move.run_id for move in moves}
    if moves and moves[-1].run_id != current_run(folder):
        published.discard(moves[-1].run_id)  # it died between its line and the pointer
    found = []
    for name in [checked_run_id(run_id)] if run_id else folder.folders(RUNS):
        begun = read_json(folder, f"{RUNS}/{name}/{BEGUN}")
        judged = read_json(folder, f"{RUNS}/{name}/{JUDGED}") or {}
        if begun and name not in published and judged.get("verdict") != "fail" and _is_time(begun.get("started")):
            found.append((begun["started"], name, begun))
    return max(found, key=lambda run: run[:2])[1:] if found else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 1


def _is_time(text: object) -> bool:
    try:
        return bool(datetime.fromisoformat(str(text)))
    except ValueError:
        return False


def _progress(folder: Folder, run_id: str) -> tuple[Progress, str | None]:
    """What is on the list of a run, and why it is empty where that is not because nothing was stored."""
    text = folder.read(f"{RUNS}/{run_id}/{WORK}/{PROGRESS}")
    if text is None:
        return Progress(), "no stage had ended"
    try:
        progress = Progress.model_validate_json(text)
    except ValidationError:
        return Progress(), f"its {WORK}/{PROGRESS} is damaged"
    if folder.local and progress.boot != boot():
        return Progress(), "the machine was started anew since, and what was in its memory may not have reached the disk"
    return progress, None


def _reason(begun: Mapping[str, Any], facts: Facts, number: int) -> str:
    """Why a stage cannot be taken from the run."""
    if number >= len(STAGES):
        return "nothing"
    stage, parts = STAGES[number], begun.get("parts")
    before = parts.get(stage) if isinstance(parts, dict) else None
    told = differences(before, facts.parts[stage]) if isinstance(before, dict) else []
    if not told:
        return "it had not ended"
    more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
    return ", ".join(told[:_TOLD]) + more


def _and(names: list[str]) -> str:
    return ", ".join(names)
