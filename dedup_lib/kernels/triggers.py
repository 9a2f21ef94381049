"""Which texts of a batch need a step at all: compiled searches that hand the slow library only the rows it can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, string_buffers

PAIRS = 1 << 16

Trigger = Callable[[pa.Array], pa.Array]  # texts -> booleans


def nowhere(texts: pa.Array) -> pa.Array:
    """No text."""
    return pa.array(np.zeros(len(texts), bool))


def matching(pattern: str) -> Trigger:
    """Texts in which an RE2 pattern is found."""
    return lambda texts: pc.match_substring_regex(texts, pattern)


def holding(characters: Iterable[str]) -> Trigger:
    """Texts that hold at least one of the characters."""
    wanted = character_set(frozenset(characters))

    def search(texts: pa.Array) -> pa.Array:
        found = np.zeros(len(texts), bool)
        _holds(*string_buffers(texts), wanted, found)
        return pa.array(found)

    return search


def dense(characters: Iterable[str], share: float) -> Trigger:
    """Texts of whose characters beyond ASCII at least this share (above 0) are among the given ones."""
    wanted = character_set(frozenset(characters))

    def search(texts: pa.Array) -> pa.Array:
        found = np.zeros(len(texts), bool)
        _is_dense(*string_buffers(texts), wanted, share, found)
        return pa.array(found)

    return search


def containing(phrases: Iterable[str]) -> Trigger:
    """Texts that hold at least one of the phrases, each of two characters or more.

    A table tells which pairs of characters begin a phrase; only where one does, the phrases are compared. That is several
    times faster than an alternation.
    """
    ordered = sorted(set(phrases))
    chars = np.array([ord(char) for phrase in ordered for char in phrase], np.int32)
    bounds = np.cumsum([0, *map(len, ordered)])
    pairs = np.zeros(PAIRS, np.bool_)
    for start in bounds[:-1]:
        pairs[_pair(chars[start], chars[start + 1])] = True

    def search(texts: pa.Array) -> pa.Array:
        found = np.zeros(len(texts), bool)
        _contains(*string_buffers(texts), pairs, chars, bounds, found)
        return pa.array(found)

    return search


def either(*triggers: Trigger) -> Trigger:
    """Texts that one trigger or another names."""

    def search(texts: pa.Array) -> pa.Array:
        found = triggers[0](texts)
        for trigger in triggers[1:]:
            found = pc.or_(found, trigger(texts))
        return found

    return search


@lru_cache(maxsize=32)
def character_set(characters: frozenset[str]) -> np.ndarray:
    """A boolean for each code point."""
    wanted = np.zeros(MAX_CODE_POINT, np.bool_)
    wanted[[ord(char) for char in characters]] = True
    return wanted


@compiled
def _pair(first, second):
    spread = np.uint64(first) * np.uint64(0x9E3779B1) + np.uint64(second) * np.uint64(0x85EBCA77)
    return (spread >> np.uint64(16)) & np.uint64(PAIRS - 1)


@compiled
def _continues(data, i, stop, chars, start, end):
    """Whether the bytes from ``i`` go on with characters ``start:end`` of the phrases."""
    for k in range(start, end):
        if i >= stop:
            return False
        char, i = decode(data, i)
        if char != chars[k]:
            return False
    return True


@compiled
def _contains(data, offsets, pairs, chars, bounds, found):
    for row in range(len(offsets) - 1):
        before = np.int32(0)
        i, stop = offsets[row], offsets[row + 1]
        while i < stop and not found[row]:
            char, i = decode(data, i)
            if pairs[_pair(before, char)]:
                for p in range(len(bounds) - 1):
                    start = bounds[p]
                    if chars[start] == before and chars[start + 1] == char:
                        found[row] |= _continues(data, i, stop, chars, start + 2, bounds[p + 1])
            before = char


@compiled
def _holds(data, offsets, wanted, found):
    for row in range(len(offsets) - 1):
        i = offsets[row]
        while i < offsets[row + 1]:
            char, i = decode(data, i)
            if wanted[char]:
                found[row] = True
                break


@compiled
def _is_dense(data, offsets, wanted, share, found):
    for row in range(len(offsets) - 1):
        hits, others = 0, 0
        i = offsets[row]
        while i < offsets[row + 1]:
            char, i = decode(data, i)
            if char > 0x7F:
                others += 1
                hits += wanted[char]
        found[row] = hits > 0 and hits >= share * others
