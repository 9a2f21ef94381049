"""Exact measures, against Python's sets."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.similarity import compare_texts
from tests.kernels.oracles import grams
from tests.strategies import chinese_text, hostile_text, repeats

texts = st.one_of(chinese_text, hostile_text, repeats())
lengths = st.integers(1, 8)


@st.composite
def related_pairs(draw) -> tuple[str, str]:
    """Two texts that share a beginning and an end."""
    start, end = draw(chinese_text), draw(chinese_text)
    return start + draw(st.text("甲乙1", max_size=4)) + end, start + draw(st.text("甲乙1", max_size=4)) + end


def compare(first: str | None, second: str | None, n: int) -> tuple[float, float]:
    jaccard, containment = compare_texts(pa.array([first], pa.string()), pa.array([second], pa.string()), n)
    return float(jaccard[0]), float(containment[0])


def naive(first: str | None, second: str | None, n: int) -> tuple[float, float]:
    ours, theirs = set(grams(first or "", n)), set(grams(second or "", n))
    if not ours or not theirs:
        return 0.0, 0.0
    shared = len(ours & theirs)
    return shared / len(ours | theirs), shared / min(len(ours), len(theirs))


@given(st.one_of(st.tuples(texts, texts), related_pairs()), lengths)
def test_equals_pythons_sets(pair, n):
    assert compare(*pair, n) == naive(*pair, n)


@given(related_pairs(), lengths)
def test_is_symmetric(pair, n):
    assert compare(*pair, n) == compare(*reversed(pair), n)


@given(texts, lengths)
def test_a_text_equals_itself_unless_it_has_no_features(text, n):
    assert compare(text, text, n) == ((1.0, 1.0) if any(map(str.isalnum, text)) else (0.0, 0.0))


@given(
    st.lists(st.sampled_from(["", "甲乙丙丁", "丁丙乙甲", "甲乙丙", None, "，。"]), max_size=8),
    st.randoms(use_true_random=False),
)
def test_rows_do_not_influence_each_other(first, random):
    """Equal neighbours on the left share their shingles: the shortcut must not show."""
    second = random.sample(first, len(first))
    jaccard, containment = compare_texts(pa.array(first, pa.string()), pa.array(second, pa.string()), 2)
    assert list(zip(jaccard, containment, strict=True)) == [naive(a, b, 2) for a, b in zip(first, second, strict=True)]


def test_sliced_arrays_are_read_where_they_begin():
    first, second = pa.array(["甲", "甲乙丙丁", "戊"])[1:], pa.array(["甲乙丙戊", "戊", "己"])[:2]
    jaccard, containment = compare_texts(first, second, 2)
    assert jaccard.tolist() == [0.5, 1.0] and containment.tolist() == [pytest.approx(2 / 3), 1.0]


@pytest.mark.parametrize("nothing", [None, "", " \u3000", "，。", "👍"])
def test_a_text_without_features_is_similar_to_nothing(nothing):
    assert compare(nothing, nothing, 3) == compare(nothing, "甲乙丙", 3) == (0.0, 0.0)


def test_short_texts_are_compared_as_a_whole():
    assert compare("好评", "差评", 5) == (0.0, 0.0)
    assert compare("好评", "好，评！", 5) == (1.0, 1.0)


def test_an_excerpt_is_contained_but_not_similar():
    """Practitioners' case B90."""
    excerpt = "新馆总面积约两万平方米设有儿童阅览区自习区和展览厅"
    jaccard, containment = compare(excerpt, "昨日上午市图书馆新馆正式对外开放" + excerpt + "全年免费开放馆方提醒读者", 2)
    assert containment == 1.0 and jaccard < 0.5


def test_texts_that_share_only_a_ruler_are_not_similar():
    """Practitioners' case B05."""
    assert compare("-" * 400 + " 磁盘空间不足", "-" * 400 + " 用户登录成功", 2) == (0.0, 0.0)
