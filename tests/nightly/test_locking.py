"""Two writers of one output: one works, the other is told who and since when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from pyarrow import fs

from dedup_lib.errors import Locked
from dedup_lib.files import Folder
from dedup_lib.locking import Lock, holder
from tests.conftest import ROOT

HOLD = """
import sys, time
from dedup_lib.files import Folder
from dedup_lib.locking import Lock
with Lock(Folder(sys.argv[1])) as lock:
    lock.names("theirs")
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path):
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_process_is_told_who_and_since_when(tmp_path, other):
    folder = Folder(str(tmp_path / "out"))
    with pytest.raises(Locked, match=rf"locked by .*, process {other.pid}, run theirs, since 20.*--take-over") as raised:
        Lock(folder).__enter__()
    assert raised.value.exit_code == 75 and holder(folder)["run_id"] == "theirs"
    assert len(os.listdir(tmp_path / "out" / "locks")) == 1


def test_the_lock_of_a_process_that_was_killed_is_free_at_once(tmp_path, other):
    os.kill(other.pid, signal.SIGKILL)  # and nobody waits for it yet
    deadline = time.monotonic() + 10
    folder = Folder(str(tmp_path / "out"))
    while holder(folder) and time.monotonic() < deadline:
        time.sleep(0.01)
    with Lock(folder) as lock:
        assert len(lock.notes) == 1 and "its process is dead" in lock.notes[0]
        lock.check()
    assert not (tmp_path / "out" / "locks").exists()


def test_who_lost_the_lock_does_not_publish(tmp_path):
    folder = Folder(str(tmp_path))
    with Lock(folder) as first:
        first.check()
        with Lock(folder, take_over=True) as second:
            assert "--take-over" in second.notes[0]
            with pytest.raises(Locked, match="was taken over by"):
                first.check()
            first.names("zombie")  # writes its claim again
            with pytest.raises(Locked, match="claims it too"):
                second.check()
    assert holder(folder) is None


def other_machine(folder: Folder, **more) -> None:
    folder.write("locks/0.json", json.dumps({"machine": "other", "host": "far", "pid": 1, "user": "u", "since": "x", **more}))


def test_another_machine_counts_until_it_gives_no_sign_of_life(tmp_path):
    folder = Folder(str(tmp_path))
    other_machine(folder)
    with pytest.raises(Locked, match="locked by u on far"):
        Lock(folder).__enter__()
    before = time.time() - 1000
    os.utime(tmp_path / "locks" / "0.json", (before, before))
    with Lock(folder) as lock:
        assert "no sign of life for 17 minutes" in lock.notes[0]


@pytest.mark.parametrize("claim", ["", "{", "[1]", '{"pid": "1; rm", "host": "\\u001b[31m", "machine": 7}'])
def test_a_claim_that_cannot_be_read_is_respected(tmp_path, claim):
    folder = Folder(str(tmp_path))
    folder.write("locks/0.json", claim)
    with pytest.raises(Locked, match="locked by") as raised:
        Lock(folder).__enter__()
    assert "\x1b" not in str(raised.value)
    with Lock(folder, take_over=True):
        pass


def test_of_many_who_come_at_once_never_two_work():
    folder, inside, most, done = Folder("out", fs._MockFileSystem()), [], [], []

    def come() -> None:
        for _ in range(3):
            try:
                with Lock(folder):
                    inside.append(1)
                    most.append(len(inside))
                    time.sleep(0.002)
                    inside.pop()
                    done.append(1)
            except Locked:
                pass

    threads = [threading.Thread(target=come) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most, default=0) == 1 and done


def test_the_lock_leaves_nothing_behind(tmp_path):
    with Lock(Folder(str(tmp_path / "out"))):
        assert (tmp_path / "out" / "locks").is_dir()
    assert os.listdir(tmp_path) == []
