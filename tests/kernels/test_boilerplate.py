"""Title tags and noise lines from the lexicon."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.boilerplate import LONGEST_LINE, Lexicon, noise_remover, title_tag_remover
from tests.kernels.helpers import read_cases
from tests.strategies import chinese_text

LEXICON = Lexicon(
    title_tags=("快讯", "图", "组图", "原创", "c++ (a|b)"),
    lines=("责任编辑", "版权声明", "相关推荐"),
    phrases=("点击查看", "点击查看原文", "网友评论", "ab"),
)
strip_tags, _ = title_tag_remover(LEXICON)
strip_noise, _ = noise_remover(LEXICON)
pieces = [*"[]()!:\n 。ab", "[快讯]", "(图)", "组图:", "责任编辑:甲", "版权声明", "点击查看原文", "正文"]
composed = st.lists(st.sampled_from(pieces), max_size=12).map("".join)


@pytest.mark.parametrize("remove", [strip_tags, strip_noise], ids=["title_tags", "noise"])
@given(text=composed)
def test_removing_is_idempotent(remove, text):
    assert remove(remove(text)) == remove(text)


@pytest.mark.parametrize("remove", [strip_tags, strip_noise], ids=["title_tags", "noise"])
@given(text=composed)
def test_only_removes(remove, text):
    rest = iter(text)
    assert all(char in rest for char in remove(text))


@given(chinese_text.map(lambda text: text.replace("ab", "")))
def test_text_without_lexicon_phrases_is_left_alone(text):
    assert strip_tags(text) == text and strip_noise(text) == text


@given(st.permutations(LEXICON.title_tags), st.permutations(LEXICON.lines), composed)
def test_order_of_the_lexicon_is_irrelevant(tags, lines, text):
    shuffled = Lexicon(tuple(tags), tuple(lines), LEXICON.phrases[::-1])
    assert title_tag_remover(shuffled)[0](text) == strip_tags(text)
    assert noise_remover(shuffled)[0](text) == strip_noise(text)


@pytest.mark.parametrize("case", read_cases("boilerplate.tsv"), ids=lambda case: f"{case['step']}: {case['kind']}")
def test_examples(case):
    remove = {"title_tags": strip_tags, "noise": strip_noise}[case["step"]]
    assert remove(case["raw"]) == case["result"]


def test_a_long_line_that_begins_like_noise_is_a_sentence():
    sentence = "版权声明" + "甲" * (LONGEST_LINE + 1)
    assert strip_noise(sentence) == sentence
    assert strip_noise("版权声明" + "甲" * LONGEST_LINE) == ""


def test_an_empty_lexicon_changes_nothing():
    for maker in (title_tag_remover, noise_remover):
        remove, trigger = maker(Lexicon())
        assert remove("[快讯]正文\n责任编辑:甲") == "[快讯]正文\n责任编辑:甲"
        assert trigger(pa.array(["[快讯]正文\n责任编辑:甲"])).to_pylist() == [False]


def test_a_phrase_may_span_lines():
    remove, trigger = noise_remover(Lexicon(phrases=("扫码\n关注", "(完)")))
    assert remove("正文(完)\n扫码\n关注\n再见") == "正文\n\n再见"
    assert trigger(pa.array(["扫码\n关注"])).to_pylist() == [True]
