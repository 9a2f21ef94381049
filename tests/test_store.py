"""The folder of runs: who is published, what a run may be called, and where it may lie."""

from __future__ import annotations

import os

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.schemas import PAIRS
from dedup_lib.store import RunStore, check_paths, current_run, existing, read_input, read_verdicts
from tests.conftest import embedded_only


def store(output, run_id: str = "r1", session=None) -> RunStore:
    return RunStore(session, str(output), run_id)


# ---- the published run ----


def test_publishing_replaces_the_pointer(tmp_path):
    for run_id in ("r1", "r2"):
        store(tmp_path, run_id).make_current()
        assert current_run(str(tmp_path)) == run_id
    assert sorted(os.listdir(tmp_path)) == ["CURRENT", "published"]


def test_a_reader_sees_the_old_pointer_until_the_new_one_is_whole(tmp_path, monkeypatch):
    store(tmp_path, "r1").make_current()
    seen = []
    replace = os.replace

    def watched(source, target):
        seen.append(current_run(str(tmp_path)))
        replace(source, target)
        seen.append(current_run(str(tmp_path)))

    monkeypatch.setattr(os, "replace", watched)
    store(tmp_path, "r2").make_current()
    assert seen == ["r1", "r1", "r1", "r2"]  # before and after the line of history, before and after the pointer


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_run_that_dies_while_publishing_leaves_the_old_pointer(tmp_path, monkeypatch, step):
    store(tmp_path, "r1").make_current()

    def dies(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, step, dies)
        store(tmp_path, "r2").make_current()
    assert current_run(str(tmp_path)) == "r1"
    store(tmp_path, "r3").make_current()
    assert current_run(str(tmp_path)) == "r3"


def test_where_nothing_is_published_the_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    for output in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(InputError, match="nothing is published here") as raised:
            current_run(str(output))
        assert str(raised.value).startswith(str(output))


# ---- names and paths ----


@pytest.mark.parametrize("run_id", ["20240301T080000Z-abc", "a", "0.1_x-y", "r" * 100])
def test_a_run_may_be_called(tmp_path, run_id):
    assert store(tmp_path, run_id).folder == str(tmp_path / "runs" / run_id)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("run_id", ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\n", "-x", ".x", "运行", "r" * 101, "a\x00"])
def test_a_run_may_not_be_called(tmp_path, run_id):
    with pytest.raises(ConfigError, match="run id"):
        store(tmp_path, run_id)


OVERLAPS = [
    (["data"], "data"),
    (["data"], "data/out"),
    (["data/"], "data/deep/out"),
    (["other", "data"], "data/out"),
    (["news*"], "news_deduplicated"),
    (["data/?"], "data/o"),
    (["out/runs/r1/documents"], "out"),
    (["data"], "out/../data/x"),
    (["link"], "data/out"),
    (["data"], "link/out"),
]


@pytest.mark.parametrize(("inputs", "output"), OVERLAPS)
def test_an_output_inside_an_input_is_refused(tmp_path, monkeypatch, inputs, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    with pytest.raises(InputError, match="overlaps the input") as raised:
        check_paths(inputs, output)
    assert str(raised.value).startswith(f"output {output}:")


@pytest.mark.parametrize(
    ("inputs", "output"), [(["data"], "data-out"), (["data/in"], "data/out"), (["data/a.parquet"], "out"), ([], "out")]
)
def test_an_output_beside_the_input_is_allowed(tmp_path, monkeypatch, inputs, output):
    monkeypatch.chdir(tmp_path)
    check_paths(inputs, output)


def test_the_missing_input_is_the_one_that_is_named(tmp_path):
    (tmp_path / "here").mkdir()
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        existing(str(tmp_path / "nowhere"))
    assert existing(str(tmp_path / "he*")) == [str(tmp_path / "here")]
    assert existing("s3://bucket/nowhere") == ["s3://bucket/nowhere"]


# ---- tables ----


@embedded_only
def test_an_empty_table_keeps_its_columns(session, tmp_path):
    frame = PAIRS.conform(session.createDataFrame([], PAIRS.ddl))
    back = store(tmp_path, session=session).publish(frame, "pairs")
    assert back.schema == frame.schema and back.count() == 0
    files = ds.dataset(str(tmp_path / "runs" / "r1" / "pairs"), format="parquet")
    assert files.schema.names == PAIRS.names and files.count_rows() == 0


@embedded_only
def test_a_table_whose_first_parts_are_empty_keeps_its_rows(session, tmp_path):
    frame = session.range(100).repartition(8).where(F.col("id") == 42)
    assert store(tmp_path, session=session).publish(frame, "one").collect()[0]["id"] == 42


@embedded_only
def test_a_table_written_twice_holds_the_second_rows(session, tmp_path):
    runs = store(tmp_path, session=session)
    runs.save(session.range(50), "work")
    assert [row["id"] for row in runs.save(session.range(2), "work").orderBy("id").collect()] == [0, 1]


@embedded_only
def test_work_tables_go_and_published_ones_stay(session, tmp_path):
    runs = store(tmp_path, session=session)
    runs.save(session.range(1), "work")
    runs.publish(session.range(1), "documents")
    runs.discard_work()
    assert os.listdir(runs.folder) == ["documents"]
    codec = (
        pq.ParquetFile(next((tmp_path / "runs" / "r1" / "documents").glob("*.parquet")))
        .metadata.row_group(0)
        .column(0)
        .compression
    )
    assert codec == "ZSTD"


@embedded_only
def test_a_table_that_does_not_exist_is_named(session, tmp_path):
    with pytest.raises(InputError, match=r"runs/r1/documents: no such table"):
        store(tmp_path, session=session).table("documents")


def test_json_comes_back_as_written(tmp_path):
    runs = store(tmp_path)
    runs.write_json("metrics.json", {"行": 1, "quote": '"\n'})
    assert runs.read_json("metrics.json") == {"行": 1, "quote": '"\n'}
    with pytest.raises(InputError, match=r"manifest\.json: no such file; is the run complete"):
        runs.read_json("manifest.json")


# ---- inputs ----


@embedded_only
@pytest.mark.parametrize("kind", ["parquet", "json"])
def test_an_unreadable_file_is_named_with_its_kind(session, tmp_path, kind):
    path = tmp_path / f"input.{kind}"
    path.write_bytes(b"PAR1 this is neither {")
    with pytest.raises(InputError) as raised:
        read_input(session, [str(path)], kind)
    assert str(raised.value).startswith(f"input {path}: cannot be read as {kind}: ")
    assert "\n" not in str(raised.value) and "RPC" not in str(raised.value)


@embedded_only
def test_verdicts_are_text_in_the_table_s_own_order(session, tmp_path):
    (tmp_path / "v.CSV").write_text("verdict,other_id,more,doc_id\nprotect,,x,007\n")
    frame = read_verdicts(session, str(tmp_path / "v.CSV"))
    absent = {"judged_by": None, "judged_at": None}
    assert frame.collect()[0].asDict() == {"doc_id": "007", "other_id": None, "verdict": "protect"} | absent
