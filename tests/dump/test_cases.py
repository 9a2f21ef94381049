"""Faults that users of dump parsers reported: each kind of them, and the right outcome."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import pytest

from dedup_lib.dump import listing
from dedup_lib.errors import InputError
from tests.dump.server import column, plain_rows, read_all


def test_escaped_quotes_and_semicolons_inside_strings(dump):
    sql = """INSERT INTO `news` VALUES (1,'他说\\'好的\\'；然后走了; 结束'),(2,'a;b'';c'),(3,'{\\"k\\": \\"<p>x;</p>\\"}');"""
    assert column(dump(sql), table="news") == ["他说'好的'；然后走了; 结束", "a;b';c", '{"k": "<p>x;</p>"}']


def test_backslash_sequences(dump):
    sql = r"INSERT INTO t VALUES (1,'\\'),(2,'x\\\'y'),(3,'行一\n行二\t\Z\0尾'),(4,'C:\\tmp\\n');"
    assert column(dump(sql)) == ["\\", "x\\'y", "行一\n行二\t\x1a\0尾", "C:\\tmp\\n"]


def test_brackets_and_commas_inside_a_text(dump):
    sql = "INSERT INTO t VALUES (1,'选项(一),(二)，均可'),(2,'(a),(b)'),(3,'),('),(4,'\\'),(\\'');"
    assert column(dump(sql)) == ["选项(一),(二)，均可", "(a),(b)", "),(", "'),('"]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (1,'甲'),(2,'乙'),", "INSERT INTO t VALUES (1,'甲'),(2,'乙", "INSERT INTO t (`id`,`te",
        "INSERT INTO t VALUES (1,'甲'),(2,'乙')", "INSERT INTO t VALUES (1,'甲'),(2,", "INSERT INTO t VALUES",
        "INSERT INTO t VALUES (1) /* ",
    ],
)  # fmt: skip
def test_a_truncated_dump_is_an_error_that_names_the_place(dump, sql):
    path = dump("-- 头\n" + sql)
    at = len(path.read_bytes())
    with pytest.raises(InputError, match=rf"dump {path}: byte {at}, line 2: the file ends inside a statement.* at byte 7 "):
        read_all(path, "t")


def test_a_dump_cut_between_two_statements_is_a_warning(dump):
    path = dump("INSERT INTO t VALUES (1,'甲');\n")
    assert column(path) == ["甲"]
    assert "nothing at its end tells" in listing.tables(str(path)).warnings[0]
    assert listing.tables(str(dump("INSERT INTO t VALUES (1,'甲');\n-- Dump completed on 2014-01-01\n"))).warnings == []


def test_column_lists_replace_ignore_and_generated_columns(dump):
    sql = (
        "CREATE TABLE `t` (`id` int, `text` text, `len` int GENERATED ALWAYS AS (char_length(`text`)) STORED,"
        " `src` varchar(9));\n"
        "INSERT INTO `t` (`src`,`id`,`text`) VALUES ('web',1,'甲');\n"
        "REPLACE INTO `t` (`id`,`text`,`src`) VALUES (2,'乙','app');\n"
        "INSERT IGNORE INTO t (id,text) VALUES (3,'丙');insert t values (4,'丁',DEFAULT,'x'),(5,'戊',DEFAULT,NULL);"
        "INSERT LOW_PRIORITY INTO t VALUES (6,'己','y');"
    )
    rows = [tuple(row.values()) for row in read_all(dump(sql), "t").to_pylist()]
    assert rows == [
        (1, "甲", None, "web"), (2, "乙", None, "app"), (3, "丙", None, None), (4, "丁", None, "x"), (5, "戊", None, None),
        (6, "己", None, "y"),
    ]  # fmt: skip


def test_another_number_of_values_than_columns(dump):
    path = dump("CREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (1,'x'),\n(2,'y','z'),(3,'w');\n")
    with pytest.raises(InputError, match=r"byte 62, line 3: the row has 3 values for 2 columns.*mode=quarantine"):
        read_all(path, "t")
    rows = read_all(path, "t", mode="quarantine").to_pylist()
    assert [row["a"] for row in rows] == [1, None, 3]
    assert (rows[1]["_offset"], rows[1]["_end"]) == (62, 73) and "3 values" in rows[1]["_error"]


def test_version_comments_comments_and_the_character_set(dump):
    sql = (
        "/*!40101 SET NAMES gbk */;\n/*!40000 ALTER TABLE `t` DISABLE KEYS */;\n-- 注释; 'x\n# c:\\new\\dir\n"
        "/* it's; */INSERT INTO t VALUES (1,'甲');"
    )
    path = dump(sql.encode("gbk"))
    assert column(path) == ["甲"]
    assert [(found.charset, found.rows) for found in listing.tables(str(path)).tables] == [("gbk", 1)]


def test_second_bytes_that_are_backslashes(dump):
    sql = bytes.fromhex("494e5345525420494e544f20742056414c5545532028312c27b35ca55cbb5c27293b")
    assert column(dump(sql), charset="big5") == ["許功蓋"]
    assert column(dump("SET NAMES big5;\nINSERT INTO t VALUES (1,'許功蓋');".encode("big5"))) == ["許功蓋"]
    assert column(dump("SET NAMES gbk;\nINSERT INTO t VALUES (1,'誠運'),(2,'誠\\'運');".encode("gbk"))) == ["誠運", "誠'運"]


def test_zero_dates(dump):
    sql = (
        "CREATE TABLE t (id int, x text, at datetime NOT NULL, day date);\n"
        "INSERT INTO t VALUES (1,'甲','0000-00-00 00:00:00','0000-00-00'),(2,'乙','2021-00-10',NULL),"
        "(3,'丙','2021-03-04 05:06:07','2021-03-04'),(4,'丁','2021-02-30 00:00:00',20210304);"
    )
    path = dump(sql)
    assert column(path, 2) == [None, None, dt.datetime(2021, 3, 4, 5, 6, 7), None]
    assert column(path, 3) == [None, None, dt.date(2021, 3, 4), dt.date(2021, 3, 4)]
    flags = read_all(path, "t", metadata="_flags").column("_flags").to_pylist()
    assert flags[0] == "zero_date\tat: 0000-00-00 00:00:00\nzero_date\tday: 0000-00-00"
    from dedup_lib.dump.options import Options

    assert listing.counts(Options.of({"path": str(path), "table": "t"})) == {"rows": 4, "zero_date": 3, "bad_date": 1}


def test_timestamps_are_as_written_or_moved_to_the_zone_that_is_asked_for(dump):
    body = "CREATE TABLE t (at timestamp, d datetime);\nINSERT INTO t VALUES ('2014-05-06 07:08:09','2014-05-06 07:08:09.5');"
    stated = dump("/*!40103 SET TIME_ZONE='+00:00' */;" + body, "stated.sql")
    moment = dt.datetime(2014, 5, 6, 7, 8, 9)
    assert column(stated, 0) == column(dump(body), 0) == column(dump(body), 0, timezone="Asia/Shanghai") == [moment]
    assert column(stated, 0, timezone="Asia/Shanghai") == [moment + dt.timedelta(hours=8)]
    assert column(stated, 1, timezone="Asia/Shanghai") == [moment.replace(microsecond=500_000)]


@pytest.mark.parametrize(
    ("columns", "sql"),
    [
        ("x text", "(1,'他说\\'好的\\'；然后走了; 结束'),(2,'a;b'';c'),(3,'{\\\"k\\\": \\\"<p>x;</p>\\\"}')"),
        ("x text", r"(1,'\\'),(2,'x\\\'y'),(3,'行一\n行二\t\Z\0尾'),(4,'C:\\tmp\\n'),(5,'\%\_\q')"),
        ("x text", "(1,'选项(一),(二)，均可'),(2,'(a),(b)'),(3,'),(')"),
        ("x text", "(1,'誠運'),(2,'誠\\'運'),(3,'許功蓋\\\\')"),
        ("x text, at datetime", "(1,'甲','0000-00-00 00:00:00'),(2,'乙','2021-00-10'),(3,'丙','2021-03-04 05:06:07')"),
    ],
)
@pytest.mark.parametrize("charset", ["utf8mb4", "gbk"])
def test_a_server_says_the_same(mariadb, tmp_path, charset, columns, sql):
    path = tmp_path / "d.sql"
    definition = f"SET NAMES {charset};\nCREATE TABLE t (id int, {columns}) CHARSET={charset};\n"
    path.write_bytes(
        f"{definition}INSERT INTO t VALUES {sql};\nREPLACE INTO `t` (x,id) VALUES ('z',9);\n".encode(
            {"utf8mb4": "utf-8"}.get(charset, charset)
        )
    )
    assert mariadb.load(path, "cases", charset) == ""
    assert plain_rows(read_all(path, "t")) == Counter(mariadb.rows("cases", "t")[1])
