"""Hostile tables, written by the real mysqldump in many ways: what comes back is what the server holds."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.dump.server import Server, plain_rows, read_all

TEXTS = [
    "", "'", '"', "\\", "\\'", "''", "\\\\'", "a\\", "\0", "\n", "\r\n", "\t", "\x1a", "%_\\%\\_", "`", "),(", "'),('",
    "');", "';\n",
    "\nINSERT INTO `hostile` VALUES (1,'x');\n", "-- x\n", "/* x */", "/*!40101 SET NAMES latin1 */;", "#", "NULL", "\\N",
    "\\0\\n", "0x41",
    "DELIMITER ;;\n", "中文，标点。", "誠運", "誠\\", "誠'", "許功蓋", "功'),('蓋", "a" * 70_000, "中" * 30_000 + "'",
]  # fmt: skip
COLUMNS = """(
  `id` int NOT NULL, `t` longtext, `v` varchar(100) DEFAULT 'x', `b` longblob, `n` decimal(20,5), `f` double, `g` float,
  `at` datetime(6), `day` date, `ts` timestamp NULL, `bits` bit(9), `e` enum('a','b''c','中'), `s` set('x','y'), `y` year,
  `tm` time, `u` bigint unsigned, `odd ``name` int, `select` smallint, `列` tinyint, `bin` binary(3), PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET="""
SCALARS = [
    "12.34567,1.5,0.25,'2014-05-06 07:08:09.123456','2014-05-06','2014-05-06 07:08:09',b'101','b''c','x,y',"
    "2014,'-12:30:00',1,2,3,4,'a'",
    "-99999.5,-1e100,1e-10,'0000-00-00 00:00:00','0000-00-00',NULL,b'111111111',NULL,'',0,'838:59:59',"
    "18446744073709551615,-1,-2,-3,0x00FF27",
    "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL",
    "0,0,0,'1000-01-01 00:00:00','9999-12-31','1970-01-01 00:00:01',b'0','中','y',1999,'00:00:00',0,0,0,0,0x5C2722",
]
OPTIONS = {
    "plain": [],
    "one a row": ["--skip-extended-insert"],
    "complete": ["--complete-insert", "--hex-blob"],
    "bare names": ["--skip-quote-names", "--skip-opt", "--complete-insert", "--extended-insert"],
    "replace": ["--replace", "--skip-comments", "--skip-add-locks", "--no-tablespaces"],
    "ignore": ["--insert-ignore", "--compact"],
    "ansi": ["--compatible=ansi", "--complete-insert"],
    "short lines": ["--net-buffer-length=4096", "--order-by-primary", "--no-autocommit", "--tz-utc"],
    "no charset": ["--skip-set-charset"],
}
CHARSETS = ["utf8mb4", "gbk", "big5", "latin1"]


def hostile(server: Server, charset: str, texts: list[str]) -> None:
    """A table of one row for each text."""
    rows = []
    for i, text in enumerate(texts):
        data = text.encode().hex()
        value = f"_utf8mb4 x'{data}'"
        short = f"LEFT({value},100)" if i % 3 else "NULL"
        rows.append(f"({i},{value},{short},x'{bytes(range(256)).hex() if i == 5 else data}',{SCALARS[i % len(SCALARS)]})")
    server.execute(
        f"DROP DATABASE IF EXISTS h; CREATE DATABASE h; USE h; SET sql_mode='NO_AUTO_VALUE_ON_ZERO'; SET time_zone='+00:00';"
        f"CREATE TABLE hostile {COLUMNS}{charset};INSERT INTO hostile VALUES {','.join(rows)};"
        "CREATE TABLE bare LIKE hostile; ALTER TABLE bare CHANGE `odd ``name` odd int,"
        " CHANGE `select` sel smallint, CHANGE `列` lie tinyint;"
        "INSERT INTO bare SELECT * FROM hostile;"
    )


def fitting(charset: str) -> list[str]:
    """The texts that a character set can hold."""
    if charset == "utf8mb4":
        return [*TEXTS, "😀'", "é", "한"]
    codec = {"gbk": "gbk", "big5": "big5", "latin1": "ascii"}[charset]
    found = []
    for text in TEXTS:
        try:
            text.encode(codec)
        except UnicodeEncodeError:
            continue
        found.append(text)
    return found


@pytest.mark.parametrize("charset", CHARSETS)
def test_what_mysqldump_writes_comes_back(mariadb, tmp_path, charset):
    hostile(mariadb, charset, fitting(charset))
    _, expected = mariadb.rows("h", "hostile")
    assert len(expected) == len(fitting(charset))
    for connection in dict.fromkeys(["utf8mb4", charset, "binary"]):
        for name, options in OPTIONS.items():
            path = tmp_path / f"{charset}-{connection}-{name}.sql"
            if connection == "binary" and name in ("bare names", "ansi"):
                continue  # nothing tells the character set then, neither of the connection nor of the table
            table = (
                "bare" if name == "bare names" or connection == "latin1" else "hostile"
            )  # it writes what no server reads of names that need quotes
            path.write_bytes(mariadb.dump(f"--default-character-set={connection}", *options, "h", table))
            told = {"charset": connection} if name in ("bare names", "ansi") else {}  # it says nothing at all
            if connection == "binary" and name in ("ignore", "no charset"):
                told = {"charset": "binary"}  # it does not say that bytes were escaped, not characters
            for split in ("20000", "33000000"):
                found = plain_rows(read_all(path, table, splitbytes=split, **told))
                assert found == Counter(expected), (connection, name, first_difference(found, Counter(expected)))


def first_difference(found: Counter, expected: Counter) -> object:
    """Values that differ, for a message."""
    mine, theirs = sorted(map(str, found - expected)), sorted(map(str, expected - found))
    return mine[:1], theirs[:1]


@pytest.mark.parametrize("charset", ["utf8mb4", "gbk", "big5"])
def test_a_dump_without_backslash_escapes(mariadb, tmp_path, charset):
    texts = [text for text in fitting(charset) if "\0" not in text and "\r" not in text]  # which the client changes
    body = ",\n".join(f"({i},'" + text.replace("'", "''") + "')" for i, text in enumerate(texts))
    sql = (
        f"SET NAMES {charset};\nSET SESSION sql_mode='NO_BACKSLASH_ESCAPES';\n"
        f"CREATE TABLE `plain` (`id` int, `t` longtext) DEFAULT CHARSET={charset};\nINSERT INTO `plain` VALUES {body};\n"
    )
    path = tmp_path / "plain.sql"
    path.write_bytes(sql.encode("utf-8" if charset == "utf8mb4" else charset))
    assert mariadb.load(path, "plain", charset) == ""
    _, expected = mariadb.rows("plain", "plain")
    assert [row[1] for row in expected] == texts
    assert plain_rows(read_all(path, "plain")) == Counter(expected)


def test_every_character_of_the_two_byte_sets_is_read_as_the_server_reads_it(mariadb, tmp_path):
    for charset, first, last in (("gbk", 0x81, 0xFE), ("big5", 0xA1, 0xF9)):
        low = 0x80 if charset == "gbk" else 0xA1
        pairs = [bytes([lead, trail]) for lead in range(first, last + 1) for trail in (*range(0x40, 0x7F), *range(low, 0xFF))]
        server = dict(mariadb.ask("; ".join(
            f"SELECT '{pair.hex()}', HEX(CONVERT(_{charset} 0x{pair.hex()} USING utf8mb4))" for pair in pairs
        )))  # fmt: skip
        known = {pair: bytes.fromhex(server[pair.hex()]).decode() for pair in pairs}
        known = {pair: char for pair, char in known.items() if char not in "?\ufffd" and not "\ue000" <= char <= "\uf8ff"}
        rows = b",".join(b"('" + pair + b"')" for pair in known)
        path = tmp_path / f"{charset}.sql"
        path.write_bytes(
            f"SET NAMES {charset};\nCREATE TABLE c (x char(1)) CHARSET={charset};\nINSERT INTO c VALUES ".encode() + rows + b";"
        )
        mine = read_all(path, "c").column("x").to_pylist()
        differ = {pair.hex(): (char, mine[i]) for i, (pair, char) in enumerate(known.items()) if mine[i] != char}
        assert len(known) > 13_000 and differ == {}


def test_tables_of_mariadb_and_their_triggers(mariadb, tmp_path):
    mariadb.execute(
        "DROP DATABASE IF EXISTS m; CREATE DATABASE m; USE m; CREATE TABLE t (id int, x text, n int AS (id + 1) PERSISTENT,"
        " u uuid, ip inet6, j json, hidden int INVISIBLE DEFAULT 7);"
        "INSERT INTO t (id, x, u, ip, j) VALUES (1, 'a;b', '12345678-1234-1234-1234-123456789012', '::1', '{\"a\":\"b''c\"}');\n"
        "DELIMITER ;;\nCREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.x = 'INSERT INTO t VALUES (1);'; END;;\n"
        "CREATE PROCEDURE p() BEGIN INSERT INTO t (id) VALUES (5); END;;\nDELIMITER ;\nCREATE VIEW v AS SELECT id FROM t;"
    )
    path = tmp_path / "m.sql"
    path.write_bytes(mariadb.dump("--routines", "--databases", "m", "mysql"))
    (row,) = read_all(path, "m.t").to_pylist()
    assert row == {
        "id": 1,
        "x": "a;b",
        "n": 2,
        "u": "12345678-1234-1234-1234-123456789012",
        "ip": "::1",
        "j": '{"a":"b\'c"}',
        "hidden": 7,
    }
