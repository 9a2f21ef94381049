"""Reading dumps: parts, packing, damage, tables and databases, character sets."""

from __future__ import annotations

import bz2
import gzip
import random
import zipfile

import pyarrow as pa
import pytest
import zstandard

from dedup_lib.dump import listing
from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import make_plan
from dedup_lib.errors import ConfigError, InputError
from tests.dump.server import column, read_all

EVIL = "\nINSERT INTO `news` VALUES (1,'x');\nDROP TABLE `news`;\n-- Dump completed"


def news(rows: int, per_statement: int, charset: str = "gbk") -> bytes:
    """A dump whose texts hold what looks like statements; other tables before, between and behind."""
    chance = random.Random(rows)
    parts = [f"SET NAMES {charset};\n", "CREATE TABLE `news` (`id` int, `body` mediumtext) DEFAULT CHARSET=gbk;\n"]
    parts.append("CREATE TABLE `log` (`id` int);\nINSERT INTO `log` VALUES (1),(2);\n")
    for first in range(0, rows, per_statement):
        numbers = range(first, min(rows, first + per_statement))
        tuples = (f"({i},'{chance.choice([EVIL, '誠', '新闻' * 20]).replace(chr(39), chr(92) + chr(39))}{i}')" for i in numbers)
        parts.append("INSERT INTO `news` VALUES " + ",\n".join(tuples) + ";\n")
        if chance.random() < 0.2:
            parts.append("INSERT INTO `log` VALUES (3);\n/*!40000 ALTER TABLE `log` ENABLE KEYS */;\n")
    return "".join(parts).encode(charset)


@pytest.mark.parametrize("per_statement", [1, 7, 1000])
@pytest.mark.parametrize("split", [100, 777, 10_000, 1 << 30])
def test_every_split_gives_the_same_rows(dump, per_statement, split):
    content = news(400, per_statement)
    path = dump(content)
    whole = read_all(path, "news", metadata="_offset,_end,_statement,_row")
    assert whole.column("id").to_pylist() == list(range(400))
    assert whole.column("_row").to_pylist() == list(range(400))
    plan = make_plan(Options.of({"path": str(path), "table": "news", "splitbytes": str(split)}))
    assert plan.rows == 400 and (len(plan.splits) > 2) == (split <= 10_000)
    assert read_all(path, "news", metadata="_offset,_end,_statement,_row", splitbytes=str(split)) == whole
    for row in whole.to_pylist():
        piece = content[row["_offset"] : row["_end"]]
        assert piece.startswith(f"({row['id']},'".encode()) and piece.endswith(f"{row['id']}')".encode())
        assert content[row["_statement"] :].startswith(b"INSERT INTO `news`")


@pytest.mark.parametrize("batch", [1, 50, 100_000])
def test_batches_of_any_size_give_the_same_rows(dump, batch):
    path = dump(news(300, 40))
    assert read_all(path, "news", batchbytes=str(batch), batchrows="7") == read_all(path, "news")


def test_packed_files(dump, tmp_path):
    content = news(300, 20)
    plain = read_all(dump(content), "news", metadata="_offset,_row")
    packed = {"gz": gzip.compress(content), "bz2": bz2.compress(content), "zst": zstandard.ZstdCompressor().compress(content)}
    packed["two.gz"] = gzip.compress(content[:5000]) + gzip.compress(content[5000:])
    for name, data in packed.items():
        assert read_all(dump(data, f"x.sql.{name}"), "news", metadata="_offset,_row") == plain, name
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/x.sql", content)
    assert read_all(tmp_path / "x.zip", "news", metadata="_offset,_row") == plain


