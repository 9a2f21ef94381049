"""The jobs as commands: exit codes, messages and what is published."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.schemas import PUBLISHED
from tests.conftest import ROOT
from tests.pipeline.cases import LIBRARY, REWORDED
from tests.pipeline.helpers import digest, drops, published, survivors

ROWS = {"doc_id": ["a", "b", "c", "d"], "content": [LIBRARY, REWORDED, "好评", "好评"]}


class Done(NamedTuple):
    code: int
    out: str
    error: str


def job(name: str, *arguments: str | Path, cwd: Path, **environment: str) -> Done:
    command = [sys.executable, str(ROOT / "jobs" / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "200", **environment})
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def rebuild(tmp_path):
    """The rebuild of a table (or of whatever --input names) into ``out``, all in a folder of its own."""

    def run(columns: dict | None, *arguments: str | Path, **environment: str) -> Done:
        if columns is not None:
            pq.write_table(pa.table(columns), tmp_path / "input.parquet")
            arguments = ("--input", "input.parquet", "--output", "out", "--set", "output.report=false", *arguments)
        return job("rebuild", *arguments, cwd=tmp_path, **environment)

    return run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with the published run ``first``, and what its job said."""
    folder = tmp_path_factory.mktemp("finished")
    pq.write_table(pa.table(ROWS), folder / "input.parquet")
    done = job("rebuild", "--input", "input.parquet", "--output", "out", "--run-id", "first", cwd=folder)
    assert done.code == 0, done.error
    return folder, done


def state(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- success ----


def test_a_run_publishes_and_says_what_it_did(finished):
    folder, done = finished
    tables = published(folder / "out")
    assert drops(tables) == {"b": ("a", "near"), "d": ("c", "exact_raw")}
    figures = {" ".join(line.split()[:-2]): line.split()[-2:] for line in done.out.splitlines() if line.startswith("  ")}
    assert figures["rows in"] == ["4", "100.0%"] and figures["kept"] == ["2", "50.0%"]
    assert figures["near"] == ["1", "25.0%"] and figures["exact_raw"] == ["1", "25.0%"]
    assert "tables: out/runs/first" in done.out
    assert "b dropped for a: near, Jaccard 0.8" in done.out and "{+、自习区+}" in done.out
    assert done.error == ""


def test_a_run_leaves_no_work_behind(finished):
    folder, _ = finished
    assert sorted(os.listdir(folder / "out" / "runs" / "first")) == sorted(
        [table.name for table in PUBLISHED]
        + ["metrics.json", "manifest.json", "run.json", "gates.json", "lineage.jsonl", "metrics.prom", "report.html"]
    )
    assert sorted(os.listdir(folder)) == ["input.parquet", "out"]


def test_a_second_run_replaces_the_pointer_and_keeps_the_first(rebuild, tmp_path):
    assert rebuild(ROWS, "--run-id", "one").code == 0
    before = state(tmp_path / "out" / "runs" / "one")
    assert rebuild({"doc_id": ["x"], "content": ["中评"]}, "--run-id", "two", "--set", "output.keep_work=true").code == 0
    assert survivors(published(tmp_path / "out")) == {"x"}
    assert state(tmp_path / "out" / "runs" / "one") == before
    assert (tmp_path / "out" / "runs" / "two" / "_work").is_dir()


def test_files_and_formats_are_named_on_the_command_line(rebuild, tmp_path):
    (tmp_path / "a.csv").write_text('编号,正文\n001,"他说""好"",\n完了"\n')
    (tmp_path / "b.csv").write_text('编号,正文\n002,"他说""好"",\n完了"\n')
    names = ("--set", "input.columns.doc_id=编号", "--set", "input.columns.content=正文", "--set", "input.format=csv")
    done = rebuild(None, "--input", "a.csv", "--input", "b.csv", "--output", "out", *names)
    assert done.code == 0, done.error
    assert drops(published(tmp_path / "out")) == {"002": ("001", "exact_raw")}


def test_work_left_by_a_killed_run_does_not_matter(rebuild, tmp_path):
    assert rebuild(ROWS, "--run-id", "clean").code == 0
    expected = digest(published(tmp_path / "out"))
    left = tmp_path / "out" / "runs" / "killed" / "_work" / "normalized"
    left.mkdir(parents=True)
    (left / "part-0.parquet").write_bytes(b"half a fi")
    assert rebuild(ROWS, "--run-id", "killed").code == 2  # a run is never written over
    assert rebuild(ROWS, "--run-id", "again").code == 0
    assert digest(published(tmp_path / "out")) == expected


# ---- looking without touching ----


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "jobs").glob("*.py")))
def test_help_fits_the_screen(tmp_path, name):
    done = job(name, "--help", cwd=tmp_path, COLUMNS="80")
    lines = done.out.splitlines()
    assert done.code == 0 and "--output" in done.out
    assert len(lines) <= (40 if name == "clean_dump" else 27) and max(map(len, lines)) <= 80


