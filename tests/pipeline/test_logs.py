"""Log lines in the pipeline: equal masked lines are one event, and news beside them stay news."""

from __future__ import annotations

from datetime import datetime

import pyarrow.dataset as ds
import pytest

from dedup_lib.store import current_run
from tests.conftest import embedded_only
from tests.pipeline.cases import LIBRARY
from tests.pipeline.helpers import drops, run, survivors

pytestmark = embedded_only

LINES = {
    "k1": ("2031-05-01 08:00:01 INFO order 88120 shipped", datetime(2031, 5, 1, 8, 0, 1)),
    "k2": ("2031-05-01 08:00:02 INFO order 88121 shipped", datetime(2031, 5, 1, 8, 0, 2)),
    "k3": ("2031-05-01 08:00:03 INFO order 88122 shipped", None),
    "k4": ("vm instance started", datetime(2031, 5, 1, 9)),
    "k5": ("vm instance paused", datetime(2031, 5, 1, 10)),
    "k6": ("2031-05-01 08:00:01 ERROR order 88120 shipped", datetime(2031, 5, 1, 8)),
}
ROWS = [{"doc_id": name, "content": line, "publish_time": time, "source": "log"} for name, (line, time) in LINES.items()]
NEWS = [{"doc_id": f"n{number}", "content": LIBRARY + f"共{number}人。", "source": "news"} for number in range(2)]


@pytest.fixture(scope="module")
def result(session, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    tables = run(session, [*ROWS, *NEWS], folder, "input.profile_column=source")
    path = folder / "output" / "runs" / current_run(str(folder / "output")) / "events"
    return tables | {"events": ds.dataset(str(path), format="parquet").to_table().to_pylist()}


def test_equal_masked_lines_are_one(result):
    assert drops(result) == {"k2": ("k1", "exact_normalized"), "k3": ("k1", "exact_normalized")}
    assert survivors(result) == {"k1", "k4", "k5", "k6", "n0", "n1"}


def test_events_count_and_date_their_lines(result):
    events = {row["event"]: row for row in result["events"]}
    assert set(events) == {
        "<time> INFO order <num> shipped", "<time> ERROR order <num> shipped", "vm instance started", "vm instance paused"
    }  # fmt: skip
    shipped = events["<time> INFO order <num> shipped"]
    assert (shipped["profile"], shipped["count"], shipped["example_id"]) == ("log", 3, "k1")
    assert shipped["example"] == LINES["k1"][0]
    times = [shipped[name].replace(tzinfo=None) for name in ("first_time", "last_time")]
    assert times == [LINES["k1"][1], LINES["k2"][1]]


def test_lines_are_compared_exactly_only(result):
    assert all({row["doc_id"], row["kept_id"]} == {"n0", "n1"} for row in result["review"])
