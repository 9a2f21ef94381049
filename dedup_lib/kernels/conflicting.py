"""Which pairs of texts have conflicting facts: ``bool(facts.conflicts(a, b))`` for whole batches, compiled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.facts import FAR, JOINING, NEAR, NUMERALS, SIGNS
from dedup_lib.kernels.features import longest_text, mix
from dedup_lib.kernels.urls import take_out_urls, url_characters
from dedup_lib.kernels.utf8 import code_points, compiled, string_buffers

_LETTER, _ALNUM, _NUMERAL, _JOIN, _SIGN, _PERCENT = 1, 2, 4, 8, 16, 32
_MASK, _EDGE = 0, 1
# Columns of the table of facts of one text.
_START, _END, _IS_NUMERAL, _VALUE, _AROUND, _BEFORE, _BEHIND = range(7)
_WIDTH = 7


@lru_cache(maxsize=1)
def _kinds() -> np.ndarray:
    """For each code point, what it can be in or beside a fact."""
    kinds = ((character_classes() & FEATURE) > 0).astype(np.uint8) * _LETTER
    for chars, kind in (
        ("0123456789abcdefghijklmnopqrstuvwxyz", _ALNUM),
        (NUMERALS, _NUMERAL),
        (JOINING, _JOIN),
        (SIGNS, _SIGN),
        ("%", _PERCENT),
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
def _read(text, count, kinds, line, table):
    """Fill ``table`` with the facts of a text; returns their number. ``line`` is scratch space: letters with facts masked."""
    line[:FAR] = _EDGE
    length, found, i = FAR, 0, 0
    while i < count:
        end = _fact_end(text, count, i, kinds)
        if end > i:
            table[found, _START], table[found, _END] = i, end
            table[found, _IS_NUMERAL] = kinds[text[i]] & _NUMERAL
            table[found, _VALUE] = _hash(text, i, end)
            table[found, _BEFORE] = length  # replaced by a hash below
            line[length] = _MASK
            length += 1
            found += 1
            i = end
            continue
        if kinds[text[i]] & _LETTER:
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
    return found


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
def _meet(text_a, ours, text_b, theirs, column):
    """Whether two different facts stand in one place, as the hash in ``column`` tells."""
    order = np.argsort(theirs[:, column])
    places = theirs[:, column][order]
    for i in range(len(ours)):
        k = np.searchsorted(places, ours[i, column], side="left")
        while k < len(places) and places[k] == ours[i, column]:
            other = theirs[order[k]]
            k += 1
            if ours[i, _VALUE] == other[_VALUE] or ours[i, _IS_NUMERAL] != other[_IS_NUMERAL]:
                continue
            if column == _AROUND or not _broken_off(text_a, ours[i], text_b, other, column):
                return True
    return False


@compiled
def _conflict(text_a, ours, text_b, theirs):
    if len(ours) == len(theirs) and np.all(ours[:, _VALUE] == theirs[:, _VALUE]):
        return False
    place_a, place_b = _place(ours), _place(theirs)
    left_a, left_b = _unmatched(ours, theirs, place_a, place_b), _unmatched(theirs, ours, place_b, place_a)
    if _meet(text_a, left_a, text_b, left_b, _AROUND):
        return True
    value_a, value_b = left_a[:, _VALUE].copy(), left_b[:, _VALUE].copy()
    rest_a, rest_b = _unmatched(left_a, left_b, value_a, value_b), _unmatched(left_b, left_a, value_b, value_a)
    return _meet(text_a, rest_a, text_b, rest_b, _BEFORE) or _meet(text_a, rest_a, text_b, rest_b, _BEHIND)


@compiled
def _conflicting(data_a, offsets_a, data_b, offsets_b, kinds, in_url, found):
    longest = max(longest_text(offsets_a), longest_text(offsets_b))
    text_a, text_b = np.empty(longest, np.int32), np.empty(longest, np.int32)
    line = np.empty(longest + 2 * FAR, np.int32)
    facts_a, facts_b = np.empty((longest, _WIDTH), np.int64), np.empty((longest, _WIDTH), np.int64)
    for row in range(len(found)):
        count_a = code_points(data_a, offsets_a[row], offsets_a[row + 1], text_a)
        count_b = code_points(data_b, offsets_b[row], offsets_b[row + 1], text_b)
        number_a = _read(text_a, take_out_urls(text_a, count_a, in_url), kinds, line, facts_a)
        number_b = _read(text_b, take_out_urls(text_b, count_b, in_url), kinds, line, facts_b)
        found[row] = _conflict(text_a, facts_a[:number_a], text_b, facts_b[:number_b])


def conflicting(first: pa.Array, second: pa.Array) -> np.ndarray:
    """Whether the facts of each pair of normalised texts conflict (booleans); see ``facts.conflicts``."""
    found = np.zeros(len(first), bool)
    _conflicting(*string_buffers(first), *string_buffers(second), _kinds(), url_characters(), found)
    return found
