"""Which rows meet: no pair within the limits may be missed."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.bands import (
    BITS,
    Bands,
    band_keys,
    block_keys,
    block_masks,
    choose_bands,
    choose_blocks,
    masked_keys,
)
from dedup_lib.kernels.simhash import hamming

LIMITS = range(8)
words64 = st.integers(0, 2**64 - 1)
damaged_bits = st.lists(st.integers(0, 63), max_size=7, unique=True)


def keys(fingerprint: int, masks: np.ndarray, salt: int = 0) -> np.ndarray:
    out = np.empty(len(masks), np.int64)
    masked_keys(np.uint64(fingerprint), masks, np.uint64(salt), out)
    return out


def bands_of(signature: list[int], bands: int, rows: int, salt: int = 0) -> np.ndarray:
    out = np.empty(bands, np.int64)
    band_keys(np.array(signature, np.uint32), bands, rows, np.uint64(salt), out)
    return out


def flipped(fingerprint: int, bits: list[int]) -> int:
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def every_layout():
    """All (blocks, limit) that choose_blocks can give, up to 2,000 keys."""
    layouts = ((blocks, limit) for limit in LIMITS for blocks in range(limit + 1, 2 * limit + 5))
    return [layout for layout in layouts if block_keys(*layout) <= 2000]


@given(words64, damaged_bits)
def test_every_pair_within_the_limit_shares_a_key(fingerprint, bits):
    other = flipped(fingerprint, bits)
    for blocks in (len(bits) + 1, len(bits) + 2, 2 * len(bits) + 1):
        masks = block_masks(blocks, len(bits))
        assert (keys(fingerprint, masks) == keys(other, masks)).any()


@pytest.mark.parametrize(("blocks", "limit"), every_layout())
def test_whichever_blocks_are_damaged_one_mask_avoids_them(blocks, limit):
    """The whole proof: one damaged bit in each of any ``limit`` blocks, found by splitting the bits as the masks do."""
    masks = block_masks(blocks, limit)
    first_of_block = [bit for bit in range(BITS) if bit == 0 or _told_apart(masks, bit - 1, bit)] if limit else [0]
    assert len(first_of_block) == (blocks if limit else 1)
    for damaged in list(combinations(first_of_block, limit))[:300]:
        damage = np.uint64(sum(1 << bit for bit in damaged))
        assert ((masks & damage) == 0).any()


def _told_apart(masks: np.ndarray, low: int, high: int) -> bool:
    return bool(((masks >> np.uint64(low) ^ masks >> np.uint64(high)) & np.uint64(1)).any())


@pytest.mark.parametrize(("blocks", "limit"), every_layout())
def test_masks_are_distinct_and_as_many_as_announced(blocks, limit):
    masks = block_masks(blocks, limit)
    assert len(set(masks.tolist())) == len(masks) == block_keys(blocks, limit) == comb(blocks, limit)
    smallest = min(bin(mask).count("1") for mask in masks.tolist())
    assert smallest >= (blocks - limit) * (BITS // blocks)


@given(words64, words64, st.sampled_from([(4, 3), (6, 3), (3, 1), (1, 0)]))
def test_two_keys_are_equal_only_where_all_masked_bits_agree(first, second, layout):
    masks = block_masks(*layout)
    agree = (np.uint64(first) & masks) == (np.uint64(second) & masks)
    assert (keys(first, masks) == keys(second, masks)).tolist() == agree.tolist()


def test_block_values_of_a_fingerprint_with_the_top_bit():
    """Practitioners' case B35: no sign extension anywhere."""
    masks = block_masks(4, 3)
    shifts = np.array([48, 32, 16, 0], np.uint64)
    assert ((np.uint64(0x8001FFFF0000ABCD) & masks) >> shifts).tolist() == [0x8001, 0xFFFF, 0x0000, 0xABCD]
    only_top_block = keys(0x8001FFFF0000ABCD, masks) == keys(0x80010000FFFF1234, masks)
    assert only_top_block.tolist() == [True, False, False, False]


def test_signed_and_unsigned_fingerprints_give_the_same_keys():
    """Practitioners' case B34: 64 bits, stored as two's complement."""
    unsigned = np.array([0xF000000000000001, 0x00AB000000000000, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF], np.uint64)
    signed = unsigned.view(np.int64)
    assert signed.tolist() == [-1152921504606846975, 48132221017522176, -9223372036854775808, -1]
    masks, out = block_masks(4, 3), np.empty(4, np.int64)
    for value, stored in zip(unsigned, signed, strict=True):
        masked_keys(stored, masks, np.uint64(0), out)
        assert out.tolist() == keys(value, masks).tolist()


