"""What a measurement was made on: machine, versions and commit. No names of hosts, users or folders."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_PACKAGES = ("pyspark", "pysail", "pyarrow", "numba", "numpy")


def machine() -> dict[str, object]:
    """Processor, cores, memory (bytes), system, Python and the packages that decide the speed."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": int((_field("/proc/meminfo", "MemTotal") or "0 kB").split()[0]) * 1024,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def commit() -> dict[str, object]:
    """The commit that is checked out, and whether files that git knows differ from it; nulls outside a repository."""
    name = _git("rev-parse", "--short=12", "HEAD")
    # Results and documentation are not what is measured.
    others = (":!bench/results.jsonl", ":!bench/report.html", ":!docs", ":!*.md")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *others)
    return {"commit": name, "changed": None if changed is None else bool(changed)}


def java_home(quiet: bool = True) -> str | None:
    """A Java that Spark can use; not ``quiet``: it is installed where that is allowed."""
    asked = [str(ROOT / "tools" / "java.sh"), *(["--quiet"] if quiet else [])]
    return subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=False).stdout.strip() or None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
