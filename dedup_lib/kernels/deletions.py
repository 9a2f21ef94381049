"""Keys by which short texts within one edit meet: hashes of the text and of every text with one character less.

Two texts of which one character was replaced, inserted or left out share such a text (FastSS: Bocek, Hunt, Stiller, "Fast
similarity search in large dictionaries", 2007; the idea behind SymSpell), so no pair is missed, and what shares a key differs
by two edits at most, so buckets stay small. Characters are feature characters, as for every other comparison.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import character_classes
from dedup_lib.kernels.features import feature_characters, longest_text, mix
from dedup_lib.kernels.urls import url_characters
from dedup_lib.kernels.utf8 import compiled, string_buffers

_STEP = np.uint64(0x9E3779B97F4A7C15)


@compiled
def _hash_without(chars, count, gap):
    """The hash of the characters but the one at ``gap``; of all of them for ``gap == count``."""
    key = np.uint64(count - (gap < count))
    for i in range(count):
        if i != gap:
            key = mix(key ^ np.uint64(chars[i])) + _STEP
    return key


@compiled
def _keys(data, offsets, shortest, longest, classes, in_url, bounds):
    chars = np.empty(longest_text(offsets) + 1, np.int32)
    found = np.empty(1024, np.uint64)
    length = 0
    for row in range(len(offsets) - 1):
        count = feature_characters(data, offsets[row], offsets[row + 1], classes, in_url, chars)
        if shortest <= count <= longest:
            if length + count + 1 > len(found):
                bigger = np.empty(2 * (length + count + 1), np.uint64)
                bigger[:length] = found[:length]
                found = bigger
            for gap in range(count + 1):  # in a run of equal characters it does not matter which one goes: one key for all
                if gap == 0 or gap == count or chars[gap] != chars[gap - 1]:
                    found[length] = _hash_without(chars, count, gap)
                    length += 1
        bounds[row + 1] = length
    return found[:length]


def deletion_keys(texts: pa.Array, shortest: int, longest: int) -> pa.Array:
    """For each text of ``shortest`` to ``longest`` feature characters its distinct keys, little-endian uint64 in one binary.

    Null for other texts. A text of n characters has at most n + 1 keys.
    """
    bounds = np.zeros(len(texts) + 1, np.int64)
    keys = _keys(*string_buffers(texts), shortest, longest, character_classes(), url_characters(), bounds)
    offsets = pa.py_buffer((8 * bounds).astype(np.int32))
    present = np.packbits(np.diff(bounds) > 0, bitorder="little")
    buffers = [pa.py_buffer(present), offsets, pa.py_buffer(keys.astype("<u8"))]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)
