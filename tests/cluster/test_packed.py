"""The packed job on real clusters: nothing of this checkout is on their paths, and the tables are those of a local run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pyspark
import pytest

from tests.conftest import JAVA, ROOT, SAMPLE, needs_java
from tests.pipeline.helpers import LENIENT, digest, published

SPARK = Path(pyspark.__file__).parent
SECONDS = 600  # after which a run is ended

pytestmark = [
    needs_java,
    pytest.mark.skipif(os.environ.get("CLUSTERS") != "yes", reason="packs an environment, starts clusters: make test-clusters"),
]


class Packed(NamedTuple):
    """What make package made, as a driver's folder: the archive, its content in ``environment``, the jobs; and a Spark."""

    folder: Path
    archive: Path
    spark: Path
    told: str  # by make package


def bare(home: Path, spark: Path) -> dict[str, str]:
    """Environment variables that lead to no Python package of this machine."""
    given = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "200", "SPARK_LOCAL_IP": "127.0.0.1"}
    return given | {"JAVA_HOME": JAVA, "SPARK_HOME": str(spark)}


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Packed:
    folder = tmp_path_factory.mktemp("driver")
    dist = tmp_path_factory.mktemp("dist")
    made = subprocess.run([sys.executable, ROOT / "tools" / "package.py", dist, "--plain"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    with tarfile.open(dist / "environment.tar.gz") as file:
        file.extractall(folder / "environment", filter="fully_trusted")
    shutil.copy(dist / "rebuild.py", folder)
    spark = tmp_path_factory.mktemp("spark")  # local-cluster writes into Spark's own folder
    for part in ("bin", "jars", "python"):
        (spark / part).symlink_to(SPARK / part)
    return Packed(folder, dist / "environment.tar.gz", spark, made.stdout)


def expected(rows: str, output: Path) -> str:
    """The hash of what the embedded engine publishes."""
    command = [sys.executable, ROOT / "jobs" / "rebuild.py", "--engine", "embedded", *options(rows, output)]
    subprocess.run(command, check=True, capture_output=True)
    return digest(published(output))


def options(rows: str, output: Path) -> list[str]:
    return ["--input", str(SAMPLE / rows), "--output", str(output), "--set", LENIENT]


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


@contextmanager
def daemons(folder: Path, spark: Path) -> Iterator[str]:
    """A standalone master and two workers of one core and 2 GB; the master's address. Stopped whatever happens."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    shared = ["--host", "127.0.0.1", "--webui-port", "0"]
    commands = [["master.Master", *shared, "--port", str(port)]]
    for number in range(2):
        work = ["--cores", "1", "--memory", "2g", "--work-dir", str(folder / f"work-{number}")]
        commands.append(["worker.Worker", *shared, *work, address])
    running = []
    try:
        for name, *arguments in commands:
            command = [spark / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments]
            log = (folder / f"{len(running)}.log").open("wb")
            running.append(subprocess.Popen(command, cwd=folder, env=bare(folder, spark), stdout=log, stderr=log))
            log.close()
            if len(running) == 1:
                await_port(port, running[0])
        yield address
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def await_port(port: int, process: subprocess.Popen) -> None:
    for _ in range(300):
        with socket.socket() as place:
            if place.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "the master ended"
        time.sleep(0.1)
    raise AssertionError("the master does not answer")


def submit(packed: Packed, master: str, rows: str, output: Path, code: int = 0) -> str:
    """Run the packed job from its own folder; what it said. ``code``: the exit code that must arrive here."""
    settings = ["spark.pyspark.python=./environment/bin/python", "spark.driver.memory=1g", "spark.executor.memory=1g"]
    settings += ["spark.ui.enabled=false", "spark.sql.shuffle.partitions=4"]
    settings += [f"spark.{side}.defaultJavaOptions=-XX:TieredStopAtLevel=1" for side in ("driver", "executor")]
    # numba says what it loads and what it had to compile
    settings += ["spark.executorEnv.NUMBA_DEBUG_CACHE=1", "spark.executorEnv.PYTHONUNBUFFERED=1"]
    command = [packed.spark / "bin" / "spark-submit", "--master", master, "--archives", f"{packed.archive}#environment"]
    command += [word for setting in settings for word in ("--conf", setting)]
    done = subprocess.run(
        [*command, "rebuild.py", *options(rows, output)],
        cwd=packed.folder, env=bare(output, packed.spark), capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == code, done.stderr[-3000:]
    return done.stdout + done.stderr


@contextmanager
def connect_server(packed: Packed, folder: Path) -> Iterator[str]:
    """A Spark Connect server on two cores whose workers have the packed environment; its address. Stopped whatever happens."""
    port = free_port()
    settings = [f"spark.connect.grpc.binding.port={port}", "spark.sql.shuffle.partitions=4", "spark.ui.enabled=false"]
    settings += ["spark.driver.memory=1500m", "spark.driver.defaultJavaOptions=-XX:TieredStopAtLevel=1"]
    settings += [f"spark.pyspark.python={packed.folder / 'environment' / 'bin' / 'python'}"]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [packed.spark / "bin" / "spark-submit", "--master", "local[2]", "--class", name]
    command += [word for setting in settings for word in ("--conf", setting)]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "spark-internal"], cwd=folder, env=bare(folder, packed.spark), stdout=log, stderr=log
        )
    try:
        await_port(port, server)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(20)
        server.kill()


def told_by_executors(work: Path) -> dict[Path, str]:
    """What each executor's processes wrote."""
    logs = {file.parent: file.read_text("utf-8", "replace") for file in work.rglob("stderr")}
    return {folder: text for folder, text in logs.items() if "[cache]" in text}


def compiled(told: str) -> list[str]:
    """The kernels that had to be compiled."""
    return [line for line in told.splitlines() if "[cache] data saved" in line]


def test_a_standalone_cluster_gives_the_same_tables_and_compiles_nothing(packed, tmp_path):
    with daemons(tmp_path, packed.spark) as master:
        submit(packed, master, "*.parquet", tmp_path / "out")
    assert digest(published(tmp_path / "out")) == expected("*.parquet", tmp_path / "embedded")
    executors = told_by_executors(tmp_path)
    assert len(executors) == 2
    for folder, told in executors.items():
        assert compiled(told) == []
        loaded = [line for line in told.splitlines() if "[cache] data loaded" in line]
        assert loaded and all(str(folder / "environment") in line for line in loaded)


def test_a_local_cluster_gives_the_same_tables(packed, tmp_path):
    submit(packed, "local-cluster[2,1,2048]", "messy.parquet", tmp_path / "out")
    assert digest(published(tmp_path / "out")) == expected("messy.parquet", tmp_path / "embedded")


def test_a_connect_server_gives_the_same_tables(packed, tmp_path):
    """The client is a process without a JVM: whatever is not in the protocol fails."""
    job = [sys.executable, ROOT / "jobs" / "rebuild.py", *options("*.parquet", tmp_path / "out")]
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")}
    with connect_server(packed, tmp_path) as address:
        command = [*job, "--engine", f"connect={address}"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-3000:]
    assert digest(published(tmp_path / "out")) == expected("*.parquet", tmp_path / "embedded")


def test_the_exit_code_arrives_through_spark_submit(packed, tmp_path):
    assert "no such file" in submit(packed, "local[1]", "nothing-*.parquet", tmp_path / "out", code=4)


def test_the_image_is_made_of_what_make_package_made(packed):
    dist, text = packed.archive.parent, (ROOT / "Dockerfile").read_text()
    lines = [line.split() for line in text.splitlines() if line.startswith(("ADD ", "COPY dist"))]
    wanted = [name.removeprefix("dist/") for _, *names, _ in lines for name in names]
    assert "environment.tar.gz" in wanted and all(list(dist.glob(name)) for name in wanted)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert all(f"!dist/{name}" in ignored for name in wanted)
    assert f"ARG SPARK={pyspark.__version__}-" in text


def test_all_that_is_named_for_users_is_there(packed):
    """The files that the printed lines name, the wheel's content, and the data files in the archive."""
    dist = packed.archive.parent
    named = {word for word in packed.told.replace("#", " ").split() if word.startswith(f"{dist}/")}
    assert {Path(word).suffix for word in named} == {".gz", ".py", ".whl"} and all(Path(word).is_file() for word in named)
    assert all(master in packed.told for master in ("spark://", "--master yarn", "k8s://", "connect=sc://"))
    kinds = (".py", ".j2", ".css", ".js", ".yaml")
    data = {str(file.relative_to(ROOT)) for file in (ROOT / "dedup_lib").rglob("*") if file.suffix in kinds}
    site = next(packed.folder.glob("environment/lib/python*/site-packages"))
    assert [name for name in data if not (site / name).is_file()] == []
    (wheel,) = dist.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert data <= held and {"dedup_lib/conf/rebuild.yaml", "dedup_lib/conf/profiles/news.yaml"} <= held


def test_the_archive_leads_to_nothing_outside_of_it(packed):
    """Neither links nor settings that name a folder of this machine."""
    program = "import dedup_lib.settings as s, numpy, sys; print(s.DEFAULT_CONFIG, numpy.__file__, sys.prefix, *sys.path)"
    python = packed.folder / "environment" / "bin" / "python"
    clean = bare(packed.folder, packed.spark)
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd="/", env=clean, check=True)
    places = [Path(word) for word in done.stdout.split() if word.startswith("/")]
    assert places and all(place.is_relative_to(packed.folder) for place in places)
    outside = [path for path in packed.folder.rglob("*") if path.is_symlink() and os.path.isabs(os.readlink(path))]
    assert outside == []
