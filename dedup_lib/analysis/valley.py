"""The valley of a histogram: where unrelated texts end and related ones begin, and how sure that is.

A step's height is the number of drawn texts that have a pair there, not the number of pairs: one story with a thousand reposts
is one text's testimony, not a million's. Heights are smoothed; from the peak of the unrelated pairs the histogram falls, and the
valley is the lowest place before it rises again by more than chance. The drawn texts are drawn again, with repetition
(Efron, 1979), to see where the valley of other samples would have been.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

RESAMPLES = 200
SPREAD = 1.5  # percent: the standard deviation of the smoothing
RISE = 2.0  # a rise is a height of so many times that of the lowest place before it,
CHANCE = 3.0  # and of so many texts more
FLAT = 1.5  # the plain: heights of at most so many times the lowest one, and so many texts more
TAIL = 0.001  # of random pairs


class Valley(NamedTuple):
    """Shares of 0 to 1; None where there is no second peak."""

    sampled: int
    unrelated: float | None
    valley: float | None
    low: float | None  # 95 % of the other samples have their valley between these
    high: float | None
    plain: tuple[float, float] | None  # from here to there the histogram is as low as at the valley
    support: float
    peak: float | None


def _smoothed(heights: np.ndarray) -> np.ndarray:
    """Heights (resamples, steps), each spread over its neighbours by a normal curve."""
    steps = np.arange(heights.shape[1])
    weights = np.exp(-0.5 * ((steps[:, None] - steps) / SPREAD) ** 2)
    return heights @ (weights / weights.sum(axis=0))


class Place(NamedTuple):
    """Steps: the middle of the lowest plain, its ends, and the highest peak above it."""

    middle: int
    first: int
    last: int
    peak: int


def lowest(heights: np.ndarray) -> Place | None:
    """Where the valley is; None if the histogram does not rise again."""
    smooth = _smoothed(heights[None].astype(float))[0]
    at = int(np.argmax(smooth))
    for step in range(at, len(smooth)):
        if smooth[step] < smooth[at]:
            at = step
        elif smooth[step] > RISE * smooth[at] + CHANCE:
            above = np.flatnonzero(smooth > FLAT * smooth[at] + FLAT)
            first, last = int(above[above < at].max()) + 1, int(above[above > at].min()) - 1
            return Place((first + last) // 2, first, last, int(step + np.argmax(smooth[step:])))
    return None


def find_valley(jaccard: np.ndarray, background: np.ndarray, seed: int) -> Valley:
    """``jaccard``: pairs of each drawn text at each step; ``background``: random pairs at each step."""
    has = (jaccard > 0).astype(np.float64)
    texts = len(has)
    reached = np.cumsum(background[::-1])[::-1] / max(background.sum(), 1)
    unrelated = float(np.count_nonzero(reached > TAIL)) / 100 if background.sum() else None
    found = lowest(has.sum(axis=0)) if texts else None
    if found is None:
        return Valley(texts, unrelated, None, None, None, None, 0.0, None)
    draws = np.random.default_rng(seed).multinomial(texts, np.full(texts, 1 / texts), size=RESAMPLES)
    again = [place.middle for place in map(lowest, draws @ has) if place is not None]
    low, high = np.percentile([*again, found.middle], [2.5, 97.5])
    shares = [float(step) / 100 for step in (found.middle, min(low, found.middle), max(high, found.middle))]
    return Valley(texts, unrelated, *shares, (found.first / 100, found.last / 100), len(again) / RESAMPLES, found.peak / 100)
