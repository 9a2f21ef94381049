"""Faults of the machine: a full disk, an output that cannot be written, executors and workers that die, tasks that fail."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pyspark
import pytest

from tests.conftest import JAVA, ROOT, needs_java, on_their_own
from tests.faults.flaky import SAID
from tests.faults.killing import Killing
from tests.pipeline.helpers import digest, published

FULL = os.environ.get("FAULTS") == "yes"
SPARK = Path(pyspark.__file__).parent
SECONDS = 400  # after which a run is ended
only_in_full = pytest.mark.skipif(not FULL, reason="real faults: make test-faults")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root alone")


@pytest.fixture(scope="module")
def case(tmp_path_factory) -> Killing:
    """A corpus, its undisturbed result, and an output in which another one is published."""
    return Killing(tmp_path_factory.mktemp("injected"), 1_000)


class Done(NamedTuple):
    """How a run ended."""

    code: int
    said: str


def job(case: Killing, output: Path, engine: str = "embedded", *options: str) -> Done:
    environment = on_their_own(**({"JAVA_HOME": JAVA} if JAVA else {}))
    command = [sys.executable, str(ROOT / "jobs" / "rebuild.py"), "--engine", engine]
    command += ["--input", case.corpus, "--output", str(output), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=SECONDS)
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout + done.stderr)


# ---- the disk ----


@contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Callable[[str], None]]:
    """A small disk at a folder; what is given changes its options. Skips where none can be mounted."""

    def mount(*options: str) -> int:
        return subprocess.run(["mount", *options, "tmpfs", str(folder)], capture_output=True).returncode

    folder.mkdir()
    if mount("-t", "tmpfs", "-o", f"size={kilobytes}k"):
        pytest.skip("no disk can be mounted here")
    try:
        yield lambda options: mount("-o", f"remount,{options}") and pytest.fail(f"remount {options}")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@only_in_full
@as_root
@pytest.mark.parametrize(
    ("engine", "share"),
    [*(("embedded", share) for share in (0.02, 0.3, 0.6, 0.9)), pytest.param("spark", 0.3, marks=needs_java)],
)
def test_a_full_disk_is_named_and_with_more_room_the_run_goes_on(case, tmp_path, engine, share):
    """``share``: of the room that the run takes, so that the disk is full in early and in late stages."""
    taken = published(case.folder / "undisturbed")["metrics"]["room"]["disk_used"]
    before = sum(file.stat().st_size for file in (case.folder / "old").rglob("*") if file.is_file())
    whole = (before + taken) // 1024 + 500  # file systems take whole pages
    with disk(tmp_path / "disk", int((before / 1024 + 300) + taken / 1024 * share)) as remount:
        output = tmp_path / "disk" / "out"
        shutil.copytree(case.folder / "old", output)
        done = job(case, output, engine, "--set", "output.check_room=false")
        assert done.code == 1, done.said[-2000:]
        assert f"error: a disk is full or cannot be written: output {output} (" in done.said and "run it again" in done.said
        assert digest(published(output)) == case.old
        remount(f"size={2 * whole + 4096}k")
        done = job(case, output, engine, "--set", "output.check_room=false")
        assert done.code == 0, done.said[-2000:]
        assert digest(published(output)) == case.expected


@only_in_full
@as_root
def test_an_output_that_cannot_be_written_is_refused_and_left_alone(case, tmp_path):
    with disk(tmp_path / "disk", 65_536) as remount:
        output = tmp_path / "disk" / "out"
        shutil.copytree(case.folder / "old", output)
        remount("ro")
        done = job(case, output)
        assert done.code == 2 and f"error: output {output}: cannot be written: Read-only file system" in done.said
        assert digest(published(output)) == case.old
        remount("rw")
        assert job(case, output).code == 0
        assert digest(published(output)) == case.expected


@only_in_full
def test_a_file_where_the_output_should_be_is_refused(case, tmp_path):
    (tmp_path / "out").write_text("mine")
    done = job(case, tmp_path / "out")
    assert done.code == 2 and f"error: output {tmp_path / 'out'}: cannot be written" in done.said
    assert (tmp_path / "out").read_text() == "mine"


# ---- a cluster ----


def is_executor(process: psutil.Process) -> bool:
    return "org.apache.spark.executor.CoarseGrainedExecutorBackend" in process.cmdline()


def is_worker(process: psutil.Process) -> bool:
    """A process that runs Python functions: the daemon's child, which the daemon became by forking."""
    parent = process.parent()
    return "pyspark.daemon" in process.cmdline() and parent is not None and "pyspark.daemon" in parent.cmdline()


