"""Decoding: round trips in every character set, real files with known labels, and bytes that are no text."""

from __future__ import annotations

import zlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.charset import decode
from dedup_lib.kernels.chinese import simplify
from tests.kernels.helpers import evaluation_data
from tests.strategies import HAN, MARKS, TRADITIONAL
from tests.web import ARTICLE, news_page

SIMPLIFIED = "国务院总理主持召开会议，研究部署进一步扩大内需的措施。"
TRADITIONAL_TEXT = "國務院總理主持召開會議，研究部署進一步擴大內需的措施。"
TEXTS = {"utf-8": SIMPLIFIED, "gb18030": SIMPLIFIED, "big5hkscs": TRADITIONAL_TEXT, "utf-16": SIMPLIFIED}
chinese = st.text(st.sampled_from(HAN + MARKS[:8] + "abc 12\n"), min_size=1, max_size=60).map(lambda t: t + SIMPLIFIED[:8])
traditional = st.text(st.sampled_from(TRADITIONAL + "abc 12\n"), min_size=1, max_size=60).map(lambda t: t + TRADITIONAL_TEXT[:8])


def read(data: bytes | None, declared: str | None = None) -> tuple[str | None, dict[str, str]]:
    """Text and flags of one value."""
    texts, flags = decode(pa.array([data], pa.binary()), pa.array([declared], pa.string()))
    lines = (flags[0].as_py() or "").split("\n")
    return texts[0].as_py(), dict(line.split("\t") for line in lines if line)


@pytest.mark.parametrize("codec", TEXTS)
@pytest.mark.parametrize("declare", [True, False])
def test_a_text_comes_back_from_its_character_set(codec, declare):
    text, flags = read(TEXTS[codec].encode(codec), codec if declare else None)
    assert text == TEXTS[codec]
    assert flags == ({} if declare or codec.startswith("utf") else {"charset_guessed": codec})


@given(chinese, st.sampled_from(["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16"]))
def test_simplified_text_comes_back_undeclared(text, codec):
    assert read(text.encode(codec))[0] == text


@given(traditional, st.sampled_from(["utf-8", "gbk", "big5", "cp950", "big5hkscs"]))
def test_traditional_text_comes_back_undeclared(text, codec):
    assert read(text.encode(codec))[0] == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"], exclude_characters="\ufffd\ufeff"), max_size=40))
def test_any_text_in_utf8_comes_back(text):
    assert read(text.encode()) == (text, {})


@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=60), chinese.map(lambda t: t.encode("gbk")[:-1])), max_size=6),
    st.lists(st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["gbk", "utf-16le", "text/html; charset=Big5"]))),
)
def test_decoding_never_raises_and_no_row_depends_on_its_neighbours(values, names):
    names = (names + [None] * len(values))[: len(values)]
    together = decode(pa.array(values, pa.binary()), pa.array(names, pa.string()))
    for row, (data, name) in enumerate(zip(values, names, strict=True)):
        alone = decode(pa.array([data], pa.binary()), pa.array([name], pa.string()))
        assert (together.texts[row], together.flags[row]) == (alone.texts[0], alone.flags[0])
        assert data is not None or not together.texts[row].is_valid


@pytest.mark.parametrize(
    ("data", "declared", "flag"),
    [
        (SIMPLIFIED.encode(), "gbk", "gbk, read as utf-8"),
        (SIMPLIFIED.encode("gbk"), "utf-8", "utf-8, read as gb18030"),
        (SIMPLIFIED.encode("gbk"), "text/html; charset=Big5", "big5, read as gb18030"),
        (SIMPLIFIED.encode("gbk"), "ISO-8859-1", "iso-8859-1, read as gb18030"),
        (TRADITIONAL_TEXT.encode("big5"), "GB2312", "gb2312, read as big5hkscs"),
        (SIMPLIFIED.encode("gbk"), "x-unknown", "x-unknown, read as gb18030"),
        (news_page("gb2312").encode(), None, "gb2312, read as utf-8"),
        (news_page("utf-8").encode("gbk"), None, "utf-8, read as gb18030"),
    ],
)
def test_a_wrong_declaration_is_recognised(data, declared, flag):
    text, flags = read(data, declared)
    assert flags == {"charset_mismatch": flag}
    assert (ARTICLE[:20] if len(data) > 1000 else simplify(text)[:5]) in simplify(text)


@pytest.mark.parametrize("label", ["GBK", "gb2312", " gb18030 ", "text/html;charset='gbk'", "text/html; charset=gbk; x=y"])
def test_every_way_to_declare_gbk(label):
    assert read("中".encode("gbk"), label) == ("中", {})


def test_two_bytes_without_a_declaration_are_doubtful():
    assert read("力".encode("gbk"))[1].keys() == {"charset_guessed", "charset_doubtful"}


def test_a_short_text_follows_its_declaration_and_is_flagged_where_that_reads_badly():
    text, flags = read("新闻".encode("gbk"), "big5")
    assert text == "新闻".encode("gbk").decode("big5hkscs") and flags == {"charset_doubtful": "big5hkscs or gb18030"}


@pytest.mark.parametrize("codec", ["utf-8", "gbk"])
def test_a_text_cut_in_a_character_keeps_the_rest(codec):
    text, flags = read(SIMPLIFIED[:-1].encode(codec)[:-1])
    assert text == SIMPLIFIED[:-2] + "\ufffd" and flags["bytes_replaced"] == "1"


@pytest.mark.parametrize(
    "data",
    [zlib.compress(ARTICLE.encode()), b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" * 20, b"\x80\x00\xff" * 30, b"\x81"],
    ids=["zlib", "jpeg", "bytes", "one"],
)
def test_what_is_no_text_is_undecodable(data):
    text, flags = read(data)
    assert text is None and list(flags) == ["undecodable"]


def test_letters_of_western_europe_are_read_as_such():
    assert read("Le café est fermé.".encode("latin-1")) == ("Le café est fermé.", {"charset_guessed": "cp1252"})


def test_signs_and_kana_alone_are_text():
    assert read("★☆".encode("gbk"), "gbk") == ("★☆", {})
    assert read("ガンダム".encode("gbk"), "gbk")[0] == "ガンダム"


@evaluation_data("charset")
def test_real_files_are_read_as_their_labels_say(folder):
    families = {"Big5": "big5hkscs", "GB2312": "gb18030"}
    files = [(file, family) for family in families for file in sorted((folder / family).iterdir())]
    bare = [file.read_bytes().replace(b"encoding=", b"x=").replace(b"charset=", b"x=") for file, _ in files]
    flags = decode(pa.array(bare, pa.binary())).flags.to_pylist()
    assert flags == [f"charset_guessed\t{families[family]}" for _, family in files]
    declared = decode(pa.array([file.read_bytes() for file, _ in files], pa.binary())).flags.to_pylist()
    assert all(flag is None or flag.startswith("charset_guessed") for flag in declared)
