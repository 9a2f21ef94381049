"""The compiled fact guard: the readable one in facts.py is the oracle."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.conflicting import conflicting
from dedup_lib.kernels.facts import conflicts
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


def compiled(first: str | None, second: str | None) -> bool:
    return bool(conflicting(pa.array([first], pa.string()), pa.array([second], pa.string()))[0])


@given(
    st.one_of(edited_pairs(), st.tuples(numbered, numbered), st.tuples(tabular, tabular), st.tuples(hostile_text, hostile_text))
)
def test_equals_the_readable_rule(pair):
    assert compiled(*pair) == bool(conflicts(*pair))


@given(edited_pairs())
def test_is_symmetric(pair):
    assert compiled(*pair) == compiled(*reversed(pair))


@given(st.lists(st.one_of(edited_pairs(), st.just((None, "1")), st.just(("1", None))), max_size=5), st.integers(0, 3))
def test_rows_do_not_influence_each_other(pairs, start):
    first, second = (pa.array([pair[side] for pair in pairs], pa.string())[start:] for side in (0, 1))
    assert conflicting(first, second).tolist() == [compiled(*pair) for pair in pairs[start:]]


@pytest.mark.parametrize("case", read_cases("facts.tsv"), ids=lambda case: case["kind"])
def test_examples(case):
    assert compiled(one(canonical, case["first"]), one(canonical, case["second"])) == bool(case["conflicts"])
