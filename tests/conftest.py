"""One engine session for each engine and test run; tests that need none start none."""

from __future__ import annotations

import os
import re
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


_ON_SPARK = re.compile(r"[\[-]spark[\]-]")  # in a test's name, the engine of its session
_COMMANDS = "tests/test_jobs.py"  # every test there is a process of its own
# A session of tests makes thousands of tiny plans; to compile each would take longer than to interpret it.
_INTERPRETED = "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Side by side, all tests on Spark go to one worker, since a second session costs more than it saves; others file by file."""
    from xdist.scheduler import LoadScopeScheduling

    class ByEngine(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, case = nodeid.partition("::")
            return "spark" if _ON_SPARK.search(case) else nodeid if file == _COMMANDS else file

    return ByEngine(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those on Spark first: they take longest."""
    items.sort(key=lambda item: not _ON_SPARK.search(item.name))


JAVA = java_home()
needs_java = pytest.mark.skipif(JAVA is None, reason="no Java 17 or later: the Spark engine is not tested (see tools/java.sh)")
ENGINES = ["embedded", pytest.param("spark", marks=needs_java)]


@pytest.fixture(scope="session", params=ENGINES)
def session(request, tmp_path_factory):
    """A session on each engine, one after the other."""
    from dedup_lib.session import open_session

    if request.param == "spark":
        os.environ["JAVA_HOME"] = JAVA
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {ROOT}/conf/spark-local.conf {_INTERPRETED} pyspark-shell"
    os.chdir(tmp_path_factory.mktemp("cwd"))
    shutil.copytree(ROOT / "conf", "conf")
    with open_session(request.param) as session:
        yield session


def on_their_own(**given: str) -> dict[str, str]:
    """Environment variables for a process that knows nothing of the sessions of this one."""
    of_sessions = ("SPARK_CONNECT_MODE_ENABLED", "PYSPARK_SUBMIT_ARGS")
    return {name: value for name, value in os.environ.items() if name not in of_sessions} | given


# For tests of what does not depend on the engine.
embedded_only = pytest.mark.parametrize("session", ["embedded"], indirect=True)
