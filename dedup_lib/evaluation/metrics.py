"""Precision, recall and F1 of counted pairs, with confidence intervals."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

Z = 1.959964  # 95 % of a normal distribution lie within so many standard deviations


class Counts(NamedTuple):
    """Pairs proposed rightly and wrongly at each step and above (int64), and all pairs of either label."""

    tp: np.ndarray
    fp: np.ndarray
    duplicates: int
    different: int


class Rates(NamedTuple):
    """Rates with their 95 % intervals, None where there is nothing to divide by."""

    precision: float | None
    precision_lo: float | None
    precision_hi: float | None
    recall: float | None
    recall_lo: float | None
    recall_hi: float | None
    f1: float | None


def counts(tally: np.ndarray) -> Counts:
    """Counts from a tally whose first axis is the label (0 different, 1 duplicate) and whose last is the step."""
    by_label = tally.reshape(2, -1, tally.shape[-1]).sum(axis=1)
    fp, tp = np.cumsum(by_label[:, ::-1], axis=1)[:, ::-1]
    return Counts(tp, fp, int(tp[0]), int(fp[0]))


def wilson(hits: int, trials: int) -> tuple[float, float] | tuple[None, None]:
    """The 95 % score interval of a share (Wilson, 1927). It takes the trials for independent; pairs of one cluster are not,
    so for clusters it is narrower than the truth."""
    if not trials:
        return None, None
    share, square = hits / trials, Z * Z / trials
    middle = (share + square / 2) / (1 + square)
    reach = Z * sqrt(share * (1 - share) / trials + square / (4 * trials)) / (1 + square)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return (low if hits else 0.0), (high if hits < trials else 1.0)


def rates(tp: int, fp: int, duplicates: int, different: int) -> Rates:
    """Rates of a method that proposed ``tp`` of the pairs labelled duplicate and ``fp`` of those labelled different.

    Where all pairs have one label, precision would speak of the choice of pairs alone: there is none, and no F1.
    """
    proposed = tp + fp if duplicates and different else 0
    precision = tp / proposed if proposed else None
    recall = tp / duplicates if duplicates else None
    f1 = 2 * tp / (tp + fp + duplicates) if duplicates and different else None
    return Rates(precision, *wilson(tp, proposed), recall, *wilson(tp, duplicates), f1)


def best_step(counted: Counts) -> int | None:
    """The step with the highest F1, the highest such step of several; None where there is no F1."""
    if not (counted.duplicates and counted.different):
        return None
    f1 = 2 * counted.tp / (counted.tp + counted.fp + counted.duplicates)
    return int(len(f1) - 1 - np.argmax(f1[::-1]))
