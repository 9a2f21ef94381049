"""Turn buckets into candidate pairs, within a budget that no bucket can exceed.

Rows of a bucket stand in the order of their rank (priority). The first row is compared with all later ones, then the second,
and so on, until the bucket has spent its budget of pairs. Rows that have had their turn are *pivots*: everything they share
the bucket with has met them. The others *wait*: after this round's decisions most of them have been dropped, and what is left
makes a smaller bucket with a larger budget. So a bucket of n near-copies costs about n pairs, not n²/2, and a small bucket is
settled at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dedup_lib.kernels.simhash import popcount
from dedup_lib.kernels.utf8 import compiled

ANY_DISTANCE = 64
SCANS = 200_000_000  # comparisons that one bucket may make in a round, however few pairs they give


GROUPS = 256


class BucketRows(NamedTuple):
    """Entries of buckets in any order, but each bucket whole. Arrays of equal length."""

    key: np.ndarray  # int64; the low eight bits are the group: profile and kind of bucket
    rank: np.ndarray  # int64
    simhash: np.ndarray  # int64
    shingles: np.ndarray  # int32


class Candidates(NamedTuple):
    """What the buckets gave."""

    pairs: np.ndarray  # int64 (n, 3): rank of the earlier row, rank of the later row, Hamming distance
    waiting: np.ndarray  # int64: ranks of rows that have not met all rows of a bucket (may repeat)
    hot: np.ndarray  # int64 (n, 4): group, rank of the first row, rows, pairs given, of buckets that ran out of budget
    buckets: int  # buckets with two rows or more
    naive_pairs: int  # pairs that comparing everything with everything in each bucket would make


@compiled
def _grown(array, needed):
    if needed <= len(array):
        return array
    bigger = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    bigger[: len(array)] = array
    return bigger


@compiled
def _by_rank(order, rank, start, end):
    """Put the entries of one bucket in the order of their rank."""
    chosen = order[start:end].copy()
    order[start:end] = chosen[np.argsort(rank[chosen])]


@compiled
def _pair_up(order, start, end, rows, limit, ratio, budget, pairs, n_pairs):
    """Compare pivots of one bucket with all later rows until the budget is spent. Returns (pairs, their number, pivots)."""
    _, rank, simhash, shingles = rows
    enough = n_pairs + budget
    scanned, pivot = 0, start
    while pivot < end - 1 and n_pairs < enough and scanned < SCANS:
        pairs = _grown(pairs, n_pairs + end - pivot)
        scanned += end - pivot
        first = order[pivot]
        for at in range(pivot + 1, end):
            other = order[at]
            distance = popcount(np.uint64(simhash[first]) ^ np.uint64(simhash[other]))
            small, large = min(shingles[first], shingles[other]), max(shingles[first], shingles[other])
            if distance <= limit and small >= ratio * large:
                pairs[n_pairs, 0], pairs[n_pairs, 1], pairs[n_pairs, 2] = rank[first], rank[other], distance
                n_pairs += 1
        pivot += 1
    return pairs, n_pairs, pivot


@compiled
def _expand(order, rows, max_hamming, min_ratio, all_pairs_up_to, growth):
    key, rank = rows[0], rows[1]
    pairs, waiting, hot = np.empty((1024, 3), np.int64), np.empty((64, 1), np.int64), np.empty((16, 4), np.int64)
    n_pairs, n_waiting, n_hot, buckets, naive = 0, 0, 0, 0, 0
    floor = all_pairs_up_to * (all_pairs_up_to - 1) // 2
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and key[order[end]] == key[order[start]]:
            end += 1
        size = end - start
        if size > 1:
            buckets += 1
            naive += size * (size - 1) // 2
            _by_rank(order, rank, start, end)
            group = key[order[start]] & (GROUPS - 1)
            before = n_pairs
            pairs, n_pairs, pivot = _pair_up(
                order, start, end, rows, max_hamming[group], min_ratio[group], max(floor, growth * size), pairs, n_pairs
            )
            if pivot < end - 1:
                waiting = _grown(waiting, n_waiting + end - pivot)
                for at in range(pivot, end):
                    waiting[n_waiting, 0] = rank[order[at]]
                    n_waiting += 1
                hot = _grown(hot, n_hot + 1)
                hot[n_hot, 0], hot[n_hot, 1], hot[n_hot, 2] = group, rank[order[start]], size
                hot[n_hot, 3] = n_pairs - before
                n_hot += 1
        start = end
    return pairs[:n_pairs], waiting[:n_waiting, 0], hot[:n_hot], buckets, naive


def expand_buckets(
    rows: BucketRows, max_hamming: np.ndarray, min_ratio: np.ndarray, all_pairs_up_to: int, growth: int
) -> Candidates:
    """The candidate pairs of whole buckets.

    For each group, ``max_hamming`` (int64, ``ANY_DISTANCE`` for none) and ``min_ratio`` (float64: two sets whose sizes
    differ by more cannot reach this Jaccard similarity) say which rows of a bucket are worth a pair. A bucket gives all its
    pairs when it has at most ``all_pairs_up_to`` rows, else about ``growth`` for each row.
    """
    order = np.argsort(rows.key)
    return Candidates(*_expand(order, tuple(rows), max_hamming, min_ratio, all_pairs_up_to, growth))
