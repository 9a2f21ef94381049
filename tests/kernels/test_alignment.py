"""The gaps between two texts: outside them the texts are equal, whatever the texts are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.alignment import align

letters = st.one_of(st.text("ab", max_size=30), st.text("abcdefghijklmnop", max_size=60))


@st.composite
def edited(draw) -> tuple[str, str]:
    """A text and the same one after some edits."""
    text = draw(letters)
    other = text
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(other)))
        other = other[:at] + draw(st.text("abxyz", max_size=4)) + other[at + draw(st.integers(0, 4)) :]
    return text, other


def gaps(first: str, second: str) -> list[list[int]]:
    a, b = (np.array([ord(char) for char in text], np.int32) for text in (first, second))
    return align(a, len(a), b, len(b)).tolist()


@given(st.one_of(edited(), st.tuples(letters, letters)))
def test_the_texts_are_equal_outside_the_gaps(pair):
    first, second = pair
    rest_first, rest_second, at, other = "", "", 0, 0
    for start, end, other_start, other_end in gaps(first, second):
        assert start < end or other_start < other_end
        rest_first, rest_second = rest_first + first[at:start] + "|", rest_second + second[other:other_start] + "|"
        at, other = end, other_end
    assert rest_first + first[at:] == rest_second + second[other:]


@given(st.one_of(edited(), st.tuples(letters, letters)))
def test_a_gap_holds_nothing_that_both_begin_or_end_with(pair):
    first, second = pair
    for start, end, other_start, other_end in gaps(first, second):
        ours, theirs = first[start:end], second[other_start:other_end]
        assert not ours or not theirs or (ours[0] != theirs[0] and ours[-1] != theirs[-1])


@given(letters)
def test_a_text_has_no_gap_to_itself(text):
    assert gaps(text, text) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "abc", [("", "abc")]),
        ("xabcdefghy", "zabcdefghw", [("x", "z"), ("y", "w")]),
        ("某队在主场战胜了另一队", "另一队在主场战胜了某队", [("某", "另一"), ("另一", "某")]),
        ("一二三四五甲乙丙丁戊", "甲乙丙丁戊一二三四五", [("一二三四五", ""), ("", "一二三四五")]),
    ],
)
def test_examples(first, second, expected):
    found = [(first[a:b], second[c:d]) for a, b, c, d in gaps(first, second)]
    assert found in (expected, [tuple(reversed(pair)) for pair in reversed(expected)])
