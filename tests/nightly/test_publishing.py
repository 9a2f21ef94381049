"""The pointer, its history, and what may be deleted; on a disk and on a store without rename."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs

from dedup_lib import publishing
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.files import Folder
from dedup_lib.publishing import current_run, promote, prunable, prune, publish, published_runs, rollback, runs
from dedup_lib.run_list import lines
from dedup_lib.schemas import PUBLISHED

NOW = datetime(2031, 5, 10, tzinfo=UTC)


@pytest.fixture(params=["local", "mock"])
def folder(request, tmp_path):
    return Folder(str(tmp_path)) if request.param == "local" else Folder("bucket/out", fs._MockFileSystem())


def memory() -> Folder:
    return Folder("out", fs._MockFileSystem())


def make(folder: Folder, run_id: str, verdict: str | None = "pass", day: int = 1, whole: bool = True) -> None:
    """A run as the job leaves it; without a verdict it is unfinished."""
    place = f"runs/{run_id}"
    folder.write(f"{place}/run.json", json.dumps({"run_id": run_id, "started": f"2031-05-{day:02d}T03:00:00+00:00"}))
    for table in PUBLISHED if whole else ():
        folder.write(f"{place}/{table.name}/part.parquet", "x" * 10)
    if verdict:
        gates = [{"gate": "quarantine_share", "verdict": verdict, "message": "too many"}]
        folder.write(f"{place}/manifest.json", json.dumps({"run_id": run_id}))
        folder.write(f"{place}/metrics.json", json.dumps({"rows": {"input": 12345, "documents": 9}}))
        folder.write(f"{place}/gates.json", json.dumps({"verdict": verdict, "gates": gates}))


def states(folder: Folder, in_work: str | None = None) -> dict[str, str]:
    return {run.run_id: run.state for run in runs(folder, in_work)}


def test_every_state_is_told(folder):
    for day, (name, verdict) in enumerate([("a", "pass"), ("b", "fail"), ("c", None), ("d", "warn"), ("e", None)], 1):
        make(folder, name, verdict, day)
    publish(folder, "d")
    assert states(folder, "e") == {"a": "complete", "b": "refused", "c": "unfinished", "d": "published", "e": "in work"}
    told = "\n".join(lines(folder, "e"))
    assert "12,345" in told and "too many" in told and "2031-05-02 03:00:00" in told


def test_a_run_of_an_earlier_version_is_complete_and_its_publication_is_remembered(folder):
    for name in ("old", "new"):
        make(folder, name)
        folder.delete(f"runs/{name}/gates.json"), folder.delete(f"runs/{name}/run.json")
    folder.write("CURRENT", "old\n")
    assert states(folder) == {"old": "published", "new": "complete"}
    publish(folder, "new")
    assert rollback(folder) == ("new", "old") and current_run(folder) == "old"


def test_rolling_back_twice_goes_two_steps(folder):
    for name in "abc":
        make(folder, name)
        publish(folder, name)
    assert rollback(folder) == ("c", "b") and rollback(folder) == ("b", "a")
    with pytest.raises(ConfigError, match="no run was published before a"):
        rollback(folder)
    promote(folder, "c")
    assert published_runs(folder) == ["a", "c"] and rollback(folder) == ("c", "a")


@given(st.lists(st.sampled_from([*"abcd", "back"]), max_size=12))
def test_the_history_is_a_stack(moves):
    folder, stack = memory(), []
    for name in "abcd":
        make(folder, name)
    for move in moves:
        if move != "back":
            publish(folder, move)
            stack = [*(name for name in stack if name != move), move]
        elif len(stack) > 1:
            stack.pop()
            rollback(folder)
        assert published_runs(folder) == stack
        assert not stack or current_run(folder) == stack[-1]


@pytest.mark.parametrize("torn", ["", "r", "r2", "../../etc\n", "{}", "\x00", "nosuch\n"])
def test_a_pointer_half_written_is_read_from_the_history(folder, torn):
    make(folder, "r1"), make(folder, "r2")
    publish(folder, "r1")
    publish(folder, "r2")
    folder.write("CURRENT", torn)
    assert current_run(folder) == "r2"


def test_a_line_of_history_half_written_is_not_believed(folder):
    publish(folder, "r1")
    folder.write("published/000002.json", '{"run_id": "r')
    folder.write("CURRENT", "")
    assert current_run(folder) == "r1"
    publish(folder, "r3")
    assert current_run(folder) == "r3" and published_runs(folder) == ["r1", "r3"]


def test_a_pointer_without_sense_and_without_history_is_named(folder):
    folder.write("CURRENT", "what is this?")
    with pytest.raises(InputError, match=r"CURRENT: holds 'what is this\?', not the id of a run"):
        current_run(folder)


def test_a_job_that_dies_before_the_pointer_moves_has_not_published(folder, monkeypatch):
    make(folder, "a"), make(folder, "b")
    publish(folder, "a")
    write = Folder.write

    def dies(self, name, text):
        if name == "CURRENT":
            raise KeyboardInterrupt
        write(self, name, text)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Folder, "write", dies)
        publish(folder, "b")
    assert current_run(folder) == "a" and published_runs(folder) == ["a"]
    with pytest.raises(ConfigError, match="no run was published before a"):
        rollback(folder)


@pytest.mark.parametrize(
    ("run_id", "complaint"),
    [("no", "there is no such run in .*; there are: a, b, c, d"), ("b", "was refused.*--force.*too many"), ("c", "is unfinished"),
     ("d", "documents, .* are gone"), ("../a", "run id '../a'")],
)  # fmt: skip
def test_what_cannot_be_promoted(folder, run_id, complaint):
    make(folder, "a"), make(folder, "b", "fail"), make(folder, "c", None), make(folder, "d", whole=False)
    publish(folder, "a")
    with pytest.raises(ConfigError, match=f"(?s){complaint}"):
        promote(folder, run_id)
    assert current_run(folder) == "a"
    assert promote(folder, "b", force=True) == "a" and current_run(folder) == "b"


def test_pruning_keeps_what_is_needed(folder):
    for day, name in enumerate("abcdef", 1):
        make(folder, name, day=day)
    for name in "bca":
        publish(folder, name)
    assert [run.run_id for run in prunable(folder, keep=2, in_work="d")] == ["b"]
    assert [run.run_id for run in prunable(folder, keep=0)] == ["b", "d", "e", "f"]
    assert [run.run_id for run in prunable(folder, older_than=5.5, at=NOW)] == ["b", "d"]
    assert [run.run_id for run in prunable(folder, keep=3, older_than=8, at=NOW)] == []
    with pytest.raises(ConfigError, match="--keep N"):
        prunable(folder)
    prune(folder, prunable(folder, keep=0))
    assert sorted(states(folder)) == ["a", "c"] and rollback(folder) == ("a", "c")


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["pass", "fail", None])), max_size=6, unique_by=lambda r: r[0]),
    st.lists(st.sampled_from("abcdef"), max_size=4),
    st.integers(0, 4),
    st.one_of(st.none(), st.floats(0, 20)),
)
def test_pruning_never_deletes_the_published_run_or_its_predecessor(made, moves, keep, days):
    folder = memory()
    for day, (name, verdict) in enumerate(made, 1):
        make(folder, name, verdict, day)
    names = {name for name, _ in made}
    for move in moves:
        if move in names:
            publish(folder, move)
    safe = {run.run_id for run in runs(folder) if run.state == "published"} | {publishing.rollback_target(folder)} - {None}
    prune(folder, prunable(folder, keep, days, at=NOW))
    assert safe <= set(folder.folders("runs"))


def test_a_run_from_the_future_or_without_a_time_is_not_old(folder):
    make(folder, "a"), make(folder, "b", day=31), make(folder, "c")
    folder.write("runs/c/run.json", '{"started": "yesterday"}')
    assert [run.run_id for run in prunable(folder, older_than=0, at=NOW - timedelta(days=5))] == ["a"]
