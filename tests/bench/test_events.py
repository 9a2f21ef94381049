"""Sums over an event log of Spark, as far as its lines can be read."""

from __future__ import annotations

import json

from bench.events import read_events, totals


def task(write: int, read: tuple[int, int], disk: int, memory: int) -> str:
    metrics = {
        "Shuffle Write Metrics": {"Shuffle Bytes Written": write, "Shuffle Records Written": 1},
        "Shuffle Read Metrics": {"Remote Bytes Read": read[0], "Local Bytes Read": read[1], "Fetch Wait Time": 9},
        "Disk Bytes Spilled": disk,
        "Memory Bytes Spilled": memory,
    }
    return json.dumps({"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Task Metrics": metrics})


LINES = [
    '{"Event":"SparkListenerLogStart","Spark Version":"4.2.1"}',
    task(100, (10, 20), 5, 50),
    '{"Event":"SparkListenerTaskStart","Stage ID":1}',
    task(1000, (0, 300), 0, 0),
    '{"Event":"SparkListenerTaskEnd","Stage ID":1,"Task End Reason":{"Reason":"TaskKilled"}}',
    '{"Event":"SparkListenerTaskEnd","Stage ID":2,"Task Metrics":null}',
    '{"Event":"SparkListenerStageCompleted","note":"SparkListenerTaskEnd is only mentioned here, far behind the first hundred"}',
    task(7, (1, 1), 1, 1)[:-20],
]
SUMS = {
    "shuffle_write_bytes": 1100, "shuffle_read_bytes": 330, "spilled_disk_bytes": 5, "spilled_memory_bytes": 50, "tasks": 4,
}  # fmt: skip


def test_sums_over_tasks():
    assert totals(LINES) == SUMS
    assert set(totals([]).values()) == {0}


def test_all_logs_of_a_folder_count_and_hidden_files_do_not(tmp_path):
    for number, half in enumerate((LINES[:3], LINES[3:])):
        (tmp_path / f"local-{number}").write_text("\n".join(half), "utf-8")
    (tmp_path / ".local-0.crc").write_bytes(b"\xff\x00crc")
    assert read_events(tmp_path) == SUMS
