"""Masked keys: texts that are equal but for their codes share one."""

from __future__ import annotations

import re
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.codes import COUNTED, FACT_DIGITS, RATING, masked_keys
from tests.strategies import string_arrays

SPAM = "正品代购加微信{}长期有效欢迎咨询"
spam_texts = st.lists(
    st.lists(
        st.sampled_from(["领红包", "加", "vx", "12", "7", "999", "99999", "a1", "-", ".", "星", "打", "¥", "，"]), max_size=6
    ).map("".join),
    min_size=2,
    max_size=8,
)


def masked(text: str) -> tuple[str, int, int]:
    """The oracle: the text with codes as a placeholder, its letters outside codes, its codes."""
    codes = 0

    def mask(found: re.Match) -> str:
        nonlocal codes
        run = found.group()
        digits = sum(map(str.isdigit, run))
        decimals = next((size for size in (2, 1) if run[1:][-size - 1 : -size] == "."), 0)
        says = text[found.end() : found.end() + 1] in tuple(COUNTED + "%") or text[: found.start()].endswith(tuple(RATING))
        if digits == 0 or (digits - decimals <= FACT_DIGITS and says):
            return run
        codes += 1
        return "\x00"

    line = re.sub(r"[0-9a-z](?:[-._]?[0-9a-z])*", mask, text)
    kept = "".join(char for char in line if char == "\x00" or character_classes()[ord(char)] & FEATURE)
    return kept, len(kept.replace("\x00", "")), codes


@given(spam_texts)
def test_keys_are_those_of_the_masked_texts(texts):
    keys = masked_keys(pa.array(texts, pa.string()), 2).to_pylist()
    plain = [masked(text) for text in texts]
    assert [key is not None for key in keys] == [codes > 0 and letters >= 2 for _, letters, codes in plain]
    for a, b in combinations([i for i, key in enumerate(keys) if key is not None], 2):
        assert (keys[a] == keys[b]) == (plain[a][0] == plain[b][0])


@pytest.mark.parametrize(
    ("first", "second"), [("1", "2"), ("abc123", "xyz98765"), ("138-0000-1111", "139.2222"), ("1，", "（22）")]
)
def test_other_codes_give_the_same_key(first, second):
    ours, theirs = masked_keys(pa.array([SPAM.format(first), SPAM.format(second)]), 12).to_pylist()
    assert ours == theirs is not None


@pytest.mark.parametrize(
    "text",
    [
        "这家酒店我给{}星推荐大家都来住",
        "服务周到总体打{}分推荐给大家来",
        "住了{}晚感觉都不错推荐大家来住",
        "满{}%优惠推荐给大家来住一住吧",
        "原价129{}.90元现在真的很便宜推荐大家买",
        "市场价¥129{}现在真的很便宜推荐大家都来买",
        "公司去年营收1{}.4亿推荐大家都来投资",
    ],
)
def test_a_number_that_counts_or_rates_is_no_code(text):
    assert masked_keys(pa.array([text.format(5)]), 12).to_pylist() == [None]


@pytest.mark.parametrize("text", ["加微信123", "正品代购加微信长期有效欢迎咨询", "", "wifi很好用房间也大推荐大家来住", None])
def test_texts_without_code_or_with_few_letters_have_no_key(text):
    assert masked_keys(pa.array([text], pa.string()), 12).to_pylist() == [None]


@given(string_arrays())
def test_any_array_gives_one_entry_for_each_text(texts):
    assert masked_keys(texts, 2).to_pylist() == masked_keys(pa.array(texts.to_pylist(), pa.string()), 2).to_pylist()
