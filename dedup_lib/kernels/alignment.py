"""Where two nearly equal texts differ: the gaps between the passages that both have in the same order.

Passages are found by their grams that occur once in each text (the idea of patience diff, Cohen 2006): the longest chain of
such grams that rises in both is extended to the left and right, and what lies between is a gap. Linear in the texts' length
but for the chain, hence fit for every pair that is about to be dropped. What was moved shows as gaps with one empty side.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.kernels.utf8 import compiled, inlined

GRAM = 4
_FREE, _REPEATED = -1, -2


@inlined
def _gram(text, at):
    first = np.uint64(text[at]) | np.uint64(text[at + 1]) << np.uint64(21) | np.uint64(text[at + 2]) << np.uint64(42)
    key = (first ^ (first >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(text[at + 3])
    return (key ^ (key >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)


@compiled
def _unique_grams(a, start_a, stop_a, b, start_b, stop_b):
    """Positions in ``a`` (rising) and ``b`` of the grams that occur once in each. Open addressing by the upper bits."""
    grams = max(stop_a - start_a - GRAM + 1, 0)
    bits = 4
    while 1 << bits < 2 * grams:
        bits += 1
    shift, last = np.uint64(64 - bits), (1 << bits) - 1
    keys = np.empty(1 << bits, np.uint64)
    place, other = np.full(1 << bits, _FREE, np.int32), np.full(1 << bits, _FREE, np.int32)
    slots = np.empty(grams, np.int32)
    for i in range(grams):
        key = _gram(a, start_a + i)
        slot = np.int64(key >> shift)
        while place[slot] != _FREE and keys[slot] != key:
            slot = (slot + 1) & last
        keys[slot] = key
        place[slot] = i if place[slot] == _FREE else _REPEATED
        slots[i] = slot
    for at in range(start_b, stop_b - GRAM + 1):
        key = _gram(b, at)
        slot = np.int64(key >> shift)
        while place[slot] != _FREE and keys[slot] != key:
            slot = (slot + 1) & last
        if place[slot] != _FREE:
            other[slot] = at if other[slot] == _FREE else _REPEATED
    found = np.empty((grams, 2), np.int64)
    count = 0
    for i in range(grams):
        if place[slots[i]] == i and other[slots[i]] >= 0:
            found[count, 0], found[count, 1] = start_a + i, other[slots[i]]
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
