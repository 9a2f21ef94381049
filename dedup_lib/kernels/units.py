"""The outer units of a text: its first and last sentences or lines, where sites put what is not the article's.

A unit ends at a sentence's end mark or a line break, which belong to it. Two units are the same when their letters and numbers
are. Units of fewer than ``SHORTEST`` or more than ``LONGEST`` of these are nobody's template, and end the search inwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.features import longest_text, mix
from dedup_lib.kernels.utf8 import compiled, decode, string_array, string_buffers

HEAD, TAIL = 0, 1
SHORTEST, LONGEST = 6, 300  # feature characters
_ENDS = np.array([ord(mark) for mark in "。!?;\n"], np.int32)


class Units(NamedTuple):
    """Outer units of texts; arrays of equal length."""

    row: np.ndarray  # int64: number of the text
    position: np.ndarray  # int8: HEAD or TAIL
    key: np.ndarray  # int64: hash of the unit's letters and numbers
    start: np.ndarray  # int64: first byte in the text
    end: np.ndarray  # int64: behind its last byte


@compiled
def _split(data, start, stop, classes, bounds, keys, sizes):
    """The units of one text: byte bounds (one more than units), hashes, feature characters. Returns their number."""
    count, size = 0, 0
    key = np.uint64(0)
    bounds[0] = start
    i = start
    while i < stop:
        char, i = decode(data, i)
        if classes[char] & FEATURE:
            key = mix(key ^ np.uint64(char)) + np.uint64(0x9E3779B97F4A7C15)
            size += 1
        ends = i == stop
        for mark in _ENDS:
            ends |= char == mark
        if ends:
            keys[count], sizes[count] = np.int64(key), size
            count += 1
            bounds[count] = i
            key, size = np.uint64(0), 0
    return count


@compiled
def _outer(data, offsets, most, classes, out):
    longest = longest_text(offsets) + 1
    bounds, keys, sizes = np.empty(longest + 1, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    found = 0
    for row in range(len(offsets) - 1):
        count = _split(data, offsets[row], offsets[row + 1], classes, bounds, keys, sizes)
        for position in (HEAD, TAIL):
            taken = 0
            for step in range(count):
                at = step if position == HEAD else count - 1 - step
                if taken == most or (sizes[at] and not SHORTEST <= sizes[at] <= LONGEST):
                    break
                if sizes[at] == 0:
                    continue
                out[found, 0], out[found, 1], out[found, 2] = row, position, keys[at]
                out[found, 3], out[found, 4] = bounds[at] - offsets[row], bounds[at + 1] - offsets[row]
                found += 1
                taken += 1
    return found


@compiled
def _strip(data, offsets, heads, tails, min_features, classes, kept):
    longest = longest_text(offsets) + 1
    bounds, keys, sizes = np.empty(longest + 1, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    for row in range(len(offsets) - 1):
        count = _split(data, offsets[row], offsets[row + 1], classes, bounds, keys, sizes)
        left = np.sum(sizes[:count])
        first, last = 0, count
        while first < last and _goes(sizes[first], keys[first], heads, left - min_features):
            left -= sizes[first]
            first += 1
        while last > first and _goes(sizes[last - 1], keys[last - 1], tails, left - min_features):
            left -= sizes[last - 1]
            last -= 1
        while first > 0 and sizes[first - 1] == 0:  # nothing but marks is no reason to change a text
            first -= 1
        while last < count and sizes[last] == 0:
            last += 1
        kept[row, 0], kept[row, 1] = bounds[first], bounds[last]


@compiled
def _goes(size, key, ordered, room):
    """Whether a unit is a template, or nothing but marks, and there is room for its going."""
    at = np.searchsorted(ordered, key)
    return size <= room and (size == 0 or (at < len(ordered) and ordered[at] == key))


def outer_units(texts: pa.Array, most: int) -> Units:
    """Up to ``most`` units at the head and as many at the tail of each normalised text; a short text's may be the same ones."""
    data, offsets = string_buffers(texts)
    out = np.empty((2 * most * len(texts), 5), np.int64)
    found = _outer(data, offsets, most, character_classes(), out)
    row, position, key, start, end = out[:found].T
    return Units(row, position.astype(np.int8), key, start, end)


def strip_units(texts: pa.Array, heads: np.ndarray, tails: np.ndarray, min_features: int) -> pa.Array:
    """Texts without their outer units whose keys are in ``heads`` and ``tails`` (sorted int64), from the outside inwards.

    At least ``min_features`` letters and numbers are left, else the unit stays.
    """
    data, offsets = string_buffers(texts)
    kept = np.empty((len(texts), 2), np.int64)
    _strip(data, offsets, heads, tails, min_features, character_classes(), kept)
    bounds = np.concatenate([[0], np.cumsum(kept[:, 1] - kept[:, 0])])
    pieces = [data[start:end] for start, end in kept]
    return string_array(np.concatenate(pieces) if pieces else np.empty(0, np.uint8), bounds)
