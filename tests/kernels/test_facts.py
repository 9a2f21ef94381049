"""The fact guard: same wording with other numbers conflicts; moved, damaged, added or removed text does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.facts import conflicts, facts
from dedup_lib.kernels.normalize import Normalizer
from tests.kernels.helpers import one, read_cases
from tests.strategies import hostile_text

canonical = Normalizer(["nfkc", "invisible", "spaces", "case", "punctuation", "join_lines"])
numbered = st.lists(
    st.sampled_from(["营收", "同比", "上涨", "元", "，", "。", "12.4", "8.1%", "g1503", "三", "20:05", "-"]), max_size=12
).map("".join)
any_text = st.one_of(numbered, hostile_text)
PARAGRAPHS = [
    "营业收入12.4亿元，同比增长8.1%。",
    "G1503次列车晚点35分钟。",
    "最高气温21度，最低气温12度。",
    "会议于9月1日在3号楼召开。",
    "没有数字的一段。",
]


@pytest.mark.parametrize("case", read_cases("facts.tsv"), ids=lambda case: case["kind"])
def test_examples(case):
    found = conflicts(one(canonical, case["first"]), one(canonical, case["second"]))
    assert "; ".join("/".join(pair) for pair in found) == case["conflicts"]


@given(any_text, any_text)
def test_conflicts_are_symmetric(first, second):
    assert sorted((b, a) for a, b in conflicts(first, second)) == conflicts(second, first)


@given(any_text)
def test_a_text_does_not_conflict_with_itself(text):
    assert conflicts(text, text) == []


@given(any_text, any_text)
def test_a_conflict_names_a_fact_of_each_text_that_the_other_lacks(first, second):
    ours, theirs = ({fact.value for fact in facts(text)} for text in (first, second))
    assert all(a in ours and b in theirs and a != b for a, b in conflicts(first, second))


@given(st.permutations(PARAGRAPHS))
def test_moved_paragraphs_do_not_conflict(paragraphs):
    assert conflicts("".join(PARAGRAPHS).lower(), "".join(paragraphs).lower()) == []


@given(numbered, st.sampled_from(["2024-05-01 来源：a1网。", "第3版。", ""]), st.sampled_from(["。编辑：b2", "。共5页", ""]))
def test_header_and_footer_do_not_conflict(text, header, footer):
    assert conflicts(text, header + text + footer) == []


@given(st.permutations(PARAGRAPHS), st.integers(0, 4))
def test_a_missing_paragraph_does_not_conflict(paragraphs, kept):
    assert conflicts("".join(paragraphs).lower(), "".join(paragraphs[:kept]).lower()) == []


@pytest.mark.parametrize("mark", ["□", "*", "?", "\ufffd"])
@pytest.mark.parametrize("text", ["编号10501号", "G1503次列车", "营业收入128.4亿元"])
def test_a_digit_damaged_inside_a_number_does_not_conflict(text, mark):
    inside = [i for i in range(1, len(text) - 1) if text[i - 1 : i + 2].isdigit()]
    damaged = [text[:i].lower() + mark + text[i + 1 :].lower() for i in inside]
    assert damaged and [conflicts(text.lower(), other) for other in damaged] == [[]] * len(damaged)


@given(any_text, st.integers(1, 4))
def test_surroundings_hold_letters_and_masks_only(text, width):
    for fact in facts(text):
        around = fact.before[-width:] + fact.behind[:width]
        assert len(around) == 2 * width and not any(char.isdecimal() and char.isascii() for char in around)


@pytest.mark.parametrize(
    ("text", "values"),
    [("20:05到3/4,1,234.5和7%，a12s、一百二十", ["20:05", "3/4,1,234.5", "7%", "a12s", "一百二十"]), ("气温-3到5度", ["-3", "5"]),
     ("v1.2.3版", ["v1.2.3"]), ("12.4亿元", ["12.4", "亿"]), ("没有", []), ("", [])],
)  # fmt: skip
def test_facts_of_a_text(text, values):
    assert [fact.value for fact in facts(text)] == values


@given(numbered)
def test_the_same_facts_in_the_same_order_never_conflict(text):
    assert conflicts(text, text.replace("营收", "收入").replace("，", "。")) == []


def test_a_text_of_nothing_but_numbers_is_read_in_order():
    assert [fact.value for fact in facts(" ".join(map(str, range(1000))))] == [str(i) for i in range(1000)]
