"""Bodies of pages: which rows are pages, what is taken out of them, and pages made to hurt."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.pages import MAX_CHARACTERS, MAX_TAGS, Pages, extract_body, is_page, readable
from tests.kernels.helpers import evaluation_data
from tests.strategies import hostile_text
from tests.web import ARTICLE, PARAGRAPHS, news_page

PARAGRAPH = "<p>" + PARAGRAPHS[0] + "</p>"
HOSTILE = {
    "ten thousand nested tags": "<html><body>" + "<div>" * 10_000 + PARAGRAPH,
    "nested paragraphs": "<html><body>" + ("<div>" + PARAGRAPH) * 2_000,
    "nested tables": "<html><body>" + "<table><tr><td>" * 1_500 + PARAGRAPH,
    "unclosed comment": "<html><body>" + "<!--" * 50_000 + PARAGRAPH,
    "unclosed scripts": "<html>" + "<script" * 20_000,
    "thousands of attributes": "<html><body " + " ".join(f"a{n}=1" for n in range(9_000)) + ">" + PARAGRAPH,
    "attributes behind misleading quotes": '<html><a b=c"d e="x>y" '
    + " ".join(f"a{n}" for n in range(200_000))
    + ">"
    + PARAGRAPH,
    "a style of imports": "<html><body><div style='" + "@import url(\\" * 100_000 + "'>" + PARAGRAPH,
    "runs of spaces": "<html><body><p>" + ("字" + " " * 254) * 7_000 + "</p>",
    "tags that never end": "<html><body>" + '<a x="y' * 9_000,
    "entities of entities": '<!DOCTYPE html [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><html><body><p>&b;&b;' + PARAGRAPH,
    "escaped markup": "<html><body><p>" + "&amp;lt;" * 50_000,
    "thirty megabytes": "<html><body><p>" + "长" * 30_000_000,
    "surrogates and noughts": "<html><body><p>&#xD800;\x00&#x110000;&#0;" + PARAGRAPH,
    "nothing": "<html></html>",
    "encoding in a declaration": '<?xml version="1.0" encoding="utf-16"?><html><body>' + PARAGRAPH,
}
DETECT = Pages("detect")


def letters(text: str) -> str:
    return "".join(re.findall(r"\w", text))


def test_the_body_is_the_article():
    assert letters(extract_body(news_page())) == letters(ARTICLE)


def test_paragraphs_stay_lines():
    lines = extract_body(news_page()).split("\n")
    assert [line.strip() for line in lines if line.strip()] == list(PARAGRAPHS)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (news_page(), True), ("\ufeff\n <!DOCTYPE HTML PUBLIC '-//W3C'>", True), ("<html lang='zh'>", True),
        ("<?xml version='1.0'?>\n<!-- x --><HTML>", True), ("x<BODY class=a>" + "<p>" * 20, True),
        ("<p>正文</p>" * 50, False), ("正文提到<body>元素", False), ("<htmlx>", False), ("先说<html>再说", False), ("", False),
        ("<?xml version='1.0'?><rss></rss>", False), ("< html>", False),
    ],
)  # fmt: skip
def test_which_texts_are_pages(text, answer):
    assert is_page(pa.array([text])).to_pylist() == [answer]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_end_with_a_text_and_a_flag(name):
    texts, flags = readable(pa.array([HOSTILE[name]]), None, None, DETECT)
    flag = flags[0].as_py().split("\t")[0]
    assert flag in ("body_extracted", "no_body_found")
    assert (texts[0].as_py() == HOSTILE[name]) == (flag == "no_body_found")


@pytest.mark.parametrize("page", ["<html>" + "x" * MAX_CHARACTERS, "<html>" + "<b>" * MAX_TAGS], ids=["characters", "tags"])
def test_pages_beyond_the_bounds_are_not_parsed(page):
    assert extract_body(page) is None


@given(st.lists(st.one_of(hostile_text, st.sampled_from(["<p>", "<div>", "</div>", "<table>", PARAGRAPH, "<body"])), max_size=12))
def test_no_markup_raises(parts):
    body = extract_body("<html>" + "".join(parts))
    assert body is None or body.encode()


def test_a_source_has_it_its_own_way():
    page, text = news_page(), "<p>甲</p>" + PARAGRAPH * 3
    rows = [(page, "a"), (page, "plain"), (text, "a"), (text, "pages"), (page, None)]
    content, source = (pa.array(column) for column in zip(*rows, strict=True))
    for mode, bodies in {"detect": "1..11", "never": "...1.", "always": "1.111"}.items():
        flags = readable(content, None, source, Pages(mode, ["pages"], ["plain"])).flags
        assert "".join("1" if flag.is_valid else "." for flag in flags) == bodies, mode


def test_a_page_of_bytes_is_decoded_first():
    texts, flags = readable(pa.array([news_page("gb2312").encode("gbk"), None, b"x"]), None, None, DETECT)
    assert letters(texts[0].as_py()) == letters(ARTICLE) and texts.to_pylist()[1:] == [None, "x"]
    assert [bool(flag) for flag in flags.to_pylist()] == [True, False, False]


@evaluation_data("html")
@pytest.mark.parametrize(
    ("file", "begins", "ends", "without"),
    [
        ("tests_163_1", "2019年，龙湖集团即将迎来", "这需要龙湖给投资者作一个交代", "网易公司版权所有"),
        ("tests_hexun_1", "据财联社9月26日消息", "1.5小时交通圈", "免责声明"),
        ("tests_xinhuanet_1", "新华社巴黎12月9日电", "制度改革的总体架构", "有重大变动"),
        ("tests_sina_1", "你们将开始明白为什么", "老年人运动场", "新浪公司"),
        ("codelucas+newspaper__chinese_article", "香港行政长官梁振英", "提出不信任动议", "串联样式表"),
    ],
)
def test_bodies_of_real_pages(folder, file, begins, ends, without):
    texts, flags = readable(pa.array([(folder / f"{file}.html").read_bytes()]), None, None, DETECT)
    assert "body_extracted" in flags[0].as_py()
    text = texts[0].as_py()
    assert begins in text and ends in text and without not in text
