"""One writer at a time: a lock on an output folder, with an owner, a heartbeat and takeover, on any file system.

Who wants the lock writes a claim of its own into ``<output>/locks/`` and then looks whether it is alone there. Of two who come
at once at least one sees the other, so no exclusive creation is needed, which object stores do not have. A claim whose process
is dead on this machine is removed at once; that of another machine when it was not renewed for a while, by the clock of the
file system, which all machines share; any claim with ``--take-over``. Who lost its claim finds out before it publishes.
"""

from __future__ import annotations

import getpass
import json
import os
import random
import socket
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any

from dedup_lib.diff import visible
from dedup_lib.errors import ConfigError, Locked
from dedup_lib.files import Entry, Folder
from dedup_lib.publishing import now, read_json

LOCKS = "locks"
RENEWED_EVERY = 20.0  # seconds
STALE_AFTER = 900.0  # seconds without a sign of life, after which a claim of another machine counts no more
_TRIES = 5


class Lock:
    """``with Lock(folder) as lock``: the only writer of an output until the end. Raises ``Locked`` on entry."""

    def __init__(self, folder: Folder, take_over: bool = False, stale_after: float = STALE_AFTER) -> None:
        self.folder = folder
        self.take_over = take_over
        self.stale_after = stale_after
        self.notes: list[str] = []  # what was taken over, to be told
        self._name = f"{LOCKS}/{uuid.uuid4().hex}.json"
        self._claim = {**_myself(), "run_id": None, "since": now().isoformat()}
        self._made = not folder.exists()
        self._done = threading.Event()
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Lock:
        try:
            self._acquire()
        except OSError as error:
            told = error.strerror or str(error).splitlines()[0]
            raise ConfigError(f"output {self.folder.path}: cannot be written: {told}; choose another folder") from None
        except BaseException:
            self._leave()
            raise
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        with self._writing:
            self._leave()

    def names(self, run_id: str) -> None:
        """Note in the claim which run is in work."""
        with self._writing:
            self._claim["run_id"] = run_id
            self._write()

    def check(self) -> None:
        """Raise ``Locked`` if the lock was taken over, or somebody else claims it."""
        others = self._others()
        if not self.folder.is_file(self._name):
            taker = _told(others[0][1]) if others else "somebody"
            raise Locked(f"output {self.folder.path}: the lock of this run was taken over by {taker}; nothing was published")
        if others:
            raise Locked(f"output {self.folder.path}: {_told(others[0][1])} claims it too; nothing was published")

    def _acquire(self) -> None:
        self._write()
        for number in range(_TRIES):
            others = self._others()
            for entry, claim in list(others):
                if gone := self._gone(entry, claim):
                    self.notes.append(f"lock of {_told(claim)} taken over: {gone}")
                    self.folder.delete(entry.name)
                    others.remove((entry, claim))
            if not others:
                return
            if number < _TRIES - 1 and not any(claim.get("run_id") for _, claim in others):
                self.folder.delete(self._name)  # perhaps they came at the same moment and go back too
                time.sleep(random.uniform(0.05, 0.3))
                self._write()
            else:
                break
        raise Locked(
            f"output {self.folder.path}: locked by {_told(others[0][1])}; wait for it, or if it is certainly dead, "
            "add --take-over"
        )

    def _others(self) -> list[tuple[Entry, dict[str, Any]]]:
        found = [entry for entry in self.folder.entries(LOCKS) if entry.name.endswith(".json") and entry.name != self._name]
        return [(entry, read_json(self.folder, entry.name) or {}) for entry in found]

    def _gone(self, entry: Entry, claim: dict[str, Any]) -> str | None:
        """Why a claim need not be respected; None if it must."""
        if self.take_over:
            return "--take-over"
        if claim.get("machine") == self._claim["machine"] and _dead(claim):
            return "its process is dead"
        mine = next((own.written for own in self.folder.entries(LOCKS) if own.name == self._name), 0)
        if entry.written and mine - entry.written > self.stale_after * 1e9:
            return f"no sign of life for {(mine - entry.written) / 60e9:.0f} minutes"
        return None

    def _renew(self) -> None:
        while not self._done.wait(RENEWED_EVERY):
            with self._writing:
                try:
                    if not self._done.is_set() and self.folder.is_file(self._name):
                        self._write()
                except OSError:
                    pass  # the store does not answer for a moment; if it stays so, writing the result says it

    def _write(self) -> None:
        self.folder.write(self._name, json.dumps(self._claim) + "\n")

    def _leave(self) -> None:
        """Remove the claim, and folders that are empty without it and were not there before."""
        try:
            self.folder.delete(self._name)
            if self.folder.local:
                os.rmdir(self.folder.at(LOCKS))
                if self._made:
                    os.rmdir(self.folder.at(""))
        except OSError:
            pass


def holder(folder: Folder) -> dict[str, Any] | None:
    """The claim of whoever works in an output at this moment; None if nobody does, as far as can be seen from here."""
    machine = _myself()["machine"]
    for entry in folder.entries(LOCKS):
        claim = read_json(folder, entry.name) if entry.name.endswith(".json") else None
        if claim and not (claim.get("machine") == machine and _dead(claim)):
            return claim
    return None


def _told(claim: dict[str, Any]) -> str:
    """A claim as words, safe for a terminal."""
    if not claim:
        return "an owner whose claim cannot be read"
    run = f", run {claim['run_id']}" if claim.get("run_id") else ""
    words = f"{claim.get('user')} on {claim.get('host')}, process {claim.get('pid')}{run}, since {claim.get('since')}"
    return visible(words)[:300]


def _myself() -> dict[str, Any]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    pid = os.getpid()
    return {"host": socket.gethostname(), "machine": _machine(), "pid": pid, "born": _born(pid), "user": user}


def _machine() -> str:
    """What two processes must share for one to see whether the other lives: a boot, and a namespace of process ids.

    A name of a host is not enough: containers may share one, and do not see each other.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def boot() -> str:
    """Changes when the machine is started anew."""
    return _machine().partition("/")[0]


def _born(pid: int) -> str | None:
    """When a process began, in the kernel's ticks: a number of a process may be given again."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]  # a killed process that nobody waited for is dead too
    except (OSError, IndexError):
        return None


def _dead(claim: dict[str, Any]) -> bool:
    pid = claim.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return False
    if Path("/proc/self/stat").exists():
        return _born(pid) is None or _born(pid) != claim.get("born")
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False
