"""Anchors: a few sentences of each text, chosen so that a text and one that holds it choose the same.

A sentence is known by a 64-bit hash of its feature characters; the anchors of a text are its ``k`` smallest hashes (a bottom-k
sketch: Broder, "On the resemblance and containment of documents", 1997). Of a text that lies in a longer one and has the
share p of its sentences, each anchor of the longer one is an anchor too with probability p, so the two share none with
probability (1-p)^k.

Sharing one anchor says little: a quotation does that. But the anchors of the shorter text that are no larger than the longer
one's largest must nearly all be anchors of the longer one, if it holds the shorter one. So each entry of a bucket carries its
row's anchors in 16 bits each, and only pairs that pass this look leave the bucket.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.urls import may_begin_url, url_characters, url_end
from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, inlined, string_buffers

# Commas end a sentence too: an excerpt often ends or begins at one, and posts have no full stops at all.
BREAKS = "。！？!?；;…，,\n"
SHORTEST = 13  # feature characters of a sentence; shorter ones stand in too many texts
PROFILES = 256  # the low eight bits of a key
NOTHING = 0xFFFF  # in a sketch, where a text has fewer anchors; no anchor becomes so large
# Of a contained text so many sentences stand unchanged in the longer one, less a multiple of the square root of how many are
# seen: an edit in every third sentence leaves 0.9 of the shingles.
UNCHANGED = 0.6
SLACK = 0.75


class Anchors(NamedTuple):
    """The anchors of texts: row numbers (int64) and keys (int64) of equal length, grouped by row; a sketch for each text."""

    row: np.ndarray
    key: np.ndarray
    sketch: np.ndarray  # uint16, (texts, k): the anchors, coarse, ascending, then NOTHING


class Meetings(NamedTuple):
    """What the buckets of anchors gave."""

    pairs: np.ndarray  # int64 (n, 2): rank of the earlier row, rank of the later row; a pair for each bucket they share
    skipped: np.ndarray  # int64: rows of each bucket that had too many


@lru_cache(maxsize=1)
def _breaks() -> np.ndarray:
    """For each code point, whether a sentence ends there."""
    ends = np.zeros(MAX_CODE_POINT, np.bool_)
    ends[[ord(char) for char in BREAKS]] = True
    return ends


@compiled
def _keep_smallest(value, smallest, count):
    """Put a value among the first ``count`` distinct ascending values if there is room or it is smaller; the new count."""
    if count == len(smallest) and value >= smallest[count - 1]:
        return count
    at = 0
    while at < count and smallest[at] < value:
        at += 1
    if at < count and smallest[at] == value:
        return count
    count = min(count + 1, len(smallest))
    for i in range(count - 1, at, -1):
        smallest[i] = smallest[i - 1]
    smallest[at] = value
    return count


@compiled
def _keep_sentence(key, length, smallest, count):
    return _keep_smallest(mix(key + np.uint64(length)), smallest, count) if length >= SHORTEST else count


@compiled
def _anchors_of(data, start, stop, classes, in_url, breaks, smallest):
    """The smallest distinct sentence hashes of bytes ``start:stop``, ascending; returns their number."""
    found, length = 0, 0
    key = np.uint64(0)
    i = start
    while i < stop:
        end = url_end(data, i, stop, in_url) if may_begin_url(data[i]) else i
        if end > i:
            i = end
            continue
        char, i = decode(data, i)
        if classes[char] & FEATURE:
            key = (key + np.uint64(char)) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
            length += 1
        if breaks[char]:
            found = _keep_sentence(key, length, smallest, found)
            key, length = np.uint64(0), 0
    return _keep_sentence(key, length, smallest, found)


@inlined
def _coarse(value):
    """A hash in 16 bits, in the same order: how many bits it has, and its first eleven."""
    bits = 0
    while value >= 2048:
        value >>= np.uint64(1)
        bits += 1
    return np.uint16(1024 * bits + np.int64(value))


@compiled
def _anchors(data, offsets, classes, in_url, breaks, out, counts, sketch):
    for row in range(len(offsets) - 1):
        counts[row] = _anchors_of(data, offsets[row], offsets[row + 1], classes, in_url, breaks, out[row])
        for i in range(counts[row]):
            sketch[row, i] = _coarse(out[row, i])


def anchors(texts: pa.Array, k: int, profile: int) -> Anchors:
    """Up to ``k`` anchors of each normalised text, smallest hash first.

    ``profile`` (0 to 255) becomes the low eight bits of each key, so that rows of different profiles never meet.
    """
    out, counts = np.zeros((len(texts), k), np.uint64), np.zeros(len(texts), np.int64)
    sketch = np.full((len(texts), k), NOTHING, np.uint16)
    _anchors(*string_buffers(texts), character_classes(), url_characters(), _breaks(), out, counts, sketch)
    chosen = np.arange(k) < counts[:, None]
    keys = out[chosen] & ~np.uint64(PROFILES - 1) | np.uint64(profile)
    return Anchors(np.repeat(np.arange(len(texts)), counts), keys.view(np.int64), sketch)


@compiled
def _holds(longer, shorter):
    """Whether a text with this sketch may hold the other, by the anchors that they should share."""
    seen, shared, at = 0, 0, 0
    full = longer[-1] != NOTHING
    for anchor in shorter:
        if anchor == NOTHING or (full and anchor > longer[-1]):
            break
        while at < len(longer) and longer[at] < anchor:
            at += 1
        seen += 1
        shared += at < len(longer) and longer[at] == anchor
    return shared >= UNCHANGED * seen - SLACK * np.sqrt(seen)


@compiled
def _pairs(rank, features, sketch, ends, few):
    """The pairs of each bucket that has few rows, where one may hold the other; a bucket's entries end at ``ends``."""
    pairs = np.empty((max(1024, len(rank)), 2), np.int64)
    count, start = 0, 0
    for bucket in range(len(ends)):
        for i in range(start, ends[bucket] if few[bucket] else start):
            for j in range(i + 1, ends[bucket]):
                longer, shorter = (i, j) if features[i] > features[j] else (j, i)
                if features[i] == features[j] or not _holds(sketch[longer], sketch[shorter]):
                    continue
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[count, 0], pairs[count, 1] = min(rank[i], rank[j]), max(rank[i], rank[j])
                count += 1
        start = ends[bucket]
    return pairs[:count]