def test_equal_fingerprints_meet_too():
    """Practitioners' case B47: p and q are equal, r differs in one bit."""
    prints = {"p": 0x76A9000000001234, "q": 0x76A9000000001234, "r": 0x76A9000000001235}
    masks = block_masks(4, 3)
    met = [
        (a, b, hamming(np.uint64(prints[a]), np.uint64(prints[b])))
        for a, b in combinations(prints, 2)
        if (keys(prints[a], masks) == keys(prints[b], masks)).any()
    ]
    assert met == [("p", "q", 0), ("p", "r", 1), ("q", "r", 1)]


@given(words64, words64, words64)
def test_salt_keeps_groups_apart(fingerprint, salt, other_salt):
    masks = block_masks(4, 3)
    same = keys(fingerprint, masks, salt).tolist() == keys(fingerprint, masks, other_salt).tolist()
    assert same == (salt == other_salt)


@given(st.integers(1, 10**9), st.integers(0, 7), st.integers(1, 1000))
def test_choose_blocks_is_the_smallest_that_keeps_buckets_small(rows, limit, per_bucket):
    def rows_in_a_bucket(blocks):
        return rows / 2 ** (BITS * (blocks - limit) // blocks)

    chosen = choose_blocks(rows, limit, per_bucket)
    assert limit < chosen <= 2 * limit + 4
    assert all(rows_in_a_bucket(blocks) > per_bucket for blocks in range(limit + 1, chosen))
    assert rows_in_a_bucket(chosen) <= per_bucket or chosen == 2 * limit + 4


signatures = st.lists(st.integers(0, 3), min_size=12, max_size=12)


@given(signatures, signatures, st.sampled_from([(12, 1), (6, 2), (3, 4), (1, 12), (2, 5)]))
def test_two_rows_meet_where_a_whole_band_agrees(first, second, layout):
    bands, rows = layout
    agree = [first[i * rows : (i + 1) * rows] == second[i * rows : (i + 1) * rows] for i in range(bands)]
    assert (bands_of(first, bands, rows) == bands_of(second, bands, rows)).tolist() == agree


def test_bands_of_equal_values_have_different_keys():
    assert len(set(bands_of([5] * 12, 6, 2).tolist())) == 6
    assert not set(bands_of([5] * 12, 6, 2, salt=0).tolist()) & set(bands_of([5] * 12, 6, 2, salt=1).tolist())


@given(st.integers(1, 128), st.integers(1, 128), st.floats(0, 1))
def test_meeting_probability_is_the_banding_formula(bands, rows, jaccard):
    probability = Bands(bands, rows).meeting_probability(jaccard)
    assert probability == pytest.approx(1 - (1 - jaccard**rows) ** bands) and 0 <= probability <= 1


@pytest.mark.parametrize(
    ("bands", "rows", "probability"), [(60, 13, 0.9664), (13, 60, 0.0000), (20, 13, 0.6773), (25, 10, 0.9416)]
)
def test_swapped_bands_and_rows_show_in_the_probability(bands, rows, probability):
    """Practitioners' case B39, at Jaccard 0.8."""
    assert Bands(bands, rows).meeting_probability(0.8) == pytest.approx(probability, abs=5e-5)


def test_measured_share_of_meetings_follows_the_formula():
    draw, bands, rows, jaccard = np.random.default_rng(5), 16, 4, 0.5
    met = 0
    for _ in range(2000):
        first = draw.integers(0, 2**32, bands * rows)
        second = np.where(draw.random(bands * rows) < jaccard, first, draw.integers(0, 2**32, bands * rows))
        met += (bands_of(first, bands, rows) == bands_of(second, bands, rows)).any()
    assert met / 2000 == pytest.approx(Bands(bands, rows).meeting_probability(jaccard), abs=0.04)


@given(st.floats(0.05, 1), st.integers(1, 130), st.sampled_from([0.5, 0.1, 0.01, 0.001]))
def test_choose_bands_takes_the_most_rows_then_the_fewest_bands(threshold, num_perm, max_miss):
    every = (Bands(bands, rows) for rows in range(1, num_perm + 1) for bands in range(1, num_perm // rows + 1))
    good = [choice for choice in every if (1 - threshold**choice.rows) ** choice.bands <= max_miss * (1 + 1e-9)]
    chosen = choose_bands(threshold, num_perm, max_miss)
    assert chosen == min(good, key=lambda choice: (-choice.rows, choice.bands), default=None)


@pytest.mark.parametrize(("threshold", "chosen"), [(1.0, Bands(1, 128)), (0.8, Bands(18, 5)), (0.01, None)])
def test_choose_bands_examples(threshold, chosen):
    """Practitioners' case B40: a threshold of 1 is one band of everything; what cannot be reached is said."""
    assert choose_bands(threshold, 128, 0.001) == chosen