def find(root: psutil.Process, kind: Callable[[psutil.Process], bool]) -> psutil.Process | None:
    for process in root.children(recursive=True):
        try:
            if kind(process):
                return process
        except psutil.Error:  # it went meanwhile
            continue
    return None


def executor_of(root: psutil.Process) -> psutil.Process | None:
    """An executor at work: one that has a Python worker."""
    return find(root, lambda process: is_executor(process) and find(process, is_worker) is not None)


def worker_of(root: psutil.Process) -> psutil.Process | None:
    """A Python worker."""
    return find(root, is_worker)


@only_in_full
@needs_java
@pytest.mark.parametrize(
    ("victim", "trace", "place"),
    [
        (executor_of, "Lost executor", "said"),
        (worker_of, "Python worker exited unexpectedly", "spark/**/stderr"),
    ],
)
def test_a_run_outlives_what_runs_its_tasks(case, tmp_path, victim, trace, place):
    """Killed until a trace of it is found: a worker between two tasks is missed by nobody."""
    shutil.copytree(case.folder / "old", tmp_path / "out")
    (tmp_path / "spark").mkdir()  # local-cluster writes into Spark's own folder
    for part in ("bin", "jars", "python"):
        (tmp_path / "spark" / part).symlink_to(SPARK / part)
    settings = ["spark.executor.memory=1g", "spark.driver.memory=1g", "spark.ui.enabled=false", "spark.sql.shuffle.partitions=4"]
    settings += [f"spark.{side}.defaultJavaOptions=-XX:TieredStopAtLevel=1" for side in ("driver", "executor")]
    command = [str(tmp_path / "spark" / "bin" / "spark-submit"), "--master", "local-cluster[2,1,1024]"]
    command += [word for setting in settings for word in ("--conf", setting)]
    command += [str(ROOT / "jobs" / "rebuild.py"), "--input", case.corpus, "--output", str(tmp_path / "out")]
    environment = on_their_own(JAVA_HOME=JAVA, SPARK_HOME=str(tmp_path / "spark"), SPARK_LOCAL_IP="127.0.0.1")
    kills = 0
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment, cwd=tmp_path, start_new_session=True)
        root, begun = psutil.Process(process.pid), time.monotonic()
        try:
            while process.poll() is None and time.monotonic() - begun < SECONDS:
                if not found(tmp_path, place, trace) and kills < 8 and (target := victim(root)) is not None:
                    time.sleep(0.3)
                    target.send_signal(signal.SIGKILL)
                    kills += 1
                    time.sleep(2)
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == 0, (tmp_path / "said").read_text("utf-8", "replace")[-3000:]
    assert kills and found(tmp_path, place, trace)
    assert digest(published(tmp_path / "out")) == case.expected


def found(folder: Path, place: str, words: str) -> bool:
    return any(words in file.read_text("utf-8", "replace") for file in folder.glob(place))


@only_in_full
@needs_java
def test_tasks_that_fail_on_their_first_attempt_change_nothing(case, tmp_path):
    shutil.copytree(case.folder / "old", tmp_path / "out")
    command = [sys.executable, "-m", "tests.faults.flaky", case.corpus, str(tmp_path / "out")]
    environment = on_their_own(JAVA_HOME=JAVA, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-3000:]
    assert SAID in done.stderr  # Spark tells of the attempts that failed
    assert digest(published(tmp_path / "out")) == case.expected
