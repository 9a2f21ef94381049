"""Anchors: a few sentences of each text, chosen so that a text and one that holds it choose the same.

A sentence is known by a 64-bit hash of its feature characters. Of each text the ``SKETCH`` smallest hashes are kept (a bottom-k
sketch: Broder, "On the resemblance and containment of documents", 1997); the first few of them are its anchors, by which texts
meet. Of a text that lies in a longer one and has the share p of its sentences, each anchor of the longer one is an anchor too
with probability p, so the two share none of k with probability (1-p)^k.

Sharing an anchor says little: a quotation does that. But those sentences of the shorter text that are no larger than the largest
in the longer one's sketch must nearly all be in it, if it holds the shorter one. So each entry of a bucket carries its row's
sketch, in 16 bits for each sentence, and only pairs that pass this look leave the bucket.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.urls import may_begin_url, url_characters, url_end
from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, string_buffers

# Commas end a sentence too: an excerpt often ends or begins at one, and posts have no full stops at all.
BREAKS = "。！？!?；;…，,\n"
SHORTEST = 13  # feature characters of a sentence; shorter ones stand in too many texts
PROFILES = 256  # the low eight bits of a key
SKETCH = 64  # sentences of a text that are kept; an article has 30
# Of a contained text so many sentences stand unchanged in the longer one, less a multiple of the square root of how many are
# seen: an edit in every third sentence leaves 0.9 of the shingles.
UNCHANGED = 0.6
SLACK = 0.75


class Entries(NamedTuple):
    """What texts bring into the buckets: row numbers (int64) and keys (int64) of equal length, grouped by row."""

    row: np.ndarray
    key: np.ndarray


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


@compiled
def _smallest(data, offsets, classes, in_url, breaks, out, bounds):
    at = 0
    for row in range(len(offsets) - 1):
        at += _anchors_of(data, offsets[row], offsets[row + 1], classes, in_url, breaks, out[at : at + SKETCH])
        bounds[row + 1] = at


def sentence_hashes(texts: pa.Array) -> pa.Array:
    """The ``SKETCH`` smallest distinct sentence hashes of each normalised text (binary: uint64, little-endian, ascending)."""
    out, bounds = np.empty(SKETCH * (len(texts) + 1), "<u8"), np.zeros(len(texts) + 1, np.int64)
    _smallest(*string_buffers(texts), character_classes(), url_characters(), _breaks(), out, bounds)
    buffers = [None, pa.py_buffer((8 * bounds).astype(np.int32)), pa.py_buffer(out[: bounds[-1]])]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


def _numbers(values: pa.Array, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Binary values, none null, as numbers of a kind, one behind the other, and where those of each row begin and end."""
    width = np.dtype(kind).itemsize
    _, offsets, data = values.cast(pa.binary()).buffers()
    bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    return np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]].view(kind), (bounds - bounds[0]) // width


def entries(hashes: pa.Array, anchors: int, profile: int) -> Entries:
    """Up to ``anchors`` keys of each row with these sentence hashes, the smallest.

    ``profile`` (0 to 255) becomes the low eight bits of each key, so that rows of different profiles never meet.
    """
    values, bounds = _numbers(hashes, "<u8")
    row = np.repeat(np.arange(len(hashes)), np.diff(bounds))
    chosen = np.arange(len(values)) - bounds[row] < anchors
    keys = values[chosen] & ~np.uint64(PROFILES - 1) | np.uint64(profile)
    return Entries(row[chosen], keys.view(np.int64))


@compiled
def _coarse(values, out):
    """Hashes in 16 bits, in the same order: how many bits a hash has, and its first eleven."""
    for i in range(len(values)):
        value, bits = values[i], 0
        while value >= 2048:
            value >>= np.uint64(1)
            bits += 1
        out[i] = 1024 * bits + np.int64(value)


def sketches(hashes: pa.Array) -> pa.Array:
    """Sentence hashes in 16 bits each, in the same order (binary: uint16, little-endian)."""
    values, bounds = _numbers(hashes, "<u8")
    out = np.empty(len(values), "<u2")
    _coarse(values, out)
    buffers = [None, pa.py_buffer((2 * bounds).astype(np.int32)), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), len(hashes), buffers)


@compiled
def _holds(longer, shorter):
    """Whether a text with this sketch may hold the other, by the sentences that they should share."""
    seen, shared, at = 0, 0, 0
    for sentence in shorter:
        if len(longer) == SKETCH and sentence > longer[-1]:
            break
        while at < len(longer) and longer[at] < sentence:
            at += 1
        seen += 1
        shared += at < len(longer) and longer[at] == sentence
    return shared >= UNCHANGED * seen - SLACK * np.sqrt(seen)


@compiled
def _pairs(order, rank, features, sketch, bounds, ends, few):
    """The pairs of each bucket that has few rows, where one may hold the other; a bucket's entries end at ``ends``."""
    pairs = np.empty((max(1024, len(order)), 2), np.int64)
    count, start = 0, 0
    for bucket in range(len(ends)):
        for i in range(start, ends[bucket] if few[bucket] else start):
            for j in range(i + 1, ends[bucket]):
                longer, shorter = order[i], order[j]
                if features[longer] < features[shorter]:
                    longer, shorter = shorter, longer
                first = sketch[bounds[longer] : bounds[longer + 1]]
                second = sketch[bounds[shorter] : bounds[shorter + 1]]
                if features[longer] == features[shorter] or not _holds(first, second):
                    continue
                if count == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[count, 0], pairs[count, 1] = min(rank[longer], rank[shorter]), max(rank[longer], rank[shorter])
                count += 1
        start = ends[bucket]
    return pairs[:count]


def meet(key: np.ndarray, rank: np.ndarray, features: np.ndarray, sketch: pa.Array, most: np.ndarray) -> Meetings:
    """The pairs of rows that share an anchor and of which one may hold the other, of buckets of at most so many rows.

    ``key``, ``rank``, ``features`` (feature characters of the text; integers) and ``sketch`` (as ``sketches`` gives them) have a
    value for each entry, each row is at most once in a bucket; ``most`` (int64, one for each profile) bounds the rows of a
    bucket: what more rows share is boilerplate.
    """
    order = np.argsort(key)
    key = key[order]
    ends = np.flatnonzero(np.append(key[1:] != key[:-1], len(key) > 0)) + 1
    sizes = np.diff(ends, prepend=0)
    few = sizes <= most[key[ends - 1] & (PROFILES - 1)]
    return Meetings(_pairs(order, rank, features, *_numbers(sketch, "<u2"), ends, few), sizes[~few])
