"""``report.html`` of a run: what it removed and why, to read, to print, to show to others."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from dedup_lib.config import Config
from dedup_lib.errors import DedupError
from dedup_lib.report.facts import collect
from dedup_lib.report.history import previous_runs
from dedup_lib.report.page import page
from dedup_lib.store import RunStore

Say = Callable[[str], None]

DUMP = "mysql"  # such runs have a report of their own, clean/page.py


def file_name(settings: dict[str, object]) -> str:
    """The page's name in the run folder, by the settings of ``manifest.json``."""
    return "run.html" if settings["input"]["format"] == DUMP else "report.html"


def write_report(store: RunStore, language: str | None = None, refused: str | None = None) -> str:
    """Write the report of a run whose tables, metrics and manifest are there; its file name.

    ``language``: that of the run's settings if None; ``refused``: why the result must not be published.
    """
    found = collect(store)
    settings = found.manifest["settings"]
    chosen = language or settings["output"].get("language", "en")
    store.write_text(name := file_name(settings), page(found, previous_runs(store), chosen, refused))
    return name


def try_report(store: RunStore, config: Config, say: Say, refusal: DedupError | None) -> None:
    """Write the report if it is wanted; the result is good without it, so no failure of it stops the run."""
    if not config.output.report:
        return
    try:
        name = write_report(store, refused=None if refusal is None else str(refusal))
        say(f"{'':<12} {name.partition('.')[0]:<10} {store.folder}/{name}")
    except Exception as error:  # named, not quoted: an engine's words may hold a document's text
        *_, frame = traceback.extract_tb(error.__traceback__)
        told = f"{type(error).__name__} in {frame.filename}:{frame.lineno}"
        say(f"{'':<12} report     could not be written: {told}; jobs/report.py writes it again")
