"""The differences of two texts, as a person reads them in a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.diff import CONTEXT, LONGEST, ONLY_FIRST, ONLY_SECOND, diff, visible

MARK = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}")


def shown(first: str, second: str) -> str:
    return diff(first, second).plain


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("好评", "好评", "好评"),
        ("", "", ""),
        ("", "好评", "{+好评+}"),
        ("好评", "", "[-好评-]"),
        ("第二季度", "第三季度", "第[-二-]{+三+}季度"),
        ("周一闭馆", "逢周一闭馆。", "{+逢+}周一闭馆{+。+}"),
        ("甲乙丙", "丁戊己", "[-甲乙丙-]{+丁戊己+}"),
    ],
)
def test_what_only_one_text_has_is_marked(first, second, expected):
    assert shown(first, second) == expected


def test_marks_have_a_colour_of_their_own():
    text = diff("第二季度", "第三季度")
    styles = {text.plain[span.start : span.end]: span.style for span in text.spans}
    assert styles == {"[-二-]": ONLY_FIRST, "{+三+}": ONLY_SECOND}


short = st.text(st.sampled_from("甲乙丙丁"), max_size=15)


@given(short, short)
def test_both_texts_can_be_read_off(first, second):
    line = shown(first, second)
    assert MARK.sub(lambda mark: mark[1] or "", line) == first
    assert MARK.sub(lambda mark: mark[2] or "", line) == second


def test_long_equal_stretches_are_shortened_to_what_touches_a_difference():
    before, between, behind = "甲" * 100, "乙" * 100, "丙" * 100
    line = shown(f"{before}一{between}{behind}", f"{before}{between}二{behind}")
    cut = f" … {100 - 2 * CONTEXT} equal … "
    assert line == f"{cut}{'甲' * CONTEXT}[-一-]{'乙' * CONTEXT}{cut}{'乙' * CONTEXT}{{+二+}}{'丙' * CONTEXT}{cut}"


def test_equal_long_texts_show_their_head():
    assert shown("甲" * 1000, "甲" * 1000).startswith("甲" * CONTEXT + " … ")


def test_only_so_much_of_a_huge_text_is_compared():
    first = "甲" * LONGEST + "乙"
    line = shown(first, first + "丙")
    assert "丙" not in line and f"only the first {LONGEST:,} characters" in line
    assert "only the first" not in shown("甲" * LONGEST, "甲" * LONGEST)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲\n乙\r丙\t丁", "甲⏎乙␍丙⇥丁"),
        ("\x1b[31mred\x07", "<U+001B>[31mred<U+0007>"),
        ("新\u200b品\ufeff", "新<U+200B>品<U+FEFF>"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("半\ud83d", "半<U+D83D>"),
        ("甲\u3000乙\u00a0", "甲<U+3000>乙<U+00A0>"),
        ("a b 😀 é 。", "a b 😀 é 。"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text, expected):
    assert visible(text) == expected


def test_a_text_cannot_colour_the_terminal():
    text = diff("\x1b[2J[bold]甲[/bold]", "甲")
    assert "\x1b" not in text.plain and "[bold]" in text.plain


def test_invisible_differences_are_seen():
    assert shown("新品上市", "新\u200b品上市") == "新{+<U+200B>+}品上市"
