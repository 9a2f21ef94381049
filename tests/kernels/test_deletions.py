"""Deletion keys: no pair within one edit is missed, and what shares a key is near."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dedup_lib.kernels.deletions import deletion_keys
from tests.strategies import string_arrays

words = st.lists(st.text("甲乙丙a1", min_size=2, max_size=9), min_size=2, max_size=12)


def key_sets(texts: list[str], shortest: int = 1, longest: int = 20) -> list[set[int]]:
    keys = deletion_keys(pa.array(texts, pa.string()), shortest, longest).to_pylist()
    return [set(np.frombuffer(found or b"", "<u8").tolist()) for found in keys]


@given(words)
def test_texts_share_a_key_exactly_when_one_deletion_each_makes_them_equal(texts):
    keys = key_sets(texts)
    for a, b in combinations(range(len(texts)), 2):
        ours, theirs = ({text} | {text[:i] + text[i + 1 :] for i in range(len(text))} for text in (texts[a], texts[b]))
        assert bool(keys[a] & keys[b]) == bool(ours & theirs)


@given(words)
def test_no_pair_within_one_edit_is_missed_and_none_beyond_two_meets(texts):
    keys = key_sets(texts)
    for a, b in combinations(range(len(texts)), 2):
        distance = Levenshtein.distance(texts[a], texts[b])
        assert distance > 1 or keys[a] & keys[b]
        assert distance <= 2 or not keys[a] & keys[b]


@given(words)
def test_a_text_has_each_key_once(texts):
    for found in deletion_keys(pa.array(texts), 1, 20).to_pylist():
        keys = np.frombuffer(found, "<u8")
        assert len(set(keys.tolist())) == len(keys)


@given(string_arrays())
def test_any_array_gives_one_entry_for_each_text(texts):
    found = deletion_keys(texts, 2, 5)
    found.validate(full=True)
    assert len(found) == len(texts)
    assert found.to_pylist() == deletion_keys(pa.array(texts.to_pylist(), pa.string()), 2, 5).to_pylist()


@pytest.mark.parametrize(
    ("text", "has"),
    [("味道", False), ("味道很", True), ("味，道！很", True), ("味道很不错", True), ("味道真的不错", False), (None, False)],
)
def test_only_texts_of_the_wanted_lengths_have_keys(text, has):
    assert deletion_keys(pa.array([text], pa.string()), 3, 5).is_valid().to_pylist() == [has]


def test_marks_and_addresses_do_not_count():
    plain, marked = key_sets(["味道很不错", "味道，很不错！http://a.cn/b"])
    assert plain == marked
