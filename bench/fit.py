"""How seconds grow with rows: a fixed start and a power of the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_EXPONENTS = np.linspace(0.2, 3.0, 1401)  # steps of 0.002
_SIZES = 3  # different numbers of rows, as many as there are unknowns
_VISIBLE = 1 / 3  # of the seconds at the largest size must be growth: in less, noise decides the exponent


class Fit(NamedTuple):
    """``seconds = fixed + factor * rows ** exponent``."""

    fixed: float
    factor: float
    exponent: float

    def seconds(self, rows: float) -> float:
        """Seconds that the fit expects for so many rows."""
        return self.fixed + self.factor * rows**self.exponent


def fit(rows: Sequence[float], seconds: Sequence[float]) -> Fit | None:
    """The curve with the least sum of squared relative errors.

    Null where the exponent would say nothing: fewer than three different numbers of rows, or hardly any growth beside the start.
    For a given exponent the other two follow from linear least squares, neither below zero; exponents are tried one by one.
    """
    x, y = np.asarray(rows, np.float64), np.asarray(seconds, np.float64)
    if len(np.unique(x)) < _SIZES:
        return None
    scale = x.max()
    fixed, factor, error = _best_parts((x[None, :] / scale) ** _EXPONENTS[:, None], y)
    best = int(np.argmin(error))
    exponent = float(_EXPONENTS[best])
    if factor[best] < _VISIBLE * (fixed[best] + factor[best]):
        return None
    return Fit(float(fixed[best]), float(factor[best]) / scale**exponent, exponent)


def _best_parts(power: np.ndarray, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start, factor and squared relative error of the best ``fixed + factor * power`` for each row of ``power``."""
    one, grown = 1 / seconds, power / seconds  # relative errors: what is fitted is 1
    a, b, c = (one**2).sum(), grown @ one, (grown**2).sum(axis=1)
    d, e = one.sum(), grown.sum(axis=1)
    determinant = a * c - b * b  # positive, since there are different numbers of rows
    fixed, factor = (c * d - b * e) / determinant, (a * e - b * d) / determinant
    fixed, factor = np.where(factor < 0, d / a, fixed), np.maximum(factor, 0)
    fixed, factor = np.maximum(fixed, 0), np.where(fixed < 0, e / c, factor)
    error = ((fixed[:, None] * one + factor[:, None] * grown - 1) ** 2).sum(axis=1)
    return fixed, factor, error
