"""Which run is published, which ones were, and which may go.

    <output>/CURRENT                 the id of the published run: the pointer that readers follow, written last
    <output>/published/000007.json   one line for each time the pointer was moved: the run, when, how
    <output>/runs/<run_id>/          a run; run.json when it begins, gates.json when it is judged

A line of history is written whole before the pointer moves, so a reader who meets a pointer half written (HDFS has no
replacing) takes the newest whole line. History is a stack: publishing and promoting push, rolling back pops, so a second
rollback goes one step further and not back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.files import Folder
from dedup_lib.schemas import PUBLISHED

CURRENT, PUBLISHED_LOG, RUNS = "CURRENT", "published", "runs"
BEGUN, JUDGED, MANIFEST = "run.json", "gates.json", "manifest.json"
WORK = "_work"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_LINE = re.compile(r"(\d{6,18})\.json")


def checked_run_id(run_id: str) -> str:
    """A run id that is safe as a name of a folder, whatever it was. Raises ``ConfigError`` for any other."""
    if not _RUN_ID.fullmatch(run_id):
        raise ConfigError(f"run id {run_id!r}: use letters, digits, '-', '_' and '.', at most 100")
    return run_id


class Move(NamedTuple):
    """A line of history."""

    run_id: str
    action: str  # publish, promote or rollback
    at: str


class Run(NamedTuple):
    """What is known of a run without opening its tables. ``state``: published, complete, refused, unfinished or in work."""

    run_id: str
    state: str
    started: str | None
    rows: dict[str, int] | None
    size: int
    why: list[str]  # messages of the gates that refused it


def now() -> datetime:
    """The time in UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def read_json(folder: Folder, name: str) -> dict[str, Any] | None:
    """A JSON object; None where there is no such file or it holds something else."""
    try:
        found = json.loads(folder.read(name) or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def current_run(output: str | Folder) -> str:
    """The id of the published run. Raises ``InputError`` when nothing is published."""
    folder = Folder(output) if isinstance(output, str) else output
    text = folder.read(CURRENT)
    named = text.strip() if text is not None and _RUN_ID.fullmatch(text.strip()) and text.endswith("\n") else None
    if named and folder.exists(f"{RUNS}/{named}"):
        return named
    known = [move.run_id for move in reversed(history(folder))]
    here = next((run_id for run_id in known if folder.exists(f"{RUNS}/{run_id}")), None)
    if found := here or named or next(iter(known), None):
        return found
    if text is None:
        raise InputError(f"{folder.path}: nothing is published here (no file {CURRENT})")
    raise InputError(
        f"{folder.path}/{CURRENT}: holds {text[:50]!r}, not the id of a run, and there is no history beside it; "
        "name a run with jobs/publish.py promote"
    )


def history(folder: Folder) -> list[Move]:
    """All moves of the pointer, oldest first; lines that cannot be read are left out."""
    return [move for _, move in _lines(folder)]


def _lines(folder: Folder) -> Iterator[tuple[int, Move]]:
    for entry in folder.entries(PUBLISHED_LOG):
        if number := _LINE.fullmatch(entry.name.rpartition("/")[2]):
            line = read_json(folder, entry.name) or {}
            if isinstance(line.get("run_id"), str) and _RUN_ID.fullmatch(line["run_id"]):
                yield int(number[1]), Move(line["run_id"], str(line.get("action")), str(line.get("at")))


def published_runs(folder: Folder) -> list[str]:
    """The runs that are or were published and not taken back, oldest first, each once; pruned ones too."""
    stack: list[str] = []
    for move in history(folder):
        if move.action == "rollback" and move.run_id in stack:
            del stack[stack.index(move.run_id) + 1 :]
        else:
            stack = [*(run_id for run_id in stack if run_id != move.run_id), move.run_id]
    current = _published_or_none(folder)  # a job that died between the line and the pointer has not published
    return stack[: stack.index(current) + 1] if current in stack else stack


def publish(folder: Folder, run_id: str, action: str = "publish") -> None:
    """Make a run the published one: a line of history, then the pointer."""
    numbers = [entry.name.rpartition("/")[2] for entry in folder.entries(PUBLISHED_LOG)]
    last = max((int(found[1]) for name in numbers if (found := _LINE.fullmatch(name))), default=0)
    if last == 0 and _remember(folder):
        last = 1
    line = json.dumps({"run_id": run_id, "action": action, "at": now().isoformat()})
    folder.write(f"{PUBLISHED_LOG}/{last + 1:06d}.json", line + "\n")
    folder.write(CURRENT, run_id + "\n")


def mend(folder: Folder) -> None:
    """Write the pointer again if it is missing or torn and the history knows it: not all readers look there."""
    moves = history(folder)
    if moves and (folder.read(CURRENT) or "") != (current := current_run(folder)) + "\n":
        folder.write(CURRENT, current + "\n")


def _remember(folder: Folder) -> bool:
    """Begin the history with the run that an earlier version published, which kept none."""
    text = (folder.read(CURRENT) or "").strip()
    known = bool(_RUN_ID.fullmatch(text))
    if known:
        folder.write(f"{PUBLISHED_LOG}/000001.json", json.dumps({"run_id": text, "action": "publish", "at": None}) + "\n")
    return known


def runs(folder: Folder, in_work: str | None = None, sizes: bool = True) -> list[Run]:
    """All runs, oldest first. ``in_work``: the run that holds the lock."""
    try:
        current = current_run(folder)
    except InputError:
        current = None
    found = [_run(folder, name, current, in_work, sizes) for name in folder.folders(RUNS) if _RUN_ID.fullmatch(name)]
    return sorted(found, key=lambda run: (run.started or "", run.run_id))


def _run(folder: Folder, run_id: str, current: str | None, in_work: str | None, sizes: bool) -> Run:
    place = f"{RUNS}/{run_id}"
    begun = read_json(folder, f"{place}/{BEGUN}")
    manifest = read_json(folder, f"{place}/{MANIFEST}")
    judged = read_json(folder, f"{place}/{JUDGED}")
    gates = (judged or {}).get("gates")
    refused = [str(gate["message"]) for gate in gates or [] if isinstance(gate, dict) and gate.get("verdict") == "fail"]
    if run_id == in_work:
        state = "in work"
    elif run_id == current:
        state = "published"
    elif manifest is None or (judged is None and begun is not None):
        state = "unfinished"
    elif refused or (judged or {}).get("verdict") == "fail":
        state = "refused"
    else:
        state = "complete"
    started = (begun or manifest or {}).get("started")
    rows = (read_json(folder, f"{place}/metrics.json") or {}).get("rows") if manifest else None
    size = sum(entry.size for entry in folder.entries(place, recursive=True)) if sizes else 0
    return Run(run_id, state, started if isinstance(started, str) else None, rows, size, refused)


def promote(folder: Folder, run_id: str, force: bool = False) -> str | None:
    """Publish a complete run, or with ``force`` a refused one; the run that was published before.

    Raises ``ConfigError`` for a run that is not there, not complete, or refused.
    """
    run = _existing(folder, checked_run_id(run_id))
    if run.state == "unfinished":
        raise ConfigError(f"run {run_id}: is unfinished and cannot be published; run the job again, it goes on where it ended")
    if run.state == "refused" and not force:
        told = "; ".join(run.why)
        raise ConfigError(f"run {run_id}: was refused; look at it, and add --force to publish it all the same: {told}")
    needed = [*(table.name for table in PUBLISHED), "metrics.json"]
    missing = [name for name in needed if not folder.exists(f"{RUNS}/{run_id}/{name}")]
    if missing:
        raise ConfigError(f"run {run_id}: {', '.join(missing)} are gone; it cannot be published")
    before = _published_or_none(folder)
    if before != run_id:
        publish(folder, run_id, "promote")
    return before


def rollback_target(folder: Folder) -> str | None:
    """The run that was published before the present one and is still there."""
    current = _published_or_none(folder)
    before = [run_id for run_id in published_runs(folder) if run_id != current]
    return next((run_id for run_id in reversed(before) if folder.exists(f"{RUNS}/{run_id}/{MANIFEST}")), None)


def rollback(folder: Folder) -> tuple[str, str]:
    """Publish the run before; (from, to). Raises ``ConfigError`` when there is none."""
    current, target = current_run(folder), rollback_target(folder)
    if target is None:
        raise ConfigError(f"{folder.path}: no run was published before {current}; jobs/publish.py list shows what there is")
    publish(folder, target, "rollback")
    return current, target


def prunable(
    folder: Folder,
    keep: int | None = None,
    older_than: float | None = None,
    in_work: str | None = None,
    at: datetime | None = None,
) -> list[Run]:
    """The runs that may go: not among the newest ``keep``, and begun more than ``older_than`` days ago.

    Never the published run, the one that a rollback would publish, or one in work. Raises ``ConfigError`` without a limit.
    """
    if keep is None and older_than is None:
        raise ConfigError("prune: say --keep N, --older-than DAYS or both")
    every = runs(folder, in_work)
    safe = {_published_or_none(folder), rollback_target(folder), in_work}
    if keep:
        safe |= {run.run_id for run in every[-keep:]}
    limit = (at or now()) - timedelta(days=older_than or 0)
    return [run for run in every if run.run_id not in safe and (older_than is None or _before(run, limit))]


def _before(run: Run, limit: datetime) -> bool:
    """Whether a run began before that; one that does not say when did not."""
    try:
        began = datetime.fromisoformat(run.started or "")
    except ValueError:
        return False
    return (began if began.tzinfo else began.replace(tzinfo=UTC)) < limit


def prune(folder: Folder, doomed: list[Run]) -> None:
    """Delete runs, first what makes each a run, so that one half deleted is never promoted."""
    for run in doomed:
        for name in (MANIFEST, JUDGED):
            folder.delete(f"{RUNS}/{run.run_id}/{name}")
        folder.delete(f"{RUNS}/{run.run_id}")


def _published_or_none(folder: Folder) -> str | None:
    try:
        return current_run(folder)
    except InputError:
        return None


def _existing(folder: Folder, run_id: str) -> Run:
    if not folder.exists(f"{RUNS}/{run_id}"):
        known = ", ".join(folder.folders(RUNS)[-10:]) or "none"
        raise ConfigError(f"run {run_id}: there is no such run in {folder.path}; there are: {known}")
    return _run(folder, run_id, _published_or_none(folder), None, False)
