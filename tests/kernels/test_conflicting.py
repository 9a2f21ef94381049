"""The compiled facts: the readable ones in facts.py are the oracle."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dedup_lib.kernels.conflicting import MANY, WIDTH, count_conflicts, digest_facts, fact_characters, read_facts
from dedup_lib.kernels.facts import FAR, conflicts, facts, names
from dedup_lib.kernels.normalize import Normalizer
from tests.kernels.helpers import one, read_cases
from tests.strategies import hostile_text

canonical = Normalizer(["nfkc", "invisible", "spaces", "case", "punctuation", "join_lines"])
piece = st.sampled_from(
    ["营收", "同比上涨", "元", "，", "。", " ", "12.4", "8.1%", "g1503", "三", "百", "20:05", "-", "+3", "a", "1", "%", "é", "😀"]
)
tabular = st.lists(st.sampled_from(["1", "2", "三", " ", "，", "甲乙", "丙"]), max_size=16).map("".join)
numbered = st.lists(piece, max_size=8).map("".join)


@st.composite
def edited_pairs(draw) -> tuple[str, str]:
    """Two texts that differ by an edit, and perhaps by the order of their halves."""
    before, behind = draw(numbered), draw(numbered)
    first, second = before + draw(piece) + behind, before + draw(piece) + behind
    return (first, draw(st.sampled_from([second, behind + before, second + before])))


def read(text: str):
    """Code points and the table of facts; web addresses are the caller's business."""
    chars = np.array([ord(char) for char in text], np.int32)
    line, table = np.empty(len(chars) + 2 * FAR, np.int32), np.empty((len(chars), WIDTH), np.int64)
    found, _ = read_facts(chars, len(chars), fact_characters(), line, table)
    return chars, table[:found]


def compiled(first: str, second: str) -> int:
    return count_conflicts(*read(first), *read(second))


def couples(first: str, second: str) -> int:
    """Conflicts by the readable rule, up to ``MANY``: couples of values, those that name something counting as many."""
    found = conflicts(first, second)
    naming = any(names(text, at, at + len(value)) for pair in found for value, text, at in _places(pair, first, second))
    return MANY if naming else min(len(found), MANY)


def _places(pair, *texts):
    for value, text in zip(pair, texts, strict=True):
        for fact in (at for at in range(len(text)) if text.startswith(value, at)):
            yield value, text, fact


@given(
    st.one_of(edited_pairs(), st.tuples(numbered, numbered), st.tuples(tabular, tabular), st.tuples(hostile_text, hostile_text))
)
def test_equals_the_readable_rule(pair):
    assume("://" not in "".join(pair) and "www." not in "".join(pair))
    assert bool(compiled(*pair)) == bool(conflicts(*pair))


@given(edited_pairs())
def test_counts_no_more_than_there_are(pair):
    assert compiled(*pair) <= couples(*pair)


@given(numbered)
def test_the_digest_hears_of_facts_only_and_not_of_their_order(text):
    values = [fact.value for fact in facts(text)]
    assert digest_facts(read(text)[1]) == digest_facts(read("。".join(reversed(values)))[1])


@given(edited_pairs())
def test_is_symmetric(pair):
    assert compiled(*pair) == compiled(*reversed(pair))


@pytest.mark.parametrize("case", read_cases("facts.tsv"), ids=lambda case: case["kind"])
def test_examples(case):
    assert bool(compiled(one(canonical, case["first"]), one(canonical, case["second"]))) == bool(case["conflicts"])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("投资12.4亿元", "投资13.4亿元", 1),
        ("投资12.4亿元,又投资12.4亿元,", "投资13.4亿元,又投资13.4亿元,", 1),
        ("投资12.4亿元,增长3%", "投资13.4亿元,增长5%", MANY),
        ("3月5日投资", "3月6日投资", MANY),
        ("第三届大会", "第四届大会", MANY),
        ("型号a12黑色", "型号a13黑色", MANY),
        ("电话88120转", "电话88121转", MANY),
        ("于20:05到站", "于20:15到站", MANY),
    ],
)
def test_one_figure_is_told_from_what_names_something(first, second, expected):
    assert compiled(first, second) == expected
