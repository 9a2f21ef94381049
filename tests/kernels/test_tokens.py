"""Word segmenters: nothing is lost, whatever the length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.tokens import PIECE, segmenter
from tests.strategies import chinese_text, hostile_text

names = pytest.mark.parametrize("name", ["jieba", "rjieba"])


@names
@given(text=st.one_of(chinese_text, hostile_text))
def test_words_make_up_the_text(name, text):
    assert "".join(segmenter(name)(text)) == text


@names
def test_chinese_is_cut_into_words(name):
    assert segmenter(name)("图书馆对外开放") == ["图书馆", "对外开放"]


@names
@pytest.mark.parametrize("text", ["测试" * 20_000, "7" * 30_000, "Ab9+" * 10_000], ids=["repeats", "digits", "base64"])
def test_long_text_without_punctuation_is_cut_in_pieces(name, text):
    """Practitioners' case B62."""
    words = segmenter(name)(text)
    assert "".join(words) == text and max(map(len, words)) <= PIECE


def test_an_unknown_segmenter_is_refused():
    with pytest.raises(ValueError, match="jieba"):
        segmenter("no such segmenter")
