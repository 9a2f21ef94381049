"""Files that cannot be read are left out, named and counted; the others are processed. What cannot be left out is refused."""

from __future__ import annotations

import gzip
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib import pipeline, unreadable
from dedup_lib.errors import GateRefused, InputError
from dedup_lib.session import open_session
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


def while_it_is_read(change) -> None:
    """Change the input between reading and publishing."""
    learn = pipeline._Run.learn

    def meanwhile(self, normalized):
        change()
        return learn(self, normalized)

    pipeline._Run.learn = meanwhile


def without_a_file(folder: Path, output: Path) -> str:
    """What a run says of a file that vanishes; in a process of its own, since the engine may go with the file."""
    while_it_is_read((folder / "part-001.parquet").unlink)
    with open_session("embedded") as session:
        try:
            run_on(session, str(folder), output)
        except (InputError, GateRefused) as error:
            return str(error)
    return "nothing"


def test_a_file_that_vanishes_while_it_is_read_is_named(tmp_path):
    folder = write_rows(GOOD, tmp_path / "input", files=2)
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        assert "part-001" in process.submit(without_a_file, folder, tmp_path / "output").result()


@embedded_only
def test_a_file_that_comes_late_is_for_the_next_run(session, tmp_path, monkeypatch):
    folder = write_rows(GOOD, tmp_path / "input", files=2)

    def comes() -> None:
        write_rows([{"doc_id": "new", "content": "新来的一条"}], folder / "late")
        (folder / "late" / "part-000.parquet").rename(folder / "late.parquet")

    monkeypatch.setattr(pipeline._Run, "learn", pipeline._Run.learn)  # put back afterwards
    while_it_is_read(comes)
    tables = run_on(session, str(folder), tmp_path / "output")
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


@embedded_only
@pytest.mark.parametrize(("kind", "suffix"), [("csv", "csv"), ("csv", "csv.gz"), ("json", "jsonl")])
def test_lines_that_are_no_utf8_are_refused_with_the_place(session, tmp_path, kind, suffix):
    head, first, second = {
        "csv": ("doc_id,content\n", "1,第一条\n", "2,GARBLED\n"),
        "json": ("", '{"content": "第一条"}\n', '{"content": "GARBLED"}\n'),
    }[kind]
    text = f"{head}{first}{second}".encode()
    file = tmp_path / f"in.{suffix}"
    packed = gzip.compress if suffix.endswith("gz") else bytes
    for place, bad in ((text.index(b"GARBLED"), "汉字".encode("gb18030")), (len(text) - 1, "字".encode()[:2])):
        file.write_bytes(packed(text[:place] + bad))
        with pytest.raises(InputError, match=rf"in\.{suffix}: .* byte \d+ or one near it is no UTF-8; convert the file"):
            unreadable.load(session, [str(file)], kind)
    file.write_bytes(packed(text))
    assert unreadable.load(session, [str(file)], kind).frame.count() == 2
