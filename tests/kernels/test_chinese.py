"""One script, no pinyin glosses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_lib.kernels.chinese import simplify, strip_pinyin
from tests.strategies import HAN, TRADITIONAL, chinese_text, hostile_text

glossed = st.lists(st.sampled_from([*TRADITIONAL, "中", "(fā)", "（xiàn）", "(ok)", "(", ")", "ā"]), max_size=10).map("".join)


@given(st.one_of(hostile_text, st.text(st.sampled_from(TRADITIONAL), max_size=10)))
def test_simplify_is_idempotent(text):
    assert simplify(simplify(text)) == simplify(text)


@given(chinese_text)
def test_simplified_text_is_left_alone(text):
    assert simplify(text) == text


def test_every_character_is_stable_once_simplified():
    chars = [chr(c) for c in (*range(0x3400, 0xA000), *range(0xF900, 0xFB00), *range(0x20000, 0x32000))]
    once = simplify("\n".join(chars))
    assert simplify(once) == once


@pytest.mark.parametrize(
    ("raw", "simple"),
    [("這台機器壞了怎麼辦", "这台机器坏了怎么办"), ("这台机器坏了怎么办", "这台机器坏了怎么办"), ("發現頭髮", "发现头发"),
     ("乾隆年間", "乾隆年间"), ("乾燥", "干燥"), ("皇后在後面", "皇后在后面"), ("ABC 123", "ABC 123"), ("", "")],
)  # fmt: skip
def test_simplify_examples(raw, simple):
    assert simplify(raw) == simple


@given(glossed)
@example("發(fā)(fā)")
def test_strip_pinyin_is_idempotent(text):
    assert strip_pinyin(strip_pinyin(text)) == strip_pinyin(text)


@given(st.lists(st.tuples(st.sampled_from(HAN), st.sampled_from(["", "(fā)", "（zhuāng）", "(nǚ)", "(lüè)"])), max_size=8))
def test_glosses_vanish_and_nothing_else(parts):
    assert strip_pinyin("".join(char + gloss for char, gloss in parts)) == "".join(char for char, _ in parts)


@pytest.mark.parametrize(
    ("raw", "result"),
    [("發(fā)現(xiàn)", "發現"), ("桌子(zhuō zi)", "桌子"), ("西安(Xī'ān)", "西安"), ("什么(shénme)", "什么"),
     ("中(ok)", "中(ok)"), ("甲(A)乙(B)", "甲(A)乙(B)"), ("a(fā)", "a(fā)"), ("(fā)", "(fā)")],
)  # fmt: skip
def test_strip_pinyin_examples(raw, result):
    assert strip_pinyin(raw) == result
