"""The threshold that a short pair states is one that its edits cannot miss."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dedup_lib.kernels.comments import least_jaccard
from tests.oracle import jaccard, shingle_set

texts = st.text("甲乙丙", min_size=4, max_size=12)


@given(texts, st.integers(0, 12), st.sampled_from(["", "甲", "丁"]), st.integers(0, 1), st.sampled_from([2, 4]))
def test_one_edit_leaves_at_least_so_much(text, at, more, less, ngram):
    other = text[:at] + more + text[at + less :]
    edits = Levenshtein.distance(text, other)
    ours, theirs = shingle_set(text, ngram), shingle_set(other, ngram)
    assert edits <= 1
    assert jaccard(ours, theirs) >= least_jaccard(np.array([min(len(ours), len(theirs))]), ngram, edits)[0]
