"""The commands of the night: exit codes, and what they say."""

from __future__ import annotations

import io
import json
import os
import runpy
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.files import Folder
from dedup_lib.locking import Lock
from tests.conftest import ROOT
from tests.pipeline.cases import LIBRARY, REWORDED
from tests.pipeline.helpers import UNREPORTED
from tests.test_jobs import ROWS, Done, job

QUIET = ("--log-format", "json", "--set", UNREPORTED)


@pytest.fixture(scope="module")
def nights(tmp_path_factory) -> Path:
    """A folder with the published runs ``one`` and ``two``."""
    folder = tmp_path_factory.mktemp("nights")
    for name, columns in (("one", ROWS), ("two", {"doc_id": ["a", "b"], "content": [LIBRARY, REWORDED]})):
        pq.write_table(pa.table(columns), folder / "input.parquet")
        done = job("rebuild", "--input", "input.parquet", "--output", "out", "--run-id", name, *QUIET, cwd=folder)
        assert done.code == 0, done.error
        lines = [json.loads(line) for line in done.out.splitlines()]
        assert lines[-1]["event"] == "published" and {"time", "level", "message"} <= set(lines[0])
    return folder


def publish(folder: Path, *arguments: str) -> Done:
    """The command in this process: it starts no engine. That it starts in one of its own is tested below."""
    out, error = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(error), pytest.raises(SystemExit) as ended:
        with mock.patch.object(sys, "argv", ["publish.py", *arguments, "--output", "out"]):
            runpy.run_path(str(ROOT / "jobs" / "publish.py"), run_name="__main__")
    return Done(ended.value.code or 0, out.getvalue(), error.getvalue())


def test_runs_are_listed_rolled_back_promoted_and_pruned(nights):
    rows = [line.split()[:2] for line in publish(nights, "list").out.splitlines()]
    assert rows == [["run", "state"], ["one", "complete"], ["two", "published"]]
    assert publish(nights, "rollback").out == "published: one (before: two)\n"
    done = publish(nights, "rollback")
    assert done.code == 2 and "no run was published before one" in done.error
    assert publish(nights, "promote", "two").out == "published: two (before: one)\n"
    assert publish(nights, "prune", "--keep", "0", "--dry-run").out == "would go: 0 runs, 0 B\n"
    done = publish(nights, "promote", "../two")
    assert done.code == 2 and "run id '../two'" in done.error


def test_nothing_to_do_is_success(nights):
    done = job("rebuild", "--input", "input.parquet", "--output", "out", "--set", UNREPORTED, cwd=nights)
    assert done.code == 0 and "nothing to do: run two is published" in done.out and "rows in" in done.out


def test_who_comes_second_gets_75(nights):
    with Lock(Folder(str(nights / "out"))) as lock:
        lock.names("busy")
        for done in (
            job("rebuild", "--input", "input.parquet", "--output", "out", "--fresh", cwd=nights),
            publish(nights, "prune", "--keep", "1"),
        ):
            assert done.code == 75 and f"process {os.getpid()}, run busy, since" in done.error
        assert publish(nights, "list").code == 0


def test_a_stale_input_is_code_4_before_anything_is_read(nights):
    os.utime(nights / "input.parquet", (1e9, 1e9))
    more = ("--set", "gates.file_age_hours.fail=50", "--log-format", "json")
    done = job("rebuild", "--input", "input.parquet", "--output", "out", *more, cwd=nights)
    told = json.loads(done.error)
    assert done.code == 4 and told["exit_code"] == 4 and told["level"] == "error" and done.out == ""
    assert "its newest file is" in told["message"] and "gates.file_age_hours.fail = 50" in told["message"]


def test_a_folder_without_runs_is_named(tmp_path):
    done = job("publish", "list", "--output", "out", cwd=tmp_path)
    assert done.code == 4 and done.error.startswith("error: out: holds no runs")
    assert os.listdir(tmp_path) == []
