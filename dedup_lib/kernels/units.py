"""The outer units of a text: its first and last sentences or lines, where sites put what is not the article's.

A unit ends behind the marks that end a sentence or line, with the closing quotation marks and brackets among and behind them. Two
units are the same when their letters and numbers are. A unit that is too short or too long is nobody's template and ends the
search inwards, since only outer units are ever removed. A unit's key holds 56 bits of hash above the number of its letters.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.classes import DIGIT, FEATURE, character_classes
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, string_array, string_buffers

HEAD, TAIL = 0, 1
ENDS = "。!?;！？；\n"
CLOSING = " \"'”’)]）】》」』"
SHORTEST = 4  # letters and numbers; shorter ones (1-0!) are facts or exclamations
SHORTEST_WITH_DIGITS = 20  # below, a number is a fact
LONGEST = 200  # characters; fewer than 256, as a key has 8 bits for them
LEAST_SHARE = 0.1  # of what two texts share, that each must say beside it: a remark below an article makes no other article
SAMPLE = 64  # texts in which a unit is looked at: enough to find ten unrelated ones among many relatives
LETTERS = 0xFF
_END, _CLOSING = 1, 2
_LINE_BREAK = ord("\n")


@lru_cache(maxsize=1)
def unit_marks() -> np.ndarray:
    """For each code point: 1 if it ends a unit, 2 if it may stand behind such an end, 0 otherwise."""
    marks = np.zeros(MAX_CODE_POINT, np.uint8)
    marks[[ord(mark) for mark in CLOSING]] = _CLOSING
    marks[[ord(mark) for mark in ENDS]] = _END
    marks.setflags(write=False)
    return marks


@compiled
def unit_end(data, i, stop, marks):
    """Where the unit that begins at byte ``i`` ends; -1 if it is longer than ``LONGEST``."""
    count, ended = 0, False
    while i < stop:
        char, behind = decode(data, i)
        if marks[char] == 0 and (ended or count > LONGEST):
            break
        ended |= marks[char] == _END
        count += 1
        i = behind
    return i if count <= LONGEST else -1


@compiled
def unit_start(data, start, i, marks):
    """Where the unit that ends at byte ``i`` begins, in a text that begins at ``start``; -1 if it is longer than ``LONGEST``."""
    count, inside = 0, False  # inside: a character that is no mark was passed
    first, length = -1, 0  # the unit, should the marks that are being passed hold an end
    while i > start:
        before = i - 1
        while data[before] & 0xC0 == 0x80:
            before -= 1
        char, _ = decode(data, before)
        if marks[char] == 0:
            if count > LONGEST:
                return -1
            inside, first = True, -1
        elif inside:
            if first < 0:
                first, length = i, count
            if marks[char] == _END:
                return first if length <= LONGEST else -1
        count += 1
        i = before
    return start if count <= LONGEST else -1


@compiled
def unit_key(data, start, stop, classes):
    """The key of the unit in bytes ``start:stop``, -1 if it can be nobody's template. The letters are its low 8 bits."""
    key, letters, digits = np.uint64(0), np.uint64(0), False
    while start < stop:
        char, start = decode(data, start)
        if classes[char] & FEATURE:
            key = mix(key ^ np.uint64(char)) + np.uint64(0x9E3779B97F4A7C15)
            letters += np.uint64(1)
            digits |= classes[char] & DIGIT != 0
    if letters < (SHORTEST_WITH_DIGITS if digits else SHORTEST):
        return np.int64(-1)
    return np.int64(((key >> np.uint64(1)) & ~np.uint64(LETTERS)) | letters)


@compiled
def _body(data, start, stop, titled):
    """Where the body of a text begins: behind its first line if that is a title."""
    while titled and start < stop:
        start += 1
        titled = data[start - 1] != _LINE_BREAK
    return start


@compiled
def _outer(data, offsets, titled, position, most, marks, classes, keys, bounds):
    at = 0
    for row in range(len(offsets) - 1):
        stop = offsets[row + 1]
        start = _body(data, offsets[row], stop, titled)
        first = at
        while start < stop and at - first < most:
            edge = unit_end(data, start, stop, marks) if position == HEAD else unit_start(data, start, stop, marks)
            key = np.int64(-1)
            if edge >= 0:
                key = unit_key(data, start, edge, classes) if position == HEAD else unit_key(data, edge, stop, classes)
            if key < 0:
                break
            keys[at] = key
            at += 1
            if position == HEAD:
                start = edge
            else:
                stop = edge
        bounds[row + 1] = at


def outer_units(texts: pa.Array, position: int, most: int, titled: bool = False) -> pa.ListArray:
    """The keys (int64) of up to ``most`` units at the ``HEAD`` or ``TAIL`` of each normalised text, from the outside inwards.

    The first line of ``titled`` texts is left alone. A short text has the same units at both ends.
    """
    data, offsets = string_buffers(texts)
    keys = np.empty(most * len(texts), np.int64)
    bounds = np.zeros(len(texts) + 1, np.int32)
    _outer(data, offsets, titled, position, most, unit_marks(), character_classes(), keys, bounds)
    return pa.ListArray.from_arrays(pa.array(bounds), pa.array(keys[: bounds[-1]]))


def outermost(texts: pa.Array, position: int, titled: bool = False) -> pa.Array:
    """The key (int64) of the first unit at the ``HEAD`` or ``TAIL`` of each normalised text; null where there is none."""
    units = outer_units(texts, position, 1, titled)
    sizes = np.asarray(pc.list_value_length(units))
    places = np.cumsum(sizes) - 1
    return units.flatten().take(pa.array(places, mask=sizes == 0))


