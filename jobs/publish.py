"""Look after the runs of an output folder: which one readers see, which ones are kept.

    python jobs/publish.py list --output /data/dedup
    python jobs/publish.py rollback --output /data/dedup

Exit codes: 0 done, 2 usage, 4 nothing is published here, 75 another run works in the output.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli, publishing
from dedup_lib.locking import Lock, holder
from dedup_lib.run_list import lines, opened, told

TEXT = "Look after the runs of an output folder (--output): which one readers see, which are kept."
EXIT_CODES = "Exit codes: 0 done, 2 usage, 4 nothing is published here, 75 another run works in the output."
Output = Annotated[str, typer.Option("--output", metavar="DIR", help="Folder of the runs, or its URI.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="Name of the run.")]
TakeOver = Annotated[bool, typer.Option("--take-over", help="Ignore the lock of a run that is certainly dead.")]


def list_runs(output: Output) -> None:
    """Show all runs: state, when they began, rows, size."""
    folder = opened(output)
    claim = holder(folder) or {}
    print("\n".join(lines(folder, claim.get("run_id"))))


def promote(
    run: RunId,
    output: Output,
    force: Annotated[bool, typer.Option("--force", help="Also a run that its gates refused.")] = False,
    take_over: TakeOver = False,
) -> None:
    """Publish a complete run."""
    folder = opened(output)
    with Lock(folder, take_over):
        before = publishing.promote(folder, run, force)
    print(f"published: {run}" + (f" (before: {before or 'nothing'})" if before != run else " (it was already)"))


def rollback(output: Output, take_over: TakeOver = False) -> None:
    """Publish again what was published before; a second time goes one step further."""
    folder = opened(output)
    with Lock(folder, take_over):
        before, after = publishing.rollback(folder)
    print(f"published: {after} (before: {before})")


def prune(
    output: Output,
    keep: Annotated[int | None, typer.Option(min=0, metavar="N", help="Keep the newest N runs.")] = None,
    older_than: Annotated[float | None, typer.Option(min=0, metavar="DAYS", help="Only runs that began earlier.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, stop.")] = False,
    take_over: TakeOver = False,
) -> None:
    """Delete old runs; never the published one, its predecessor, or one in work."""
    folder = opened(output)
    if dry_run:
        print(told(publishing.prunable(folder, keep, older_than, (holder(folder) or {}).get("run_id")), "would go"))
        return
    with Lock(folder, take_over):
        doomed = publishing.prunable(folder, keep, older_than)
        publishing.prune(folder, doomed)
    print(told(doomed, "deleted"))


if __name__ == "__main__":
    cli.run_group({"list": list_runs, "promote": promote, "rollback": rollback, "prune": prune}, TEXT, EXIT_CODES)
