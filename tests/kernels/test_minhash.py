"""MinHash: datasketch is the oracle, and the estimate is unbiased."""

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.minhash import EMPTY, estimate_jaccard, minhash, permutations

PERMUTATIONS = 128
hash_lists = st.lists(st.integers(0, 2**64 - 1), max_size=30)


def sketch(features, num_perm: int = PERMUTATIONS, seed: int = 1) -> np.ndarray:
    out = np.empty(num_perm, np.uint32)
    minhash(np.array(features, np.uint64), len(features), *permutations(num_perm, seed), out)
    return out


def datasketch_of(features, num_perm: int = PERMUTATIONS, seed: int = 1) -> MinHash:
    result = MinHash(num_perm, seed, scheme="affine32", hashfunc=lambda low: low)
    for feature in features:
        result.update(int(feature) & 0xFFFFFFFF)
    return result


@given(hash_lists, st.sampled_from([16, 128, 200]), st.integers(0, 2**32 - 1))
def test_equals_datasketch(features, num_perm, seed):
    expected = datasketch_of(features, num_perm, seed)
    assert sketch(features, num_perm, seed).tolist() == expected.hashvalues.tolist()


@given(hash_lists, hash_lists)
def test_loads_into_datasketch_unchanged(first, second):
    loaded = MinHash(hashvalues=sketch(first), seed=1, scheme="affine32")
    assert loaded.hashvalues.tolist() == sketch(first).tolist() and loaded.hashvalues.dtype == np.uint32
    assert loaded.jaccard(datasketch_of(second)) == estimate_jaccard(sketch(first), sketch(second))
    loaded.merge(datasketch_of(second))
    assert loaded.hashvalues.tolist() == sketch(first + second).tolist()


@given(hash_lists, st.randoms(use_true_random=False))
def test_order_and_repetition_are_irrelevant(features, random):
    shuffled = features + features[:3]
    random.shuffle(shuffled)
    assert sketch(shuffled).tolist() == sketch(features).tolist()


def test_only_the_low_half_of_a_feature_counts():
    assert sketch([7]).tolist() == sketch([7 + (5 << 32)]).tolist() != sketch([8]).tolist()


def test_the_empty_set_is_all_maximum():
    assert set(sketch([]).tolist()) == {int(EMPTY)}


def set_pairs(jaccard: float, pairs: int = 200, union: int = 400):
    """Seeded pairs of feature arrays whose sets have exactly this Jaccard similarity."""
    draw = np.random.default_rng(7)
    shared = round(jaccard * union)
    for _ in range(pairs):
        features = np.unique(draw.integers(0, 2**64, 2 * union, dtype=np.uint64))
        features = draw.permutation(features)[:union]
        common, rest = features[:shared], features[shared:]
        half = len(rest) // 2
        yield np.concatenate([common, rest[:half]]), np.concatenate([common, rest[half:]])


@pytest.mark.parametrize("jaccard", [0.0, 0.5, 0.9])
def test_the_mean_estimate_is_within_two_percent(jaccard):
    """Practitioners' case B37."""
    estimates = [estimate_jaccard(sketch(first), sketch(second)) for first, second in set_pairs(jaccard)]
    assert abs(np.mean(estimates) - jaccard) <= 0.02
    expected_spread = np.sqrt(jaccard * (1 - jaccard) / PERMUTATIONS)
    assert np.std(estimates) <= 1.2 * expected_spread


def test_disjoint_sets_hardly_ever_agree():
    assert max(estimate_jaccard(sketch(first), sketch(second)) for first, second in set_pairs(0.0)) <= 0.06


def test_sequential_features_are_estimated_as_well():
    """Weak hashes are mixed before they are permuted: consecutive numbers are no special case."""
    first, second = np.arange(0, 300, dtype=np.uint64), np.arange(100, 400, dtype=np.uint64)
    estimates = [estimate_jaccard(sketch(first, 128, seed), sketch(second, 128, seed)) for seed in range(50)]
    assert abs(np.mean(estimates) - 0.5) <= 0.02
