"""The data source on both engines."""

from __future__ import annotations

import datetime as dt
import gzip

import pytest

from dedup_lib.dump.source import FORMAT, MysqlDump, read_dump
from dedup_lib.errors import ConfigError, InputError
from tests.conftest import SAMPLE
from tests.dump.test_reader import news


def test_a_dump_is_a_table(session, tmp_path):
    path = tmp_path / "dump.sql"
    content = news(500, 9)
    path.write_bytes(content)
    session.dataSource.register(MysqlDump)
    frame = session.read.format(FORMAT).option("table", "news").option("splitbytes", "9000").load(str(path))
    assert frame.columns == ["id", "body"] and dict(frame.dtypes) == {"id": "int", "body": "string"}
    assert sorted(row.id for row in frame.collect()) == list(range(500))
    packed = tmp_path / "dump.sql.gz"
    packed.write_bytes(gzip.compress(content))
    other = read_dump(session, str(packed), "news", metadata="_offset,_row")
    chosen = session.read.format(FORMAT).schema("body string").option("table", "news").load(str(path))
    assert chosen.columns == ["body"] and chosen.count() == 500
    assert [row["_row"] for row in other.orderBy("_offset").collect()] == list(range(500))
    assert other.where("id = 7 AND body IS NOT NULL").count() == 1


def test_types_on_both_engines(session, tmp_path):
    path = tmp_path / "t.sql"
    path.write_text(
        "CREATE TABLE t (a tinyint, u bigint unsigned, d decimal(9,2), f float, at datetime, day date, ts timestamp, b blob);\n"
        "INSERT INTO t VALUES (1,18446744073709551615,1.5,0.5,'2014-05-06 07:08:09','2014-05-06','2014-05-06 07:08:09',0x00FF),"
        "(NULL,NULL,NULL,NULL,'0000-00-00',NULL,NULL,NULL);"
    )
    frame = read_dump(session, str(path), "t")
    kinds = ["tinyint", "decimal(20,0)", "decimal(9,2)", "float", "timestamp_ntz", "date", "timestamp_ntz", "binary"]
    assert [kind for _, kind in frame.dtypes] == kinds
    first, second = sorted(frame.toArrow().to_pylist(), key=lambda row: row["a"] is None)
    assert int(first["u"]) == 18446744073709551615 and first["at"] == dt.datetime(2014, 5, 6, 7, 8, 9)
    assert first["ts"] == first["at"] and first["b"] == b"\x00\xff" and set(second.values()) == {None}


def test_errors_are_ours(session, tmp_path):
    path = tmp_path / "dump.sql"
    path.write_text("CREATE TABLE t (a int, x text);\nINSERT INTO t VALUES (1,'a'),(2,'b")
    with pytest.raises(InputError, match=r"dump\.sql: byte 66, line 2: the file ends inside a statement"):
        read_dump(session, str(path), "t")
    with pytest.raises(ConfigError, match="colour"):
        read_dump(session, str(path), "t", colour="red")
    rows = read_dump(session, str(path), "t", mode="quarantine").collect()
    assert sorted((row.a is None, row["_error"] is None) for row in rows) == [(False, True), (True, False)]


def test_the_sample(session):
    frame = read_dump(session, str(SAMPLE / "legacy_news.sql.gz"), "news", metadata="_flags")
    rows = frame.collect()
    assert len(rows) == len({row.id for row in rows}) > 300
    assert any("),(" in row.content for row in rows) and any("誠" in row.content for row in rows)
