"""The whole clean-up of a dump, on both engines and as a command."""

from __future__ import annotations

import csv
import gzip
import os
import runpy
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from dedup_lib.clean.rows import free_names, with_ids
from dedup_lib.clean.run import clean, prepare
from dedup_lib.errors import ConfigError, DedupError, GateRefused
from dedup_lib.settings import load_settings
from dedup_lib.store import read_input
from tests.conftest import ROOT, SAMPLE, embedded_only
from tests.dump.server import read_all
from tests.pipeline.cases import LIBRARY, REWORDED
from tests.test_jobs import job

EVIL = "=HYPERLINK(1)<script>alert(1)</script>{{7*7}}"
KEYLESS = (
    "SET NAMES utf8mb4;\nCREATE TABLE `n` (`id` int, `method` varchar(90), `title` varchar(90), `content` text, `doc_id` int)"
    " CHARSET=utf8mb4;\nINSERT INTO `n` VALUES "
    f"(1,'a','{EVIL}','{LIBRARY}',9),(1,'b','乙','{REWORDED}',8),(2,'c','丙','{LIBRARY}',7),(3,'','丁','',6);\n"
)


def written(folder: Path) -> tuple[Path, bytes, bytes]:
    """The run's folder, its clean and its removed dump."""
    run = folder / "runs" / (folder / "CURRENT").read_text().strip()
    clean, removed = (gzip.decompress((run / name).read_bytes()) for name in ("clean.sql.gz", "removed.sql.gz"))
    return run, clean, removed


@pytest.mark.parametrize(
    ("ids", "found", "why"),
    [
        ([7, 8], ["7", "8"], ""),
        ([7, 7], ["0", "1"], "has the value '7' in 2 rows; doc_id is the row's number"),
        ([7, None], ["0", "1"], "has the value None in 1 rows; doc_id is the row's number"),
    ],
)
def test_ids(session, ids, found, why):
    given = [(id, i, "f", 10 * i) for i, id in enumerate(ids)]
    rows = session.createDataFrame(given, "id int, _row bigint, _file string, _offset bigint")
    frame, said = with_ids(rows, "id")
    assert sorted(row["doc_id"] for row in frame.collect()) == found and why in said and bool(why) == bool(said)
    far, _ = with_ids(rows.withColumn("_row", F.lit(None).cast("bigint")), None)
    assert sorted(row["doc_id"] for row in far.collect()) == ["f:0", "f:10"]


@embedded_only
def test_the_rebuild_reads_no_tables_of_mysql(session):
    with pytest.raises(ConfigError, match=r"read by jobs/clean_dump\.py alone"):
        read_input(session, ["dump.sql"], "mysql")


def test_names_that_the_result_needs_are_left_free():
    assert free_names(["id", "method", "method_", "doc_id"]) == {"method": "method__", "doc_id": "doc_id_"}


@embedded_only
def test_a_table_without_a_key_whose_ids_repeat(session, tmp_path):
    dump = tmp_path / "n.sql"
    dump.write_text(KEYLESS)
    settings = load_settings(overrides=[f"output.path={tmp_path / 'out'}", "gates.quarantine_share.fail=1"])
    work = prepare(str(dump), None, {"id": "id"}, {})
    result = clean(session, settings.config, work, "r", say=lambda line: None)
    assert result.metrics["rows"]["dropped"] == 2 and result.metrics["rows"]["quarantine"] == 1
    assert sorted(row["doc_id"] for row in result.store.table("dropped").collect()) == ["1", "2"]  # numbers of rows
    run, cleaned, _ = written(tmp_path / "out")
    assert cleaned.decode() == KEYLESS[: KEYLESS.index(",(1,'b'")] + KEYLESS[KEYLESS.index(",(3,") :]
    assert not (run / "delete.sql").exists() and not (run / "_work").exists()
    report = (run / "report.html").read_text("utf-8")
    assert "no primary key in the dump" in report and "the value &#39;1&#39; in 2 rows" in report
    assert "Column method is called method_" in report and "Column doc_id is called doc_id_" in report
    assert "<script" not in report and "{{7*7}}" in report
    with open(run / "report.csv", encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["doc_id"], line["kept_id"]) for line in lines] == [("1", "0"), ("2", "0")]
    assert {line["kept_title"] for line in lines} == {"'" + EVIL}


def test_the_sample_as_a_command(tmp_path):
    done = job("clean_dump", "--dump", SAMPLE / "legacy_news.sql.gz", "--output", "out", cwd=tmp_path)
    assert done.code == 0, done.error
    assert "table             news: 323 rows" in done.out and "Guessed: table news" in done.out
    run, cleaned, removed = written(tmp_path / "out")
    original = gzip.decompress((SAMPLE / "legacy_news.sql.gz").read_bytes())
    (tmp_path / "clean.sql").write_bytes(cleaned)
    (tmp_path / "both.sql").write_bytes(cleaned + removed)
    (tmp_path / "all.sql").write_bytes(original)
    rows = {name: Counter(map(str, read_all(tmp_path / f"{name}.sql", "news").to_pylist())) for name in ("clean", "both", "all")}
    assert rows["both"] == rows["all"] and 60 < 323 - rows["clean"].total() < 100
    assert len(read_all(tmp_path / "clean.sql", "news_class")) == 2
    names = {path.name for path in run.iterdir()}
    assert {"delete.sql", "undo.sql", "report.html", "report.csv", "documents", "pairs"} <= names
    report = (run / "report.html").read_text("utf-8")
    assert "zero_date" in report and "--default-character-set=gbk" in report and "<svg" in report


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"output": "out"}, 2, "name a file or a server"),
        ({"dump": "n.sql"}, 2, "output.path (--output): not set"),
        ({"dump": "absent.sql", "output": "out"}, 4, "dump absent.sql: no such file"),
        ({"dump": "n.sql", "output": "out", "table": "x"}, 4, "table x is not there; choose one of n (4 rows"),
        ({"dump": "n.sql", "output": "out", "dump_option": ["colour=1"]}, 2, "dump options colour: unknown"),
        ({"dump": "n.sql", "output": "out", "dump_option": ["mode"]}, 2, "--dump-option 'mode': write NAME=VALUE"),
        ({"dump": "n.sql", "output": "out", "columns": "body=x"}, 2, "--columns: body: unknown"),
        ({"dump": "n.sql", "output": "s3://b/out"}, 2, "needs a local folder"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path, monkeypatch, given, code, said):
    monkeypatch.chdir(tmp_path)
    Path("n.sql").write_text(KEYLESS)
    main = runpy.run_path(str(ROOT / "jobs" / "clean_dump.py"))["main"]
    with pytest.raises(DedupError) as error:
        main(**given)
    assert error.value.exit_code == code and said in str(error.value)
    assert not os.path.exists("out")


@embedded_only
def test_a_gate_refuses_without_publishing(session, tmp_path):
    (tmp_path / "n.sql").write_text(KEYLESS)
    settings = load_settings(overrides=[f"output.path={tmp_path / 'out'}"])
    with pytest.raises(GateRefused, match="quarantine_share: 1 of 4 rows"):
        clean(session, settings.config, prepare(str(tmp_path / "n.sql"), None, {}, {}), "r", say=lambda line: None)
    assert not (tmp_path / "out" / "CURRENT").exists() and not list((tmp_path / "out").rglob("*.gz"))
