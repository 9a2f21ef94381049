"""Practitioners' cases that need settings of their own, and the order of rows, files and buckets, which must not matter."""

from __future__ import annotations

import random

import pytest

from tests.conftest import embedded_only
from tests.pipeline.cases import BASE64, CLINIC, LIBRARY, REWORDED, corpus
from tests.pipeline.helpers import DECIDED, digest, drops, run, survivors

pytestmark = embedded_only

REVISED = CLINIC.replace("手机上预约，尽量避开晚间", "公众号预约，避开夜间")  # Jaccard 0.70
GUARDLESS = "profiles.news.near.guard=null"
BOTH = "profiles.news.compare=title_and_content"


def titled(*rows: tuple[str | None, str | None]) -> list[dict]:
    return [{"doc_id": str(number), "title": title, "content": content} for number, (title, content) in enumerate(rows, 1)]


def texts(*contents: str | None) -> list[dict]:
    return titled(*((None, content) for content in contents))


def test_a_title_and_a_text_are_not_glued_together(session, tmp_path):
    rows = titled(
        ("春季", "新品发布"), ("春季新品", "发布"), (None, "春季新品发布"), ("", "春季新品发布"), ("公告", None), (None, "公告")
    )
    tables = run(session, rows, tmp_path, BOTH)
    assert drops(tables) == {"4": ("3", "exact_normalized")}  # an empty title is no title
    assert [row["doc_id"] for row in tables["quarantine"]] == ["5"]


def test_line_breaks_do_not_move_words_between_title_and_text(session, tmp_path):
    rows = titled(("alpha", "beta\ngamma"), ("alpha\nbeta", "gamma"))
    tables = run(session, rows, tmp_path, BOTH, "profiles.news.normalize=[nfkc]")
    assert survivors(tables) == {"1", "2"}


def test_titles_count_only_where_the_profile_says_so(session, tmp_path):
    rows = titled(("第一季度", "新品发布"), ("第二季度", "新品发布"))
    assert survivors(run(session, rows, tmp_path / "both", BOTH)) == {"1", "2"}
    assert drops(run(session, rows, tmp_path / "content")) == {"2": ("1", "exact_raw")}


def test_titles_apart_speak_only_by_their_facts(session, tmp_path):
    rows = titled(
        ("第一季度报告", LIBRARY), ("第二季度报告", LIBRARY), ("图书馆第一季度的消息", LIBRARY), ("第一季度报告", LIBRARY)
    )
    tables = run(session, rows, tmp_path, "profiles.news.compare=apart")
    assert drops(tables) == {"3": ("1", "near"), "4": ("1", "exact_raw")}
    assert [(row["doc_id"], row["kept_id"], row["reason"]) for row in tables["review"]] == [("2", "1", "facts_differ: 二 / 一")]


def test_no_text_can_pass_for_another_with_its_heading(session, tmp_path):
    rows = titled(
        ("标题", "正文内容"),
        ("", "2:标题正文内容"),
        ("", "正文内容\x1f标题"),
        ("", "text:2:标题正文内容"),
        (None, "👍"),
        (None, "raw:👍"),
    )
    steps = "profiles.news.normalize=[nfkc]"
    tables = run(session, rows, tmp_path, "profiles.news.compare=apart", steps, "profiles.news.near=null")
    assert drops(tables) == {}


def test_a_lower_threshold_drops_what_was_doubtful(session, tmp_path):
    rows = texts(CLINIC, REVISED, LIBRARY)
    near = [f"profiles.news.near.{name}_jaccard=0.7" for name in ("drop", "review", "hamming")]
    near.append(GUARDLESS)
    assert drops(run(session, rows, tmp_path / "low", *near)) == {"2": ("1", "near")}
    assert [row["doc_id"] for row in run(session, rows, tmp_path / "default")["review"]] == ["2"]


