"""The two halves of the review loop: questions out, answers in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from dedup_lib.errors import InputError
from dedup_lib.metrics import tell
from dedup_lib.review.answers import read_answers
from dedup_lib.review.questions import Request, export, pairs_of
from dedup_lib.review.table import Conflict, check_target, merge, read_table, write_table
from dedup_lib.session import open_session
from dedup_lib.store import RunStore

_SHOWN = 20


def export_questions(engine: str, request: Request) -> None:
    """Write sheet and page, and say so."""
    with open_session(engine) as session:
        count, drops, names = export(session, request)
    tell(f"{count:,} questions, {drops:,} of them about drops: " + ", ".join(names))


def import_answers(
    engine: str, file: str, verdicts: str, output: str, judged_by: str | None, latest: bool, now: datetime
) -> None:
    """Append the answers of a file to the verdict table.

    Raises ``InputError`` for a file with faults, and for conflicts unless the ``latest`` verdict shall win.
    """
    check_target(verdicts)

    def lookup(run_id: str, questions: Sequence[str]) -> dict[str, tuple[str, str]]:
        with open_session(engine) as session:
            return pairs_of(RunStore(session, output, run_id), questions)

    found, left = read_answers(file, judged_by, now, lookup)
    merged = merge(read_table(verdicts), found)
    if merged.conflicts and not latest:
        raise InputError(_told(merged.conflicts) + "; nothing was imported. --latest lets the latest verdict win")
    if merged.added:
        write_table(verdicts, merged.rows)
    for conflict in merged.conflicts[:_SHOWN]:
        tell(f"conflict, the latest wins: {conflict.told()}")
    tell(f"{merged.added:,} verdicts added to {verdicts}, {merged.known:,} known already, {left:,} questions left open")


def _told(conflicts: Sequence[Conflict]) -> str:
    more = f"; and {len(conflicts) - _SHOWN:,} more" if len(conflicts) > _SHOWN else ""
    return f"{len(conflicts):,} verdicts contradict others: " + "; ".join(c.told() for c in conflicts[:_SHOWN]) + more
