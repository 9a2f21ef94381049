"""How well masked lines tell log events apart, on loghub's labelled lines (Zhu et al., ISSRE 2023).

    python tools/log_accuracy.py FOLDER [COLUMN]

FOLDER holds NAME_2k.log_structured.csv with the columns EventId and Content; without COLUMN the whole line of NAME_2k.log is
masked. Prints for each system: pairs of lines with equal masks that are of one event (precision), pairs of one event with
equal masks (recall), and the share of lines whose group is exactly their event (grouping accuracy).
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib.kernels.normalize import Normalizer
from dedup_lib.settings import load_settings


def accuracy(lines: list[str], events: list[str]) -> tuple[float, float, float]:
    """Precision, recall and grouping accuracy of equal masks."""
    profile = load_settings().config.profiles["log"]
    masked = Normalizer(profile.normalize)(pa.array(lines)).to_pylist()
    both, ours, theirs = Counter(zip(masked, events, strict=True)), Counter(masked), Counter(events)
    shared, joined, true = (sum(n * (n - 1) // 2 for n in counts.values()) for counts in (both, ours, theirs))
    exact = sum(n for (mask, event), n in both.items() if ours[mask] == theirs[event] == n)
    return shared / max(joined, 1), shared / max(true, 1), exact / len(lines)


def read(path: Path, column: str | None) -> tuple[list[str], list[str]]:
    """Lines and their events."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if column:
        return table[column].tolist(), table["EventId"].tolist()
    raw = path.with_name(path.name.removesuffix("_structured.csv")).read_text(encoding="utf-8", errors="replace")
    lines = raw.splitlines()
    return lines[: len(table)], table["EventId"].tolist()[: len(lines)]


def main() -> None:
    """Print the table."""
    column = sys.argv[2] if len(sys.argv) > 2 else None
    print(f"{'system':<12} precision    recall  grouping")
    for path in sorted(Path(sys.argv[1]).glob("*_structured.csv")):
        print(f"{path.name.split('_')[0]:<12}", *(f"{value:9.4f}" for value in accuracy(*read(path, column))))


if __name__ == "__main__":
    main()
