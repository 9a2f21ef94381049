"""SimHash: votes, ties, weights, distances."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.simhash import BITS, hamming, popcount, simhash
from tests.kernels import oracles

words64 = st.integers(0, 2**64 - 1)
weighted = st.dictionaries(words64, st.integers(1, 5000), max_size=20)


def fingerprint(features: dict[int, int]) -> int:
    values, times = np.array(list(features), np.uint64), np.array(list(features.values()), np.int32)
    return int(simhash(values, times, len(values), np.empty(BITS, np.int32)))


@given(weighted)
def test_equals_the_plain_definition(features):
    assert fingerprint(features) == oracles.simhash(Counter(features))


@given(st.sets(words64, min_size=1, max_size=300), st.dictionaries(words64, st.integers(2, 9), max_size=3))
def test_many_features_that_occur_once_equal_the_plain_definition(single, repeated):
    features = dict.fromkeys(single, 1) | repeated
    assert fingerprint(features) == oracles.simhash(Counter(features))


@given(weighted, st.randoms(use_true_random=False))
def test_order_of_features_is_irrelevant(features, random):
    shuffled = list(features.items())
    random.shuffle(shuffled)
    assert fingerprint(dict(shuffled)) == fingerprint(features)


@given(words64)
def test_a_single_feature_is_its_own_fingerprint(feature):
    assert fingerprint({feature: 1}) == fingerprint({feature: 1000}) == feature


@given(words64, words64)
def test_a_tie_leaves_the_bit_unset(first, second):
    """Two features of equal weight: a bit is set only where both vote for it (practitioners' case B21)."""
    assert fingerprint({first: 1, second: 1}) == first & second


def test_no_feature_gives_zero():
    assert fingerprint({}) == 0


def test_weight_grows_with_the_logarithm_of_the_count():
    feature, others = 2**64 - 1, [1 << bit for bit in range(4)]  # above bit 3 all others vote against
    assert fingerprint({feature: 7, **dict.fromkeys(others, 1)}) >> 4 == 0  # weight 3 against 4
    assert fingerprint({feature: 8, **dict.fromkeys(others, 1)}) >> 4 == 0  # a tie, 4 against 4
    assert fingerprint({feature: 16, **dict.fromkeys(others, 1)}) == feature  # 5 against 4


@given(words64, words64)
def test_hamming_counts_differing_bits(first, second):
    expected = bin(first ^ second).count("1")
    signed = [np.array([value], np.uint64).view(np.int64)[0] for value in (first, second)]
    assert hamming(np.uint64(first), np.uint64(second)) == hamming(*signed) == expected
    assert popcount(np.uint64(first)) == bin(first).count("1")


@pytest.mark.parametrize(("value", "distance"), [(0x8000000000000000, 1), (0xFFFFFFFFFFFFFFFF, 64), (0, 0)])
def test_distance_from_zero_of_values_with_the_top_bit(value, distance):
    """Practitioners' case B34."""
    assert hamming(np.uint64(value), np.uint64(0)) == distance


def test_unrelated_fingerprints_centre_at_half_the_bits():
    draw = np.random.default_rng(3)
    prints = [fingerprint(dict.fromkeys(draw.integers(0, 2**64, 57, dtype=np.uint64).tolist(), 1)) for _ in range(200)]
    distances = [hamming(np.uint64(a), np.uint64(b)) for a, b in pairwise(prints)]
    assert abs(np.mean(distances) - BITS / 2) <= 1 and min(distances) > 7
