"""Repair of misread text: what is certain is repaired, everything else is left alone."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dedup_lib.kernels.mojibake import repair_mojibake
from tests.kernels.helpers import read_cases
from tests.strategies import HAN, chinese_text

han = st.text(st.sampled_from(HAN), min_size=6, max_size=20)  # two characters alone are no certain sign of damage
SENTENCES = [
    "昨日上午，市图书馆新馆正式对外开放了",
    "请旅客合理安排行程，预计18:20到达杭州东站",
    "说明设备严重损坏的原因正在调查之中a",
]
damages = pytest.mark.parametrize(("right", "wrong"), [("utf-8", "latin-1"), ("utf-8", "gb18030"), ("gb18030", "latin-1")])


@given(chinese_text)
def test_chinese_text_is_left_alone(text):
    assert repair_mojibake(text) == text


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_is_left_alone(text):
    assert repair_mojibake(text) == text


@damages
@pytest.mark.parametrize("text", SENTENCES)
def test_a_damaged_sentence_is_restored(right, wrong, text):
    assert repair_mojibake(text.encode(right).decode(wrong)) == text


@damages
@given(text=han)
def test_damage_of_each_kind_is_undone(right, wrong, text):
    assume(len(set(text)) > 1)  # one character over and over may be a line of dots
    try:
        damaged = text.encode(right).decode(wrong)
    except UnicodeDecodeError:
        assume(False)
    assert repair_mojibake(damaged) == text


@given(text=han)
def test_utf8_read_as_windows_1252_is_undone(text):
    damaged = "".join(_windows_1252(byte) for byte in text.encode())
    assert repair_mojibake(damaged) == text


def _windows_1252(byte: int) -> str:
    """As browsers decode it: the five undefined bytes stay control characters."""
    return bytes([byte]).decode("cp1252", "ignore") or chr(byte)


@given(text=han)
def test_text_damaged_twice_is_repaired_in_one_call(text):
    damaged = text.encode().decode("latin-1").encode().decode("latin-1")
    assert repair_mojibake(damaged) == text


def test_text_misread_as_gbk_twice_is_repaired_in_one_call():
    once = "主图好吗".encode().decode("gb18030")
    assert repair_mojibake(once.encode().decode("gb18030")) == "主图好吗"


@pytest.mark.parametrize("case", read_cases("mojibake.tsv"), ids=lambda case: case["kind"])
def test_examples(case):
    assert repair_mojibake(case["raw"]) == case["repaired"]


def test_a_lost_byte_raises_nothing_and_invents_no_character():
    damaged = "ä¸»å›¾å¥½è¯„åŒ…é‚"  # the last byte of 邮 is gone (practitioners' case B79)
    assert repair_mojibake(damaged).startswith("主图好评包") or repair_mojibake(damaged) == damaged
    assert "\ufffd" not in repair_mojibake(damaged) and "邮" not in repair_mojibake(damaged)
