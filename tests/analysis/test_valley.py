"""The valley lies between two peaks, whoever asks; where there is one peak there is none."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.analysis.valley import find_valley, lowest

NOBODY = np.zeros(101, np.int64)


def peaks(texts: int, gap: tuple[float, float], share: float, seed: int) -> np.ndarray:
    """Pairs of each text: all have unrelated ones below the gap, a share has copies above it."""
    draw = np.random.default_rng(seed)
    pairs = np.zeros((texts, 101), np.int64)
    for row in pairs:
        row[np.minimum(draw.geometric(0.25, 40) - 1, int(gap[0] * 100) - 1)] += 1
        if draw.random() < share:
            row[draw.integers(int(gap[1] * 100), 101, 3)] += 1
    return pairs


@settings(max_examples=15, deadline=None)
@given(
    low=st.floats(0.2, 0.45),
    width=st.floats(0.1, 0.35),
    share=st.floats(0.6, 0.9),
    texts=st.integers(300, 500),
    seed=st.integers(0, 99),
)
def test_the_valley_lies_between_the_peaks_and_its_plain_over_the_gap(low, width, share, texts, seed):
    gap = low, low + width
    found = find_valley(peaks(texts, gap, share, seed), NOBODY, seed)
    assert 0.1 < found.valley <= gap[1] + 0.03 and found.plain[0] <= gap[1] and found.plain[1] >= gap[0]
    assert found.low <= found.valley <= found.high and found.plain[0] <= found.valley <= found.plain[1]
    assert found.peak > found.valley and found.support > 0.9 and found.sampled == texts


@given(st.integers(1, 300), st.integers(0, 99))
def test_one_peak_has_no_valley(texts, seed):
    found = find_valley(peaks(texts, (0.5, 1.0), 0.0, seed), NOBODY, seed)
    assert found.valley is None and found.plain is None and found.support == 0


def test_nothing_to_compare_is_no_valley_either():
    assert find_valley(np.zeros((0, 101), np.int64), NOBODY, 1) == (0, None, None, None, None, None, 0.0, None)
    assert lowest(np.zeros(101)) is None


def test_one_story_with_very_many_reposts_is_one_testimony():
    alone = peaks(300, (0.3, 0.7), 0.5, 1)
    viral = alone.copy()
    viral[0, 50] = 1_000_000  # pairs of one text within the gap
    assert abs(find_valley(viral, NOBODY, 1).valley - find_valley(alone, NOBODY, 1).valley) <= 0.1


@given(st.permutations(range(120)))
@settings(max_examples=5, deadline=None)
def test_the_order_of_texts_does_not_move_it(order):
    pairs = peaks(120, (0.3, 0.6), 0.5, 3)
    assert find_valley(pairs[list(order)], NOBODY, 1).valley == find_valley(pairs, NOBODY, 1).valley


def test_random_pairs_say_where_unrelated_texts_end():
    background = np.zeros(101, np.int64)
    background[:3], background[90] = 10_000, 1
    assert find_valley(peaks(50, (0.3, 0.6), 0.5, 3), background, 1).unrelated == 0.03
