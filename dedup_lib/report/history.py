"""Earlier runs of the same output, as their own files tell them."""

from __future__ import annotations

from dataclasses import dataclass

from dedup_lib.files import Folder
from dedup_lib.publishing import MANIFEST, RUNS, read_json
from dedup_lib.store import RunStore

SHOWN = 8


@dataclass
class Past:
    """A finished run; ``rows`` and ``seconds`` as in ``metrics.json``."""

    run_id: str
    started: str
    settings: str
    rows: dict[str, int]
    seconds: float


def previous_runs(store: RunStore, most: int = SHOWN) -> list[Past]:
    """The last finished runs that began before this one, the latest first; folders that hold no finished run are passed over."""
    mine = store.read_json("manifest.json")["started"]
    others = (_past(store.files, run_id) for run_id in store.files.folders(RUNS) if run_id != store.run_id)
    found = [past for past in others if past and past.started < mine]
    return sorted(found, key=lambda past: (past.started, past.run_id), reverse=True)[:most]


def _past(folder: Folder, run_id: str) -> Past | None:
    manifest, metrics = (read_json(folder, f"{RUNS}/{run_id}/{name}") for name in (MANIFEST, "metrics.json"))
    try:
        rows = {str(name): int(count) for name, count in metrics["rows"].items()}
        seconds = float(metrics["seconds"]["total"])
        needed = {name: rows[name] for name in ("input", "documents", "dropped", "review", "quarantine")}
        return Past(run_id, str(manifest["started"]), str(manifest["settings_fingerprint"]), needed, seconds)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