def test_settings_are_printed_with_their_origin(tmp_path):
    done = job("rebuild", "--print-config", "--input", "x", "--set", "candidates.max_rounds=9", cwd=tmp_path)
    lines = {line.split()[0]: line for line in done.out.splitlines()}
    assert done.code == 0 and os.listdir(tmp_path) == []
    assert lines["candidates.max_rounds"].split()[1:] == ["9", "#", "--set"]
    assert lines["review.max_pairs_per_row"].endswith("conf/rebuild.yaml")
    assert "['x']" in lines["input.path"]


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(rebuild, tmp_path):
    done = rebuild(ROWS, "--dry-run")
    assert done.code == 0 and os.listdir(tmp_path) == ["input.parquet"]
    for part in (
        "4 rows",
        "doc_id, content",
        "no publication time",
        "drop_jaccard 0.8",
        "bands 18",
        "found_at_drop_threshold 0.999",
    ):
        assert part in done.out


# ---- refusals ----


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--nosuch"], "No such option: --nosuch"),
        (["--input", "x"], "error: output.path (--output): not set"),
        (["--output", "x"], "error: input.path (--input): not set"),
        (
            ["--input", "x", "--output", "y", "--set", "a.b=1", "--set", "gates.quarantine_share.fail=7"],
            "error: a (--set): unknown setting",
        ),
        (["--config", "no.yaml"], "error: no.yaml: no such file"),
        (
            ["--input", "x", "--output", "y", "--engine", "connect=sc://h:x/;token=geheim"],
            "error: engine: sc://h:x is no address of a Spark Connect server",
        ),
        (["--engine", "flink"], "error: engine (--set): the engine is embedded, spark or connect="),
        (
            ["--profile", "nwes"],
            "error: profile: no profile is called 'nwes'; known: comment, log, news, notice, product; did you mean news?",
        ),
    ],
)
def test_wrong_usage_is_code_2(rebuild, tmp_path, arguments, complaint):
    done = rebuild(None, *arguments)
    assert done.code == 2 and complaint in done.error
    assert os.listdir(tmp_path) == []


