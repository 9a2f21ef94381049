"""One engine session for each engine and test run; tests that need none start none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))

SAMPLE = ROOT / "data" / "sample"


def java_home() -> str | None:
    """A Java that Spark can use, if this machine has one."""
    found = subprocess.run([ROOT / "tools" / "java.sh", "--quiet"], capture_output=True, text=True)
    return found.stdout.strip() or None


def on_spark(item: pytest.Item) -> bool:
    """Whether a test needs Apache Spark's session."""
    return hasattr(item, "callspec") and item.callspec.params.get("session") == "spark"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Side by side, all tests on Spark go to one worker, since a second session costs more than it saves; others file by file."""
    item.add_marker(pytest.mark.xdist_group("spark" if on_spark(item) else item.path.name))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those on Spark first: they take longest."""
    items.sort(key=lambda item: not on_spark(item))


JAVA = java_home()
needs_java = pytest.mark.skipif(JAVA is None, reason="no Java 17 or later: the Spark engine is not tested (see tools/java.sh)")
ENGINES = ["embedded", pytest.param("spark", marks=needs_java)]


@pytest.fixture(scope="session", params=ENGINES)
def session(request, tmp_path_factory):
    """A session on each engine, one after the other."""
    from dedup_lib.session import open_session

    if request.param == "spark":
        os.environ["JAVA_HOME"] = JAVA
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {ROOT}/conf/spark-local.conf pyspark-shell"
    os.chdir(tmp_path_factory.mktemp("cwd"))
    shutil.copytree(ROOT / "conf", "conf")
    with open_session(request.param) as session:
        yield session


# For tests of what does not depend on the engine.
embedded_only = pytest.mark.parametrize("session", ["embedded"], indirect=True)
