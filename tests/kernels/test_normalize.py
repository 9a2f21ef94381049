"""Whole profiles of steps: same text for same content, whatever the batch; one case for each kind of dirt."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.config import Profile
from dedup_lib.kernels import characters
from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.normalize import ARRAY_STEPS, STEP_NAMES, TEXT_STEPS, Normalizer, apply_where
from tests.kernels.helpers import one, read_cases
from tests.strategies import chinese_text, hostile_text, string_arrays

DEFAULT_STEPS = Profile().normalize
LEXICON = Lexicon(
    title_tags=("快讯", "图", "原创"),
    lines=("责任编辑", "版权声明", "相关推荐", "网友评论"),
    phrases=("点击查看原文",),
)
normalize = Normalizer(DEFAULT_STEPS, LEXICON)
without_lexicon = Normalizer(DEFAULT_STEPS)


@pytest.mark.parametrize("case", read_cases("normalize.tsv"), ids=lambda case: case["kind"])
def test_every_kind_of_dirt(case):
    assert one(normalize, case["raw"]) == case["normalised"]


@pytest.mark.parametrize("case", read_cases("normalize.tsv"), ids=lambda case: case["kind"])
def test_normalised_examples_are_stable(case):
    assert one(normalize, case["normalised"]) == case["normalised"]


@given(hostile_text)
def test_default_profile_is_idempotent(text):
    once = one(without_lexicon, text)
    assert one(without_lexicon, once) == once


@given(hostile_text)
def test_default_profile_with_a_lexicon_is_idempotent(text):
    once = one(normalize, text)
    assert one(normalize, once) == once


@pytest.mark.parametrize("case", read_cases("idempotence.tsv"), ids=lambda case: case["why"])
def test_what_one_step_makes_another_step_sees(case):
    once = one(normalize, case["raw"])
    assert one(normalize, once) == once


@given(string_arrays())
def test_a_batch_equals_its_texts_one_by_one(texts):
    assert normalize(texts).to_pylist() == [one(normalize, text or "") for text in texts.to_pylist()]


@given(string_arrays(), st.randoms(use_true_random=False))
def test_order_of_rows_is_irrelevant(texts, random):
    order = list(range(len(texts)))
    random.shuffle(order)
    shuffled = texts.take(pa.array(order, pa.int64()))
    assert normalize(shuffled).to_pylist() == [normalize(texts)[i].as_py() for i in order]


@pytest.mark.parametrize("name", TEXT_STEPS)
@given(texts=string_arrays())
def test_a_trigger_misses_nothing(name, texts):
    step = TEXT_STEPS[name](LEXICON)
    texts = texts.fill_null("")
    assert apply_where(texts, step).to_pylist() == [step.apply(text) for text in texts.to_pylist()]


@pytest.mark.parametrize("case", read_cases("triggers.tsv"), ids=lambda case: f"{case['step']}: {case['why']}")
def test_a_trigger_sees(case):
    step = TEXT_STEPS[case["step"]](LEXICON)
    assert step.apply(case["raw"]) != case["raw"], "the case has nothing to do"
    assert one(lambda texts: apply_where(texts, step), case["raw"]) == step.apply(case["raw"])


@pytest.mark.parametrize("name", STEP_NAMES)
@given(text=hostile_text)
def test_a_profile_of_one_step_is_that_step(name, text):
    if name in TEXT_STEPS:
        expected = TEXT_STEPS[name](Lexicon()).apply(text)
    else:
        expected = characters.STEPS[name](text) if name in characters.STEPS else one(ARRAY_STEPS[name], text)
    assert one(Normalizer([name]), text) == expected


@given(chinese_text, st.integers(0, 40))
def test_where_a_line_breaks_is_irrelevant(text, at):
    assert one(without_lexicon, text[:at] + "\r\n" + text[at:]) == one(without_lexicon, text) or _between_words(text, at)


def _between_words(text: str, at: int) -> bool:
    """A break between two words, or behind the mark in 1,234, is a space: there it means something."""
    around = text[max(at - 1, 0) : at + 1]
    return around.isascii() and any(map(str.isalnum, around))


@pytest.mark.parametrize(
    ("written", "raw"),
    [("責任編輯", "正文\n责任编辑:甲"), ("责任编辑：", "正文\n责任编辑：甲"), ("Ｅｄｉｔｏｒ", "正文\neditor: a")],
)
def test_the_lexicon_may_be_written_in_any_width_case_and_script(written, raw):
    assert one(Normalizer(DEFAULT_STEPS, Lexicon(lines=(written,))), raw) == "正文"


@pytest.mark.parametrize("kind", Lexicon._fields)
def test_a_lexicon_phrase_without_visible_characters_removes_nothing(kind):
    assert one(Normalizer(DEFAULT_STEPS, Lexicon(**{kind: ("\u200b\u200b",)})), "正文()") == "正文()"


@given(chinese_text)
def test_sentence_punctuation_stays_in_the_exact_key(text):
    assert [mark for mark in one(without_lexicon, text) if mark in "，。！？,!?"] == [
        {"，": ",", "！": "!", "？": "?"}.get(mark, mark) for mark in text if mark in "，。！？"
    ]


def test_an_unknown_step_is_refused():
    with pytest.raises(KeyError):
        Normalizer(["no such step"])
