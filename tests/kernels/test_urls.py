"""Web addresses in normalised text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.urls import GAP, URL, take_out_urls, url_characters, url_end

PIECES = [
    "http://",
    "https://",
    "www.",
    "ww",
    "http",
    "s",
    ":",
    "/",
    "a",
    "1",
    ".",
    ",",
    "(",
    ")",
    "[",
    "甲",
    "。",
    " ",
    "\n",
    "?",
    "%",
]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def without_urls(text: str) -> str:
    """The compiled form on one string."""
    chars = np.array([*map(ord, text)], np.int32)
    return "".join(map(chr, chars[: take_out_urls(chars, len(chars), url_characters())]))


@given(texts)
def test_compiled_search_equals_the_pattern(text):
    assert without_urls(text) == URL.sub(GAP, text)


@given(texts)
def test_bytes_and_code_points_read_alike(text):
    data = np.frombuffer(text.encode(), np.uint8)
    found, i = [], 0
    while i < len(data):
        end = url_end(data, i, len(data), url_characters())
        found += [data[i:end].tobytes().decode()] if end > i else []
        i = max(end, i + 1)
    assert found == URL.findall(text)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("[原文](https://tv.cctv.com/2023/10/13/vide.shtml)。", "https://tv.cctv.com/2023/10/13/vide.shtml"),
        ("见www.example.cn/a?b=1&c=2吧", "www.example.cn/a?b=1&c=2"),
        ("网址http://例子.cn", "http://"),
    ],
)
def test_an_address_ends_where_chinese_text_or_a_bracket_begins(text, address):
    assert URL.findall(text) == [address]
