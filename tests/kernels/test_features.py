"""Shingles and word hashes, against Python's sets and a second implementation of the hash."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.classes import character_classes
from dedup_lib.kernels.features import distinct, feature_characters, scratch, shingles, word_hashes
from dedup_lib.kernels.urls import url_characters
from tests.kernels.oracles import grams, shingle_hash
from tests.strategies import chinese_text, hostile_text, repeats

lengths = st.integers(1, 8)


def kernel_shingles(text: str, n: int) -> Counter:
    """The kernel's shingles of a text and how often each occurs."""
    data = np.array(list(text.encode()), np.uint8)
    chars, hashes, table, found, times = scratch(len(data))
    count = feature_characters(data, 0, len(data), character_classes(), url_characters(), chars)
    number = shingles(chars, count, n, hashes, table, found, times)
    return Counter(dict(zip(found[:number].tolist(), times[:number].tolist(), strict=True)))


@given(st.one_of(chinese_text, hostile_text, repeats()), lengths)
def test_shingles_and_their_counts_equal_pythons(text, n):
    assert kernel_shingles(text, n) == Counter({shingle_hash(gram): times for gram, times in grams(text, n).items()})


@given(chinese_text, lengths)
def test_punctuation_and_space_carry_no_feature(text, n):
    assert kernel_shingles(text.replace("，", " 。\n"), n) == kernel_shingles(text, n)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=50))
def test_distinct_counts_every_value_in_order_of_appearance(values):
    _, hashes, table, found, times = scratch(len(values))
    hashes[: len(values)] = np.array(values, np.uint64)
    number = distinct(hashes, len(values), table, found, times)
    assert list(zip(found[:number].tolist(), times[:number].tolist(), strict=True)) == list(Counter(values).items())


def test_values_that_share_a_slot_are_kept_apart():
    values = [1 << 40, 2 << 40, 3 << 40, 1 << 40]
    _, hashes, table, found, times = scratch(len(values))
    hashes[: len(values)] = np.array(values, np.uint64)
    assert distinct(hashes, len(values), table, found, times) == 3


@pytest.mark.parametrize(
    ("text", "n", "number"),
    [("", 3, 0), ("，。！", 3, 0), ("👍👍👍", 3, 0), ("好", 5, 1), ("好评", 5, 1), ("甲乙丙", 3, 1), ("甲乙丙丁", 3, 2),
     ("哈哈哈哈", 2, 1)],
)  # fmt: skip
def test_number_of_shingles(text, n, number):
    assert len(kernel_shingles(text, n)) == number


def test_short_texts_that_differ_share_no_feature():
    assert not kernel_shingles("好评", 5) & kernel_shingles("差评", 5)
    assert not kernel_shingles("好评", 5) & kernel_shingles("好评好", 5)


@given(st.lists(st.lists(st.sampled_from(["好评", "，", " ", "abc", "7", "👍", "…", "a-b"]), max_size=5), max_size=4))
def test_words_without_letters_are_left_out(texts):
    hashes, offsets = word_hashes([" ".join(words) for words in texts], str.split)
    kept = [[word for word in words if any(char.isalnum() for char in word)] for words in texts]
    assert np.diff(offsets).tolist() == [len(words) for words in kept]
    names = [word for words in kept for word in words]
    assert len(set(hashes.tolist())) == len(set(names)) and hashes.dtype == np.uint64


@pytest.mark.parametrize(("word", "value"), [("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)])
def test_word_hash_is_fnv_1a(word, value):
    """Values from the authors' test vectors (Fowler, Noll, Vo)."""
    assert word_hashes([word], str.split)[0].tolist() == [value]
