"""What the meter sees: memory of the whole tree, CPU of processes that lost their parent, the folder, the end of a late run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.meter import descendants, folder_bytes, tree_memory

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
MEGA = 1_000_000
HOLD = "import sys; held = b'x' * {size}; print('held', flush=True); sys.stdin.read()"


def metered(tmp_path: Path, code: str, *options: str) -> dict:
    report = tmp_path / "usage.json"
    command = [sys.executable, "-m", "bench.meter", "--report", str(report), *options, "--", sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=False)
    return json.loads(report.read_text("utf-8"))


def test_memory_of_a_child_and_its_child_counts():
    before = tree_memory(os.getpid())
    inner = HOLD.format(size=60 * MEGA)
    outer = f"import subprocess, sys; held = b'x' * {40 * MEGA}; subprocess.run([sys.executable, '-c', {inner!r}])"
    child = subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    used = tree_memory(os.getpid()) - before
    assert child.pid in descendants(os.getpid())
    child.communicate()
    assert 100 * MEGA < used < 250 * MEGA
    assert child.pid not in descendants(os.getpid())


def test_a_run_is_measured(tmp_path):
    watched = tmp_path / "out"
    watched.mkdir()
    code = f"""
import time, pathlib
pathlib.Path({str(watched)!r}, 'file').write_bytes(b'x' * 5000)
held = b'x' * {80 * MEGA}
end = time.process_time() + 0.6
while time.process_time() < end: pass
"""
    used = metered(tmp_path, code, "--watch", str(watched))
    assert used["exit_code"] == 0
    assert 0.6 <= used["cpu_seconds"] < 5
    assert used["wall_seconds"] > 0.5
    assert used["peak_memory_bytes"] > 80 * MEGA
    assert used["peak_disk_bytes"] == 5000


def test_cpu_of_a_process_that_lost_its_parent_counts(tmp_path):
    burn = "import time; end = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    used = metered(tmp_path, f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}])")
    assert used["cpu_seconds"] >= 0.6


@pytest.mark.parametrize(
    ("code", "options", "told"), [("raise SystemExit(3)", (), 3), ("import time; time.sleep(60)", ("--timeout", "0.5"), None)]
)
def test_failures_and_late_runs_are_told(code, options, told, tmp_path):
    assert metered(tmp_path, code, *options)["exit_code"] == told


def test_a_folder_is_as_large_as_its_files(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "one").write_bytes(b"12345")
    (tmp_path / "two").write_bytes(b"123")
    assert folder_bytes(str(tmp_path)) == 8
    assert folder_bytes(str(tmp_path / "missing")) == 0
