"""Real dumps of public repositories: rows and values as a server has them after loading the dump."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from dedup_lib.dump import listing
from dedup_lib.errors import InputError
from tests.dump.server import plain_rows, read_all
from tests.kernels.helpers import EVALUATION_DATA

FOLDER = EVALUATION_DATA / "dumps"
DUMPS = sorted(FOLDER.glob("*")) if FOLDER.is_dir() else []
DEDE = EVALUATION_DATA / "dede_backup_gbk"
NO_DUMP = {"liusCoding": "is expected behind a value", "wdlyhs+ppt__diguo": "PHP program"}  # Oracle's, and a backup in PHP
LARGEST = 6  # tables of each dump that are compared; all of them with DUMPS=all
needs_data = pytest.mark.skipif(not DUMPS, reason=f"no {FOLDER}")


@needs_data
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name[:40])
def test_a_real_dump_is_what_the_server_makes_of_it(mariadb, tmp_path, path: Path):
    refused = next((why for name, why in NO_DUMP.items() if path.name.startswith(name)), None)
    if refused:
        with pytest.raises(InputError, match=refused):
            found = listing.tables(str(path))
            raise InputError("; ".join(found.warnings))
        return
    found = listing.tables(str(path))
    assert [warning for warning in found.warnings if "nothing at its end" not in warning] == []
    charsets = {table.charset for table in found.tables if table.rows}
    load = tmp_path / "load.sql"  # this server lacks a collation of a later one, and does not make the database it is in
    load.write_bytes(path.read_bytes().replace(b"utf8mb4_0900_ai_ci", b"utf8mb4_general_ci"))
    for name in {table.database for table in found.tables} - {""}:
        mariadb.execute(f"DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
    mariadb.load(load, "real", "gbk" if "gbk" in charsets else "utf8mb4")
    chosen = sorted(found.tables, key=lambda table: -table.rows)[: None if os.environ.get("DUMPS") == "all" else LARGEST]
    there = {database: set(mariadb.tables(database or "real")) for database in {table.database for table in found.tables}}
    for table in chosen:
        if table.rows and table.name in there[table.database]:  # files without definitions are read, but not loaded
            compare(mariadb, load, table)


def compare(mariadb, path: Path, table: listing.Found) -> None:
    _, rows = mariadb.rows(table.database or "real", table.name)
    mine = read_all(path, f"{table.database}.{table.name}" if table.database else table.name, metadata="_flags")
    flags = mine.column("_flags").to_pylist()
    assert mine.num_rows == table.rows == len(rows), table.name
    if any("bad_value" in flag for flag in flags if flag):  # the server makes 0 of what is no number
        return
    assert plain_rows(mine.drop_columns(["_flags"])) == Counter(rows), table.name


@pytest.mark.skipif(not DEDE.is_dir(), reason=f"no {DEDE}")
def test_the_backup_of_a_cms_in_gbk():
    listed = listing.tables(str(DEDE))
    rows = {table.name: table.rows for table in listed.tables if table.rows}
    charsets = {table.charset for table in listed.tables if table.rows}
    assert charsets == {"gbk"} and {"dede_archives", "dede_addonarticle", "dede_arctype", "dede_area", "dede_sysconfig"} <= set(
        rows
    )
    articles = read_all(DEDE, "dede_archives", metadata="_file,_flags")
    assert articles.num_rows == rows["dede_archives"] > 10
    assert "全球日生产能力最强基因测序仪在深发布" in articles.column("title").to_pylist()
    assert set(articles.column("_flags").to_pylist()) == {None}
