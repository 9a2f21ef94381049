"""Outer units of texts, and texts without them."""

import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.sign import sign_texts
from dedup_lib.kernels.units import (
    CLOSING,
    ENDS,
    HEAD,
    LONGEST,
    SHORTEST,
    SHORTEST_WITH_DIGITS,
    TAIL,
    outer_units,
    strip_units,
    unit_text,
    unrelated,
)
from tests.kernels.helpers import one
from tests.strategies import HAN, hostile_text, string_arrays

NONE = np.empty(0, np.int64)
LEAST = 6
FOOTER = "本网站所刊载的全部内容均受著作权法保护,未经授权不得转载摘编。更多精彩内容请关注我们的公众号!"
sentences = [
    "今天天气很好。", '他说:"走吧!"', "好。", "版权所有,翻印必究。", "第一行内容\n", "2024年。", "甲" * (LONGEST + 1) + "。",
    "(责任编辑甲乙)", "！？", "末句没有标点",
]  # fmt: skip
composed = st.lists(st.sampled_from(sentences), max_size=8).map("".join)
texts = st.one_of(composed, hostile_text, st.text(st.sampled_from(HAN[:3] + ENDS + CLOSING + "1"), max_size=30))


def split(text: str) -> list[str]:
    """A unit ends behind a run of marks that holds an end."""
    ends = [run.end() for run in re.finditer(f"[{re.escape(ENDS + CLOSING)}]+", text) if set(run[0]) & set(ENDS)]
    bounds = sorted({0, *ends, len(text)})
    return [text[start:end] for start, end in pairwise(bounds)]


def letters(text: str) -> str:
    """What a unit is known by."""
    return "".join(char for char in text if char.isalpha() or char.isnumeric())


def eligible(unit: str) -> bool:
    least = SHORTEST_WITH_DIGITS if any(map(str.isdecimal, unit)) else SHORTEST
    return len(letters(unit)) >= least and len(unit) <= LONGEST


def outer(text: str, position: int, most: int) -> list[str]:
    found = split(text)[:: 1 if position == HEAD else -1][:most]
    return found[: next((i for i, unit in enumerate(found) if not eligible(unit)), len(found))]


def keys(text: str, position: int, most: int = 50) -> list[int]:
    return outer_units(pa.array([text]), position, most)[0].as_py()


def without(text: str, heads: list[str], tails: list[str]) -> str:
    """``strip_units`` in plain words."""
    units, left = split(text), len(letters(text))
    for edge, learned in ((-1, tails), (0, heads)):
        while units and eligible(units[edge]) and letters(units[edge]) in map(letters, learned):
            if left - len(letters(units[edge])) < LEAST:
                break
            left -= len(letters(units.pop(edge)))
    return "".join(units)


def strip(text: str, heads: list[str], tails: list[str]) -> str:
    arrays = [np.array(sorted({key for unit in side for key in keys(unit, HEAD)}), np.int64) for side in (heads, tails)]
    return one(lambda array: strip_units(array, *arrays, LEAST), text)


@given(string_arrays(texts), st.sampled_from([HEAD, TAIL]), st.integers(0, 4))
def test_units_are_those_of_the_plain_split(array, position, most):
    found = outer_units(array, position, most)
    for text, own in zip(array.to_pylist(), found.to_pylist(), strict=True):
        expected = outer(text or "", position, most)
        assert [key & 0xFF for key in own] == [len(letters(unit)) for unit in expected]
        assert own == [key for unit in expected for key in keys(unit, HEAD)]


@given(texts, texts)
def test_units_are_the_same_when_their_letters_are(first, second):
    for a in outer(first, HEAD, 9):
        for b in outer(second, TAIL, 9):
            assert (keys(a, HEAD) == keys(b, TAIL)) == (letters(a) == letters(b))


@given(texts, st.lists(st.sampled_from(sentences)), st.lists(st.sampled_from(sentences)))
def test_stripping_is_that_of_the_plain_loop(text, heads, tails):
    heads, tails = ([unit for unit in side if len(split(unit)) == 1 and eligible(unit)] for side in (heads, tails))
    assert strip(text, heads, tails) == without(text, heads, tails)


