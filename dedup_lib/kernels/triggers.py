"""Which texts of a batch need a step at all: one compiled search that hands the slow library only the rows it can change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, string_buffers

PAIRS = 1 << 16
MOST_TRIGGERS = 16  # of one search
MOST_SHARES = 8
_SHARES_FROM = 16  # the bits of a character's mark: 0 to 15 the triggers, 16 to 23 the shares, 31 the first of a phrase
_BEGINS = np.uint32(1 << 31)


class Trigger(NamedTuple):
    """What a step may change: texts in which any of this is found. Called with texts, it tells for each (booleans)."""

    characters: frozenset[str] = frozenset()
    phrases: frozenset[str] = frozenset()  # each of two characters or more
    shares: tuple[tuple[frozenset[str], float], ...] = ()  # of the characters beyond ASCII at least this share (above 0)
    patterns: tuple[str, ...] = ()  # regular expressions, as RE2 reads them

    def __call__(self, texts: pa.Array) -> pa.Array:
        return pa.array(_search_for(self)(texts)[:, 0])


NOWHERE = Trigger()


def matching(pattern: str) -> Trigger:
    """Texts in which an RE2 pattern is found."""
    return Trigger(patterns=(pattern,))


def holding(characters: Iterable[str]) -> Trigger:
    """Texts that hold at least one of the characters."""
    return Trigger(characters=frozenset(characters))


def dense(characters: Iterable[str], share: float) -> Trigger:
    """Texts of whose characters beyond ASCII at least this share (above 0) are among the given ones."""
    return Trigger(shares=((frozenset(characters), share),))


def containing(phrases: Iterable[str]) -> Trigger:
    """Texts that hold at least one of the phrases, each of two characters or more."""
    return Trigger(phrases=frozenset(phrases))


def either(*triggers: Trigger) -> Trigger:
    """Texts that one trigger or another names."""
    characters, phrases, shares, patterns = zip(*triggers, strict=True)
    return Trigger(frozenset().union(*characters), frozenset().union(*phrases), sum(shares, ()), sum(patterns, ()))


class Search:
    """Several triggers looked for at once: a text is read once, however many there are (up to ``MOST_TRIGGERS``).

    Each character has a mark that says what it is part of. Nearly all have none, so that a text costs one look-up for each
    character. Where a phrase may begin, a table tells which pairs of characters do begin one, and only there the phrases are
    compared.
    """

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        self._triggers = triggers
        shares = [(number, *share) for number, trigger in enumerate(triggers) for share in trigger.shares]
        if len(triggers) > MOST_TRIGGERS or len(shares) > MOST_SHARES:
            raise ValueError(f"a search takes {MOST_TRIGGERS} triggers and {MOST_SHARES} shares at most")
        self._shares = np.array([share for _, _, share in shares], np.float64)
        self._of_share = np.array([number for number, _, _ in shares], np.int64)
        self._dense = [characters for _, characters, _ in shares]

    @cached_property
    def _marks(self) -> np.ndarray:
        marks = np.zeros(MAX_CODE_POINT, np.uint32)
        for number, trigger in enumerate(self._triggers):
            marks[[ord(char) for char in trigger.characters]] |= np.uint32(1 << number)
            marks[[ord(phrase[0]) for phrase in trigger.phrases]] |= _BEGINS
        for number, characters in enumerate(self._dense):
            marks[[ord(char) for char in characters]] |= np.uint32(1 << (_SHARES_FROM + number))
        return marks

    @cached_property
    def _phrases(self) -> tuple[np.ndarray, ...]:
        """Which pairs begin a phrase, the characters of all phrases, where each phrase begins, and whose each is."""
        owned = [(phrase, number) for number, trigger in enumerate(self._triggers) for phrase in sorted(trigger.phrases)]
        chars = np.array([ord(char) for phrase, _ in owned for char in phrase], np.int32)
        bounds = np.cumsum([0, *(len(phrase) for phrase, _ in owned)])
        pairs = np.zeros(PAIRS, np.bool_)
        for start in bounds[:-1]:
            pairs[_pair(chars[start], chars[start + 1])] = True
        return pairs, chars, bounds, np.array([1 << number for _, number in owned], np.uint32)

    def __call__(self, texts: pa.Array) -> np.ndarray:
        """For each text and trigger (booleans, (texts, triggers)) whether it is found. A null holds nothing."""
        flags = np.zeros(len(texts), np.uint32)
        _search(*string_buffers(texts), self._marks, *self._phrases, self._shares, self._of_share, flags)
        found = (flags[:, None] >> np.arange(len(self._triggers), dtype=np.uint32)) & 1 != 0
        for number, trigger in enumerate(self._triggers):
            for pattern in trigger.patterns:
                matches = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
                found[:, number] |= matches.to_numpy(zero_copy_only=False)
        return found


@lru_cache(maxsize=32)
def _search_for(trigger: Trigger) -> Search:
    return Search([trigger])


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
def _phrases_at(data, i, stop, first, pairs, chars, bounds, owners):
    """Whose phrases begin with the character ``first``, which ends at byte ``i``."""
    found = np.uint32(0)
    if i == stop:
        return found
    second, behind = decode(data, i)
    if pairs[_pair(first, second)]:
        for p in range(len(bounds) - 1):
            start = bounds[p]
            if chars[start] == first and chars[start + 1] == second:
                if _continues(data, behind, stop, chars, start + 2, bounds[p + 1]):
                    found |= owners[p]
    return found


@compiled
def _search(data, offsets, marks, pairs, chars, bounds, owners, shares, of_share, flags):
    hits = np.zeros(MOST_SHARES, np.int64)
    for row in range(len(offsets) - 1):
        found, others = np.uint32(0), 0
        hits[:] = 0
        i, stop = offsets[row], offsets[row + 1]
        while i < stop:
            char, i = decode(data, i)
            others += char > 0x7F
            mark = marks[char]
            if mark == 0:
                continue
            found |= mark
            if mark & _BEGINS:
                found |= _phrases_at(data, i, stop, char, pairs, chars, bounds, owners)
            for share in range(len(shares)):
                hits[share] += (mark >> np.uint32(_SHARES_FROM + share)) & np.uint32(1) if char > 0x7F else np.uint32(0)
        for share in range(len(shares)):
            if hits[share] > 0 and hits[share] >= shares[share] * others:
                found |= np.uint32(1) << np.uint32(of_share[share])
        flags[row] = found
