"""What the clean dump, the removed rows and the SQL do on a real server, compared row by row."""

from __future__ import annotations

import gzip
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dedup_lib.dump import listing
from dedup_lib.dump.deletion import BATCH, Deletion, Target, undo, why_not
from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import make_plan
from dedup_lib.dump.rewrite import CLEAN, REMOVED, rewrite
from tests.conftest import SAMPLE
from tests.dump.server import Server, read_all
from tests.dump.test_roundtrip import OPTIONS, fitting, hostile

STOPS = "SELECT `interrupted here`;\n"


class Made:
    """A dump, which of its rows go, and what was written."""

    def __init__(
        self, path: Path, table: str, hashed: list[str], goes: Callable[[dict], bool], folder: Path, **options: str
    ) -> None:
        asked = Options.of({"path": str(path), "table": table, **options})
        plan = make_plan(asked)
        rows = read_all(path, table, metadata="_offset", **options).to_pylist()
        (found,) = [entry for entry in listing.tables(str(path)).tables if entry.name == table]
        columns = {column.name: column for column in plan.table.columns}
        target = Target(
            table, tuple(columns[name] for name in found.key), tuple(columns[name] for name in hashed), f"{table}_dropped"
        )
        assert why_not(plan.table, found.key) == ""
        self.gone = np.array([row["_offset"] for row in rows if goes(row)])
        with open(folder / "delete.sql", "w", encoding="utf-8") as file:
            deletion = Deletion(file, target, "a note")
            rewrite(asked, plan.table, {str(path): np.sort(self.gone)}, str(folder), deletion, "a note")
            deletion.close()
        self.unchecked, self.delete = deletion.unchecked, (folder / "delete.sql").read_text("utf-8")
        self.undo = undo(target, "a note")
        self.clean, self.removed = (gzip.decompress((folder / name).read_bytes()) for name in (CLEAN, REMOVED))


def run(server: Server, database: str, sql: str) -> tuple[list[list[str]], str]:
    """Run a script in a database as a user would; its rows and its errors."""
    command = [*server._client("--batch", "--skip-column-names"), database]
    done = subprocess.run(command, input=sql.encode(), capture_output=True)
    return [line.split("\t") for line in done.stdout.decode("utf-8", "replace").splitlines()], done.stderr.decode()


def restored(server: Server, folder: Path, made: Made, table: str, charset: str = "utf8mb4") -> tuple[Counter, Counter]:
    """The rows of the clean dump alone, and with the removed ones behind it."""
    found = []
    for content in (made.clean, made.clean + made.removed):
        (folder / "load.sql").write_bytes(content)
        assert server.load(folder / "load.sql", "back", charset) == ""
        found.append(Counter(server.rows("back", table)[1]))
    return found[0], found[1]


@pytest.mark.parametrize("charset", ["utf8mb4", "gbk", "latin1"])
def test_hostile_rows_leave_and_come_back(mariadb, tmp_path, charset):
    hostile(mariadb, charset, fitting(charset))
    for connection in dict.fromkeys(["utf8mb4", charset, "binary"]):
        more = ("one a row", "replace") if charset == connection == "utf8mb4" else ()
        for name in ("plain", "complete", *more):
            path = tmp_path / "d.sql"
            table = "bare" if connection == "latin1" else "hostile"
            path.write_bytes(mariadb.dump(f"--default-character-set={connection}", *OPTIONS[name], "h", table))
            client = connection if connection == "gbk" else "utf8mb4"  # whose two-byte characters the client must know
            if mariadb.load(path, "live", client):
                assert (connection, name) == ("gbk", "plain")
                continue  # no client loads what mysqldump wrote: it takes bytes of blobs for characters
            original = mariadb.rows("live", table)[1]
            made = Made(path, table, ["v", "t", "b"], lambda row: row["id"] % 2 == 0, tmp_path)
            clean, both = restored(mariadb, tmp_path, made, table, client)
            assert both == Counter(original), (connection, name)
            kept = Counter(row for row in original if int(row[0]) % 2)
            assert clean == kept
            # on the live table
            rows, errors = run(mariadb, "live", made.delete)
            gone = len(original) - sum(kept.values()) - made.unchecked
            assert errors == "" and rows[-1] == [str(gone), str(gone), "0", "0", str(gone)], (connection, name, rows)
            assert made.unchecked == 0 and Counter(mariadb.rows("live", table)[1]) == kept, (connection, name)
            assert run(mariadb, "live", made.undo) == ([[str(gone), str(gone)]], "")
            assert Counter(mariadb.rows("live", table)[1]) == Counter(original)


