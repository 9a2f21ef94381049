"""Buckets into pairs, against brute force."""

from __future__ import annotations

import random
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.pairs import ANY_DISTANCE, GROUPS, BucketRows, expand_buckets

entries = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(0, 40), st.integers(-(2**63), 2**63 - 1), st.integers(1, 60)),
    max_size=60,
    unique_by=lambda entry: entry[:2],
)


def as_rows(rows) -> BucketRows:
    """Columns of entries (bucket, rank, simhash, shingles), all in group 3."""
    columns = list(zip(*rows, strict=True)) or [()] * 4
    keys = np.array([bucket * GROUPS + 3 for bucket in columns[0]], np.int64)
    return BucketRows(keys, np.array(columns[1], np.int64), np.array(columns[2], np.int64), np.array(columns[3], np.int32))


def expand(rows, limit=ANY_DISTANCE, ratio=0.0, all_pairs_up_to=1000, growth=1):
    """Expand with the same limits for every group."""
    limits, ratios = np.full(GROUPS, limit, np.int64), np.full(GROUPS, ratio, np.float64)
    return expand_buckets(as_rows(rows), limits, ratios, all_pairs_up_to, growth)


def brute_force(rows, limit=ANY_DISTANCE, ratio=0.0):
    """All pairs of each bucket that are within the limits."""
    found = set()
    for (bucket, rank, bits, size), (other_bucket, other, other_bits, other_size) in combinations(rows, 2):
        distance = ((bits ^ other_bits) & (2**64 - 1)).bit_count()
        near = distance <= limit and min(size, other_size) >= ratio * max(size, other_size)
        if bucket == other_bucket and near:
            found.add((min(rank, other), max(rank, other), distance))
    return found


@given(entries, st.sampled_from([ANY_DISTANCE, 30, 3]), st.sampled_from([0.0, 0.5]))
def test_small_buckets_give_all_their_pairs(rows, limit, ratio):
    found = expand(rows, limit, ratio)
    assert set(map(tuple, found.pairs.tolist())) == brute_force(rows, limit, ratio)
    assert not len(found.waiting) and not len(found.hot)


@given(entries, st.integers(2, 5), st.integers(1, 3))
def test_rows_that_do_not_wait_have_met_everything_they_share_a_bucket_with(rows, all_pairs_up_to, growth):
    found = expand(rows, all_pairs_up_to=all_pairs_up_to, growth=growth)
    given_pairs, every = set(map(tuple, found.pairs.tolist())), brute_force(rows)
    waiting = set(found.waiting.tolist())
    assert given_pairs <= every
    assert {pair for pair in every - given_pairs} <= {pair for pair in every if {pair[0], pair[1]} <= waiting}


@given(st.integers(2, 300), st.integers(2, 8), st.integers(1, 4))
def test_no_bucket_exceeds_its_budget_by_more_than_one_row(size, all_pairs_up_to, growth):
    found = expand([(0, rank, 0, 10) for rank in range(size)], all_pairs_up_to=all_pairs_up_to, growth=growth)
    budget = max(all_pairs_up_to * (all_pairs_up_to - 1) // 2, growth * size)
    assert len(found.pairs) < budget + size
    assert found.naive_pairs == size * (size - 1) // 2
    assert found.buckets == 1


@given(entries, st.randoms())
def test_the_order_of_entries_does_not_matter(rows, draw):
    shuffled = list(rows)
    draw.shuffle(shuffled)
    first, second = expand(rows, all_pairs_up_to=3), expand(shuffled, all_pairs_up_to=3)
    assert sorted(first.pairs.tolist()) == sorted(second.pairs.tolist())
    assert sorted(first.waiting.tolist()) == sorted(second.waiting.tolist())
    assert sorted(first.hot.tolist()) == sorted(second.hot.tolist())


def test_a_hot_prefix_of_unrelated_fingerprints_gives_no_pairs():
    draw = random.Random(7)
    rows = [(0, rank, (0xABCD << 48 | draw.getrandbits(48)) - 2**64, 10) for rank in range(2000)]
    found = expand(rows, limit=3, all_pairs_up_to=8)
    assert found.naive_pairs == 1_999_000
    assert len(found.pairs) < 2000
    assert not len(found.waiting)
