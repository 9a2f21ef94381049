"""Rows and texts of absurd size through the whole job: nothing is lost, nothing hangs, a report is written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import ROOT
from tests.pipeline.helpers import LENIENT, published

FULL = os.environ.get("FAULTS") == "yes"
pytestmark = pytest.mark.skipif(not FULL, reason="minutes of work: make test-faults")
MILLION = 1_000_000
SECONDS = 900  # after which a run is ended
BYTES = 20 << 30  # of address space, which a run that holds what it reads would exceed

ARTICLE = "国家图书馆今天举行新书发布会，读者可以免费参加，活动持续三天，地点在主馆一层大厅。"
TEXTS = {
    "thirty megabytes": ARTICLE * 250_000,
    "thirty megabytes again": ARTICLE * 250_000,
    "one character": "哈" * MILLION,
    "one that becomes eighteen": "\ufdfa" * MILLION,
    "marks on one letter": "a" + "\u0301" * MILLION,
    "nested": "<div>" * 10_000 + ARTICLE + "</div>" * 10_000,
    "never closed": "<b><i><table>" * 100_000 + ARTICLE,
    "a bomb of entities": "&amp;" * 300_000 + ARTICLE,
    "a bomb of brackets": "(" * 100_000 + "a" * 100_000 + "!" + ARTICLE,
    "a bomb of blanks": "a " * 500_000 + ARTICLE,
    "digits": "1" * MILLION + "," * MILLION,
    "nothing visible": "\u200b" * MILLION,
    "one article": ARTICLE,
}


def job(folder: Path, table: pa.Table, *settings: str) -> tuple[dict, str]:
    """Tables and words of a run over these rows."""
    pq.write_table(table, folder / "input.parquet")
    command = [
        sys.executable,
        str(ROOT / "jobs" / "rebuild.py"),
        "--engine",
        "embedded",
        "--input",
        str(folder / "input.parquet"),
    ]
    command += ["--output", str(folder / "out")]
    for setting in (LENIENT, *settings):
        command += ["--set", setting]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES)),
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout[-2000:] + done.stderr[-2000:]
    return published(folder / "out"), done.stdout


def test_documents_of_absurd_size(tmp_path):
    table = pa.table({"doc_id": list(TEXTS), "content": list(TEXTS.values())})
    tables, _ = job(tmp_path, table)
    ended = {row["doc_id"]: name for name in ("documents", "dropped", "quarantine") for row in tables[name]}
    assert set(ended) == set(TEXTS)
    assert ended["thirty megabytes"] == "documents" and ended["thirty megabytes again"] == "dropped"
    assert ended["nothing visible"] == "quarantine"
    kept = {row["doc_id"]: row["content"] for row in tables["documents"]}
    assert all(kept[name] == TEXTS[name] for name in kept)


def test_a_million_sources(tmp_path):
    ids = [str(number) for number in range(MILLION)]
    table = pa.table(
        {"doc_id": ids, "content": [f"第{number}号通知" for number in ids], "source": [f"site-{number}" for number in ids]}
    )
    tables, _ = job(tmp_path, table)
    assert tables["metrics"]["rows"]["documents"] + tables["metrics"]["rows"]["dropped"] == MILLION


def test_a_million_rows_of_one_id(tmp_path):
    table = pa.table({"doc_id": ["same"] * MILLION, "content": [f"第{number}号通知" for number in range(MILLION)]})
    tables, _ = job(tmp_path, table)
    assert len(tables["documents"]) == 1
    assert tables["metrics"]["rows"]["quarantine"] == MILLION - 1
