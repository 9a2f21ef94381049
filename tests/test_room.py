"""The room for a run: estimated from files, said, and enforced."""

from __future__ import annotations

import errno
import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib import room
from dedup_lib.config import Config, Input, Output
from dedup_lib.errors import ConfigError, DedupError, InputError
from dedup_lib.room import Room, check, estimate, text_bytes, watched
from dedup_lib.store import reading

GB = 10**9


def config(tmp_path, engine="embedded", path="in"):
    return Config(engine=engine, input=Input(path=[str(tmp_path / path)]), output=Output(path=str(tmp_path / "not" / "there")))


def corpus(folder, files, rows=1000):
    folder.mkdir()
    texts = [f"第{i}篇：" + chr(0x4E00 + i) * 200 for i in range(rows)]
    for number in range(files):
        pq.write_table(pa.table({"content": texts}), folder / f"{number:04}.parquet", use_dictionary=False)
    return files * sum(len(text.encode()) for text in texts)


@pytest.mark.parametrize("files", [1, 3, 120])
def test_the_text_in_parquet_files_is_estimated_from_footers(tmp_path, files):
    there = corpus(tmp_path / "in", files, 100)
    for path in ("in", "in/*.parquet"):
        assert text_bytes([str(tmp_path / path)], "parquet") == pytest.approx(there, rel=0.1)


def test_other_files_count_as_they_lie_and_packed_ones_for_more(tmp_path):
    (tmp_path / "a.json").write_bytes(b"x" * 1000)
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b""))
    packed = (tmp_path / "b.json.gz").stat().st_size
    assert text_bytes([str(tmp_path / "*.json*")], "json") == 1000 + room.PACKED * packed


def test_what_cannot_be_known_is_not_estimated(tmp_path):
    assert text_bytes(["s3a://bucket/in"], "parquet") is None
    (tmp_path / "in").write_bytes(b"no parquet")
    assert text_bytes([str(tmp_path / "in")], "parquet") is None
    assert estimate(config(tmp_path), 5) is None


def test_an_estimate_grows_with_text_and_rows_and_says_what_is_free(tmp_path):
    corpus(tmp_path / "in", 1)
    few, many = (estimate(config(tmp_path), rows) for rows in (1000, 2000))
    assert many.disk_needed - few.disk_needed == 1000 * room.DISK_PER_ROW
    assert few.disk_free > 0 and 0 < few.memory_free and few.memory_needed > room.MEMORY_AT_REST
    assert "disk" in few.line() and "memory" in few.line()
    spark = estimate(config(tmp_path, "spark"), 1000)
    assert spark.memory_needed is None and "memory" not in spark.line()


@pytest.mark.parametrize(
    "need, words",
    [
        (Room(5 * GB, 4 * GB, None, None), "need about 5.0 GB, 4.0 GB are free; choose another folder"),
        (Room(1, GB, 30 * GB, 8 * GB), "about 30.0 GB of memory, 8.0 GB are free; use --engine spark"),
    ],
)
def test_want_of_room_is_told_with_a_way_out(tmp_path, need, words):
    with pytest.raises(ConfigError) as refused:
        check(need, config(tmp_path))
    assert words in str(refused.value) and "output.check_room=false" in str(refused.value)


def test_enough_is_enough(tmp_path):
    check(Room(5 * GB, 5 * GB, 8 * GB, 8 * GB), config(tmp_path))
    check(Room(5 * GB, None, None, None), config(tmp_path))


def test_a_container_with_a_limit_has_no_more_than_that(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(room, "_CGROUPS", (str(tmp_path / "absent"), str(limit)))
    limit.write_text("max\n")
    unlimited = room.free_memory()
    limit.write_text("1000000\n")
    assert room.free_memory() < 1_000_000 < unlimited


def full(number: int) -> OSError:
    return OSError(number, os.strerror(number), "/somewhere/part-0.parquet")


@pytest.mark.parametrize(
    "error",
    [
        full(errno.ENOSPC), full(errno.EDQUOT), full(errno.EROFS),
        pa.ArrowIOError("Unable to copy data to file: No space left on device (os error 28)"),
        RuntimeError("Job aborted.\n\tat x\nCaused by: java.io.IOException: No space left on device"),
    ],
)  # fmt: skip
def test_a_full_disk_is_named_and_is_no_fault_of_the_input(tmp_path, error):
    for hidden in (False, True):
        with pytest.raises(DedupError) as told, watched(config(tmp_path)), reading(["in"], "parquet"):
            if hidden:
                raise ValueError("could not note the failure") from error
            raise error
        assert type(told.value) is DedupError and told.value.exit_code == 1
        assert f"output {tmp_path / 'not' / 'there'} (" in str(told.value) and "free), temporary files" in str(told.value)


@pytest.mark.parametrize("error", [KeyError("x"), full(errno.EACCES), InputError("No space left on device")])
def test_other_failures_stay_what_they_are(tmp_path, error):
    with pytest.raises(type(error)) as told, watched(config(tmp_path)):
        raise error
    assert told.value is error
