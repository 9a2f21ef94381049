"""Editions of one text: a law and its next revision share nearly every word, and are two documents all the same.

Such a text lists its revisions (第三次修订, 修正). Texts that list different ones are different editions.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.triggers import Trigger, containing

_MARKS = ("修订", "修正")
_MARK = re.compile(rf"(?:决定[》>]|第[一二三四五六七八九十\d]+次)(?:{'|'.join(_MARKS)})")
_holding_marks: Trigger = containing(_MARKS)


def editions(text: str) -> Counter[str]:
    """The marks of revisions in a normalised text, and how often each stands there."""
    return Counter(_MARK.findall(text))


def other_editions(first: pa.Array, second: pa.Array) -> np.ndarray:
    """Which pairs of normalised texts are different editions (booleans)."""
    found = np.zeros(len(first), bool)
    rows = np.flatnonzero(pc.or_(_holding_marks(first), _holding_marks(second)))
    pairs = zip(first.take(rows).to_pylist(), second.take(rows).to_pylist(), strict=True)
    found[rows] = [editions(ours) != editions(theirs) for ours, theirs in pairs]
    return found
