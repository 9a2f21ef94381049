"""Chinese text without accidental duplicates: real clauses of the sample's articles, recombined at random.

A document of 860 characters is about 65 clauses out of 75,000 drawn independently, so two unrelated documents share one in
a thousand of theirs: far from every threshold, while each 4-gram inside a clause is one that people wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

SAMPLE = Path(__file__).resolve().parent.parent / "data" / "sample" / "articles.parquet"
_BREAK = re.compile(r"[，；：、。！？\n]")
_CLAUSE = re.compile(r"[\u4e00-\u9fff]{4,30}")
_SENTENCE = (2, 6)  # clauses in a sentence, upper end excluded; never one, since single clauses would recur as sentences
_PARAGRAPH_SHARE = 0.3  # of the sentences end a paragraph
_GOES_ON, _FULL_STOP, _PARAGRAPH = range(3)
_MARKS = ("，", "。", "。\n")


@cache
def vocabulary() -> tuple[str, ...]:
    """Every different clause of 4 to 30 Chinese characters, sorted; 75,000."""
    contents = pq.read_table(SAMPLE, columns=["content"])["content"].to_pylist()
    return tuple(sorted({piece for text in contents for piece in _BREAK.split(text) if _CLAUSE.fullmatch(piece)}))


class Writer:
    """Writes documents from a seeded stream of clauses. ``clauses``: what to choose from; default: the whole vocabulary."""

    def __init__(self, rng: np.random.Generator, clauses: Sequence[str] | None = None) -> None:
        chosen = vocabulary() if clauses is None else clauses
        self._rng = rng
        self._pieces = [clause + mark for clause in chosen for mark in _MARKS]
        self.mean_clause = sum(map(len, chosen)) / len(chosen) + 1
        self.characters = "".join(chosen[:: max(1, len(chosen) // 3000)])

    def documents(self, lengths: np.ndarray) -> list[str]:
        """One text for each wanted length (characters, kept on average)."""
        sizes = np.maximum(2, np.rint(lengths / self.mean_clause)).astype(np.int64)
        ends = np.cumsum(sizes)
        total = int(ends[-1]) if len(ends) else 0
        picks = self._rng.integers(0, len(self._pieces) // len(_MARKS), total) * len(_MARKS)
        picks += self._marks(total, ends - sizes, ends)
        pieces, numbers = self._pieces, picks.tolist()
        bounds = [0, *ends.tolist()]
        return ["".join([pieces[k] for k in numbers[low:high]]) for low, high in pairwise(bounds)]

    def lengths(self, rows: int, mean: float, least: int, most: int) -> np.ndarray:
        """Log-normal lengths in characters with this mean before they are cut to ``least`` and ``most``."""
        spread = 0.5
        return np.clip(self._rng.lognormal(np.log(mean) - spread**2 / 2, spread, rows), least, most)

    def _marks(self, total: int, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """What follows each of ``total`` clauses, as a number of ``_MARKS``."""
        marks = np.full(total, _GOES_ON)
        stops = np.cumsum(self._rng.integers(*_SENTENCE, total // _SENTENCE[0] + 1)) - 1
        stops = stops[stops < total]
        marks[stops] = np.where(self._rng.random(len(stops)) < _PARAGRAPH_SHARE, _PARAGRAPH, _FULL_STOP)
        marks[starts] = _GOES_ON
        marks[ends - 2] = _GOES_ON
        marks[ends - 1] = _FULL_STOP
        return marks
