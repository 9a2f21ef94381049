"""MinHash signatures (Broder, 'On the resemblance and containment of documents', 1997) in the arithmetic of datasketch 2.

Permutation p of a feature h is ``a[p] * fmix32(h) + b[p]`` modulo 2^32 with odd ``a``: the scheme that datasketch calls
``affine32``. Signatures of the same seed load there unchanged:
``datasketch.MinHash(hashvalues=row, seed=seed, scheme="affine32")``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dedup_lib.kernels.utf8 import compiled

EMPTY = np.uint32(0xFFFFFFFF)


@lru_cache(maxsize=4)
def permutations(num_perm: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers and addends (uint32, ``num_perm`` each), drawn as datasketch draws them."""
    draw = np.random.RandomState(seed)
    multiplier = draw.randint(0, 1 << 31, num_perm, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    addend = draw.randint(0, 1 << 32, num_perm, dtype=np.uint32)
    return multiplier, addend


@compiled
def minhash(features, count, multiplier, addend, out):
    """The signature of a set of feature hashes (uint64, of which the low 32 bits count) into ``out`` (uint32).

    One permutation after the other over all features: the least value stays in registers, which takes half the time of one
    feature after the other.
    """
    spread = np.empty(count, np.uint32)
    for i in range(count):
        h = np.uint32(features[i] & np.uint64(0xFFFFFFFF))
        h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        spread[i] = np.uint32(h ^ (h >> np.uint32(16)))
    for p in range(len(out)):
        times, plus, least = multiplier[p], addend[p], EMPTY
        for i in range(count):
            least = min(least, np.uint32(np.uint32(times * spread[i]) + plus))
        out[p] = least


def estimate_jaccard(first: np.ndarray, second: np.ndarray) -> float:
    """The share of equal positions of two signatures, an unbiased estimate of the Jaccard similarity."""
    return float(np.mean(first == second))
