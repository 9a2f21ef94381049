"""The runs of an output folder as words: what ``jobs/publish.py`` shows."""

from __future__ import annotations

from dedup_lib.errors import InputError
from dedup_lib.files import Folder, sized
from dedup_lib.publishing import RUNS, Run, rollback_target, runs


def opened(output: str) -> Folder:
    """The folder of runs. Raises ``InputError`` if there is none."""
    folder = Folder(output)
    if not folder.folders(RUNS):
        raise InputError(f"{output}: holds no runs; name the folder that was given to the job as --output")
    return folder


def lines(folder: Folder, in_work: str | None = None) -> list[str]:
    """The runs as a table to read."""
    found = runs(folder, in_work)
    target = rollback_target(folder)
    width = max([len(run.run_id) for run in found] + [3])
    told = [f"{'run':<{width}}  {'state':<11} {'began (UTC)':<20} {'rows':>12} {'kept':>12} {'size':>9}"]
    for run in found:
        rows = run.rows if isinstance(run.rows, dict) else {}
        counts = [f"{rows[name]:,}" if isinstance(rows.get(name), int) else "" for name in ("input", "documents")]
        began = (run.started or "")[:19].replace("T", " ")
        note = "  <- rollback" if run.run_id == target else ""
        told.append(
            f"{run.run_id:<{width}}  {run.state:<11} {began:<20} {counts[0]:>12} {counts[1]:>12} {sized(run.size):>9}{note}"
        )
        told += [f"{'':<{width}}    {message.splitlines()[0]}" for message in run.why]
    return told


def told(doomed: list[Run], verb: str) -> str:
    """What pruning deletes, as words."""
    freed = sized(sum(run.size for run in doomed))
    return "\n".join([*(f"{verb}: {run.run_id} ({run.state})" for run in doomed), f"{verb}: {len(doomed)} runs, {freed}"])
