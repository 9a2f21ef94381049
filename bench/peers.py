"""The other tools: their environment, and each one's run on the benchmark's corpus in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.machine import ROOT, java_home

REQUIREMENTS = ROOT / "bench" / "peers.txt"
_SPARK = "mllib"
# Tool, and the package whose version is told.
PACKAGES = {
    "rensa": "rensa", "gaoya": "gaoya", "datasketch": "datasketch", "datatrove": "datatrove", "text_dedup": "text-dedup",
    _SPARK: "pyspark",
}  # fmt: skip


class Peer(NamedTuple):
    """How to run one tool: command without its input and output, and environment variables; or why it cannot be run."""

    name: str
    version: str | None
    command: list[str]
    environment: dict[str, str]
    missing: str | None


def prepare(folder: Path, say: Callable[[str], None]) -> None:
    """Make the environment of the peers, once. What cannot be installed is said and left out."""
    ready = folder / "ready"
    if ready.exists() and ready.stat().st_mtime >= REQUIREMENTS.stat().st_mtime:
        return
    say(f"installing {REQUIREMENTS.relative_to(ROOT)} into {folder}")
    venv.create(folder, with_pip=True, clear=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.call([*pip, "-r", str(REQUIREMENTS)], stderr=subprocess.DEVNULL):
        for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
            wanted = line.partition("#")[0].strip()
            if wanted and subprocess.call([*pip, wanted], stderr=subprocess.DEVNULL):
                say(f"peer {wanted}: cannot be installed here, left out")
    ready.touch()


def peers(folder: Path, names: Mapping[str, str] = PACKAGES) -> list[Peer]:
    """Every tool with the way to run it."""
    return [_spark(name) if name == _SPARK else _installed(name, package, folder) for name, package in names.items()]


def _installed(name: str, package: str, folder: Path) -> Peer:
    python = folder / "bin" / "python"
    if not python.exists():
        return Peer(name, None, [], {}, "no environment of the peers")
    version = _version(str(python), package)
    return Peer(name, version, [str(python), "-m", "bench.peer", name], {}, None if version else f"{package} is not installed")


def _spark(name: str) -> Peer:
    home, version = java_home(), _version(sys.executable, PACKAGES[name])
    if home is None or version is None:
        return Peer(name, version, [], {}, "no Java 17 or later" if version else "pyspark is not installed")
    submit = str(Path(sys.executable).parent / "spark-submit")
    command = [submit, "--properties-file", str(ROOT / "conf" / "spark-local.conf"), str(ROOT / "bench" / "peer.py"), name]
    return Peer(name, version, command, {"JAVA_HOME": home, "PYSPARK_PYTHON": sys.executable}, None)


def _version(python: str, package: str) -> str | None:
    ask = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
