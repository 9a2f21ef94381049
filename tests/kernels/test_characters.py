"""Per-character steps: the batch form against the plain functions, and what each step does."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.characters import CHANGEABLE, STEPS, apply_characters, visible_characters
from tests.strategies import hostile_text, string_arrays

PROFILE_ORDER = ("invisible", "nfkc", "spaces", "case", "punctuation")
SELECTIONS = [*((name,) for name in STEPS), tuple(STEPS), PROFILE_ORDER]
step_selections = pytest.mark.parametrize("steps", SELECTIONS, ids="+".join)


def plain(text: str, steps) -> str:
    for name in steps:
        text = STEPS[name](text)
    return text


def valid(code_points) -> list[str]:
    return [chr(c) for c in code_points if not 0xD800 <= c < 0xE000]


@step_selections
@given(texts=string_arrays())
def test_batch_equals_the_plain_functions(steps, texts):
    assert apply_characters(texts, steps).to_pylist() == [plain(text or "", steps) for text in texts.to_pylist()]


@step_selections
def test_batch_equals_the_plain_functions_on_every_character(steps):
    chars = valid(c for low, high in CHANGEABLE for c in range(low, high))
    assert apply_characters(pa.array(chars), steps).to_pylist() == [plain(char, steps) for char in chars]


@given(st.lists(st.sampled_from(["ﷺ" * 50, "㍿" * 40, "abc", "中文", "", "é\u0301"]), max_size=12))
def test_batch_has_room_for_texts_that_grow(texts):
    """U+FDFA alone becomes eighteen characters."""
    expected = [plain(text, PROFILE_ORDER) for text in texts]
    assert apply_characters(pa.array(texts, pa.string()), PROFILE_ORDER).to_pylist() == expected


@pytest.mark.parametrize("name", STEPS)
def test_no_character_outside_the_changeable_ranges_is_changed(name):
    inside = {c for low, high in CHANGEABLE for c in range(low, high)}
    assert [c for c in valid(set(range(0x110000)) - inside) if STEPS[name](c) != c] == []


def test_batch_composes_every_pair_that_unicode_composes():
    pairs = [unicodedata.normalize("NFD", char) for char in valid(range(0x30000))]
    pairs += [pair[:-1] + "\u200b" + pair[-1] for pair in pairs if len(pair) > 1]  # also when they meet only later
    assert apply_characters(pa.array(pairs), PROFILE_ORDER).to_pylist() == [plain(pair, PROFILE_ORDER) for pair in pairs]


@step_selections
@given(text=hostile_text)
def test_steps_are_idempotent(steps, text):
    once = plain(text, steps)
    assert plain(once, steps) == once


@step_selections
def test_steps_are_idempotent_on_every_character(steps):
    chars = valid(c for low, high in CHANGEABLE for c in range(low, high))
    assert [char for char in chars if plain(plain(char, steps), steps) != plain(char, steps)] == []


def test_a_joiner_between_enclosed_numbers_that_become_digits_is_not_kept():
    once = plain("①\u200d②", PROFILE_ORDER)
    assert plain(once, PROFILE_ORDER) == once


@pytest.mark.parametrize(
    ("name", "raw", "result"),
    [
        ("nfkc", "ＡＢＣ１２３㎡", "ABC123m2"),
        ("invisible", "新\u200b品上市\ufeff限时\u00ad优惠", "新品上市限时优惠"),
        ("invisible", "\u202e甲\u2069\x00乙\ufe0f", "甲乙"),
        ("invisible", "a\u200db", "ab"),
        ("invisible", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("invisible", "👨\u200d", "👨"),
        ("spaces", "甲\u3000乙\u00a0丙\t丁\u2003", "甲 乙 丙 丁 "),
        ("spaces", "甲\r乙\u2028丙\u0085丁\v", "甲\n乙\n丙\n丁\n"),
        ("case", "ABCßΣ", "abcssσ"),
        ("punctuation", "“甲”「乙」『丙』‘丁’", '"甲""乙""丙"\'丁\''),
        ("punctuation", "1–2—3−4", "1-2-3-4"),
        ("punctuation", "【快讯】〔甲〕", "[快讯][甲]"),
        ("punctuation", "甲，乙。丙！", "甲，乙。丙！"),
    ],
)
def test_what_a_step_does(name, raw, result):
    assert STEPS[name](raw) == result


def test_no_angle_bracket_is_left_that_could_become_markup():
    assert not {"<", ">"} & set(plain("a<p>＜b＞﹤c﹥", PROFILE_ORDER))


def test_an_unknown_step_is_refused():
    with pytest.raises(KeyError):
        apply_characters(pa.array(["甲"]), ("no such step",))


def test_what_the_steps_take_away_is_not_visible():
    blank = [char for char in valid(range(0x110000)) if not STEPS["spaces"](STEPS["invisible"](char)).strip()]
    assert not visible_characters().intersection(blank) and len(blank) > 4000


@pytest.mark.parametrize("char", "中aё한7。-😀❤〇")
def test_what_leaves_a_mark_is_visible(char):
    assert char in visible_characters()
