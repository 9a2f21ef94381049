"""Hashed features of a text: its distinct character n-grams (shingles), or its words.

The feature characters of a text are its letters and numbers (``classes.FEATURE``) in order, web addresses left out; a shingle
is ``n`` of them in a row; a text with fewer has one shingle, the whole of it. A shingle is known by a 64-bit hash, so that
sets are arrays of integers; among a thousand shingles two share a hash with a probability of about 10^-14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dedup_lib.kernels.classes import FEATURE
from dedup_lib.kernels.urls import GAP, URL, may_begin_url, url_end
from dedup_lib.kernels.utf8 import compiled, decode, inlined


@inlined
def mix(key):
    """The 64-bit finalizer of MurmurHash3 (Appleby, 2011): a fixed bijection that spreads every bit."""
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xFF51AFD7ED558CCD)
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


@compiled
def feature_characters(data, start, stop, classes, in_url, out):
    """The feature characters of bytes ``start:stop`` into ``out`` (int32); returns their number."""
    count = 0
    i = start
    while i < stop:
        end = url_end(data, i, stop, in_url) if may_begin_url(data[i]) else i
        if end > i:
            i = end
            continue
        char, i = decode(data, i)
        out[count] = char  # there is room: a place for each byte
        count += classes[char] & FEATURE
    return count


@inlined
def shingle_hash(chars, at, n):
    """The hash of ``n`` characters from ``at``."""
    key = np.uint64(n)
    for k in range(n):
        key = (key + np.uint64(chars[at + k])) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return mix(key)


@compiled
def distinct(hashes, count, table, out, times):
    """The distinct values among the first ``count`` hashes, in order of appearance, and how often each occurs.

    ``table`` (int32) is scratch space with at least four times ``count`` slots; returns the number of distinct values.
    """
    size = 16
    while size < 2 * count:
        size *= 2
    table[:size] = -1
    found = 0
    for i in range(count):
        slot = np.int64(hashes[i] & np.uint64(size - 1))
        while table[slot] >= 0 and out[table[slot]] != hashes[i]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = found
            out[found] = hashes[i]
            times[found] = 0
            found += 1
        times[table[slot]] += 1
    return found


@compiled
def shingles(chars, count, n, hashes, table, out, times):
    """The distinct shingles of ``count`` feature characters, and how often each occurs; returns their number."""
    if count == 0:
        return 0
    width = min(n, count)
    for i in range(count - width + 1):
        hashes[i] = shingle_hash(chars, i, width)
    return distinct(hashes, count - width + 1, table, out, times)


@compiled
def scratch(length):
    """Buffers for texts of up to ``length`` bytes: characters, hashes, table, distinct hashes, counts."""
    room = length + 1
    return (
        np.empty(room, np.int32),
        np.empty(room, np.uint64),
        np.empty(4 * room + 16, np.int32),
        np.empty(room, np.uint64),
        np.empty(room, np.int32),
    )


@compiled
def longest_text(offsets):
    """Bytes of the longest text."""
    longest = 0
    for row in range(len(offsets) - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


def word_hashes(texts: Sequence[str], cut: Callable[[str], Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Hashes (uint64) of the words of each text, and n+1 offsets; words without a letter or number are left out."""
    hashes, offsets = [], [0]
    for text in texts:
        hashes.extend(_word_hash(word) for word in cut(URL.sub(GAP, text)) if any(map(str.isalnum, word)))
        offsets.append(len(hashes))
    return np.array(hashes, np.uint64), np.array(offsets, np.int64)


def _word_hash(word: str) -> int:
    """FNV-1a over code points (Fowler, Noll, Vo, 1991); spread by ``mix`` before use."""
    key = 0xCBF29CE484222325
    for char in word:
        key = ((key ^ ord(char)) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return key