def meet(key: np.ndarray, rank: np.ndarray, features: np.ndarray, sketch: np.ndarray, most: np.ndarray) -> Meetings:
    """The pairs of rows that share an anchor and of which one may hold the other, of buckets of at most so many rows.

    ``key``, ``rank`` and ``features`` (feature characters of the text) are integers of equal length, ``sketch`` is uint16
    (entries, k), each row at most once in a bucket; ``most`` (int64, one for each profile) bounds the rows of a bucket: what
    more rows share is boilerplate.
    """
    order = np.argsort(key)
    key = key[order]
    ends = np.flatnonzero(np.append(key[1:] != key[:-1], len(key) > 0)) + 1
    sizes = np.diff(ends, prepend=0)
    few = sizes <= most[key[ends - 1] & (PROFILES - 1)]
    return Meetings(_pairs(rank[order], features[order], sketch[order], ends, few), sizes[~few])


def may_contain(
    first: np.ndarray, second: np.ndarray, sizes_a: np.ndarray, sizes_b: np.ndarray, containment: float
) -> np.ndarray:
    """Which pairs may reach this containment, as their MinHash signatures (n, permutations) and set sizes (n) tell.

    Of m permutations a pair with Jaccard similarity J agrees in mJ on average; one that agrees in fewer than three standard
    deviations below what the containment needs is left out, which loses less than two in a thousand.
    """
    ratio = np.minimum(sizes_a, sizes_b) / np.maximum(np.maximum(sizes_a, sizes_b), 1)
    expected = first.shape[1] * containment * ratio / (1 + ratio - containment * ratio)
    return (first == second).sum(axis=1) >= expected - 3 * np.sqrt(expected)
