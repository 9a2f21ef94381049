"""The pairs that figures speak of, and counting scores over all of them.

*Labelled pairs*: exactly the pairs that were labelled. Their precision is that of the mix of labels someone chose, not of a
corpus. *All pairs*: every pair of rows with a labelled cluster; none is sampled, so the precision of a method is over all pairs
it proposes among these rows, and its recall over all pairs within true clusters (a cluster of n rows counts n(n-1)/2 times).

Each pair lies in a cell: label, kind, lexical or not, length band. The kind of a pair of one cluster is the kind of the copy
where the other row is the original, else ``TWO_COPIES``; of two clusters, ``UNRELATED``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dedup_lib.errors import InputError
from dedup_lib.evaluation.labels import Clusters, Pairs
from dedup_lib.evaluation.measures import Measure
from dedup_lib.kernels.against import BAND_EDGES
from dedup_lib.kernels.utf8 import compiled

TWO_COPIES, UNRELATED = "(two copies)", "(unrelated)"
MAX_ROWS = 100_000  # five billion pairs: about ten minutes for all methods


class Row(NamedTuple):
    """Row ``i`` with the later rows it makes pairs with, and the cell of each pair."""

    i: int
    others: np.ndarray  # int64
    cells: np.ndarray  # int64


class Shape(NamedTuple):
    """What the numbers of the cells mean: a tally has the axes label, kind, lexical, band, step."""

    name: str
    kinds: list[str]
    bands: list[str]

    @property
    def axes(self) -> tuple[int, int, int, int]:
        """Lengths of the first four axes."""
        return 2, len(self.kinds), 2, len(self.bands)


class Universe(Protocol):
    """Pairs by row, with their cells."""

    shape: Shape

    def rows(self) -> Iterator[Row]:
        """Every row that has pairs, in order."""
        ...


def band_names(edges: Sequence[int] = BAND_EDGES) -> list[str]:
    """Names of the length bands, shortest first."""
    lows = [0, *edges]
    return [f"{low}-{high - 1}" for low, high in zip(lows, edges, strict=False)] + [f"{lows[-1]}+"]


def length_bands(features: np.ndarray) -> np.ndarray:
    """The band (int64) of each number of feature characters."""
    return np.searchsorted(BAND_EDGES, features, side="right").astype(np.int64)


class LabelledPairs(Universe):
    """Exactly the labelled pairs. ``features``: feature characters of each row of ``labels.ids``."""

    def __init__(self, labels: Pairs, features: np.ndarray) -> None:
        number = {doc_id: row for row, doc_id in enumerate(labels.ids)}
        self._first = np.array([number[doc_id] for doc_id in labels.first], np.int64)
        self._second = np.array([number[doc_id] for doc_id in labels.second], np.int64)
        kinds, kind = np.unique(np.array(labels.kind), return_inverse=True)
        self.shape = Shape("labelled pairs", kinds.tolist(), band_names())
        bands = length_bands(features)
        band = np.minimum(bands[self._first], bands[self._second])
        lexical = np.ones(len(band), np.int64)
        self._cells = np.ravel_multi_index((np.array(labels.duplicate, np.int64), kind, lexical, band), self.shape.axes)

    def rows(self) -> Iterator[Row]:
        """Every row that has pairs, in order."""
        starts = np.flatnonzero(np.diff(self._first, prepend=-1))
        for start, end in zip(starts, np.append(starts[1:], len(self._first)), strict=True):
            yield Row(int(self._first[start]), self._second[start:end], self._cells[start:end])


class AllPairs(Universe):
    """All pairs of rows with a cluster. Raises ``InputError`` for more than ``MAX_ROWS`` rows."""

    def __init__(self, labels: Clusters, features: np.ndarray, original: str) -> None:
        if len(labels.ids) > MAX_ROWS:
            raise InputError(f"labels: {len(labels.ids):,} rows, and all pairs are compared: label at most {MAX_ROWS:,}")
        names = sorted({*labels.kind, TWO_COPIES, UNRELATED})
        self.shape = Shape("all pairs", names, band_names())
        code = {name: at for at, name in enumerate(names)}
        self._cluster = np.unique(np.array(labels.cluster), return_inverse=True)[1].astype(np.int64)
        self._kind = np.array([code[kind] for kind in labels.kind], np.int64)
        self._lexical = np.array(labels.lexical, np.int64)
        self._band = length_bands(features)
        self._codes = code.get(original, -1), code[TWO_COPIES], code[UNRELATED]

    def rows(self) -> Iterator[Row]:
        """Every row that has pairs, in order."""
        numbers = np.arange(len(self._cluster))
        for i in range(len(numbers) - 1):
            others = numbers[i + 1 :]
            cells = np.empty(len(others), np.int64)
            _cells(i, self._cluster, self._kind, self._lexical, self._band, self._codes, self.shape.axes, cells)
            yield Row(i, others, cells)


@compiled
def _cells(i, cluster, kind, lexical, band, codes, axes, out):
    original, two_copies, unrelated = codes
    for j in range(i + 1, len(cluster)):
        same = cluster[i] == cluster[j]
        of = unrelated
        if same and kind[i] == kind[j]:
            of = kind[i] if original < 0 else two_copies
        elif same:
            of = kind[j] if kind[i] == original else kind[i] if kind[j] == original else two_copies
        cell = (np.int64(same) * axes[1] + of) * axes[2] + lexical[i] * lexical[j]
        out[j - i - 1] = cell * axes[3] + min(band[i], band[j])


@compiled
def _count(cells, steps, tally):
    for x in range(len(cells)):
        tally[cells[x], steps[x]] += 1


@compiled
def _worst(cells, steps, half, bands):
    """The place of the farthest lexical pair labelled duplicate, and of the nearest one labelled different; -1 for none."""
    far, near = -1, -1
    for x in range(len(cells)):
        if cells[x] < half:
            if near < 0 or steps[x] > steps[near]:
                near = x
        elif (cells[x] // bands) % 2 and (far < 0 or steps[x] < steps[far]):
            far = x
    return far, near


class Suspects(NamedTuple):
    """For each row at most one pair labelled duplicate though far, and one labelled different though near."""

    far: list[tuple[int, int, int]]  # step, row, other row
    near: list[tuple[int, int, int]]


def tally(universe: Universe, measures: Sequence[Measure], steps: Sequence[int], judge: int) -> tuple[list[np.ndarray], Suspects]:
    """Score every pair by every measure. ``steps``: how many steps each measure has; ``judge``: the one that finds suspects.

    Returns for each measure the number of pairs (int64) by label (0 different, 1 duplicate), kind, lexical, band and step.
    """
    axes = universe.shape.axes
    cells = int(np.prod(axes))
    tallies = [np.zeros((cells, count), np.int64) for count in steps]
    suspects = Suspects([], [])
    for i, others, where in universe.rows():
        for at, measure in enumerate(measures):
            scores = measure(i, others)
            _count(where, scores, tallies[at])
            if at == judge:
                far, near = _worst(where, scores, cells // 2, axes[3])
                suspects.far.extend([(int(scores[far]), i, int(others[far]))] if far >= 0 else [])
                suspects.near.extend([(int(scores[near]), i, int(others[near]))] if near >= 0 else [])
    return [counts.reshape(*axes, -1) for counts in tallies], suspects
