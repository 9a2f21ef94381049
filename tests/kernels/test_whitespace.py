"""Joining lines, against a naive reading of the rule."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.whitespace import join_lines
from tests.kernels.helpers import one
from tests.strategies import hostile_text, string_arrays

spaced_text = st.text(st.sampled_from("中文ab1２한🙂.,:，。 \n\t\u3000\u00a0"), max_size=20)
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO", "IDEOGRAPHIC", "YI ", "KANGXI")


def separates(char: str) -> bool:
    """Whether white space beside this letter or digit separates words (judged by Unicode's names, not by ranges)."""
    name = unicodedata.name(char, "")
    return char.isalnum() and not name.startswith(UNSPACED)


def naive(text: str) -> str:
    out = ""
    for word in text.split():
        if out:
            words = separates(out[-1]) and separates(word[0])
            listed = len(out) > 1 and out[-2].isdecimal() and out[-1] in ".,:" and word[0].isdecimal()
            out += " " if words or listed else ""
        out += word
    return out


@given(spaced_text)
def test_equals_the_naive_rule(text):
    assert one(join_lines, text) == naive(text)


@given(hostile_text)
def test_is_idempotent_and_changes_nothing_but_white_space(text):
    joined = one(join_lines, text)
    assert one(join_lines, joined) == joined
    assert "".join(joined.split()) == "".join(text.split())


@given(string_arrays(spaced_text))
def test_rows_do_not_influence_each_other(texts):
    assert join_lines(texts).to_pylist() == [one(join_lines, text or "") for text in texts.to_pylist()]


@pytest.mark.parametrize(
    ("raw", "joined"),
    [("第一行\n第二行", "第一行第二行"), ("  甲 ， 乙  ", "甲，乙"), ("new  york\ncity", "new york city"), ("共 12 万", "共12万"),
     ("1, 234", "1, 234"), ("1,234", "1,234"), ("12 34", "12 34"), ("한국 뉴스", "한국 뉴스"), (" \n\u3000", ""), ("", "")],
)  # fmt: skip
def test_examples(raw, joined):
    assert one(join_lines, raw) == joined