def test_threshold_one_asks_for_equal_features(session, tmp_path):
    near = [f"profiles.news.near.{name}_jaccard=1.0" for name in ("drop", "review", "hamming")]
    tables = run(session, texts(LIBRARY, LIBRARY.replace("。", "！"), REWORDED), tmp_path, *near)
    assert drops(tables) == {"2": ("1", "near")}


def test_a_wide_n_gram_does_not_merge_short_texts(session, tmp_path):
    rows = texts("好评", "差评", "好评", "要退货")
    tables = run(session, rows, tmp_path, "profiles.news.ngram=8", "profiles.news.near.min_features=1")
    assert drops(tables) == {"3": ("1", "exact_raw")}
    assert tables["review"] == []


def test_a_short_text_is_compared_where_the_profile_says_so(session, tmp_path):
    rows = texts("快递很快包装完好下次还来", "快递很快包妆完好下次还来", "要退货")
    near = [f"profiles.news.near.{name}_jaccard=0.5" for name in ("drop", "review", "hamming")]
    tables = run(session, rows, tmp_path, *near, "profiles.news.near.min_features=5", "profiles.news.ngram=2", GUARDLESS)
    assert drops(tables) == {"2": ("1", "near")}


def test_without_the_guard_numbers_are_words_like_others(session, tmp_path):
    rows = texts(LIBRARY.replace("两万", "20000"), LIBRARY.replace("两万", "30000"))
    assert drops(run(session, rows, tmp_path / "off", GUARDLESS)) == {"2": ("1", "near")}
    assert survivors(run(session, rows, tmp_path / "on")) == {"1", "2"}


def test_without_folding_repeats_count(session, tmp_path):
    rows = texts("好评好评好评", "好评")
    assert survivors(run(session, rows, tmp_path / "off", "profiles.news.fold=null")) == {"1", "2"}
    assert drops(run(session, rows, tmp_path / "on")) == {"2": ("1", "exact_folded")}


@pytest.mark.parametrize("words", ["jieba", "rjieba"])
def test_word_tokens_survive_endless_text(session, tmp_path, words):
    rows = texts("测试" * 100_000, BASE64[:300_000], "0123456789" * 30_000, LIBRARY, REWORDED, "👍")
    tables = run(session, rows, tmp_path, f"profiles.news.simhash.tokens={words}")
    assert drops(tables) == {"5": ("4", "near")}


def test_rows_of_different_profiles_never_meet(session, tmp_path):
    kinds = ["news", "notice", "nosuch", None]
    rows = [{"doc_id": str(number), "content": LIBRARY, "source": kind} for number, kind in enumerate(kinds, 1)]
    tables = run(session, rows, tmp_path, "input.profile_column=source", "profiles.notice.ngram=3")
    assert drops(tables) == {"4": ("1", "exact_raw")}
    assert {row["doc_id"]: row["profile"] for row in tables["documents"]} == {"1": "news", "2": "notice"}
    assert [(row["doc_id"], row["reason"]) for row in tables["quarantine"]] == [("3", "unknown_profile")]


@pytest.fixture(scope="module")
def expected(session, tmp_path_factory):
    return run(session, corpus(), tmp_path_factory.mktemp("whole"))


def test_order_and_files_do_not_matter(session, tmp_path, expected):
    rows = corpus()
    random.Random(1).shuffle(rows)
    assert digest(run(session, rows, tmp_path, files=9)) == digest(expected)


@pytest.mark.parametrize(("all_pairs_up_to", "rows_per_bucket"), [(2, 1), (1000, 400)])
def test_how_buckets_are_worked_off_does_not_matter(session, tmp_path, expected, all_pairs_up_to, rows_per_bucket):
    settings = (f"candidates.all_pairs_up_to={all_pairs_up_to}", f"candidates.rows_per_bucket={rows_per_bucket}")
    assert digest(run(session, corpus(), tmp_path, *settings), DECIDED) == digest(expected, DECIDED)
