"""64-bit SimHash (Charikar, STOC 2002; Manku, Jain, Das Sarma, WWW 2007).

Each feature votes on every bit with its hash; bit i is set when the votes for it outweigh those against (a tie leaves it
unset). A feature that occurs t times votes with weight floor(log2(t)) + 1, so that one repeated phrase cannot outvote the
rest of a text. The distance of two unrelated texts centres at 32 bits.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.kernels.utf8 import compiled, inlined

BITS = 64


@compiled
def simhash(features, times, count, votes):
    """The SimHash (uint64) of ``count`` feature hashes that occur ``times``; ``votes`` is scratch space (int32, 64)."""
    votes[:] = 0
    for i in range(count):
        weight = np.int32(0)
        occurrences = times[i]
        while occurrences > 0:
            weight += np.int32(1)
            occurrences >>= 1
        feature = features[i]
        for bit in range(BITS):
            votes[bit] += weight * (np.int32((feature >> np.uint64(bit)) & np.uint64(1)) * 2 - 1)
    result = np.uint64(0)
    for bit in range(BITS):
        if votes[bit] > 0:
            result |= np.uint64(1) << np.uint64(bit)
    return result


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
