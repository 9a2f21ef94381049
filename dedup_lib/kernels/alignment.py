"""Where two nearly equal texts differ: the gaps between the passages that both have in the same order.

Passages are found by their grams that occur once in each text (the idea of patience diff, Cohen 2006): the longest chain of
such grams that rises in both is extended to the left and right, and what lies between is a gap. Linear in the texts' length
but for the chain, hence fit for every pair that is about to be dropped. What was moved shows as gaps with one empty side.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.kernels.features import mix
from dedup_lib.kernels.utf8 import compiled

GRAM = 4
_FREE, _REPEATED = -1, -2


@compiled
def _gram(text, at):
    key = np.uint64(0)
    for k in range(GRAM):
        key = mix(key ^ np.uint64(text[at + k])) + np.uint64(0x9E3779B97F4A7C15)
    return key


@compiled
def _count_grams(text, start, stop, keys, place):
    """Note for each gram of ``text[start:stop]`` where it stands, or that it repeats. Open addressing."""
    slots = np.uint64(len(keys) - 1)
    for at in range(start, stop - GRAM + 1):
        key = _gram(text, at)
        slot = np.int64(key & slots)
        while place[slot] != _FREE and keys[slot] != key:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & slots)
        keys[slot] = key
        place[slot] = at if place[slot] == _FREE else _REPEATED


@compiled
def _unique_grams(a, start_a, stop_a, b, start_b, stop_b):
    """Positions in ``a`` (rising) and ``b`` of the grams that occur once in each."""
    room = max(stop_a - start_a, stop_b - start_b, 1)
    size = 16
    while size < 2 * room:
        size *= 2
    keys, place = np.zeros(size, np.uint64), np.full(size, _FREE, np.int64)
    _count_grams(a, start_a, stop_a, keys, place)
    other_keys, other = np.zeros(size, np.uint64), np.full(size, _FREE, np.int64)
    _count_grams(b, start_b, stop_b, other_keys, other)
    found = np.empty((room, 2), np.int64)
    count = 0
    slots = np.uint64(size - 1)
    for at in range(start_a, stop_a - GRAM + 1):
        key = _gram(a, at)
        slot = np.int64(key & slots)
        while keys[slot] != key:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & slots)
        if place[slot] == _REPEATED:
            continue
        slot = np.int64(key & slots)
        while other[slot] != _FREE and other_keys[slot] != key:
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & slots)
        if other[slot] >= 0:
            found[count, 0], found[count, 1] = at, other[slot]
            count += 1
    return found[:count]


@compiled
def _rising_chain(pairs):
    """Indexes of the longest run of pairs that rises in the second column (Schensted 1961), the first rises already."""
    tails, before = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    length = 0
    for i in range(len(pairs)):
        low, high = 0, length
        while low < high:
            middle = (low + high) // 2
            if pairs[tails[middle], 1] < pairs[i, 1]:
                low = middle + 1
            else:
                high = middle
        before[i] = tails[low - 1] if low else -1
        tails[low] = i
        length = max(length, low + 1)
    chain = np.empty(length, np.int64)
    at = tails[length - 1] if length else -1
    for k in range(length - 1, -1, -1):
        chain[k] = at
        at = before[at]
    return chain


@compiled
def _add(gaps, count, a, start_a, stop_a, b, start_b, stop_b):
    """Note a gap; one with sides of equal length is split where they agree. Returns the gaps and their number."""
    same_length = stop_a - start_a == stop_b - start_b
    step = 0
    length = stop_a - start_a
    while step < length or not same_length:
        if same_length and a[start_a + step] == b[start_b + step]:
            step += 1
            continue
        end = step
        while same_length and end < length and a[start_a + end] != b[start_b + end]:
            end += 1
        if count == len(gaps):
            bigger = np.empty((2 * count, 4), np.int64)
            bigger[:count] = gaps
            gaps = bigger
        gaps[count, 0], gaps[count, 1] = start_a + step, start_a + end if same_length else stop_a
        gaps[count, 2], gaps[count, 3] = start_b + step, start_b + end if same_length else stop_b
        count += 1
        if not same_length:
            break
        step = end
    return gaps, count


@compiled
def align(a, length_a, b, length_b):
    """The gaps between two sequences of int32 symbols, in order.

    Returns int64 (n, 4): start and end in ``a``, start and end in ``b``. At most one side of a gap is empty; outside the gaps
    the sequences are equal. Neither side begins or ends like the other.
    """
    start, stop_a, stop_b = 0, length_a, length_b
    while start < stop_a and start < stop_b and a[start] == b[start]:
        start += 1
    while stop_a > start and stop_b > start and a[stop_a - 1] == b[stop_b - 1]:
        stop_a -= 1
        stop_b -= 1
    gaps = np.empty((16, 4), np.int64)
    count = 0
    at_a, at_b = start, start
    if stop_a > start and stop_b > start:
        pairs = _unique_grams(a, start, stop_a, b, start, stop_b)
        chain = _rising_chain(pairs)
        for k in chain:
            i, j = pairs[k, 0], pairs[k, 1]
            if i < at_a or j < at_b:
                continue
            left_a, left_b = i, j
            while left_a > at_a and left_b > at_b and a[left_a - 1] == b[left_b - 1]:
                left_a -= 1
                left_b -= 1
            gaps, count = _add(gaps, count, a, at_a, left_a, b, at_b, left_b)
            at_a, at_b = i, j
            while at_a < stop_a and at_b < stop_b and a[at_a] == b[at_b]:
                at_a += 1
                at_b += 1
    gaps, count = _add(gaps, count, a, at_a, stop_a, b, at_b, stop_b)
    return gaps[:count]
