"""What each table of a run costs Apache Spark for each input row, and which of its stages ran in one task: from event logs.

    python -m bench.growth EVENTS [EVENTS ...]      folders of event logs, the smaller corpus first

A log is made by running the job with the settings of ``bench/events.py``. With
``--conf spark.sql.adaptive.coalescePartitions.enabled=false`` a stage has one task only where its plan asks for one: otherwise
Spark joins small partitions, and on a small corpus nearly every stage has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

_WRITES = re.compile(r"InsertIntoHadoopFsRelationCommand [^,]*/([^/,]+),")
_EVENTS = ("SparkListenerSQLExecutionStart", "SparkListenerJobStart", "SparkListenerStageSubmitted", "SparkListenerTaskEnd")
_OPERATORS = re.compile(r"Window|MapInArrow|Coalesce|Sort|Aggregate|Join|CollectLimit|WriteFiles")


@dataclass
class Stage:
    """One stage of Spark's; ``rows`` and ``bytes`` are what it read from shuffles, ``peak`` the most memory of a task's."""

    table: str
    operators: set[str] = field(default_factory=set)
    tasks: int = 0
    rows: int = 0
    bytes: int = 0
    written: int = 0
    output: int = 0
    spilled: int = 0
    peak: int = 0


@dataclass
class Cost:
    """Sums over the stages that write a table, in bytes; ``peak`` is the most memory that one task took for sorts and joins."""

    rows: int = 0
    shuffled: int = 0
    output: int = 0
    spilled: int = 0
    peak: int = 0


def stages(lines: Iterable[str]) -> list[Stage]:
    """The stages of a log that ran, in order; ``table`` is the one they write, or ``-`` where they are for a count."""
    tables: dict[str, str] = {}
    found: dict[int, Stage] = {}
    for event in _events(lines):
        kind = event["Event"].rpartition(".")[2]
        if kind == _EVENTS[0]:
            written = _WRITES.search(json.dumps(event["sparkPlanInfo"]))
            tables[str(event["executionId"])] = written[1] if written else "-"
        elif kind == _EVENTS[1]:
            table = tables.get(event.get("Properties", {}).get("spark.sql.execution.id"), "-")
            for stage in event["Stage IDs"]:
                found.setdefault(stage, Stage(table))
        elif kind == _EVENTS[2]:
            info = event["Stage Info"]
            scopes = [json.loads(rdd["Scope"])["name"] for rdd in info["RDD Info"] if "Scope" in rdd]
            found.setdefault(info["Stage ID"], Stage("-")).operators = set(filter(_OPERATORS.search, scopes))
        else:
            _add(found.setdefault(event["Stage ID"], Stage("-")), event.get("Task Metrics") or {})
    return [found[number] for number in sorted(found) if found[number].tasks]


def _events(lines: Iterable[str]) -> Iterator[dict]:
    """The events that matter here; a line that is cut off, as the last one is where Spark was ended, is left out."""
    for line in lines:
        if any(name in line[:90] for name in _EVENTS):
            with suppress(json.JSONDecodeError):
                yield json.loads(line)


def _add(stage: Stage, metrics: dict) -> None:
    read, written = metrics.get("Shuffle Read Metrics", {}), metrics.get("Shuffle Write Metrics", {})
    stage.tasks += 1
    stage.rows += read.get("Total Records Read", 0)
    stage.bytes += read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0)
    stage.written += written.get("Shuffle Bytes Written", 0)
    stage.output += metrics.get("Output Metrics", {}).get("Bytes Written", 0)
    stage.spilled += metrics.get("Disk Bytes Spilled", 0)
    stage.peak = max(stage.peak, metrics.get("Peak Execution Memory", 0))


def costs(of: Iterable[Stage]) -> dict[str, Cost]:
    """What each table costs, in the order in which they are written; rounds of one table are one."""
    found: dict[str, Cost] = {}
    for stage in of:
        cost = found.setdefault(re.sub(r"_\d+(?=_|$)", "", stage.table), Cost())
        cost.rows += stage.rows
        cost.shuffled += stage.written
        cost.output += stage.output
        cost.spilled += stage.spilled
        cost.peak = max(cost.peak, stage.peak)
    return found


def input_rows(lines: Iterable[str]) -> int:
    """Rows of the corpus: the most that any stage before the first written table read from files."""
    most: dict[int, int] = {}
    for event in _events(lines):
        if event["Event"] == _EVENTS[3]:
            read = (event.get("Task Metrics") or {}).get("Input Metrics", {}).get("Records Read", 0)
            most[event["Stage ID"]] = most.get(event["Stage ID"], 0) + read
            if len(most) > 6:
                break
    return max(most.values(), default=0)


def _lines(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            with path.open(encoding="utf-8", errors="replace") as file:
                yield from file


def main(events: Annotated[list[Path], typer.Argument(metavar="EVENTS", help="Folders of event logs.")]) -> None:
    """Print what each table costs for each input row, and the stages of the last log that ran in one task."""
    logs = [stages(_lines(folder)) for folder in events]
    rows = [input_rows(_lines(folder)) for folder in events]
    tables = [costs(log) for log in logs]
    print(f"{'per input row':<32}" + "".join(f"{count:>16,} rows in" + " " * 25 for count in rows))
    print(f"{'table':<32}" + "   shuffled rows, bytes;  written; task MB;  spilled" * len(rows))
    for name in tables[-1]:
        cells = [(table.get(name, Cost()), count) for table, count in zip(tables, rows, strict=True)]
        print(f"{name:<32}" + "".join(
            f"{c.rows / n:>14.2f} {c.shuffled / n:>9.1f} {c.output / n:>9.1f} {c.peak / 1e6:>8.1f} {c.spilled / n:>8.1f}"
            for c, n in cells
        ))  # fmt: skip
    print("\nstages that ran in one task and read a shuffle")
    for stage in logs[-1]:
        if stage.tasks == 1 and stage.rows > 1:
            print(f"{stage.table:<32} {stage.rows:>10,} rows {stage.bytes:>12,} bytes  {', '.join(sorted(stage.operators))}")


if __name__ == "__main__":
    typer.run(main)
