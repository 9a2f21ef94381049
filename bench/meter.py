"""What a command costs: wall and CPU seconds, peak memory of its whole process tree, peak size of a folder. Linux.

    python -m bench.meter --report usage.json --watch out/run -- python jobs/rebuild.py ...

The meter adopts processes that lose their parent (Spark's Python workers outlive their daemon), so that none escapes the sum.
Memory is the sum of PSS, in which a page that three processes share counts a third for each.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

SECONDS = 0.2  # between two samples of memory
_DISK_EVERY = 5  # samples of memory for one of the folder, which has to be walked
_GRACE = 20.0  # seconds that processes left behind have to end by themselves
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def descendants(root: int) -> list[int]:
    """Ids of all processes below ``root``, without it."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                # The name in parentheses may hold anything; the parent is the second field behind it.
                parent = Path(f"/proc/{entry}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            except (OSError, IndexError):
                continue
            children.setdefault(int(parent), []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def memory(process: int) -> int:
    """Bytes of memory that are this process's own part (PSS); 0 if it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))


def tree_memory(root: int) -> int:
    """Bytes of memory of all processes below ``root``."""
    return sum(map(memory, descendants(root)))


def folder_bytes(folder: str) -> int:
    """Bytes of all files below a folder; files that vanish meanwhile do not count."""
    total, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def measure(command: Sequence[str], watch: str | None = None, timeout: float | None = None) -> dict[str, object]:
    """Run a command to its end and say what it cost.

    For a process that has no other children: it adopts and reaps everything below it. ``exit_code`` is null where the command
    was ended since it took longer than ``timeout`` seconds.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin = time.monotonic()
    main = subprocess.Popen(command)
    peak, disk, samples, late = 0, 0, 0, False
    while main.poll() is None:
        peak = max(peak, tree_memory(os.getpid()))
        if watch and samples % _DISK_EVERY == 0:
            disk = max(disk, folder_bytes(watch))
        samples += 1
        if late := timeout is not None and time.monotonic() - begin > timeout:
            _end_all()
            main.wait()
            break
        time.sleep(SECONDS)
    wall = time.monotonic() - begin
    _reap()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "exit_code": None if late else main.returncode,
        "wall_seconds": round(wall, 3),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 3),
        "peak_memory_bytes": peak,
        "peak_disk_bytes": max(disk, folder_bytes(watch)) if watch else None,
        "samples": samples,
    }


def _end_all() -> None:
    for process in descendants(os.getpid()):
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _reap() -> None:
    """Wait for processes that were left behind; their CPU time counts from then on."""
    end = time.monotonic() + _GRACE
    while True:
        try:
            process, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not process:
            if time.monotonic() > end:
                _end_all()
            time.sleep(0.05)


def main(
    command: Annotated[list[str], typer.Argument(help="What to run, behind --.")],
    report: Annotated[Path, typer.Option(metavar="FILE", help="Where to write what it cost, as JSON.")],
    watch: Annotated[str | None, typer.Option(metavar="DIR", help="Folder whose peak size is wanted.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which the command is ended.")] = None,
) -> None:
    """Run a command and write what it cost."""
    usage = measure(command, watch, timeout)
    report.write_text(json.dumps(usage), encoding="utf-8")
    sys.exit(0 if usage["exit_code"] == 0 else 1)


if __name__ == "__main__":
    typer.run(main)
