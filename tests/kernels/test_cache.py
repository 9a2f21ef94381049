"""Compiled kernels are kept apart for each state of the sources, and anybody may compile them."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

FOLDER = "import dedup_lib.kernels; from numba import config; print(config.CACHE_DIR)"


@pytest.fixture
def package(tmp_path):
    shutil.copytree(
        ROOT / "dedup_lib" / "kernels", tmp_path / "dedup_lib" / "kernels", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def folder(package, **environment: str) -> str:
    given = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    command = [sys.executable, "-c", FOLDER]
    done = subprocess.run(command, cwd=package, env=given | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_changed_source_gets_a_folder_of_its_own(package):
    before = folder(package)
    assert before == folder(package) and before.startswith(str(package))
    with open(package / "dedup_lib" / "kernels" / "wording.py", "a") as source:
        source.write("# changed\n")
    assert folder(package) != before


def test_a_given_folder_is_used(package):
    assert folder(package, NUMBA_CACHE_DIR=str(package / "given")).startswith(str(package / "given"))


def test_who_can_write_nowhere_gets_a_folder_for_the_process(package):
    blocked = package / "file"
    blocked.write_text("no folder")
    first, second = (folder(package, NUMBA_CACHE_DIR=str(blocked / "below")) for _ in range(2))
    assert first != second and not first.startswith(str(blocked))
    for made in (first, second):
        os.rmdir(made)
