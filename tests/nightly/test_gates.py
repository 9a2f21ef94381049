"""Each gate passes, warns and refuses where its levels say so, and names what is behind it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib import gates
from dedup_lib.comparisons import compared
from dedup_lib.config import Config
from dedup_lib.errors import GateRefused, InputError
from dedup_lib.files import Folder
from dedup_lib.gates import FAIL, ORDER, PASS, SILENT, WARN, Evidence, judge, refusal, verdict_of
from dedup_lib.levels import Gates
from dedup_lib.run_history import Counts, Past, by_source, past, record
from dedup_lib.schemas import DOCUMENTS, DROPPED, PAIRS, QUARANTINE, REVIEW
from dedup_lib.settings import load_settings
from tests.conftest import embedded_only

STARTED = datetime(2031, 5, 10, 3, tzinfo=UTC)
CONFIG = load_settings().config
EMPTY = dict.fromkeys(("input", "documents", "dropped", "quarantine", "review"), 0)


def metrics(hot: int = 0, undecodable: int = 0, **rows: int) -> dict:
    worst = [{"rows": hot, "first_doc_id": "h1", "profile": "news", "kind": "band"}] if hot else []
    return {
        "rows": EMPTY | rows,
        "quarantine": {"undecodable": undecodable} if undecodable else {},
        "flags": {},
        "exact": {"representatives": rows.get("input", 0)},
        "candidates": {"worst_buckets": worst},
    }


def evidence(counted: dict | None = None, **more) -> Evidence:
    values = {"tables": {}, "rows": None, "metrics": counted or metrics(), "sources": {}, "past": [], "changed": [],
              "newest": None, "started": STARTED, "id_column": "doc_id"}  # fmt: skip
    return Evidence(**values | more)


@pytest.fixture(scope="module")
def tables(session):
    """Three rows: a survivor, its copy, and one in quarantine."""

    def frame(rows: list[tuple], ddl: str):
        return session.createDataFrame(rows, ddl)

    def make(
        documents=(("a", "s", 2),), dropped=(("b", "s", "a"),), pairs=(("b", "a"),), quarantine=(("c", "s", "undecodable"),)
    ):
        made = [(doc_id, source, size, "x", 1, "news") for doc_id, source, size in documents]
        listed = [(doc_id, kept_id, "drop") for doc_id, kept_id in pairs]
        return {
            DOCUMENTS.name: frame(made, f"doc_id string, source string, {DOCUMENTS.ddl}"),
            DROPPED.name: frame([(*row, "near") for row in dropped], f"doc_id string, source string, {DROPPED.ddl}"),
            PAIRS.name: frame(listed, "doc_id string, kept_id string, decision string"),
            QUARANTINE.name: frame(list(quarantine), "doc_id string, source string, reason string"),
            REVIEW.name: frame([("x", "a"), ("y", "a"), ("z", "b")], "doc_id string, kept_id string"),
            "rows": frame([("a",), ("b",), ("c",)], "doc_id string"),
        }

    return make


def verdicts(given: Evidence, config: Config = CONFIG) -> dict[str, gates.Judgement]:
    return {judgement.gate: judgement for judgement in judge(given, config)}


def judged(tables: dict, counted: dict | None = None, config: Config = CONFIG, **more) -> dict[str, gates.Judgement]:
    counted = counted or metrics(input=3, documents=1, dropped=1, quarantine=1)
    return verdicts(evidence(counted, tables=tables, rows=tables["rows"], **more), config)


def with_levels(**levels) -> Config:
    return CONFIG.model_copy(update={"gates": Gates.model_validate({"min_rows": 0, **levels})})


# ---- gates of one run ----


@embedded_only
def test_a_correct_run_passes_and_every_gate_answers(tables):
    found = judged(tables(), config=with_levels(quarantine_share={"fail": 0.5}, largest_cluster={}, review_load={}))
    assert {*found} == {*ORDER} - {"file_age_hours"} and {*Gates.model_fields} == {*ORDER, "history", "min_rows"}
    assert {judgement.verdict for judgement in found.values()} == {PASS, SILENT}


@embedded_only
@pytest.mark.parametrize(
    ("changes", "value", "behind"),
    [({"pairs": ()}, 1, [("b", "a")]), ({"pairs": (("b", "a"), ("b", "a"))}, 1, [("b", "a")]),
     ({"pairs": (("b", "x"),)}, 1, [("b", "a")]), ({"pairs": (("b", "a"), ("q", "a"))}, 1, [("q", None)]),
     ({"dropped": (("b", "s", "x"),), "pairs": (("b", "x"),)}, 1, [("b", "x")]),
     ({"dropped": (("b", "s", None),), "pairs": (("b", None),)}, 1, [("b", None)]),
     ({"dropped": (("b", "s", "a"), ("d", "s", "b")), "pairs": (("b", "a"), ("d", "b"))}, 1, [("d", "b")])],
)  # fmt: skip
def test_a_drop_without_direct_evidence_is_refused_and_named(tables, changes, value, behind):
    gate = judged(tables(**changes))["evidence"]
    assert (gate.verdict, gate.value) == (FAIL, value)
    assert [(row["doc_id"], row["kept_id"]) for row in gate.rows] == behind
    warned = judged(tables(**changes), config=with_levels(evidence={"warn": 0}))["evidence"]
    assert warned.verdict == WARN


@embedded_only
@pytest.mark.parametrize(
    ("changes", "rows", "behind"),
    [({"documents": (("a", "s", 2), ("b", "s", 1))}, {"documents": 2}, [{"doc_id": "b", "twice": True}]),
     ({"documents": ()}, {"documents": 0}, [{"doc_id": "a", "lost": True}]),
     ({"documents": (("a", "s", 1), ("a", "s", 1)), "dropped": ()}, {"documents": 2, "dropped": 0},
      [{"doc_id": "a", "twice": True}, {"doc_id": "b", "lost": True}])],
)  # fmt: skip
def test_rows_that_are_lost_or_stand_twice_are_named(tables, changes, rows, behind):
    counted = metrics(**{"input": 3, "documents": 1, "dropped": 1, "quarantine": 1} | rows)
    gate = judged(tables(**changes), counted)["conservation"]
    assert gate.verdict == FAIL and gate.rows == behind


@embedded_only
@pytest.mark.parametrize(
    ("gate", "level", "counted", "more", "value", "behind"),
    [("quarantine_share", 0.2, {"quarantine": 1, "input": 4}, {}, 0.25, [{"doc_id": "c", "reason": "undecodable", "source": "s"}]),  # noqa: E501
     ("undecodable_share", 0.2, {"undecodable": 1, "input": 4}, {}, 0.25, [{"doc_id": "c", "reason": "undecodable", "source": "s"}]),  # noqa: E501
     ("largest_cluster", 0.4, {"input": 4}, {}, 0.5, [{"survivor": "a"}]),
     ("hot_bucket", 0.4, {"input": 4, "hot": 2}, {}, 0.5, [{"doc_id": "h1", "profile": "news", "kind": "band"}]),
     ("review_load", 0.4, {"input": 4, "review": 2}, {}, 0.5, [{"kept_id": "a", "pairs": 2}, {"kept_id": "b", "pairs": 1}]),
     ("empty_input", 0.5, {"input": 0}, {}, 1.0, []),
     ("changed_files", 0, {"input": 4}, {"changed": ["in/x.parquet"]}, 1.0, [{"file": "in/x.parquet"}]),
     ("publish_age_hours", 20, {"input": 4}, {"newest": STARTED - timedelta(hours=30)}, 30.0, [])],
)  # fmt: skip
def test_a_value_above_a_level_warns_or_refuses(tables, gate, level, counted, more, value, behind):
    made, counted = tables(), metrics(**counted)
    for levels, verdict in (
        ({"warn": level}, WARN),
        ({"warn": level, "fail": level}, FAIL),
        ({"warn": value, "fail": value}, PASS),
    ):
        found = judged(made, counted, with_levels(**{gate: levels}), **more)[gate]
        assert (found.verdict, found.value) == (verdict, value)
        assert found.rows == ([] if verdict == PASS else behind)
        assert verdict == PASS or f"gates.{gate}." in found.message


@embedded_only
def test_shares_of_a_few_rows_say_nothing(tables):
    counted = metrics(input=999, hot=900, review=900, undecodable=900)
    silent = {name for name, judgement in judged(tables(), counted).items() if judgement.verdict == SILENT}
    assert {"undecodable_share", "largest_cluster", "hot_bucket", "review_load"} <= silent


def test_the_age_of_files():
    level = CONFIG.model_copy(update={"gates": Gates.model_validate({"file_age_hours": {"warn": 10, "fail": 20}})})
    for hours, verdict in ((5, PASS), (15, WARN), (25, FAIL), (-5, PASS)):
        written = int((STARTED - timedelta(hours=hours)).timestamp() * 1e9)
        assert gates.file_age(written, STARTED, level).verdict == verdict
    assert gates.file_age(0, STARTED, level).verdict == SILENT


# ---- gates that compare ----


def history(*rates: float, rows: int = 1000, source: str = "站") -> list[Past]:
    counts = [Counts(rows, rows - int(rows * rate), int(rows * rate), 0) for rate in rates]
    return [Past(f"r{number}", one, {source: one}) for number, one in enumerate(counts)]


def comparison(name: str, now: Counts | None, before: list[Past], config: Config = CONFIG) -> gates.Judgement:
    total = now or Counts(0, 0, 0, 0)
    counted = metrics(input=total.rows, documents=total.documents, dropped=total.dropped, quarantine=total.quarantine)
    given = evidence(counted, past=before, sources={"站": now} if now else {})
    (finding,) = [finding for finding in compared(given, config.gates, config) if finding.gate == name]
    return gates._judged(finding._replace(rows=None), config)


@pytest.mark.parametrize(
    ("gate", "now", "verdict"),
    [("drop_rate", Counts(1000, 880, 120, 0), PASS), ("drop_rate", Counts(1000, 830, 170, 0), WARN),
     ("drop_rate", Counts(1000, 700, 300, 0), FAIL), ("drop_rate", Counts(999, 0, 999, 0), SILENT),
     ("source_drop_rate", Counts(1000, 850, 150, 0), PASS), ("source_drop_rate", Counts(1000, 750, 250, 0), WARN),
     ("source_drop_rate", Counts(1000, 500, 500, 0), FAIL), ("source_drop_rate", Counts(199, 0, 199, 0), SILENT),
     ("source_new_drop_rate", Counts(1200, 1060, 140, 0), PASS), ("source_new_drop_rate", Counts(1200, 1000, 200, 0), WARN),
     ("source_new_drop_rate", Counts(1200, 900, 300, 0), FAIL), ("source_new_drop_rate", Counts(1199, 900, 299, 0), SILENT),
     ("source_rows_lost", Counts(950, 950, 0, 0), PASS), ("source_rows_lost", Counts(800, 800, 0, 0), WARN),
     ("source_rows_lost", Counts(400, 400, 0, 0), FAIL), ("source_rows_lost", None, FAIL)],
)  # fmt: skip
def test_a_run_is_compared_with_the_median(gate, now, verdict):
    found = comparison(gate, now, history(0.1, 0.9, 0.1, 0.0, 0.1))
    assert found.verdict == verdict
    assert verdict in (SILENT,) or "usually" in found.message
    assert gate == "drop_rate" or verdict == SILENT or "source '站'" in found.message
    assert comparison(gate, now, history(0.1, 0.1)).verdict == SILENT  # too few earlier runs


def test_a_source_that_drops_much_less_is_strange_too():
    assert comparison("source_drop_rate", Counts(1000, 1000, 0, 0), history(0.5, 0.5, 0.5)).verdict == FAIL


def test_hostile_names_of_sources_are_safe_and_short():
    before = [Past("r", one.whole, {"\x1b[31m\n" + "x" * 500: one.whole}) for one in history(0.1, 0.1, 0.1)]
    found = comparison("source_rows_lost", None, before)
    assert "\x1b" not in found.message and "\n" not in found.message and len(found.message) < 300


@given(st.lists(st.sampled_from([PASS, WARN, FAIL, SILENT]), max_size=5))
def test_the_worst_verdict_counts(found):
    judgements = [gates.Judgement("evidence", 1.0, None, 0, verdict, "m", []) for verdict in found]
    assert verdict_of(judgements) == (FAIL if FAIL in found else WARN if WARN in found else PASS)
    assert (refusal(judgements, "out", CONFIG) is None) == (FAIL not in found)


def test_what_the_input_is_to_blame_for_is_its_own_exit_code():
    stale, wrong = (gates.Judgement(name, 9.0, None, 1, FAIL, "told", []) for name in ("publish_age_hours", "evidence"))
    assert isinstance(refusal([stale], "out", CONFIG), InputError)
    assert isinstance(refusal([stale, wrong], "out", CONFIG), GateRefused)


# ---- the table of history ----


def test_history_comes_back_as_written(tmp_path):
    folder = Folder(str(tmp_path))
    run = {"run_id": "r1", "started": STARTED, "verdict": PASS, "settings": "f", "seconds": 1.5, "newest": None}
    sources = {"一": Counts(3, 2, 1, 0), "": Counts(1, 1, 0, 0)}
    record(folder, run, Counts(4, 3, 1, 0), sources)
    (tmp_path / "run_history" / "bad.parquet").write_bytes(b"PAR1")
    assert past(folder, ["none", "bad", "r1"]) == [Past("r1", Counts(4, 3, 1, 0), sources)]


@embedded_only
def test_sources_are_counted_and_the_small_ones_left_out(tables):
    made = tables(documents=(("a", "s", 1), ("d", "s", 1), ("e", None, 1), ("f", "t", 1)))
    assert by_source(made, "source", 2, ["gone", "t"]) == {"s": Counts(4, 2, 1, 1), "t": Counts(1, 1, 0, 0)}
    assert by_source(made, "nosuch", 1, []) == {"": Counts(6, 4, 1, 1)}
    assert by_source(made, None, 1, []) == {"": Counts(6, 4, 1, 1)}


def test_a_rejected_run_is_told_as_json():
    judgement = gates.Judgement("evidence", 1.0, None, 0, FAIL, "m", [{"doc_id": "a"}])
    assert json.loads(json.dumps(judgement._asdict()))["rows"] == [{"doc_id": "a"}]