CLASH = {**ROWS, "simhash": [1, 2, 3, 4], "kept_id": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (
            {"doc_id": ["a"], "text": ["好评"]},
            "input input.parquet: has no column 'content' (input.columns.content); it has doc_id, text",
        ),
        ({"content": [1, 2]}, "input input.parquet: column 'content' is bigint, neither text nor bytes"),
        (CLASH, "input input.parquet: column kept_id, simhash has a name that the result needs"),
        ({"content": pa.array([], pa.string())}, "input input.parquet: holds no rows"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["", "dry"])
def test_an_input_that_cannot_be_used_is_code_4(rebuild, tmp_path, columns, complaint, dry):
    if dry and "no rows" in complaint:
        columns, complaint = {"content": [["x"]]}, "column 'content' is array<string>, neither text nor bytes"
    done = rebuild(columns, *dry)
    assert done.code == 4 and complaint in done.error
    assert not (tmp_path / "out" / "CURRENT").exists()


def test_a_missing_input_is_code_4(rebuild, tmp_path):
    done = rebuild(None, "--input", "nowhere/*.parquet", "--output", "out")
    assert done.code == 4 and done.error == "error: input nowhere/*.parquet: no such file or folder\n"
    assert os.listdir(tmp_path) == []


def test_an_output_inside_the_input_is_code_4(rebuild, tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(ROWS), tmp_path / "data" / "rows.parquet")
    before = state(tmp_path)
    for output in ("data", "data/out"):
        done = rebuild(None, "--input", "data", "--output", output)
        assert done.code == 4 and f"output {output}: overlaps the input data" in done.error
    assert state(tmp_path) == before


def test_a_cut_parquet_file_is_left_out_and_too_many_are_refused(rebuild, tmp_path):
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(ROWS), tmp_path / "data" / "1.parquet")
    whole = (tmp_path / "data" / "1.parquet").read_bytes()
    (tmp_path / "data" / "2.parquet").write_bytes(whole[: len(whole) // 2])
    done = rebuild(None, "--input", "data", "--output", "out")
    assert done.code == 3 and "left out data/2.parquet: " in done.out
    assert not (tmp_path / "out" / "CURRENT").exists()


def test_damage_inside_a_parquet_file_is_reported_without_a_traceback(rebuild, tmp_path):
    pq.write_table(pa.table({"content": [f"{LIBRARY}{number}" for number in range(500)]}), tmp_path / "damaged.parquet")
    data = bytearray((tmp_path / "damaged.parquet").read_bytes())
    data[200:400] = bytes(200)
    (tmp_path / "damaged.parquet").write_bytes(data)
    done = rebuild(None, "--input", "damaged.parquet", "--output", "out")
    assert done.code == 4 and "damaged.parquet" in done.error
    assert not (tmp_path / "out" / "CURRENT").exists()


def test_too_much_quarantine_is_code_3_and_leaves_the_published_run(rebuild, tmp_path):
    assert rebuild(ROWS, "--run-id", "good").code == 0
    done = rebuild({"doc_id": ["a", "b", "c"], "content": ["好评", None, ""]}, "--run-id", "bad")
    assert done.code == 3 and "2 of 3 rows (66.7%)" in done.error and "gates.quarantine_share.fail = 5.0%" in done.error
    assert survivors(published(tmp_path / "out")) == {"a", "c"}
    assert (tmp_path / "out" / "runs" / "bad" / "metrics.json").exists()


def test_a_run_of_the_same_name_does_not_touch_the_published_one(rebuild, tmp_path):
    assert rebuild(ROWS, "--run-id", "tonight").code == 0
    before = state(tmp_path / "out")
    done = rebuild({"doc_id": ["a"], "content": pa.array([None], pa.string())}, "--run-id", "tonight")
    assert done.code != 0
    assert state(tmp_path / "out") == before


def test_a_wrong_run_id_is_refused_before_anything_is_read(rebuild, tmp_path):
    done = rebuild(None, "--input", str(ROOT / "data" / "sample"), "--output", "out", "--run-id", "../x")
    assert done.code in (2, 4) and "run id '../x': use letters, digits" in done.error
    assert os.listdir(tmp_path) == []


# ---- explain ----


def test_a_dropped_row_is_explained(finished):
    folder, _ = finished
    done = job("explain", "--output", "out", "--doc-id", "b", cwd=folder)
    lines = done.out.splitlines()
    assert done.code == 0 and lines[:2] == ["b: dropped   (run first)", "cluster of 2: survivor a; b"]
    assert "b dropped for a" in lines
    assert "method near, Jaccard 0.89" in done.out and "threshold 0.8000" in done.out and "reason jaccard" in done.out
    assert "展览厅" in done.out and "自习区" in done.out


def test_a_survivor_is_explained_with_what_fell_for_it(finished):
    folder, _ = finished
    done = job("explain", "--output", "out", "--doc-id", "a", "--run-id", "first", cwd=folder)
    assert done.code == 0 and done.out.startswith("a: kept   (run first)\ncluster of 2: survivor a; b\n")
    assert "b dropped for a" in done.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--output", "out", "--doc-id", "A"], "run first has no row 'A'"),
        (["--output", "out", "--doc-id", "a", "--run-id", "other"], "out/runs/other/manifest.json: no such file"),
        (["--output", "nowhere", "--doc-id", "a"], "nowhere: nothing is published here"),
    ],
)
def test_what_cannot_be_explained_is_code_4(finished, arguments, complaint):
    folder, _ = finished
    done = job("explain", *arguments, cwd=folder)
    assert done.code == 4 and complaint in done.error and done.out == ""
