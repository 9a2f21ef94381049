"""64-bit SimHash (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007).

Each feature votes on every bit with its hash; bit i is set when the votes for it outweigh those against (a tie leaves it
unset). A feature that occurs t times votes with weight floor(log2(t)) + 1, so that one repeated phrase cannot outvote the
rest of a text. The distance of two unrelated texts centres at 32 bits.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.kernels.utf8 import compiled, inlined

BITS = 64


@inlined
def _add(a, b, c):
    """Add three bits at 64 places at once: sums and carries (a carry-save adder; Warren, Hacker's Delight, section 5-2)."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@compiled
def _carry(planes, level, carries):
    """Add 2^level at the set places to counters whose bits stand in planes."""
    while carries:
        carried = planes[level] & carries
        planes[level] ^= carries
        carries = carried
        level += 1


@compiled
def simhash(features, times, count, votes):
    """The SimHash (uint64) of ``count`` feature hashes that occur ``times``; ``votes`` is scratch space (int32, 64).

    Features that vote once are counted 64 bits at a time, eight features in seven additions; the few with more weight one by
    one.
    """
    votes[:] = 0
    planes = np.zeros(32, np.uint64)
    group = np.zeros(8, np.uint64)
    single, waiting = 0, 0
    for i in range(count):
        if times[i] > 1:
            _vote(features[i], times[i], votes)
            continue
        single += 1
        group[waiting] = features[i]
        waiting += 1
        if waiting == 8:
            ones_a, twos_a = _add(group[0], group[1], group[2])
            ones_b, twos_b = _add(group[3], group[4], group[5])
            ones_c, twos_c = _add(group[6], group[7], planes[0])
            planes[0], twos_d = _add(ones_a, ones_b, ones_c)
            twos_e, fours_a = _add(twos_a, twos_b, twos_c)
            planes[1], fours_b = _add(twos_d, twos_e, planes[1])
            planes[2], eights = _add(fours_a, fours_b, planes[2])
            _carry(planes, 3, eights)
            waiting = 0
    for i in range(waiting):
        _carry(planes, 0, group[i])
    result = np.uint64(0)
    for bit in range(BITS):
        ones = np.int32(0)
        for level in range(len(planes)):
            ones += np.int32((planes[level] >> np.uint64(bit)) & np.uint64(1)) << np.int32(level)
        if votes[bit] + 2 * ones - single > 0:
            result |= np.uint64(1) << np.uint64(bit)
    return result


@compiled
def _vote(feature, occurrences, votes):
    weight = np.int32(0)
    while occurrences > 0:
        weight += np.int32(1)
        occurrences >>= 1
    for bit in range(BITS):
        votes[bit] += weight * (np.int32((feature >> np.uint64(bit)) & np.uint64(1)) * 2 - 1)


@inlined
def popcount(value):
    """Number of set bits of a uint64 (Warren, Hacker's Delight, section 5-1)."""
    value = value - ((value >> np.uint64(1)) & np.uint64(0x5555555555555555))
    value = (value & np.uint64(0x3333333333333333)) + ((value >> np.uint64(2)) & np.uint64(0x3333333333333333))
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((value * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def hamming(first, second):
    """Number of bits in which two SimHashes (int64 or uint64) differ, 0 to 64."""
    return popcount(np.uint64(first) ^ np.uint64(second))
