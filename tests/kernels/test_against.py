"""The few against the many: every pair is counted once, with the measures that decide."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.against import BAND_EDGES, BANDS, STEPS, add_pairs, empty_tally, few
from dedup_lib.kernels.sign import sign_texts
from dedup_lib.kernels.similarity import compare_texts

NGRAM = 2
TEXTS = st.lists(st.text(alphabet="甲乙丙丁a1，🎈", max_size=30), min_size=1, max_size=8)


def counted(drawn: list[str], others: list[str]) -> np.ndarray:
    """The tally of the drawn texts against themselves and the others."""
    everything = pa.array([*drawn, *others], pa.string())
    signed = sign_texts(everything, NGRAM, NGRAM, 16, 1)
    prints = signed.simhash.view(np.int64)
    size = len(drawn)
    index = few([str(at) for at in range(size)], everything[:size], signed.features[:size], prints[:size], NGRAM)
    tally = empty_tally(index)
    own = np.array([*range(size), *[-1] * len(others)], np.int64)
    add_pairs(index, everything, own, prints, tally)
    return tally


@given(TEXTS, TEXTS)
def test_every_pair_is_counted_by_its_exact_measures(drawn, others):
    tally = counted(drawn, others)
    everything = [*drawn, *others]
    signed = sign_texts(pa.array(everything, pa.string()), NGRAM, NGRAM, 16, 1)
    expected = np.zeros_like(tally)
    for i, ours in enumerate(drawn):
        for j, theirs in enumerate(everything):
            if i == j:
                continue
            jaccard, containment = compare_texts(pa.array([ours]), pa.array([theirs]), NGRAM)
            bits = int(signed.simhash[i] ^ signed.simhash[j]).bit_count()
            band = int(np.searchsorted(BAND_EDGES, min(signed.features[i], signed.features[j]), side="right"))
            cell = expected[i, int(j < len(drawn)), band]
            cell[int(jaccard[0] * 100 + 1e-9)] += 1
            cell[STEPS + int(containment[0] * 100 + 1e-9)] += 1
            cell[2 * STEPS + bits] += 1
    assert (tally == expected).all()


@given(TEXTS, TEXTS)
def test_the_many_may_come_in_pieces(drawn, others):
    whole = counted(drawn, [*others, *others])
    assert (whole[:, 0] == 2 * counted(drawn, others)[:, 0]).all()
    assert whole.shape == (len(drawn), 2, BANDS, 2 * STEPS + 65)
