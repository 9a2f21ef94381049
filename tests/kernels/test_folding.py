"""Folding of repeats, against a naive reading of the rule."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.folding import MAX_PASSES, fold_repeats
from tests.kernels.helpers import one
from tests.strategies import chinese_text, hostile_text, repeats, string_arrays

rules = st.tuples(st.integers(2, 5), st.integers(2, 4), st.integers(2, 12))  # min_unit, min_repeats, max_unit


def fold(text: str, min_unit: int = 2, min_repeats: int = 3, max_unit: int = 200) -> str:
    return one(lambda texts: fold_repeats(texts, min_unit, min_repeats, max_unit), text)


def naive(text: str, min_unit: int = 2, min_repeats: int = 3, max_unit: int = 200) -> str:
    for _ in range(MAX_PASSES):
        folded = _one_pass(text, min_unit, min_repeats, max_unit)
        if folded == text:
            break
        text = folded
    return text


def _one_pass(text: str, min_unit: int, min_repeats: int, max_unit: int) -> str:
    out, at = "", 0
    while at < len(text):
        units = (text[at : at + size] for size in range(min_unit, max_unit + 1))
        unit = next((u for u in units if text.startswith(u * min_repeats, at) and _primitive(u) and _lettered(u)), None)
        out += unit or text[at]
        at += 1 if unit is None else 0
        while unit and text.startswith(unit, at):
            at += len(unit)
    return out


def _primitive(unit: str) -> bool:
    return (unit + unit).find(unit, 1) == len(unit)


def _lettered(unit: str) -> bool:
    categories = [unicodedata.category(char) for char in unit]
    return sum(category[0] in "LN" and category != "Nd" for category in categories) >= 2


@given(text=repeats(), rule=rules)
def test_equals_the_naive_rule_on_text_full_of_repeats(text, rule):
    assert fold(text, *rule) == naive(text, *rule)


@given(text=st.text(st.sampled_from("甲乙1"), max_size=60), rule=rules)
def test_equals_the_naive_rule_on_small_alphabets(text, rule):
    assert fold(text, *rule) == naive(text, *rule)


@given(text=hostile_text)
def test_equals_the_naive_rule_on_any_text(text):
    assert fold(text) == naive(text)


@given(text=repeats(), rule=rules)
def test_folding_is_idempotent(text, rule):
    assert fold(fold(text, *rule), *rule) == fold(text, *rule)


@given(string_arrays(repeats()))
def test_rows_do_not_influence_each_other(texts):
    assert fold_repeats(texts, 2, 3, 200).to_pylist() == [fold(text or "") for text in texts.to_pylist()]


@given(unit=chinese_text, times=st.integers(3, 8), around=st.tuples(chinese_text, chinese_text))
def test_how_often_a_unit_was_repeated_is_irrelevant(unit, times, around):
    before, behind = around
    assert naive(before + unit * times + behind) == fold(before + unit * times + behind)
    if fold(unit * 3) == unit:
        assert fold(unit * times) == unit


@pytest.mark.parametrize("text", ["哈哈", "看看", "哈哈哈", "哈哈哈哈哈哈哈哈", "看看看看", "高高兴兴", "研究研究", "", "甲"])
def test_words_survive(text):
    assert fold(text) == text


@pytest.mark.parametrize(
    "text", ["10101010", "123123123", "2024 2024 2024", "------", "。。。。。。", "1、1、1、1、", "甲1甲1甲1"]
)
def test_numbers_and_rulers_survive(text):
    assert fold(text) == text


@pytest.mark.parametrize(
    ("text", "folded"),
    [("你是凑企鹅你是凑企鹅你是凑企鹅", "你是凑企鹅"), ("他说你是凑企鹅你是凑企鹅你是凑企鹅，走了", "他说你是凑企鹅，走了"),
     ("好评好评好评", "好评"), ("好评！好评！好评！", "好评！"), ("好评好评好评好", "好评好"),
     ("甲乙甲乙甲乙丙甲乙甲乙甲乙丙甲乙甲乙甲乙丙", "甲乙丙"),
     ("哈哈哈哈味道很好很好很好就是送餐太慢太慢太慢了，看看再说吧", "哈哈哈哈味道很好就是送餐太慢了，看看再说吧"),
     ("住了三晚你是凑企鹅你是凑企鹅你是凑企鹅你是凑企鹅哈哈看看早餐10101010", "住了三晚你是凑企鹅哈哈看看早餐10101010"),
     ("太慢了！！！太慢了！！！太慢了！！！给1星1星1星", "太慢了！！！给1星1星1星"),
     ("哈哈乙哈哈乙哈哈乙", "哈哈乙"), ("ab" * 100_000, "ab")],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_runs_fold_to_one_copy(text, folded):
    assert fold(text) == folded


@pytest.mark.parametrize(("size", "min_repeats"), [(200, 3), (9_999, 2), (4_096, 2), (4_097, 5)])
def test_long_units_are_folded_up_to_the_bound(size, min_repeats):
    unit = "".join(map(chr, range(0x4E00, 0x4E00 + size)))
    assert fold("甲" + unit * min_repeats + "乙", 2, min_repeats, size) == "甲" + unit + "乙"
    assert fold(unit * min_repeats, 2, min_repeats, size - 1) == unit * min_repeats
    assert fold(unit * (min_repeats - 1), 2, min_repeats, size) == unit * (min_repeats - 1)


@pytest.mark.parametrize(
    ("rule", "text", "folded"),
    [((2, 2, 200), "研究研究", "研究"), ((3, 2, 200), "研究研究", "研究研究"), ((2, 4, 200), "好评好评好评", "好评好评好评"),
     ((2, 3, 3), "甲乙丙丁甲乙丙丁甲乙丙丁", "甲乙丙丁甲乙丙丁甲乙丙丁"), ((2, 3, 4), "甲乙丙丁甲乙丙丁甲乙丙丁", "甲乙丙丁")],
)  # fmt: skip
def test_each_bound_is_obeyed(rule, text, folded):
    assert fold(text, *rule) == folded
