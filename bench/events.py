"""Bytes that Apache Spark shuffled and spilled, from its event log: JSON lines, one event each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

# Not compressed and in one file, so that nothing but JSON has to be read.
SETTINGS = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false"}
_TASK_END = '"SparkListenerTaskEnd"'


def totals(lines: Iterable[str]) -> dict[str, int]:
    """Sums over all tasks, failed ones too: bytes written to and read from shuffles, bytes spilled (on disk), tasks.

    A line that is cut off, as the last one is where Spark was ended, is left out.
    """
    found = {"shuffle_write_bytes": 0, "shuffle_read_bytes": 0, "spilled_disk_bytes": 0, "spilled_memory_bytes": 0, "tasks": 0}
    for line in lines:
        if _TASK_END not in line[:100]:
            continue
        try:
            metrics = json.loads(line).get("Task Metrics") or {}
        except json.JSONDecodeError:
            continue
        read = metrics.get("Shuffle Read Metrics", {})
        found["shuffle_write_bytes"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
        found["shuffle_read_bytes"] += read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0)
        found["spilled_disk_bytes"] += metrics.get("Disk Bytes Spilled", 0)
        found["spilled_memory_bytes"] += metrics.get("Memory Bytes Spilled", 0)
        found["tasks"] += 1
    return found


def read_events(folder: Path) -> dict[str, int]:
    """The totals of all event logs in a folder."""
    return totals(_lines(folder))


def _lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            with path.open(encoding="utf-8", errors="replace") as file:
                yield from file
