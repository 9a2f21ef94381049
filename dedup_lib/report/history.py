"""Earlier runs of the same output, as their own files tell them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    found = []
    for folder in Path(store.output, "runs").glob("*/"):
        past = None if folder.name == store.run_id else _past(folder)
        if past and past.started < mine:
            found.append(past)
    return sorted(found, key=lambda past: (past.started, past.run_id), reverse=True)[:most]


def _past(folder: Path) -> Past | None:
    try:
        manifest, metrics = (_read(folder / name) for name in ("manifest.json", "metrics.json"))
        rows = {str(name): int(count) for name, count in metrics["rows"].items()}
        seconds = float(metrics["seconds"]["total"])
        needed = {name: rows[name] for name in ("input", "documents", "dropped", "review", "quarantine")}
        return Past(folder.name, str(manifest["started"]), str(manifest["settings_fingerprint"]), needed, seconds)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))
