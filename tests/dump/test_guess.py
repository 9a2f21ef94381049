"""Guessing the table and its columns: right where it is plain, refused with the candidates where it is not."""

from __future__ import annotations

import pytest

from dedup_lib.dump import listing
from dedup_lib.dump.ddl import added_key, create_table
from dedup_lib.dump.guess import Choice, choose, parsed
from dedup_lib.errors import ConfigError, InputError
from tests.conftest import SAMPLE

NEWS = (
    "CREATE TABLE `news` (`aid` int PRIMARY KEY, `subject` varchar(80), `summary` text, `body` mediumtext, `dateline` int,"
    " `hits` int);\nINSERT INTO `news` VALUES (1,'t','s','b',1400000000,0);\n"
)
POSTS = "CREATE TABLE `posts` (`n` int, `message` text);\nINSERT INTO `posts` VALUES (1,'a');\n"
USERS = "CREATE TABLE `users` (`uid` int PRIMARY KEY, `name` varchar(40));\nINSERT INTO `users` VALUES (1,'a');\n"
EMPTY = "CREATE TABLE `drafts` (`n` int, `content` text);\n"


def chosen(dump, sql: str, table: str | None = None, **columns: str) -> Choice:
    path = dump(sql)
    return choose(listing.tables(str(path)), str(path), table, columns)


def test_the_sample():
    choice = choose(listing.tables(str(SAMPLE / "legacy_news.sql.gz")), "x")
    assert choice.title == "news" and choice.table.key == ("id",)
    expected = {"id": "id", "title": "title", "content": "content", "publish_time": "posted", "source": "source"}
    assert choice.columns == expected
    assert any("primary key" in guess for guess in choice.guessed) and "table news" in choice.guessed[0]


def test_names_decide_among_columns(dump):
    choice = chosen(dump, NEWS + USERS + EMPTY)
    assert choice.title == "news"
    assert choice.columns == {"content": "body", "id": "aid", "title": "subject", "publish_time": "dateline"}


def test_what_is_given_is_not_guessed(dump):
    choice = chosen(dump, NEWS + POSTS, "news", content="summary", id="hits")
    assert choice.columns["content"] == "summary" and choice.columns["id"] == "hits"
    assert not any("content" in guess or "table" in guess for guess in choice.guessed)


def test_a_key_that_is_added_later(dump):
    choice = chosen(dump, POSTS + "ALTER TABLE `posts`\n  ADD PRIMARY KEY (`n`), ADD KEY `m` (`message`(10));\n")
    assert choice.columns == {"content": "message", "id": "n"}


@pytest.mark.parametrize(
    ("sql", "table", "columns", "said"),
    [
        (NEWS + POSTS, None, {}, r"several tables hold texts; choose with --table: news \(1 rows: aid int, .*; posts \(1 rows"),
        (USERS + EMPTY, None, {}, "no table with rows has a column of long texts; choose with --table: users"),
        (NEWS, "new", {}, r"table new is not there; choose one of news \("),
        (NEWS, None, {"content": "x"}, "no table with rows has the columns x; choose"),
        (NEWS, "news", {"content": "x"}, "table news has no such column: content=x; it is news"),
        (NEWS.replace("body", "b"), "news", {}, "several columns may be the content: summary, b; choose with --columns content"),
        (USERS, "users", {}, "no column holds long texts"),
        ("SELECT 1;\n", None, {}, "holds no table"),
        ("INSERT INTO t VALUES (1,'a');\n", "t", {}, "has no CREATE TABLE t; give one with --dump-option ddl=FILE"),
        ("USE a;\n" + POSTS + "USE b;\n" + POSTS, "posts", {}, "is in several databases; choose one of a.posts .*; b.posts"),
    ],
)
def test_what_is_not_plain_is_refused_with_the_candidates(dump, sql, table, columns, said):
    with pytest.raises(InputError, match=said):
        chosen(dump, sql, table, **columns)


def test_columns_as_options():
    assert parsed(" id=aid, content = body,") == {"id": "aid", "content": "body"} and parsed(None) == {}
    with pytest.raises(ConfigError, match="write ROLE=COLUMN"):
        parsed("id")
    with pytest.raises(ConfigError, match="colour: unknown; there are id, title"):
        choose(listing.Listing(), "x", None, {"colour": "x"})


@pytest.mark.parametrize(
    ("ddl", "key"),
    [
        ("(id int key, b int unique key)", ("id",)),
        ("(a int, u varchar(300), x int unique key, constraint `p` primary key using btree (`a`,u(100) DESC))", ("a", "u")),
        ("(a int COMMENT 'PRIMARY KEY (a)', KEY k (a))", ()),
        ("(id int AUTO_INCREMENT PRIMARY KEY)", ("id",)),
    ],
)
def test_primary_keys(ddl, key):
    assert create_table(f"CREATE TABLE t {ddl}", "").key == key
    assert added_key("ALTER TABLE d.t ADD COLUMN c int, ADD CONSTRAINT PRIMARY KEY (`a``b`, c)", "") == ("d", "t", ("a`b", "c"))
    assert added_key("ALTER TABLE t ADD KEY (a)", "") is None
