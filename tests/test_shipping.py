"""What is shipped: the wheel's list of files, the image's, and what cron and Airflow do with an exit code."""

from __future__ import annotations

import fnmatch
import os
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
FOLDERS = {"dedup_lib": ROOT / "dedup_lib", "dedup_lib.conf": ROOT / "conf"}
FINAL, AGAIN = (2, 3, 4), (1, 75)


def package_of(folder: Path) -> str:
    return ".".join(folder.relative_to(ROOT).parts)


def test_the_wheel_has_every_package():
    found = {package_of(file.parent) for file in (ROOT / "dedup_lib").rglob("*.py")}
    assert {*found, "dedup_lib.conf"} == set(SETUPTOOLS["packages"])


@pytest.mark.parametrize("name", sorted(SETUPTOOLS["packages"]))
def test_the_wheel_has_every_data_file(name):
    folder = FOLDERS.get(name, ROOT / name.replace(".", "/"))
    globs = SETUPTOOLS["package-data"].get(name, [])
    every = folder.rglob("*") if name == "dedup_lib.conf" else folder.iterdir()  # settings have folders of their own
    data = [f for f in every if f.is_file() and f.suffix not in (".py", ".pyc", ".nbi", ".nbc", ".conf", ".properties", ".md")]
    assert [str(f.relative_to(folder)) for f in data if not any(fnmatch.fnmatch(f.relative_to(folder), g) for g in globs)] == []


# ---- cron ----


def nightly(tmp_path, *codes: int) -> tuple[int, int, str]:
    """The exit code of the script, how often it started the job, and the alerts, for a job that ends with these codes in turn."""
    job = tmp_path / "job"
    lines = "\n".join(f"{number}) exit {code} ;;" for number, code in enumerate(codes, 1))
    job.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/starts\ncase $(wc -l < {tmp_path}/starts) in\n{lines}\nesac\n')
    alert = tmp_path / "alert"
    alert.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/alerts\n')
    for file in (job, alert):
        file.chmod(0o755)
    given = {"DEDUP_COMMAND": str(job), "DEDUP_ALERT": str(alert), "DEDUP_WAIT": "0", "DEDUP_ATTEMPTS": "3"}
    command = [str(ROOT / "deploy" / "nightly.sh"), "--input", "a b"]
    code = subprocess.run(command, env={**os.environ, **given}, capture_output=True).returncode
    starts = (tmp_path / "starts").read_text().splitlines()
    assert set(starts) == {"--input a b"}
    alerts = tmp_path / "alerts"
    return code, len(starts), alerts.read_text() if alerts.exists() else ""


@pytest.mark.parametrize(
    ("codes", "starts", "code"),
    [((0,), 1, 0), ((75, 1, 0), 3, 0), ((75, 75, 75), 3, 75), ((1, 3), 2, 3), ((2,), 1, 2), ((4,), 1, 4)],
)
def test_cron_tries_again_what_may_pass_and_tells_the_rest_once(tmp_path, codes, starts, code):
    done = nightly(tmp_path, *codes)
    assert done[:2] == (code, starts)
    assert len(done[2].splitlines()) == bool(code) and (not code or f"exit code {code}:" in done[2])


# ---- Airflow ----


class NoFurtherAttempt(Exception):
    """Stands for AirflowFailException."""


@pytest.fixture
def dag(monkeypatch):
    """The module of the DAG, with just what it uses of Airflow."""
    taken = []

    def decorator(**options):
        taken.append(options)
        return lambda function: function if "schedule" in options else lambda: None

    package, exceptions, sdk = (ModuleType(name) for name in ("airflow", "airflow.exceptions", "airflow.sdk"))
    exceptions.AirflowFailException, sdk.dag, sdk.task = NoFurtherAttempt, decorator, decorator
    for module in (package, exceptions, sdk):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return runpy.run_path(str(ROOT / "deploy" / "airflow_dag.py")) | {"taken": taken}


def test_airflow_retries_what_may_pass_and_nothing_else(dag, tmp_path):
    run = dag["run"]
    for code in (0, *FINAL, *AGAIN, 137):
        run.__globals__.update(COMMAND=["sh", "-c", f"exit {code}"], HOME=str(tmp_path))
        expected = NoFurtherAttempt if code in FINAL else RuntimeError if code else None
        if expected is None:
            run()
            continue
        with pytest.raises(expected, match=f"exit code {code}: "):
            run()
    assert any(options.get("retries", 0) > 0 and "retry_delay" in options for options in dag["taken"])
