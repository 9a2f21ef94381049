"""A corpus as a dump: what is read of it is the corpus."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq

from bench import dump
from bench.corpus import CORPUS
from tests.dump.server import read_all

ROWS = [
    ("d1", "u", '它\'s "好"', "一行\n\r二行\0\x1a 路径 C:\\temp\\'", "东方网", datetime(2020, 1, 2, 3, 4, 5)),
    ("d2", "u", None, "),(1,'x');\nINSERT INTO `news` VALUES (9", None, None),
    ("d3", "u", "", "", "", datetime(1999, 12, 31)),
]


def test_what_is_read_of_the_dump_is_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(dump, "_STATEMENT", 80)  # several statements
    pq.write_table(pa.table([list(column) for column in zip(*ROWS, strict=True)], schema=CORPUS), tmp_path / "corpus.parquet")
    size = dump.write(str(tmp_path / "corpus.parquet"), tmp_path / "news.sql")
    assert size == (tmp_path / "news.sql").stat().st_size
    read = read_all(tmp_path / "news.sql", "news").select(["id", "title", "content", "source", "posted"])
    found = zip(*[column.to_pylist() for column in read.columns], strict=True)
    assert list(found) == [(number, *row[2:]) for number, row in enumerate(ROWS, 1)]
