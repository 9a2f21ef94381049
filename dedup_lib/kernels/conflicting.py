"""The compiled form of ``facts.conflicts``: the table of a text's facts, and how many facts of two tables conflict."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.facts import COUNTED, COUNTING, FAR, JOINING, LONG_NUMBER, NEAR, NUMERALS, SIGNS
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.utf8 import compiled

_LETTER, _DIGIT, _LATIN, _NUMERAL, _JOIN, _SIGN, _PERCENT, _NAMING = 1, 2, 4, 8, 16, 32, 64, 128
_ALNUM = _DIGIT | _LATIN
_BEGINS = _ALNUM | _NUMERAL | _SIGN
MASK, _EDGE = 0, 1
# Columns of the table of facts of one text.
_START, _END, _IS_NUMERAL, _VALUE, _AROUND, _BEFORE, _BEHIND, _NAMES = range(8)
WIDTH = 8
_COUNTING_MARK, _COLON, _HYPHEN = ord(COUNTING), ord(":"), ord("-")
MANY = 2  # conflicts are counted up to here


@lru_cache(maxsize=1)
def fact_characters() -> np.ndarray:
    """For each code point, what it can be in or beside a fact."""
    kinds = ((character_classes() & FEATURE) > 0).astype(np.uint8) * _LETTER
    for chars, kind in (
        ("0123456789", _DIGIT),
        ("abcdefghijklmnopqrstuvwxyz", _LATIN),
        (NUMERALS, _NUMERAL),
        (JOINING, _JOIN),
        (SIGNS, _SIGN),
        ("%", _PERCENT),
        (COUNTED, _NAMING),
    ):
        for char in chars:
            kinds[ord(char)] |= kind
    return kinds


@compiled
def _fact_end(text, count, at, kinds):
    """Where the fact that starts at ``at`` ends; ``at`` if none does."""
    i = at
    if kinds[text[i]] & _NUMERAL:
        while i < count and kinds[text[i]] & _NUMERAL:
            i += 1
        return i
    if kinds[text[i]] & _SIGN and not (i > 0 and kinds[text[i - 1]] & _ALNUM):
        i += 1
    if i >= count or not kinds[text[i]] & _ALNUM:
        return at
    end = i
    while i < count and kinds[text[i]] & _ALNUM:
        while i < count and kinds[text[i]] & _ALNUM:
            i += 1
        end = i
        while i < count and kinds[text[i]] & _JOIN:
            i += 1
    if end < count and kinds[text[end]] & _PERCENT:
        end += 1
    return end


@compiled
def _hash(values, start, end):
    key = np.uint64(end - start)
    for i in range(start, end):
        key = mix(key ^ np.uint64(values[i])) + np.uint64(0x9E3779B97F4A7C15)
    return np.int64(key)


@compiled
def _names(text, count, start, end, kinds):
    """Whether a fact names something (a date, an ordinal, a code) rather than measure it; see ``facts.names``."""
    digits, letters, marks = 0, 0, False
    for i in range(start, end):
        digits += (kinds[text[i]] & _DIGIT) > 0
        letters += (kinds[text[i]] & _LATIN) > 0
        marks |= text[i] == _COLON or (i > start and i + 1 < end and text[i] == _HYPHEN)
    if marks or (digits > 0 and letters > 0) or (digits == end - start and digits >= LONG_NUMBER):
        return True
    if end < count and kinds[text[end]] & _NAMING:
        return True
    return start > 0 and text[start - 1] == _COUNTING_MARK


@compiled
def read_facts(text, count, kinds, line, table):
    """The facts of a text of ``count`` code points, into ``table``.

    Returns their number, and the length of ``line``: the text's letters, each fact as one ``MASK``, between ``FAR`` edges.
    """
    line[:FAR] = _EDGE
    length, found, i = FAR, 0, 0
    while i < count:
        kind = kinds[text[i]]
        end = _fact_end(text, count, i, kinds) if kind & _BEGINS else i
        if end > i:
            table[found, _START], table[found, _END] = i, end
            table[found, _IS_NUMERAL] = kinds[text[i]] & _NUMERAL
            table[found, _VALUE] = _hash(text, i, end)
            table[found, _BEFORE] = length  # replaced by a hash below
            table[found, _NAMES] = _names(text, count, i, end, kinds)
            line[length] = MASK
            length += 1
            found += 1
            i = end
            continue
        if kind & _LETTER:
            line[length] = text[i]
            length += 1
        i += 1
    line[length : length + FAR] = _EDGE
    for k in range(found):
        at = table[k, _BEFORE]
        near = mix(np.uint64(_hash(line, at - NEAR, at))) ^ np.uint64(_hash(line, at + 1, at + 1 + NEAR))
        table[k, _AROUND] = np.int64(near)
        table[k, _BEFORE] = _hash(line, at - FAR, at)
        table[k, _BEHIND] = _hash(line, at + 1, at + 1 + FAR)
    return found, length + FAR


@compiled
def digest_facts(facts):
    """A hash of the facts of a text, in whatever order they stand; 0 for none."""
    total = np.int64(0)
    for k in range(len(facts)):
        total += np.int64(mix(np.uint64(facts[k, _VALUE])))
    return total


@compiled
def _unmatched(ours, theirs, identity_ours, identity_theirs):
    """The rows of ``ours`` whose identity occurs there more often than in ``theirs``."""
    sorted_ours, sorted_theirs = np.sort(identity_ours), np.sort(identity_theirs)
    keep = np.empty(len(ours), np.bool_)
    for i in range(len(ours)):
        key = identity_ours[i]
        here = np.searchsorted(sorted_ours, key, side="right") - np.searchsorted(sorted_ours, key, side="left")
        there = np.searchsorted(sorted_theirs, key, side="right") - np.searchsorted(sorted_theirs, key, side="left")
        keep[i] = here > there
    return ours[keep]


@compiled
def _place(facts):
    key = np.empty(len(facts), np.int64)
    for i in range(len(facts)):
        key[i] = np.int64(mix(np.uint64(facts[i, _VALUE])) ^ np.uint64(facts[i, _AROUND]))
    return key


@compiled
def _broken_off(text, fact, other_text, other, column):
    """Whether one fact is the other with a piece missing at the end (same left side) or at the head (same right side)."""
    size, other_size = fact[_END] - fact[_START], other[_END] - other[_START]
    for k in range(min(size, other_size)):
        if column == _BEFORE:
            same = text[fact[_START] + k] == other_text[other[_START] + k]
        else:
            same = text[fact[_END] - 1 - k] == other_text[other[_END] - 1 - k]
        if not same:
            return False
    return True


@compiled
def _distinct(facts, column):
    """One of all facts with the same value in the same place: a text of a million equal lines has few."""
    identity = np.empty(len(facts), np.int64)
    for i in range(len(facts)):
        place = mix(np.uint64(facts[i, column])) ^ np.uint64(facts[i, _VALUE])
        identity[i] = np.int64(mix(place)) ^ (facts[i, _NAMES] != 0)
    order = np.argsort(identity)
    keep = np.ones(len(facts), np.bool_)
    for k in range(1, len(order)):
        keep[order[k]] = identity[order[k]] != identity[order[k - 1]]
    return facts[keep]


@compiled
def _meet(text_a, ours, text_b, theirs, column, count, seen):
    """Count the different facts that stand in one place, as the hash in ``column`` tells; each couple of values once.

    ``seen`` is the couple counted so far. Facts that name something count as many. Returns (count, seen).
    """
    ours, theirs = _distinct(ours, column), _distinct(theirs, column)
    wanted, there = ours[:, column] ^ ours[:, _IS_NUMERAL], theirs[:, column] ^ theirs[:, _IS_NUMERAL]
    order = np.argsort(there)
    places = there[order]
    for i in range(len(ours)):
        k = np.searchsorted(places, wanted[i], side="left")
        while k < len(places) and places[k] == wanted[i]:
            other = theirs[order[k]]
            k += 1
            if ours[i, _VALUE] == other[_VALUE]:
                continue
            if column != _AROUND and _broken_off(text_a, ours[i], text_b, other, column):
                continue
            couple = np.int64(mix(np.uint64(ours[i, _VALUE])) ^ np.uint64(other[_VALUE]))
            if ours[i, _NAMES] or other[_NAMES] or (count and couple != seen):
                return MANY, seen
            count, seen = 1, couple
    return count, seen


@compiled
def count_conflicts(text_a, ours, text_b, theirs):
    """How many facts conflict, up to ``MANY``: 0 exactly when ``facts.conflicts`` finds none.

    1 stands for one figure, perhaps at several places, that the other text gives otherwise.
    """
    if len(ours) == len(theirs) and np.all(ours[:, _VALUE] == theirs[:, _VALUE]):
        return 0
    place_a, place_b = _place(ours), _place(theirs)
    left_a, left_b = _unmatched(ours, theirs, place_a, place_b), _unmatched(theirs, ours, place_b, place_a)
    count, seen = _meet(text_a, left_a, text_b, left_b, _AROUND, 0, np.int64(0))
    if count == MANY:
        return MANY
    value_a, value_b = left_a[:, _VALUE].copy(), left_b[:, _VALUE].copy()
    rest_a, rest_b = _unmatched(left_a, left_b, value_a, value_b), _unmatched(left_b, left_a, value_b, value_a)
    count, seen = _meet(text_a, rest_a, text_b, rest_b, _BEFORE, count, seen)
    if count == MANY:
        return MANY
    count, seen = _meet(text_a, rest_a, text_b, rest_b, _BEHIND, count, seen)
    return count
