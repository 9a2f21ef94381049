"""Pages and bytes through the whole run: one article is one cluster, however it was crawled; what was doubtful is flagged."""

from __future__ import annotations

import hashlib

import opencc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.explain import explain
from tests.conftest import embedded_only
from tests.pipeline.helpers import drops, run_on, survivors
from tests.web import ARTICLE, PARAGRAPHS, news_page

pytestmark = embedded_only  # both engines are compared on the sample and the practitioners' cases

TRADITIONAL = opencc.OpenCC("s2tw").convert(ARTICLE)
OTHER = "溪河上游的水文站昨日发布通报，未来三天将有中到大雨，请沿岸居民留意水位变化，提前转移贵重物品和牲畜。"
NOISE = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" * 30
NESTED = "<html><body>" + "<div>" * 10_000 + "<p>深处</p>"
# id: content, declared character set, flags
ROWS = {
    "a-text": (ARTICLE.encode(), None, {}),
    "b-page": (news_page().encode(), None, {"body_extracted"}),
    "c-page-gbk": (news_page("gb2312").encode("gbk"), None, {"body_extracted"}),
    "d-gbk": (ARTICLE.encode("gbk"), "GBK", {}),
    "e-gbk-undeclared": (ARTICLE.encode("gbk"), None, {"charset_guessed"}),
    "f-gbk-misdeclared": (ARTICLE.encode("gbk"), "text/html; charset=utf-8", {"charset_mismatch"}),
    "g-big5": (TRADITIONAL.encode("big5hkscs"), "big5", {}),
    "h-cut": (ARTICLE.encode("gbk") + b"\xd6", "gbk", {"bytes_replaced"}),
    "o-other": (OTHER.encode(), None, {}),
    "p-nested": (NESTED.encode(), None, {"no_body_found"}),
    "q-noise": (NOISE, None, {"undecodable"}),
    "r-empty": (b"", None, {}),
    "s-null": (None, None, {}),
}


def write(folder, rows: dict[str, tuple], kind: pa.DataType, **more):
    contents, charsets = ([row[n] for row in rows.values()] for n in (0, 1))
    columns = {"doc_id": list(rows), "content": pa.array(contents, kind), "charset": pa.array(charsets, pa.string())}
    pq.write_table(pa.table(columns | more), folder / "input.parquet")
    return str(folder / "input.parquet")


def flags_of(tables) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in tables["flags"]:
        found.setdefault(row["doc_id"], set()).add(row["flag"])
    return found


@pytest.fixture(scope="module")
def result(session, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contents")
    return run_on(session, write(folder, ROWS, pa.binary()), folder / "output"), str(folder / "output")


def test_one_article_is_one_cluster(result):
    tables, _ = result
    kept = survivors(tables) - {"o-other", "p-nested"}
    assert len(kept) == 1 and drops(tables).keys() | kept == {name for name in ROWS if name < "i"}
    methods = {name: method for name, (_, method) in drops(tables).items()}
    assert methods.pop("h-cut") == "near" and set(methods.values()) == {"exact_normalized"}


def test_what_cannot_be_read_is_quarantined(result):
    reasons = {row["doc_id"]: row["reason"] for row in result[0]["quarantine"]}
    assert reasons == {"q-noise": "undecodable", "r-empty": "empty", "s-null": "empty"}


def test_what_was_doubtful_is_flagged_and_counted(result):
    tables, _ = result
    assert flags_of(tables) == {name: flags for name, (_, _, flags) in ROWS.items() if flags}
    assert tables["metrics"]["flags"]["body_extracted"] == 2 and tables["metrics"]["rows"]["flags"] == len(tables["flags"])


def test_raw_bytes_come_out_as_they_came_in(result):
    tables, _ = result
    out = {row["doc_id"]: row["content"] for name in ("documents", "dropped", "quarantine") for row in tables[name]}
    assert out == {name: content for name, (content, _, _) in ROWS.items()}


def test_an_explanation_shows_decoded_bodies(session, result):
    found = explain(session, result[1], "c-page-gbk")
    assert found.outcome == "dropped"
    assert all(PARAGRAPHS[0][:20] in text.replace("圖書館", "图书馆") and "<" not in text for text in found.texts.values())


def test_pages_in_a_column_of_text(session, tmp_path):
    rows = {"a": (ARTICLE, None), "b": (news_page(), None), "c": (news_page(), None), "d": (OTHER, None)}
    sources = {"source": ["x", "x", "raw", "x"]}
    source = write(tmp_path, rows, pa.string(), **sources)
    tables = run_on(session, source, tmp_path / "output", 'input.pages.never=["raw"]')
    assert flags_of(tables) == {"b": {"body_extracted"}}
    assert survivors(tables) >= {"d"} and ("a" in drops(tables)) != ("b" in drops(tables)) and "c" in survivors(tables)


def test_review_shows_decoded_bodies(session, tmp_path):
    edited = "\n".join([*PARAGRAPHS[:4], OTHER[:40]])
    rows = {"a": (news_page("gb2312").encode("gbk"), None), "b": (edited.encode("gbk"), "gbk")}
    tables = run_on(
        session,
        write(tmp_path, rows, pa.binary()),
        tmp_path / "output",
        "profiles.news.near.review_jaccard=0.5",
        "profiles.news.minhash.bands=64",
        "profiles.news.minhash.rows=2",
    )
    ((text, kept),) = [(row["text"], row["kept_text"]) for row in tables["review"]]
    assert {OTHER[:40] in text, OTHER[:40] in kept} == {True, False} and "<" not in text + kept


def test_rows_of_one_id_are_ordered_by_the_length_of_what_is_read(session, tmp_path):
    short_bytes, long_bytes = OTHER.encode("gbk"), OTHER[:40].encode()  # fewer bytes, more characters
    pq.write_table(pa.table({"doc_id": ["x", "x"], "content": [long_bytes, short_bytes]}), tmp_path / "input.parquet")
    tables = run_on(session, str(tmp_path / "input.parquet"), tmp_path / "output")
    assert [row["content"] for row in tables["documents"]] == [short_bytes]


@pytest.mark.parametrize("with_title", [False, True])
def test_equal_bytes_are_equal_raw_and_equal_texts_are_not(session, tmp_path, with_title):
    rows = {"a": (ARTICLE.encode("gbk"), "gbk"), "b": (ARTICLE.encode("gbk"), None), "c": (ARTICLE.encode(), None)}
    source = write(tmp_path, rows, pa.binary(), title=["题", "题", "题"])
    compare = f"profiles.news.compare={'title_and_content' if with_title else 'content'}"
    tables = run_on(session, source, tmp_path / "output", compare, "output.keep_work=true")
    assert drops(tables) == {"b": ("a", "exact_raw"), "c": ("a", "exact_normalized")}
    (folder,) = (tmp_path / "output" / "runs").iterdir()
    hashes = {row["doc_id"]: row["raw_sha1"] for row in pq.read_table(folder / "_work" / "normalized").to_pylist()}
    prefix = "1:题".encode() if with_title else b""
    assert hashes == {name: hashlib.sha1(prefix + content).hexdigest() for name, (content, _) in rows.items()}
