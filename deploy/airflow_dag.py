"""The nightly run under Airflow 3: copy into the folder of DAGs.

The job runs as a process of the worker, so that its exit code arrives; in YARN's and Kubernetes' cluster mode only success or
failure would. Codes 1 (it goes on where it ended) and 75 (another run works there) are tried again later; 2, 3 and 4 fail at
once, since another attempt would say the same, and reach whom ``on_failure_callback`` tells.
"""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta

from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task

HOME = "/opt/dedup"  # where dist/ and conf/ are
COMMAND = [
    "spark-submit", "--master", "yarn", "--deploy-mode", "client", "--properties-file", "conf/spark-cluster.conf",
    "--archives", "dist/environment.tar.gz#environment", "--conf", "spark.pyspark.python=./environment/bin/python",
    "dist/rebuild.py", "--input", "/shared/crawl", "--output", "/shared/dedup", "--log-format", "json",
]  # fmt: skip
FINAL = {
    2: "usage or configuration: the log names the setting",
    3: "a gate refused the result; yesterday's is still published; see gates.json of the newest run",
    4: "the input is missing, stale or cannot be used",
}
AGAIN = {1: "a stage failed; the next attempt goes on where it ended", 75: "another run works in the output"}


def run() -> None:
    """Run the job. Raises ``AirflowFailException`` where no further attempt helps, ``RuntimeError`` where one may."""
    code = subprocess.run(COMMAND, cwd=HOME).returncode
    if code in FINAL:
        raise AirflowFailException(f"exit code {code}: {FINAL[code]}")
    if code:
        raise RuntimeError(f"exit code {code}: {AGAIN.get(code, 'the run was ended from outside')}")


@dag(schedule="30 3 * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def dedup_nightly() -> None:
    """One task; retries in a quarter, half an hour and an hour."""
    delays = {"retry_delay": timedelta(minutes=15), "retry_exponential_backoff": True}
    task(task_id="rebuild", retries=3, execution_timeout=timedelta(hours=6), **delays)(run)()


dedup_nightly()
