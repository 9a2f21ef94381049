"""The one place that makes a Spark session: embedded (Sail, in this process, no Java), Apache Spark, or a Connect server.

Callers see a plain ``SparkSession`` and keep to the part of the DataFrame API that Spark Connect knows.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dedup_lib.errors import ConfigError

CONNECT = "connect="
_REMOTE = "SPARK_CONNECT_MODE_ENABLED"
_ROOT = str(Path(__file__).resolve().parent.parent)

# What the result rests on, whatever the cluster's defaults are.
_ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
# What its speed rests on; a spark-submit --conf or the cluster's own defaults file has priority.
_UNLESS_SET = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",  # about 10 MB of text in a batch
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "32m",
}
_LOCAL_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"  # why: conf/spark-local.conf; before any extraJavaOptions
_ANSWERS_WITHIN = 15  # seconds, a Spark Connect server
_PARTITIONS_PER_CORE = 4  # of a local master's shuffles; a cluster keeps its default


def under_spark_submit() -> bool:
    """Whether this process was started by spark-submit, which brings its own Spark."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "_PYSPARK_DRIVER_CALLBACK_HOST" in os.environ


@contextmanager
def open_session(engine: str) -> Iterator[SparkSession]:
    """A session on ``embedded``, ``spark`` or ``connect=sc://HOST:PORT``; stopped at the end if it was made here.

    Raises ``ConfigError`` if the engine cannot be started on this machine, with what to do.
    """
    warnings.filterwarnings("ignore", message=".*No Partition Defined for Window operation.*")
    # Workers must run this interpreter, not whatever python3 the PATH begins with.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if engine == "embedded":
        with _embedded() as session:
            yield session
    elif engine == "spark":
        with _spark() as session:
            yield session
    elif engine.startswith(CONNECT):
        with _connected(engine.removeprefix(CONNECT)) as session:
            yield session
    else:
        raise ConfigError(f"engine: {engine!r} is unknown; use embedded, spark or connect=sc://HOST:PORT")


@contextmanager
def _embedded() -> Iterator[SparkSession]:
    os.environ.setdefault("RUST_LOG", "error")
    remote = os.environ.get(_REMOTE)
    try:
        from pysail.spark import SparkConnectServer
        from pyspark.sql.connect.client.retries import DefaultPolicy
    except ImportError as error:
        raise ConfigError("engine: embedded needs the packages pysail and pyspark[connect], or use --engine spark") from error
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    logging.getLogger("pyspark.sql.connect.client.logging").setLevel(logging.CRITICAL)
    session = SparkSession.builder.remote(f"sc://{host}:{port}").create()
    # The server lives in this process: when it does not answer it is gone, and waiting ten minutes for it helps nobody.
    session.client.set_retry_policies([DefaultPolicy(max_retries=3, initial_backoff=50, max_backoff=500)])
    try:
        yield _configured(session)
    finally:
        session.stop()
        server.stop()
        if remote is None:  # set by the client; would turn a later Spark session into a client
            os.environ.pop(_REMOTE, None)


@contextmanager
def _connected(address: str) -> Iterator[SparkSession]:
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    place = address.partition("/;")[0]  # behind it may stand a token
    try:
        with DefaultChannelBuilder(address).toChannel() as channel:  # the session itself would try for ten minutes, silently
            grpc.channel_ready_future(channel).result(_ANSWERS_WITHIN)
    except grpc.FutureTimeoutError:
        raise ConfigError(
            f"engine: no Spark Connect server answers at {place} within {_ANSWERS_WITHIN} s; start one, or put the address right"
        ) from None
    except (PySparkException, ValueError) as error:
        raise ConfigError(f"engine: {place} is no address of a Spark Connect server; write connect=sc://HOST:PORT") from error
    session = SparkSession.builder.remote(address).getOrCreate()
    try:
        yield _configured(session)
    finally:
        session.stop()


@contextmanager
def _spark() -> Iterator[SparkSession]:
    if SparkSession.getActiveSession() is not None:
        yield _configured(SparkSession.getActiveSession())
        return
    builder = SparkSession.builder.appName("dedup")
    if not under_spark_submit():
        builder = builder.master("local[*]").config("spark.driver.memory", "4g")
        builder = builder.config("spark.driver.defaultJavaOptions", _LOCAL_JAVA)
    if not _packed():
        path = os.pathsep.join(filter(None, [_ROOT, os.environ.get("PYTHONPATH")]))
        builder = builder.config("spark.executorEnv.PYTHONPATH", path)
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ConfigError(
            "engine: Apache Spark did not start; it needs Java 17 or later (Debian: apt-get install openjdk-17-jre-headless, "
            f"then JAVA_HOME or PATH), or use --engine embedded. Its own words: {str(error).splitlines()[0]}"
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    _tune(session)
    try:
        yield _configured(session)
    finally:
        session.stop()


def _packed() -> bool:
    """Whether the code was packed (make package): workers must import their own copy, also where this path exists there."""
    return (Path(_ROOT) / "dedup_lib" / "conf").is_dir()


def _tune(session: SparkSession) -> None:
    context = session.sparkContext
    wanted = dict(_UNLESS_SET)
    if context.master.startswith("local"):
        wanted["spark.sql.shuffle.partitions"] = str(_PARTITIONS_PER_CORE * context.defaultParallelism)
        wanted["spark.sql.files.maxPartitionBytes"] = "64m"  # of packed files; three tasks on two cores leave one idle
    for name, value in wanted.items():
        if not context.getConf().contains(name):
            session.conf.set(name, value)


def cores(session: SparkSession) -> int:
    """How many tasks a session of Apache Spark runs side by side."""
    return session.sparkContext.defaultParallelism


def _configured(session: SparkSession) -> SparkSession:
    for name, value in _ALWAYS.items():
        session.conf.set(name, value)
    return session