def test_a_truncated_packed_file_is_an_error_and_its_rows_can_be_read(dump):
    content = news(3000, 20)
    data = gzip.compress(content)
    path = dump(data[: len(data) * 2 // 3], "x.sql.gz")
    with pytest.raises(InputError, match=r"the file is damaged .the packed file ends"):
        read_all(path, "news")
    rows = read_all(path, "news", mode="quarantine").to_pylist()
    assert [row["id"] for row in rows[:-1]] == list(range(len(rows) - 1)) and len(rows) > 1000
    assert "the packed file ends" in rows[-1]["_error"]


@pytest.mark.parametrize("split", [200, 1 << 30])
def test_a_damaged_statement_goes_to_quarantine_and_the_others_are_read(dump, split):
    lines = [f"INSERT INTO `t` VALUES ({i},'text {i}'),({i + 100},'more');" for i in range(40)]
    lines[17] = "INSERT INTO `t` VALUES (17,'it's'),(117,'more');"
    content = "CREATE TABLE `t` (`id` int, `x` text);\n" + "\n".join(lines) + "\n"
    path = dump(content)
    with pytest.raises(InputError, match=r"byte \d+, line 19: ',' or '\)' is expected behind a value"):
        read_all(path, "t", splitbytes=str(split))
    rows = read_all(path, "t", mode="quarantine", splitbytes=str(split)).to_pylist()
    assert sorted(row["id"] for row in rows if row["_error"] is None) == sorted({*range(40), *range(100, 140)} - {17, 117})
    (lost,) = [row for row in rows if row["_error"]]
    assert content[lost["_offset"] : lost["_end"]] == "(17,'it's'),(117,'more');\n"


def test_damage_beside_the_table_is_accounted_for(dump):
    path = dump("INSERT INTO o VALUES (1,'a'b');\nINSERT INTO t VALUES (1,'x');\nfoo bar;\nINSERT INTO t VALUES (2,'y');\n")
    rows = read_all(path, "t", mode="quarantine").to_pylist()
    assert [row["c1"] for row in rows if row["_error"] is None] == ["1", "2"]
    assert len([row for row in rows if row["_error"]]) == 2


def test_several_databases(dump):
    path = dump(
        "USE `one`;\nCREATE TABLE `t` (a int);\nINSERT INTO `t` VALUES (1);\n"
        "CREATE TABLE `two`.`t` (b int);\nINSERT INTO `two`.`t` VALUES (2);INSERT INTO two.t VALUES (3);"
        "USE two;insert into t values (4);"
    )
    assert column(path, 0, "one.t") == [1]
    assert read_all(path, "two.t").to_pydict() == {"b": [2, 3, 4]}
    with pytest.raises(InputError, match=r"in the databases one and two; ask for one\.t or two\.t"):
        read_all(path, "t")
    with pytest.raises(InputError, match=r"no table x; it has one\.t, two\.t"):
        read_all(path, "x")
    assert [(found.database, found.name, found.rows) for found in listing.tables(str(path)).tables] == [
        ("one", "t", 1),
        ("two", "t", 3),
    ]


def test_triggers_and_delimiters(dump):
    path = dump(
        "DELIMITER ;;\n/*!50003 CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN\nINSERT INTO t VALUES (9);\n"
        "SET @a=';;'; END */;;\nDELIMITER ;\nLOCK TABLES `t` WRITE;\nINSERT INTO t VALUES (1);\nDELIMITER $$\n"
        "INSERT INTO t VALUES (2)$$\n"
        "CREATE PROCEDURE p() BEGIN DELETE FROM t; END$$\nDELIMITER ;\n/*!40101 INSERT INTO t VALUES (3) */;\nUNLOCK TABLES;"
    )
    assert column(path, 0) == ["1", "2", "3"]


def test_no_backslash_escapes(dump):
    body = "INSERT INTO t VALUES ('a\\'),('b''\\n');"
    assert column(dump("SET sql_mode='ANSI,NO_BACKSLASH_ESCAPES';\n" + body), 0) == ["a\\", "b'\\n"]
    assert column(dump(body), 0, backslash="false") == ["a\\", "b'\\n"]
    restored = "/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;INSERT INTO t VALUES ('\\'');"
    assert column(dump("SET sql_mode='NO_BACKSLASH_ESCAPES';\n" + body + restored), 0)[2] == "'"


def test_latin1_columns_that_hold_other_bytes_are_repaired_and_flagged(dump):
    text = "中华人民共和国的新闻报道，今天发布了。"
    create = "CREATE TABLE t (id int, x text) DEFAULT CHARSET=latin1;\n"
    for stored in (text.encode(), text.encode("gbk")):
        raw = (
            create.encode()
            + b"SET NAMES latin1;\nINSERT INTO t VALUES (1,'"
            + stored.replace(b"\\", b"\\\\")
            + b"'),(2,'caf\xe9');"
        )
        seen = stored.decode("sloppy-windows-1252")
        converted = (create + f"SET NAMES utf8;\nINSERT INTO t VALUES (1,'{seen}'),(2,'café');").encode()
        for content in (raw, converted):
            rows = read_all(dump(content), "t", metadata="_flags").to_pylist()
            assert [row["x"] for row in rows] == [text, "café"]
            assert rows[0]["_flags"].startswith("charset_repaired\tx: ") and rows[1]["_flags"] is None


def test_the_character_set_is_detected_where_the_dump_says_none_or_the_wrong_one(dump):
    text = "国务院新闻办公室今天举行发布会，介绍有关情况。誠"
    for declared in ("", "SET NAMES utf8;\n"):
        path = dump(declared.encode() + f"INSERT INTO t VALUES ('{text}');".encode("gbk"))
        assert column(path, 0) == [text]
        assert "is gbk" in listing.tables(str(path)).tables[0].remark
    converted = dump(f"SET NAMES gbk;\nINSERT INTO t VALUES ('{text}\\'');")
    assert column(converted, 0) == [text + "'"]


def test_types(dump):
    path = dump(
        "CREATE TABLE t (a tinyint(1), b bigint unsigned, c decimal(10,2), d float, e bit(3), f blob, g enum('x','y'), h json,"
        " i year,"
        " j time, k char(3) CHARACTER SET binary, l int DEFAULT '7', m decimal(65,30), n varchar(9) DEFAULT 'd''x', KEY (a));\n"
        "INSERT INTO t VALUES (1,18446744073709551615,'12.345',1.5,b'101',0x00FF,'x','{\"a\":1}',2014,'-12:00:00','a',DEFAULT,"
        "1.5,DEFAULT),(0,'5',1e3,'2',5,_binary '\\0',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);"
        "INSERT INTO t (a) VALUES (300),('x');"
    )
    table = read_all(path, "t", metadata="_flags")
    kinds = [str(field.type) for field in table.schema][:14]
    assert kinds == ["int8", "decimal128(20, 0)", "decimal128(10, 2)", "float", "int64", "binary", "string", "string", "string",
                     "string", "binary", "int32", "string", "string"]  # fmt: skip
    first, second, third, fourth = (list(map(str, row.values())) for row in table.to_pylist())
    assert first[:12] == [
        "1",
        "18446744073709551615",
        "12.35",
        "1.5",
        "5",
        "b'\\x00\\xff'",
        "x",
        '{"a":1}',
        "2014",
        "-12:00:00",
        "b'a'",
        "7",
    ]
    assert (first[13] == "d'x" and second[:6] == ["0", "5", "1000.00", "2.0", "53", "b'\\x00'"]) or second[4] == "5"
    assert (third[0], third[11], third[14]) == ("None", "7", "bad_value\ta: 300") and fourth[14] == "bad_value\ta: x"


def test_definitions_from_another_file(dump, tmp_path):
    dump("CREATE TABLE `t` (id int, x text) DEFAULT CHARSET=gbk;", "structure.txt")
    path = dump("INSERT INTO `t` VALUES('1','誠');".encode("gbk"), "data.txt")
    assert read_all(path, "t", ddl=str(tmp_path / "structure.txt"), charset="gbk").to_pylist() == [{"id": 1, "x": "誠"}]
    path.write_bytes("INSERT INTO `t` VALUES('1','新闻办公室今天介绍有关情况，誠');".encode("gbk"))
    assert read_all(tmp_path / "*.txt", "t").to_pylist() == [{"id": 1, "x": "新闻办公室今天介绍有关情况，誠"}]


def test_what_is_no_dump(dump, tmp_path):
    with pytest.raises(InputError, match="is UTF-16"):
        read_all(dump("INSERT INTO t VALUES (1);".encode("utf-16")), "t")
    with pytest.raises(InputError, match="PHP program"):
        read_all(dump('<?php\nE_D("replace into t values(1)");'), "t")
    assert column(dump("<?php exit;?>\nINSERT INTO t VALUES (1);"), 0) == ["1"]
    with pytest.raises(InputError, match="no such file"):
        read_all(tmp_path / "none.sql", "t")
    with pytest.raises(InputError, match="no SQL statement begins like this"):
        read_all(dump("hello world;\nINSERT INTO t VALUES (1);"), "t")


def test_options_are_checked_at_once():
    with pytest.raises(ConfigError) as error:
        Options.of({"path": "x", "charset": "klingon", "mode": "maybe", "splitbytes": "0", "colour": "red", "metadata": "_x"})
    assert len(error.value.problems) == 6


def test_a_value_of_many_megabytes(dump):
    text = "长" * 7_000_000
    path = dump(f"SET NAMES utf8;\nINSERT INTO t VALUES (1,'{text}'),(2,'b');")
    table = read_all(path, "t")
    assert table.column("c2").to_pylist() == [text, "b"]
    assert isinstance(table, pa.Table)