@given(texts, st.lists(st.sampled_from(sentences)))
def test_stripping_twice_is_stripping_once_and_leaves_enough(text, learned):
    learned = [unit for unit in learned if len(split(unit)) == 1 and eligible(unit)]
    left = strip(text, learned, learned)
    assert left in text and strip(left, learned, learned) == left
    assert left == text or len(letters(left)) >= LEAST


@given(texts, st.sampled_from([HEAD, TAIL]))
def test_a_unit_is_found_again_by_its_key(text, position):
    for key, unit in zip(keys(text, position), outer(text, position, 50), strict=True):
        assert letters(unit_text(text, key, position)) == letters(unit)
    assert unit_text(text, 1, position) is None


@given(st.lists(st.sampled_from(sentences), max_size=4).map("".join), texts)
def test_a_title_is_left_alone(title, text):
    title = title.replace("\n", " ") + "\n"
    array = pa.array([title + text])
    for position in (HEAD, TAIL):
        assert outer_units(array, position, 9, titled=True)[0].as_py() == keys(text, position, 9)
    heads = np.array(sorted(keys(text, HEAD)), np.int64)
    body = one(lambda bodies: strip_units(bodies, heads, heads, LEAST), text)
    assert strip_units(array, heads, heads, LEAST, titled=True)[0].as_py() == title + body


def test_without_learned_units_nothing_goes():
    array = pa.array(["今天天气很好。", "", None])
    assert strip_units(array, NONE, NONE, 1).to_pylist() == ["今天天气很好。", "", ""]


@pytest.mark.parametrize("unit", ["1-0!", "好极了!", "截至发稿1人受伤。", "甲" * (LONGEST + 1)])
def test_a_unit_that_may_be_a_fact_ends_the_search(unit):
    assert keys(unit + FOOTER, HEAD) == [] and keys(FOOTER + unit, TAIL) == []
    assert len(keys(FOOTER + unit, HEAD)) == 2


# ---- relatives ----


def independent(bodies: list[str]) -> int:
    """How many of these texts are unrelated."""
    array = pa.array(bodies)
    signed = sign_texts(array, 4, 4, 128, 1)
    ends = (outer_units(array, position, 16) for position in (HEAD, TAIL))
    return len(unrelated(signed.minhash, signed.shingles, *ends, 0.1))


def article(seed: int, size: int) -> str:
    """A text of its own: characters drawn at random, in sentences."""
    draw = np.random.default_rng(seed)
    return "".join("".join(map(chr, draw.integers(0x4E00, 0x9FA5, 30))) + "。" for _ in range(size))


@pytest.mark.parametrize("size", [2, 10, 40])
def test_a_long_common_footer_makes_no_relatives(size):
    footer = article(99, 12)
    assert independent([article(seed, size) + footer for seed in range(30)]) >= 20  # estimates: a few are taken for relatives


@pytest.mark.parametrize("size", [2, 10, 40])
def test_reposts_are_relatives(size):
    body = article(1, size)
    assert independent([body[:at] + "改" + body[at + 1 :] + FOOTER for at in range(0, 60, 2)]) == 1


def test_a_remark_below_an_article_makes_no_other_article():
    assert independent([article(1, 11) + article(seed, 1) for seed in range(2, 20)]) == 1


def test_notices_of_one_form_are_relatives():
    def notice(n: int) -> str:
        company = "".join(map(chr, np.random.default_rng(n).integers(0x4E00, 0x9FA5, 4)))
        figures = f"营业收入{n * 37 % 91}.{n % 10}亿元,同比增长{n * 13 % 40}%,净利润{n * 7 % 19}亿元"
        return f"{company}(代码60{n * 7919 % 10000:04d})今日披露2023年第三季度主要经营数据:{figures}。" + article(5, 6)

    assert independent([notice(n) for n in range(40)]) <= 5


def test_texts_that_share_all_they_say_prove_nothing():
    assert independent([FOOTER, FOOTER + "好。", "甲乙丙丁。" + FOOTER]) == 1
