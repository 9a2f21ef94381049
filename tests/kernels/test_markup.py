"""HTML out, text left: tags, entities, scripts, styles, comments; what only looks like markup stays."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.markup import strip_html
from tests.kernels.helpers import read_cases
from tests.strategies import chinese_text, hostile_text

TAGS = ["p", "div", "br/", "b", "a href='/x?a=1'", "td", "span class=x", "H1", "li"]


@given(hostile_text)
def test_is_idempotent(text):
    once = strip_html(text)
    assert strip_html(once) == once


@given(chinese_text)
def test_text_without_markup_is_left_alone(text):
    assert strip_html(text) == text


@given(st.lists(st.tuples(chinese_text, st.sampled_from(TAGS)), min_size=1, max_size=6))
def test_all_text_between_tags_survives_in_order(parts):
    page = "".join(f"<{tag}>{text}" for text, tag in parts)
    assert "".join(strip_html(page).split()) == "".join(text for text, _ in parts)


@given(chinese_text, st.integers(1, 4))
def test_escaped_markup_is_stripped_at_any_level(text, levels):
    escaped = f"<p>{text}</p>"
    for _ in range(levels):
        escaped = html.escape(escaped)
    assert strip_html(escaped).strip() == text


@given(hostile_text)
def test_scripts_and_styles_leave_nothing(text):
    hidden = text.replace("<", "").replace("&", "")
    assert strip_html(f"甲<script>{hidden}</script><style>{hidden}</style>乙") == "甲乙"


@pytest.mark.parametrize("case", read_cases("markup.tsv"), ids=lambda case: case["kind"])
def test_examples(case):
    assert strip_html(case["raw"]) == case["text"]
