"""Fold repeats: 你是凑企鹅你是凑企鹅你是凑企鹅 becomes one 你是凑企鹅, alone or inside a longer text.

A run is a unit that follows itself without a gap. From left to right, at each position the shortest unit that is repeated
often enough is folded to one copy; what is left is folded again until nothing changes. A unit is folded when it has at least
``min_unit`` characters, does not repeat a shorter unit itself (哈哈哈哈 is a run of 哈), and holds at least two letters that
are no digits: 10101010 is a number, not a run.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.classes import DIGIT, FEATURE, character_classes
from dedup_lib.kernels.features import longest_text
from dedup_lib.kernels.utf8 import code_points, compiled, decode, encode, inlined, string_array, string_buffers

MAX_PASSES = 16  # folding can make new runs; real text settles in two passes
LONGEST_UNIT = 10_000  # characters; no profile may ask for more
_LETTERS = 2
_GRAM = 4
_SLOTS = 1 << 16


@compiled
def _may_repeat(data, start, stop, first, last_seen, copies, max_unit):
    """(whether the text may hold a run, its characters). False for nearly every text, at the price of one look-up a character.

    In a run of unit u every gram of characters behind the first copy stood at most u characters earlier. So ``copies`` * u
    grams in a row, less those that reach beyond the run, have such a near predecessor. Units are taken in four classes, each
    with the farthest predecessor of its longest unit and the shortest row of its shortest one. ``last_seen`` holds for each
    hash of a gram where one with it stood last, counted through all texts of the batch; this text begins at ``first``. Grams
    that share a hash only make a text look as if it repeated more.
    """
    short = np.int32(1 if copies == 1 else 2)  # characters of a gram but its last: the shortest run still has a gram that recurs
    near, middle, far, very_far = np.int32(0), np.int32(0), np.int32(0), np.int32(0)  # grams in a row
    alike = np.int32(0)  # of them, those of one character: 哈哈哈哈 alone is no run of two
    before, earlier = np.int32(0), np.int32(0)
    at = np.int32(first)
    found = False
    i = start
    while i < stop:
        char, i = decode(data, i)
        slot = _slot(char, before, earlier if short == 2 else np.int32(0))
        earlier, before = before, char
        last = last_seen[slot]
        last_seen[slot] = at
        distance = at - last
        at += np.int32(1)
        if last < first or distance > max_unit:
            near, middle, far, very_far, alike = np.int32(0), np.int32(0), np.int32(0), np.int32(0), np.int32(0)
            continue
        alike = alike + np.int32(1) if distance == 1 else np.int32(0)
        near = near + np.int32(1) if distance <= 4 else np.int32(0)
        middle = middle + np.int32(1) if distance <= 16 else np.int32(0)
        far = far + np.int32(1) if distance <= 64 else np.int32(0)
        very_far += np.int32(1)
        found |= near > alike and near >= 2 * copies - short
        found |= (middle >= 5 * copies - short) | (far >= 17 * copies - short) | (very_far >= 65 * copies - short)
    return found, at - first


@inlined
def _slot(char, before, earlier):
    """A hash of three characters, below ``_SLOTS``."""
    spread = np.uint32(char) * np.uint32(0x9E3779B1) + np.uint32(before) * np.uint32(0x85EBCA77)
    return np.uint32(spread + np.uint32(earlier) * np.uint32(0xC2B2AE3D)) >> np.uint32(16)


@compiled
def _run_end(text, count, at, unit, limit):
    """Where the run of period ``unit`` that starts at ``at`` ends, looked for up to ``limit``."""
    end = at + unit
    stop = min(count, limit)
    while end < stop and text[end] == text[end - unit]:
        end += 1
    return end


@compiled
def _foldable(text, at, unit, classes):
    """Whether a unit holds enough letters."""
    letters = 0
    for i in range(at, at + unit):
        if classes[text[i]] & FEATURE and not classes[text[i]] & DIGIT:
            letters += 1
    return letters >= _LETTERS


@compiled
def _link(text, count, gram, heads, following, min_unit, min_repeats, max_unit):
    """Fill ``following[i]``, the next position with the same ``gram`` characters as at ``i``, or -1.

    Returns whether any unit is repeated at all: for nearly every text that settles it.
    """
    size = 16
    while size < 2 * count:
        size *= 2
    heads[:size] = -1
    found = False
    for i in range(count - gram, -1, -1):
        slot = _gram_hash(text, i, gram) & (size - 1)
        while heads[slot] >= 0 and not _same(text, heads[slot], i, gram):
            slot = (slot + 1) & (size - 1)
        other = heads[slot]
        following[i] = other
        heads[slot] = i
        while not found and other >= 0 and other - i <= max_unit:
            unit = other - i
            length = unit * (min_repeats - 1)
            found = unit >= min_unit and other + length <= count and _same(text, i, other, length)
            other = following[other]
    return found


@inlined
def _gram_hash(text, at, gram):
    key = np.uint64(0)
    for k in range(gram):
        key = key * np.uint64(0x9E3779B97F4A7C15) + np.uint64(text[at + k])
    return np.int64((key * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(33))


@compiled
def _same(text, i, j, length):
    for k in range(length):
        if text[i + k] != text[j + k]:
            return False
    return True


@compiled
def _fold_at(text, count, at, following, gram, min_unit, min_repeats, max_unit, classes):
    """(unit, end) of the run to fold at ``at``; (0, at) if there is none.

    Inside a run of a shorter unit that is not to be folded, only units that reach beyond it can be new: the others repeat
    the shorter one (Fine and Wilf, 1965). ``shortest`` says so.
    """
    limit = at + (max_unit + 1) * min_repeats
    shortest = min_unit
    for unit in range(1, min(min_unit, count - at)):
        end = _run_end(text, count, at, unit, limit)
        if end - at >= unit * min_repeats:
            shortest = max(shortest, (end - at) // min_repeats + 1)
    if at + gram > count:
        return 0, at
    other = following[at]
    while other >= 0 and other - at <= max_unit:
        unit = other - at
        other = following[other] if other + gram <= count else -1
        if unit < shortest:
            continue
        end = _run_end(text, count, at, unit, limit)
        if end - at < unit * min_repeats:
            continue
        if _foldable(text, at, unit, classes):
            return unit, at + (_run_end(text, count, at, unit, count) - at) // unit * unit
        shortest = (end - at) // min_repeats + 1
    return 0, at


@compiled
def _fold(text, count, heads, following, min_unit, min_repeats, max_unit, classes):
    """Fold one text of ``count`` code points in place; returns the new count."""
    gram = min(_GRAM, min_unit * (min_repeats - 1))
    for _ in range(MAX_PASSES):
        if count < min_unit * min_repeats or not _link(text, count, gram, heads, following, min_unit, min_repeats, max_unit):
            return count
        at, out = 0, 0
        while at < count:
            unit, end = _fold_at(text, count, at, following, gram, min_unit, min_repeats, max_unit, classes)
            for i in range(max(unit, 1)):
                text[out + i] = text[at + i]
            out += max(unit, 1)
            at = end if unit else at + 1
        if out == count:
            return count
        count = out
    return count


@compiled
def _suspicious(data, offsets, copies, max_unit, last_seen, found):
    first = np.int32(0)
    for row in range(len(offsets) - 1):
        found[row], count = _may_repeat(data, offsets[row], offsets[row + 1], first, last_seen, copies, max_unit)
        first += np.int32(count)


@compiled
def _fold_all(data, offsets, min_unit, min_repeats, max_unit, classes, out, out_offsets):
    longest = longest_text(offsets) + 1
    text = np.empty(longest, np.int32)
    following = np.empty(longest, np.int32)
    heads = np.empty(max(16, 4 * longest), np.int32)
    at = 0
    for row in range(len(offsets) - 1):
        count = code_points(data, offsets[row], offsets[row + 1], text)
        count = _fold(text, count, heads, following, min_unit, min_repeats, max_unit, classes)
        for i in range(count):
            at = encode(text[i], out, at)
        out_offsets[row + 1] = at


def fold_repeats(texts: pa.Array, min_unit: int, min_repeats: int, max_unit: int) -> pa.Array:
    """Fold the repeats in each text of an Arrow string array. Nulls become empty texts.

    ``min_unit`` and ``max_unit`` in characters, ``min_repeats`` at least 2. Time grows with ``max_unit`` times length only for
    texts that repeat something; the others are not copied.
    """
    texts = pc.fill_null(texts, "")
    suspicious = np.zeros(len(texts), bool)
    _suspicious(*string_buffers(texts), min_repeats - 1, max_unit, np.full(_SLOTS, -1, np.int32), suspicious)
    if not suspicious.any():
        return texts
    few = texts.filter(pa.array(suspicious))
    data, offsets = string_buffers(few)
    out = np.empty(offsets[-1] - offsets[0], np.uint8)
    out_offsets = np.zeros(len(offsets), np.int64)
    _fold_all(data, offsets, min_unit, min_repeats, max_unit, character_classes(), out, out_offsets)
    folded = string_array(out[: out_offsets[-1]], out_offsets).cast(texts.type)
    return texts if folded.equals(few) else pc.replace_with_mask(texts, pa.array(suspicious), folded)