@compiled
def _goes(key, ordered, room):
    """Whether a unit is a template, and enough is left without it."""
    if key < 0 or key & LETTERS > room:
        return False
    at = np.searchsorted(ordered, key)
    return at < len(ordered) and ordered[at] == key


@compiled
def _kept(data, start, stop, marks, classes, heads, tails, least):
    """The bytes of a body that stay."""
    room = -least
    i = start
    while i < stop:
        char, i = decode(data, i)
        room += classes[char] & FEATURE
    while start < stop:
        edge = unit_start(data, start, stop, marks)
        key = unit_key(data, edge, stop, classes) if edge >= 0 else np.int64(-1)
        if not _goes(key, tails, room):
            break
        stop, room = edge, room - (key & LETTERS)
    while start < stop:
        edge = unit_end(data, start, stop, marks)
        key = unit_key(data, start, edge, classes) if edge >= 0 else np.int64(-1)
        if not _goes(key, heads, room):
            break
        start, room = edge, room - (key & LETTERS)
    return start, stop


@compiled
def _strip(data, offsets, titled, marks, classes, heads, tails, least, out, bounds):
    at = 0
    for row in range(len(offsets) - 1):
        first, stop = offsets[row], offsets[row + 1]
        body = _body(data, first, stop, titled)
        start, stop = _kept(data, body, stop, marks, classes, heads, tails, least)
        for low, high in ((first, body), (start, stop)):
            out[at : at + high - low] = data[low:high]
            at += high - low
        bounds[row + 1] = at


def strip_units(texts: pa.Array, heads: np.ndarray, tails: np.ndarray, least: int, titled: bool = False) -> pa.Array:
    """Texts without the outer units whose keys are in ``heads`` and ``tails`` (sorted int64), one by one from the outside.

    Units go from the tail first, while at least ``least`` (1 or more) letters and numbers of the body are left.
    """
    data, offsets = string_buffers(texts)
    out = np.empty(offsets[-1] - offsets[0], np.uint8)
    bounds = np.zeros(len(texts) + 1, np.int64)
    _strip(data, offsets, titled, unit_marks(), character_classes(), heads, tails, least, out, bounds)
    return string_array(out[: bounds[-1]], bounds)


def unit_text(text: str, key: int, position: int, titled: bool = False) -> str | None:
    """The unit of a text that has this key at this position; None if there is none."""
    data, offsets = string_buffers(pa.array([text]))
    marks, classes = unit_marks(), character_classes()
    start, stop = _body(data, offsets[0], offsets[1], titled), offsets[1]
    while start < stop:
        edge = unit_end(data, start, stop, marks) if position == HEAD else unit_start(data, start, stop, marks)
        if edge < 0:
            return None
        low, high = (start, edge) if position == HEAD else (edge, stop)
        if unit_key(data, low, high, classes) == key:
            return data[low:high].tobytes().decode()
        start, stop = (edge, stop) if position == HEAD else (start, edge)
    return None


@compiled
def _shared_letters(first, second):
    """Letters of the units that are in both lists of sorted keys, each counted once."""
    letters, i, j = 0, 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j] and (i == 0 or first[i] != first[i - 1]):
            letters += first[i] & LETTERS
        if first[i] <= second[j]:
            i += 1
        else:
            j += 1
    return letters


@compiled
def _unrelated(minhash, shingles, keys, bounds, jaccard, found):
    count = 0
    for i in range(len(shingles)):
        own = keys[bounds[i] : bounds[i + 1]]
        free = True
        for other in found[:count]:
            shared = _shared_letters(own, keys[bounds[other] : bounds[other + 1]])
            alike = np.mean(minhash[i] == minhash[other])  # estimates their Jaccard similarity
            both = shingles[i] + shingles[other]
            common = alike / (1 + alike) * both
            rest = min(shingles[i], shingles[other]) - shared
            free &= rest >= max(SHORTEST_WITH_DIGITS, LEAST_SHARE * shared) and common - shared < jaccard * (
                both - common - shared
            )
        if free:
            found[count] = i
            count += 1
    return count


def unrelated(minhash: np.ndarray, shingles: np.ndarray, heads: pa.ListArray, tails: pa.ListArray, jaccard: float) -> np.ndarray:
    """Texts, first come first served, of which no two are related: their number says how independently a unit recurs.

    ``minhash`` (uint32, (texts, permutations)), ``shingles`` of each, and its outer units. What two texts say beside the outer
    units that they share is compared: the shared shingles as MinHash estimates them, less the letters of the shared units. So
    a long footer makes no relatives, and notices of one form, which are alike beyond whole sentences, are. Texts that say next
    to nothing beside what they share (less than ``LEAST_SHARE`` of that) prove nothing and count as related.
    """
    sizes = [np.asarray(pc.list_value_length(units)) for units in (heads, tails)]
    rows = np.concatenate([np.repeat(np.arange(len(size)), size) for size in sizes])
    keys = np.concatenate([units.flatten().to_numpy() for units in (heads, tails)])
    found = np.empty(len(shingles), np.int64)
    bounds = np.concatenate([[0], np.cumsum(sizes[0] + sizes[1])])
    count = _unrelated(minhash, shingles, keys[np.lexsort((keys, rows))], bounds, jaccard, found)
    return found[:count]
