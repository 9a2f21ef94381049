"""Numbers for the bars of the report: shares of the largest, and positions of thresholds, all in percent of the drawing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SERIES = ("drop", "review", "keep")
_LOWEST = 0.4  # the similarity at which a histogram begins, at most
_TICK = 0.1


@dataclass
class Histogram:
    """``columns``: title and heights of ``SERIES`` of each bin; ``lines``: name, value and place of the thresholds."""

    profile: str
    columns: list[tuple[str, tuple[float, ...]]]
    lines: list[tuple[str, float, float]]
    ticks: list[tuple[str, float]]
    tallest: int
    totals: dict[str, int]


def histogram(pairs: Iterable[Mapping[str, Any]], profile: str, near: Mapping[str, Any] | None, bins: int) -> Histogram | None:
    """Similarities of the measured pairs of a profile that say the same; None where there are none.

    Drops of equal texts are left out: their similarity is no measurement. A bin is as high as the root of its pairs, since
    near-copies are so many that the valley below them would not be seen.
    """
    counts: Counter[tuple[int, str]] = Counter()
    for row in pairs:
        measured = row["relation"] == "same" and not row["method"].startswith("exact") and row["bin"] is not None
        if measured and row["profile"] == profile:
            counts[row["bin"], row["decision"]] += row["count"]
    if not counts:
        return None
    thresholds = {name: near[name] for name in ("review_jaccard", "hamming_jaccard", "drop_jaccard")} if near else {}
    lowest = min([_LOWEST, *(place / bins for place, _ in counts), *thresholds.values()])
    first = int(lowest / _TICK + 1e-9) * round(_TICK * bins)
    width = bins + 1 - first  # bins drawn; a similarity of 1 has one for itself
    tallest = max(sum(counts[place, name] for name in SERIES) for place in range(first, bins + 1))
    columns = []
    for place in range(first, bins + 1):
        found = [counts[place, name] for name in SERIES]
        told = f"{place / bins:.2f}: " + ", ".join(f"{n:,} {name}" for name, n in zip(SERIES, found, strict=True) if n)
        height = 100 * math.sqrt(sum(found) / tallest)
        columns.append((told, tuple(height * n / (sum(found) or 1) for n in found)))

    def at(value: float) -> float:
        return 100 * (value * bins - first) / width

    return Histogram(
        profile,
        columns,
        [(name, value, at(value)) for name, value in thresholds.items()],
        [(f"{tick / 10:.1f}", at(tick / 10)) for tick in range(round(10 * first / bins), 11)],
        tallest,
        {name: sum(n for (_, series), n in counts.items() if series == name) for name in SERIES},
    )


def shares(values: Sequence[float]) -> list[float]:
    """Each value in percent of the largest."""
    most = max(values, default=0) or 1
    return [100 * value / most for value in values]
