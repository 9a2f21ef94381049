"""The report and the sheet: nothing of what strangers wrote is taken for markup or a formula."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.clean.evidence import Evidence, Pair
from dedup_lib.clean.page import page
from dedup_lib.evaluation.sheet import harmless, write_sheet

EVIL = [
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>", "{{ 7*7 }}{% raw %}",
    "&lt;b&gt;", "]]>", "<!--", "\u202egnp.exe", "\0\x1b[31m",
]  # fmt: skip
ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "small", "div", "b", "br", "table", "tr", "th",
           "td", "ul", "li", "del", "ins", "code", "svg", "g", "path", "text", "line", "rect", "defs", "clippath"}  # fmt: skip
FIGURES = {
    "rows": {"input": 10, "documents": 7, "dropped": 2, "quarantine": 1, "review": 1},
    "dropped": {"near": 2}, "quarantine": {"empty": 1},
}  # fmt: skip


class Seen(HTMLParser):
    """Elements, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data):
        self.words.append(data)


def made(text: str) -> str:
    row = {"doc_id": text, "kept_id": text, "method": "near", "jaccard": 0.9, "threshold": 0.8, "reason": text}
    pair = Pair(row, text, text, text + "甲", text + "乙")
    asked = Pair({name: value for name, value in row.items() if name != "method"}, text, text, text, "")  # as in review
    years = {"2013": (3, 1), "2014": (4, 1)}
    found = Evidence(FIGURES, years, {text: 1, "charset_repaired": 2}, [(text, text, 3)], [pair], [asked], pa.table({}))
    heading = {"source": text, "table": text, "run": "r", "settings": "s"}
    return page(found, heading, [text], ["clean.sql.gz"])


@pytest.mark.parametrize("text", EVIL)
def test_hostile_texts_stay_texts(text):
    html = made(text)
    seen = Seen()
    seen.feed(html)
    assert seen.elements <= ALLOWED
    assert not [name for name, value in seen.attributes if name.startswith("on") or name in ("src", "href")]
    assert "7*7" in html if "7*7" in text else "49" not in "".join(seen.words)
    assert not {"\u202e", "\0", "\x1b"} & set(html)
    assert html.count("<script") == 0 and "http-equiv" in html and "charset_repaired" in html


@settings(max_examples=15)
@given(st.text(st.sampled_from("<>&\"'{}%/!- 中a=\n\u202e"), max_size=40))
def test_no_text_adds_an_element(text):
    plain, hostile = Seen(), Seen()
    plain.feed(made("中"))
    hostile.feed(made(text))
    assert hostile.elements <= ALLOWED | plain.elements


def test_a_difference_is_marked_on_screen_and_on_paper():
    html = made("共同的话")
    assert "<del>[-甲-]</del>" in html and "<ins>{+乙+}</ins>" in html
    assert "@media print" in html


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", " =cmd|' /C calc'!A0", "＝1", "\r\n=1", "|x", "%x", "\ufeff=1"]
)
def test_formulas_are_texts(text):
    assert harmless(text).startswith("'")


def test_the_sheet_reads_back():
    file = io.StringIO(newline="")
    lines = pa.table({"doc_id": ["1", "=2"], "text": ['a,"b"\n中', None], "jaccard": [0.5, None]})
    write_sheet(lines, file)
    assert list(csv.reader(io.StringIO(file.getvalue(), newline=""))) == [
        ["doc_id", "text", "jaccard"], ["1", 'a,"b"\n中', "0.5"], ["'=2", "", ""],
    ]  # fmt: skip
