"""Which bytes go: any subset of the rows of made dumps against a plain composition of what stays."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.dump import files
from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import make_plan
from dedup_lib.dump.rewrite import CLEAN, REMOVED, rewrite
from dedup_lib.errors import DedupError
from tests.conftest import SAMPLE
from tests.dump.server import read_all

TABLE = b"CREATE TABLE `t` (`id` int, `x` text);\n"
TEXTS = st.sampled_from(
    ["a", "),(", "'');", "it''s", "\\'", "\\\\", "中", "\nINSERT INTO `t` VALUES (1,''x'');\n", "-- x", "/*", ";"]
)
GAPS = st.sampled_from([",", ",\n", " , ", ",\n  ", " /* , */ , ", ", -- (0,'x'),\n"])
HEADS = st.sampled_from(
    ["INSERT INTO `t` VALUES ", "INSERT INTO t VALUES\n", "REPLACE INTO `t` (`id`,`x`) VALUES ", "insert into t values"]
)
TAILS = st.sampled_from([";\n", " ;\n", ";\r\n", "; ", "\n;\n", " ON DUPLICATE KEY UPDATE x=';';\n", " -- end;\n;\n"])
OTHERS = st.sampled_from(
    [
        "", "\n", "-- note; (1,2)\n", "INSERT INTO `o` VALUES (1,'(2)'),(3,'x');\n", "/*!40000 ALTER TABLE `t` x */;\n",
        "SET NAMES utf8;\n", "UNLOCK TABLES;\n", "CREATE TABLE `o` (`y` text COMMENT 'INSERT INTO `t` VALUES (1);');\n",
    ]
)  # fmt: skip


@st.composite
def statements(draw) -> tuple[str, list[tuple[str, str]], str]:
    """Head, rows with the gap in front of each, tail."""
    count = draw(st.integers(1, 6))
    rows = [(draw(GAPS) if i else "", f"({draw(st.integers(0, 99))},'{draw(TEXTS)}')") for i in range(count)]
    return draw(HEADS), rows, draw(TAILS)


def compose(parts: list, keep) -> bytes:
    """The dump of the rows for which ``keep`` says so, by their number."""
    found, number = [TABLE.decode()], 0
    for part in parts:
        if isinstance(part, str):
            found.append(part)
            continue
        head, rows, tail = part
        staying = [row for i, row in enumerate(rows) if keep(number + i)]
        number += len(rows)
        if staying:
            found.append(head + staying[0][1] + "".join(gap + row for gap, row in staying[1:]) + tail)
        elif not "".join(found).endswith("\n"):
            found.append(tail[tail.rindex(";") + 1 :])
        else:
            found.append(tail[tail.rindex(";") + 1 :].removeprefix("\r").removeprefix("\n"))
    return "".join(found).encode()


def cut(path: Path, folder: Path, gone: list[int], offsets: np.ndarray) -> tuple[bytes, bytes]:
    """Clean and removed dump."""
    options = Options(str(path), "t")
    dropped = {str(path): np.sort(offsets[gone])}
    rewrite(options, make_plan(options).table, dropped, str(folder), None, "a note")
    return tuple(gzip.decompress((folder / name).read_bytes()) for name in (CLEAN, REMOVED))


@given(parts=st.lists(st.one_of(statements(), OTHERS), max_size=8), data=st.data(), chunk=st.sampled_from([48, 200, 1 << 20]))
def test_what_stays_is_byte_for_byte_what_it_was(tmp_path_factory, parts, data, chunk):
    folder = tmp_path_factory.mktemp("cut")
    path = folder / "d.sql"
    path.write_bytes(compose(parts, lambda i: True))
    read = read_all(path, "t", metadata="_offset,_end")
    offsets = read.column("_offset").to_numpy()
    gone = data.draw(st.lists(st.integers(0, len(offsets) - 1), unique=True) if len(offsets) else st.just([]))
    whole, files.window = files.window, partial(files.window, chunk=chunk)
    try:
        clean, removed = cut(path, folder, gone, offsets)
    finally:
        files.window = whole
    assert clean == compose(parts, lambda i: i not in gone)
    rows = [read.slice(i, 1).to_pylist()[0] for i in sorted(gone)]
    (folder / "r.sql").write_bytes(TABLE + removed)
    back = read_all(folder / "r.sql", "t")
    assert back.to_pylist() == [{"id": row["id"], "x": row["x"]} for row in rows]


@pytest.mark.parametrize("every", [0, 1, 2, 3])
def test_the_sample(tmp_path, every):
    path = str(SAMPLE / "legacy_news.sql.gz")
    dump = gzip.decompress(Path(path).read_bytes())
    options = Options(path, "news")
    read = read_all(path, "news", metadata="_offset,_end")
    offsets, ends = (read.column(name).to_numpy() for name in ("_offset", "_end"))
    gone = offsets[::every] if every else offsets[:0]
    found = rewrite(options, make_plan(options).table, {path: gone}, str(tmp_path), None, "a note")
    clean = gzip.decompress((tmp_path / CLEAN).read_bytes())
    assert found.rows == len(gone) and found.size == len(dump) and found.clean_size == len(clean)
    if not every:
        assert clean == dump
        return
    tuples = [dump[a:b] for a, b in zip(offsets, ends, strict=True)]
    (tmp_path / "c.sql").write_bytes(clean)
    again = read_all(tmp_path / "c.sql", "news", metadata="_offset,_end")
    kept = [clean[a:b] for a, b in zip(again.column("_offset").to_pylist(), again.column("_end").to_pylist(), strict=True)]
    assert kept == [row for i, row in enumerate(tuples) if i % every]
    removed = gzip.decompress((tmp_path / REMOVED).read_bytes())
    assert all(row in removed for i, row in enumerate(tuples) if i % every == 0)


@pytest.mark.parametrize(
    ("dump", "gone", "clean"),
    [
        ("/*!50000 INSERT INTO t VALUES (1,'a') */;\nSELECT 1;\n", [0], "SELECT 1;\n"),
        ("/*!50000 INSERT INTO t VALUES (1,'a'),(2,'b') */;\n", [0], "/*!50000 INSERT INTO t VALUES (2,'b') */;\n"),
        ("INSERT INTO t VALUES ROW(1,'a'), ROW(2,'b');", [0], "INSERT INTO t VALUES ROW(2,'b');"),
        ("INSERT INTO t VALUES ROW(1,'a'), ROW(2,'b');", [1], "INSERT INTO t VALUES ROW(1,'a');"),
        ("DELIMITER ;;\nINSERT INTO t VALUES (1,';');;\nDELIMITER ;\n", [0], "DELIMITER ;;\nDELIMITER ;\n"),
        ("INSERT INTO t VALUES (1,'a');INSERT INTO t VALUES (2,'b');\n", [0], "INSERT INTO t VALUES (2,'b');\n"),
    ],
)  # fmt: skip
def test_odd_statements(tmp_path, dump, gone, clean):
    path = tmp_path / "d.sql"
    path.write_bytes(TABLE + dump.encode())
    offsets = read_all(path, "t", metadata="_offset").column("_offset").to_numpy()
    assert cut(path, tmp_path, gone, offsets)[0] == TABLE + clean.encode()


def test_damage_stays_with_the_head_of_its_statement(tmp_path):
    path = tmp_path / "d.sql"
    path.write_bytes(
        TABLE + b"INSERT INTO t VALUES (1,'a'),(2,'b',3),(4,'c');\nINSERT INTO t VALUES (5,'d'),(6 x;\nSET NAMES utf8;\n"
    )
    options = Options(str(path), "t", mode="quarantine")
    read = read_all(path, "t", mode="quarantine", metadata="_offset,_error")
    gone = np.array([row["_offset"] for row in read.to_pylist() if row["_error"] is None])
    assert len(gone) == 3
    rewrite(options, make_plan(options).table, {str(path): gone}, str(tmp_path), None, "a note")
    clean = gzip.decompress((tmp_path / CLEAN).read_bytes())
    assert clean == TABLE + b"INSERT INTO t VALUES (2,'b',3);\nINSERT INTO t VALUES (6 x;\nSET NAMES utf8;\n"


def test_a_dump_that_changed_is_an_error(tmp_path):
    path = tmp_path / "d.sql"
    path.write_bytes(TABLE + b"INSERT INTO t VALUES (1,'a');\n")
    options = Options(str(path), "t")
    with pytest.raises(DedupError, match=r"d\.sql: 1 dropped rows are not where they were"):
        rewrite(options, make_plan(options).table, {str(path): np.array([7])}, str(tmp_path), None, "a note")


@pytest.mark.parametrize("name", ["d.sql", "d.sql.gz", "d.sql.bz2", "d.sql.zst", "d.zip"])
def test_packed_and_many_files(tmp_path, name):
    import bz2
    import zipfile

    import zstandard

    folder = tmp_path / "in"
    folder.mkdir()
    content = TABLE + b"INSERT INTO t VALUES (1,'a'),(2,'b');\n"
    if name.endswith("zip"):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("d.sql", content)
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstandard.compress}.get(name.rpartition(".")[2], bytes)
        (folder / name).write_bytes(pack(content))
    (folder / "z.sql").write_bytes(b"INSERT INTO t VALUES (3,'c');\n")
    options = Options(str(folder), "t")
    dropped = {str(folder / name): np.array([content.index(b"(2")])}
    found = rewrite(options, make_plan(options).table, dropped, str(tmp_path), None, "a note")
    first, second = (gzip.decompress((tmp_path / file).read_bytes()) for file in found.files)
    assert first == content.replace(b",(2,'b')", b"") and second == b"INSERT INTO t VALUES (3,'c');\n"
