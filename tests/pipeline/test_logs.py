"""Log lines in the pipeline: equal masked lines are one event, and news beside them stay news."""

from __future__ import annotations

from datetime import datetime

import pyarrow.dataset as ds
import pytest

from dedup_lib.store import current_run
from tests.conftest import embedded_only
from tests.pipeline.cases import LIBRARY
from tests.pipeline.helpers import drops, run, survivors

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


# A case of practitioners: the numbers of an error may be the information, a word always is.
B16 = [
    "2031-05-01 08:00:01 ERROR order 88120 payment refused", "2031-05-01 08:00:02 ERROR order 88121 payment refused",
    "vm instance started", "vm instance paused",
]  # fmt: skip
BELOW_WARN = "profiles.log.normalize=[invisible, nfkc, spaces, mask_below_warn]"


def run_logs(session, rows, folder, *overrides: str, files: int = 1) -> dict:
    """The published tables, ``events`` among them."""
    tables = run(session, rows, folder, *overrides, files=files)
    path = folder / "output" / "runs" / current_run(str(folder / "output")) / "events"
    return tables | {"events": ds.dataset(str(path), format="parquet").to_table().to_pylist()}


def numbered(lines: list[str]) -> list[dict]:
    return [{"doc_id": f"k{number}", "content": line} for number, line in enumerate(lines, 1)]


@pytest.fixture(scope="module")
def result(session, tmp_path_factory):
    return run_logs(session, [*ROWS, *NEWS], tmp_path_factory.mktemp("logs"), "input.profile_column=source")


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


def test_events_are_those_of_profiles_that_ask_for_them(result):
    assert {row["profile"] for row in result["events"]} == {"log"}
    assert result["metrics"]["rows"]["events"] == 4


def test_the_example_is_the_survivor(result):
    assert {row["example_id"] for row in result["events"]} == survivors(result) - {"n0", "n1"}
    assert all(row["example"] == LINES[row["example_id"]][0] for row in result["events"])


def test_masked_duplicates_are_exact(result):
    measures = {(row["jaccard"], row["hamming"]) for row in result["pairs"] if row["method"] == "exact_normalized"}
    assert measures == {(1.0, 0)}


@embedded_only
def test_events_are_the_same_however_the_rows_lie(session, tmp_path, result):
    again = run_logs(session, [*NEWS, *ROWS][::-1], tmp_path, "input.profile_column=source", files=3)
    assert sorted(again["events"], key=str) == sorted(result["events"], key=str)


@embedded_only
def test_without_a_time_there_is_none(session, tmp_path):
    (event,) = run_logs(session, numbered(["用户5登录", "用户12登录"]), tmp_path, "profile=log")["events"]
    assert event["event"] == "用户<num>登录" and event["count"] == 2
    assert (event["first_time"], event["last_time"]) == (None, None)
    assert (event["example_id"], event["example"]) == ("k2", "用户12登录")  # the longer one


@embedded_only
@pytest.mark.parametrize(("overrides", "kept"), [((), {"k1", "k3", "k4"}), ((BELOW_WARN,), {"k1", "k2", "k3", "k4"})])
def test_numbers_of_errors_stay_where_the_profile_says_so(session, tmp_path, overrides, kept):
    assert survivors(run_logs(session, numbered(B16), tmp_path, "profile=log", *overrides)) == kept


@embedded_only
def test_a_time_alone_makes_no_other_error(session, tmp_path):
    rows = numbered([B16[0], B16[0].replace("08:00:01", "09:30:00")])
    assert survivors(run_logs(session, rows, tmp_path, "profile=log", BELOW_WARN)) == {"k1"}


def test_lines_are_compared_exactly_only(result):
    assert all({row["doc_id"], row["kept_id"]} == {"n0", "n1"} for row in result["review"])
