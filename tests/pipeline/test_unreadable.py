"""Files that cannot be read are left out, named and counted; the others are processed. What cannot be left out is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib import pipeline
from dedup_lib.errors import GateRefused, InputError
from tests.conftest import embedded_only
from tests.pipeline.helpers import run_on, write_rows

GOOD = [{"doc_id": str(number), "content": f"第{number}条消息，说的是另一件事"} for number in range(40)]


def folder_of(tmp_path: Path) -> Path:
    return write_rows(GOOD, tmp_path / "input")


def cut(path: Path) -> None:
    write_rows(GOOD[:5], path.parent / "_whole")
    path.write_bytes((path.parent / "_whole" / "part-000.parquet").read_bytes()[:-100])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def no_parquet(path: Path) -> None:
    path.write_text("笔记")


def damaged_page(path: Path) -> None:
    pq.write_table(pa.table({"doc_id": ["x"] * 100, "content": ["好" * 50] * 100}), path, compression="snappy")
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(data)


def broken_utf8(path: Path) -> None:
    broken = pa.StringArray.from_buffers(1, pa.array([0, 2], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfe"))
    pq.write_table(pa.table({"doc_id": ["y"], "content": broken}), path)


def other_type(path: Path) -> None:
    pq.write_table(pa.table({"doc_id": ["y"], "content": [7]}), path)


def twice_the_column(path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["content", "content"]), path)


FAULTS = [cut, empty, no_parquet, damaged_page, broken_utf8, other_type, twice_the_column]


@embedded_only
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_file_that_cannot_be_read_is_quarantined_and_the_rest_is_processed(session, tmp_path, fault):
    folder = folder_of(tmp_path)
    fault(folder / "bad.parquet")
    tables = run_on(session, str(folder), tmp_path / "output", "gates.undecodable_share.fail=1")
    assert sorted(row["doc_id"] for name in ("documents", "dropped") for row in tables[name]) == sorted(r["doc_id"] for r in GOOD)
    (line,) = tables["quarantine"]
    assert line["reason"] == "unreadable_file" and line["file"].startswith(f"{folder / 'bad.parquet'}: ")
    assert line["doc_id"] is None and line["content"] is None
    assert tables["metrics"]["rows"]["input"] == 41 and tables["metrics"]["unreadable"]["files"] == 1


@embedded_only
def test_a_file_counts_with_its_rows_when_the_share_is_judged(session, tmp_path):
    folder = folder_of(tmp_path)
    damaged_page(folder / "bad.parquet")  # 100 of 140 rows, though one line of quarantine
    with pytest.raises(GateRefused, match="quarantine_share: 100 of 140 rows"):
        run_on(session, str(folder), tmp_path / "output", "gates.quarantine_share.fail=0.5")


@embedded_only
def test_where_no_file_is_left_the_input_is_refused(session, tmp_path):
    (tmp_path / "input").mkdir()
    empty(tmp_path / "input" / "a.parquet")
    with pytest.raises(InputError, match=r"cannot be read as parquet: .*a\.parquet: "):
        run_on(session, str(tmp_path / "input"), tmp_path / "output")


@embedded_only
def test_a_folder_of_partitions_cannot_lose_a_file_unsaid(session, tmp_path):
    write_rows(GOOD, tmp_path / "input" / "day=1")
    empty(tmp_path / "input" / "day=1" / "bad.parquet")
    with pytest.raises(InputError, match=r"bad\.parquet: .*move them away"):
        run_on(session, str(tmp_path / "input"), tmp_path / "output")


@embedded_only
def test_an_empty_folder_is_refused(session, tmp_path):
    (tmp_path / "input").mkdir()
    with pytest.raises(InputError, match="input"):
        run_on(session, str(tmp_path / "input"), tmp_path / "output")


@embedded_only
@pytest.mark.parametrize("vanishes", [True, False])
def test_files_that_change_while_they_are_read(session, tmp_path, monkeypatch, vanishes):
    folder = write_rows(GOOD, tmp_path / "input", files=2)
    learn = pipeline._Run.learn

    def meanwhile(self, normalized):
        if vanishes:
            (folder / "part-001.parquet").unlink()
        else:
            write_rows([{"doc_id": "new", "content": "新来的一条"}], folder / "late")
            (folder / "late" / "part-000.parquet").rename(folder / "late.parquet")
        return learn(self, normalized)

    monkeypatch.setattr(pipeline._Run, "learn", meanwhile)
    if vanishes:
        with pytest.raises((InputError, GateRefused), match="part-001"):
            run_on(session, str(folder), tmp_path / "output")
        return
    tables = run_on(session, str(folder), tmp_path / "output")  # what comes late is for the next run
    assert tables["metrics"]["rows"]["input"] == 40 and len(tables["documents"]) + len(tables["dropped"]) == 40


@embedded_only
def test_a_strange_type_is_named_with_what_to_do(session, tmp_path):
    pq.write_table(pa.table({"content": ["好评"], "n": pa.array([1], pa.uint32())}), tmp_path / "input.parquet")
    with pytest.raises(InputError, match=r"column 'n' is uint32: write it as a signed integer"):
        run_on(session, str(tmp_path / "input.parquet"), tmp_path / "output")


def test_both_engines_leave_out_the_same(session, tmp_path):
    folder = folder_of(tmp_path)
    for fault in (cut, damaged_page):
        fault(folder / f"{fault.__name__}.parquet")
    tables = run_on(session, str(folder), tmp_path / "output")
    assert [row["file"].split(":")[0] for row in sorted(tables["quarantine"], key=lambda row: row["file"])] == [
        str(folder / "cut.parquet"), str(folder / "damaged_page.parquet"),
    ]  # fmt: skip
    assert len(tables["documents"]) + len(tables["dropped"]) == 40