def test_the_sample_on_a_server(mariadb, tmp_path):
    path = SAMPLE / "legacy_news.sql.gz"
    made = Made(path, "news", ["title", "content"], lambda row: row["id"] % 7 == 6, tmp_path)
    (tmp_path / "all.sql").write_bytes(gzip.decompress(path.read_bytes()))
    assert mariadb.load(tmp_path / "all.sql", "live", "gbk") == ""
    original = Counter(mariadb.rows("live", "news")[1])
    clean, both = restored(mariadb, tmp_path, made, "news", "gbk")
    assert both == original and clean == Counter({row: n for row, n in original.items() if (int(row[0]) - 6) % 7})
    assert sum((original - clean).values()) == len(made.gone) == 46


@pytest.mark.parametrize("connection", ["utf8mb4", "utf8", "gbk", "latin1", "binary"])
def test_the_server_hashes_the_bytes_of_the_dump(mariadb, tmp_path, connection):
    """Columns of four character sets, one with GBK written into latin1 as old sites did, whatever the dump is in."""
    hidden = "正文，誠".encode("gbk").hex()
    values = [f"('键·—{i}','正文·—…€{i}','😀é許功蓋{i}',_latin1 x'{hidden}',_utf8mb4 '許功蓋{i}')" for i in range(9)]
    mariadb.execute(
        "DROP DATABASE IF EXISTS c; CREATE DATABASE c; USE c; CREATE TABLE m (k varchar(20) CHARSET gbk PRIMARY KEY,"
        " g text CHARSET gbk, u text CHARSET utf8mb4, l text CHARSET latin1, b text CHARSET big5);"
        f"INSERT INTO m VALUES {','.join(values)},('空',NULL,'',NULL,'')"
    )
    path = tmp_path / "d.sql"
    path.write_bytes(mariadb.dump(f"--default-character-set={connection}", "c"))
    made = Made(path, "m", ["g", "u", "l", "b"], lambda row: True, tmp_path)
    rows, errors = run(mariadb, "c", made.delete)
    assert errors == "" and made.unchecked == 0
    # in latin1 the keys are question marks, and find nothing
    expected = ["10", "0", "0", "10", "0"] if connection == "latin1" else ["10", "10", "0", "0", "10"]
    assert rows[-1] == expected


def test_deleting_is_interrupted_resumed_and_undone(mariadb, tmp_path):
    """Composite keys of text in GBK, three batches, a row edited and a row counted up since the dump."""
    count = 3 * BATCH - 10
    values = ",".join(f"('新闻\\\\''{i:05}',{i},'标题{i}','内容·—{i}',0)" for i in range(2 * count))
    mariadb.execute(
        "DROP DATABASE IF EXISTS k; CREATE DATABASE k; USE k; CREATE TABLE `表 x` (`键` varchar(50), n int, title varchar(90),"
        " content text, hits int, made int AS (n + 1) PERSISTENT, PRIMARY KEY (`键`, n), UNIQUE KEY (title)) CHARSET=gbk;"
        f"INSERT INTO `表 x` (`键`, n, title, content, hits) VALUES {values};"
    )
    _, original = mariadb.rows("k", "表 x")
    path = tmp_path / "d.sql"
    path.write_bytes(mariadb.dump("--default-character-set=gbk", "k"))
    made = Made(path, "表 x", ["title", "content"], lambda row: row["n"] % 2 == 0, tmp_path)
    assert made.unchecked == 0 and made.delete.count("START TRANSACTION") == 3
    mariadb.execute("USE k; ALTER TABLE `表 x` ADD fresh int DEFAULT 9; UPDATE `表 x` SET content = '改过' WHERE n = 2;"
                    "UPDATE `表 x` SET hits = 77 WHERE n = 4; UPDATE `表 x` SET hits = 78 WHERE n = 2000")  # fmt: skip
    changed = Counter(mariadb.rows("k", "表 x")[1])
    # in the middle of the second transaction, between copying and deleting
    first, second, rest = made.delete.split("EXECUTE dedup_copy;\n", 2)
    _, errors = run(mariadb, "k", first + "EXECUTE dedup_copy;\n" + second + "EXECUTE dedup_copy;\n" + STOPS + rest)
    assert "interrupted here" in errors
    assert len(mariadb.rows("k", "表 x")[1]) == 2 * count - BATCH + 1
    rows, errors = run(mariadb, "k", made.delete)
    assert errors == "" and rows[-1] == [str(count), str(count - BATCH), "1", str(BATCH - 1), str(count - 1)]
    rows, errors = run(mariadb, "k", made.delete)  # again: nothing is left to do
    assert errors == "" and rows[-1] == [str(count), "0", "1", str(count - 1), str(count - 1)]
    left = Counter(row for row in changed if int(row[1]) % 2 or row[1] == "2")
    assert Counter(mariadb.rows("k", "表 x")[1]) == left and len(original) == 2 * count
    assert run(mariadb, "k", made.undo) == ([[str(count - 1)] * 2], "")
    assert Counter(mariadb.rows("k", "表 x")[1]) == changed
    assert run(mariadb, "k", made.undo) == ([["0", str(count - 1)]], "")


