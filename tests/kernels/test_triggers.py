"""Searches for the texts that a step may change, against plain searches in Python."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.triggers import NOWHERE, Search, containing, dense, either, holding, matching
from tests.strategies import string_arrays

PHRASES = ("责任编辑", "版权声明", "ab", "😀！")
near_misses = st.lists(st.sampled_from(["责任", "责", "编辑", *PHRASES, "a", "b", "😀", "正文", "\n"]), max_size=6).map("".join)
latin = st.text(st.sampled_from("ab é中国1"), max_size=8)


def plain(texts, found) -> list[bool]:
    return [bool(found(text or "")) for text in texts.to_pylist()]


@given(string_arrays(st.one_of(near_misses, latin)), st.sampled_from(["<&", "中é", "😀", ""]))
def test_holding_equals_a_plain_search(texts, characters):
    assert holding(characters)(texts).to_pylist() == plain(texts, set(characters).intersection)


@given(string_arrays(near_misses))
def test_containing_equals_a_plain_search(texts):
    assert containing(PHRASES)(texts).to_pylist() == plain(texts, lambda text: any(p in text for p in PHRASES))


@given(string_arrays(latin), st.sampled_from([1 / 6, 1 / 2, 1.0]))
def test_dense_counts_shares_of_characters_beyond_ascii(texts, share):
    def is_dense(text):
        beyond = [char for char in text if not char.isascii()]
        return beyond and 0 < beyond.count("é") >= share * len(beyond)

    assert dense("é", share)(texts).to_pylist() == plain(texts, is_dense)


@given(string_arrays(latin))
def test_matching_equals_re(texts):
    found = matching("[ab]+é")(texts.fill_null(""))
    assert found.to_pylist() == plain(texts, lambda text: re.search("[ab]+é", text))


@given(string_arrays(latin))
def test_either_is_a_union_and_nowhere_is_nowhere(texts):
    joined = either(holding("a"), holding("é"), NOWHERE)(texts).to_pylist()
    assert joined == plain(texts, lambda text: set(text) & {"a", "é"})
    assert NOWHERE(texts).to_pylist() == [False] * len(texts)


TRIGGERS = [
    holding("a中"), containing(PHRASES[:2]), dense("é", 1 / 3), either(containing(PHRASES[2:]), dense("a中", 1 / 2)), NOWHERE,
    matching("^国"),
]  # fmt: skip


@given(string_arrays(st.one_of(near_misses, latin)))
def test_one_search_for_several_triggers_equals_one_for_each(texts):
    together = Search(TRIGGERS)(texts)
    assert together.shape == (len(texts), len(TRIGGERS))
    assert together.T.tolist() == [trigger(texts).to_pylist() for trigger in TRIGGERS]


def test_a_search_has_bounds():
    with pytest.raises(ValueError, match="16 triggers"):
        Search([NOWHERE] * 17)