def test_rows_that_others_hang_on_are_not_deleted(mariadb, tmp_path):
    mariadb.execute(
        "DROP DATABASE IF EXISTS f; CREATE DATABASE f; USE f; CREATE TABLE news (id int PRIMARY KEY, content text);"
        "INSERT INTO news VALUES (1,'a'),(2,'b');"
    )
    path = tmp_path / "d.sql"
    path.write_bytes(mariadb.dump("f"))
    made = Made(path, "news", ["content"], lambda row: row["id"] == 1, tmp_path)
    mariadb.execute("USE f; CREATE TABLE note (n int, FOREIGN KEY (n) REFERENCES news (id) ON DELETE CASCADE)")
    _, errors = run(mariadb, "f", made.delete)
    assert "STOP: a foreign key" in errors and len(mariadb.rows("f", "news")[1]) == 2
    mariadb.execute("USE f; DROP TABLE note")
    assert run(mariadb, "f", made.delete)[1] == "" and mariadb.rows("f", "news")[1] == [("2", "b")]


def test_a_dump_without_backslash_escapes_comes_back(mariadb, tmp_path):
    path = tmp_path / "d.sql"
    path.write_text(
        "SET NAMES utf8mb4;\nSET SESSION sql_mode='NO_BACKSLASH_ESCAPES,NO_AUTO_VALUE_ON_ZERO';\n"
        "CREATE TABLE p (id int AUTO_INCREMENT PRIMARY KEY, t text) CHARSET=utf8mb4;\n"
        "INSERT INTO p VALUES (0,'C:\\'),(1,'it''s \\n'),(2,'x');\n"
    )
    made = Made(path, "p", ["t"], lambda row: row["id"] < 2, tmp_path)
    mariadb.load(path, "live")
    original = Counter(mariadb.rows("live", "p")[1])
    assert restored(mariadb, tmp_path, made, "p")[1] == original and ("0", "C:\\") in original
    assert run(mariadb, "live", made.delete)[0][-1][1] == "2" and mariadb.rows("live", "p")[1] == [("2", "x")]
    assert run(mariadb, "live", made.undo)[1] == "" and Counter(mariadb.rows("live", "p")[1]) == original


@pytest.mark.parametrize(
    ("ddl", "key", "why"),
    [
        ("(id int, x text)", (), "has no primary key"),
        ("(id float PRIMARY KEY, x text)", ("id",), "floating-point numbers"),
    ],
)
def test_tables_whose_rows_cannot_be_told_apart(tmp_path, ddl, key, why):
    path = tmp_path / "d.sql"
    path.write_text(f"CREATE TABLE t {ddl};\nINSERT INTO t VALUES (1,'a');\n")
    table = make_plan(Options(str(path), "t")).table
    assert table.key == key and why in why_not(table, table.key)
