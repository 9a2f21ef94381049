"""The practitioners' cases: one corpus on both engines, one test for each case and some for the whole."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle import jaccard, shingle_set
from tests.pages import Seen
from tests.pipeline.cases import CASES, Case, corpus
from tests.pipeline.helpers import drops, run, survivors


@pytest.fixture(scope="module")
def rows():
    return {row["doc_id"]: row for row in corpus()}


@pytest.fixture(scope="module")
def ran(session, rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    return folder, run(session, list(rows.values()), folder, "output.report=true", files=3)


@pytest.fixture(scope="module")
def tables(ran):
    return ran[1]


def of(case: Case, doc_id: str) -> str | None:
    """The row's name within the case; None for a row of another case."""
    name, _, row = doc_id.partition(": ")
    return row if name == case.name else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestCase:
    def test_only_duplicates_are_dropped(self, tables, case):
        fallen = {of(case, doc_id): (of(case, kept), method) for doc_id, (kept, method) in drops(tables).items()}
        fallen.pop(None, None)
        assert fallen == case.dropped

    def test_doubtful_pairs_go_to_a_person(self, tables, case):
        asked = {(of(case, row["doc_id"]), of(case, row["kept_id"])): row["reason"] for row in tables["review"]}
        ours = {pair: reason for pair, reason in asked.items() if pair[0]}
        assert ours.keys() == case.review.keys()
        assert all(ours[pair].startswith(beginning) for pair, beginning in case.review.items())

    def test_nothing_else_is_quarantined(self, tables, case):
        reasons = {of(case, row["doc_id"]): row["reason"] for row in tables["quarantine"]}
        reasons.pop(None, None)
        assert reasons == dict.fromkeys(case.blank, "empty")


def test_the_report_of_either_engine_has_its_figures(ran, rows):
    folder, tables = ran
    (page,) = folder.glob("output/runs/*/report.html")
    words = Seen(page.read_text(encoding="utf-8")).words
    for text in (f"{len(rows):,}rows read", f"{len(tables['dropped']):,}dropped", f"{len(tables['review']):,}pairs for review"):
        assert text in words


def test_every_row_comes_out_once_and_unchanged(tables, rows):
    out = [row for name in ("documents", "dropped", "quarantine") for row in tables[name]]
    assert sorted(row["doc_id"] for row in out) == sorted(rows)
    assert all({name: row[name] for name in rows[row["doc_id"]]} == rows[row["doc_id"]] for row in out)


def test_rows_without_a_counterpart_stay(tables, rows):
    blank = {row["doc_id"] for row in tables["quarantine"]}
    assert survivors(tables) == rows.keys() - drops(tables).keys() - blank


def test_a_pair_is_listed_once_and_in_one_direction(tables):
    pairs = [tuple(sorted((row["doc_id"], row["kept_id"]))) for row in tables["pairs"]]
    assert max(Counter(pairs).values()) == 1
    assert all(first != second for first, second in pairs)


def test_a_cluster_has_one_survivor_and_all_who_fell_for_it(tables):
    members: dict[str, set[str]] = {}
    for doc_id, (kept, _) in drops(tables).items():
        members.setdefault(kept, {kept}).add(doc_id)
    found: dict[str, set[str]] = {}
    for row in tables["clusters"]:
        found.setdefault(row["cluster_id"], set()).add(row["doc_id"])
        assert row["is_survivor"] == (row["doc_id"] == row["cluster_id"])
    assert found == members
    assert len(tables["clusters"]) == sum(map(len, members.values()))


def test_survivors_say_how_many_stand_behind_them(tables):
    behind = Counter(kept for kept, _ in drops(tables).values())
    assert {row["doc_id"]: row["cluster_size"] for row in tables["documents"]} == {
        doc_id: behind[doc_id] + 1 for doc_id in survivors(tables)
    }


def test_each_near_drop_is_measured_on_its_own_two_texts(tables, rows):
    near = [row for row in tables["pairs"] if row["method"] == "near" and row["decision"] == "drop"]
    assert len(near) > 40
    for row in near:
        ours, theirs = (shingle_set(rows[row[name]]["content"], 4) for name in ("doc_id", "kept_id"))
        assert row["jaccard"] == pytest.approx(jaccard(ours, theirs), abs=1e-12)
        assert row["containment"] == pytest.approx(len(ours & theirs) / min(len(ours), len(theirs)), abs=1e-12)
        assert row["jaccard"] >= row["threshold"]


def test_a_fingerprint_is_missing_only_where_nothing_can_be_compared(tables):
    without = {row["doc_id"].partition(": ")[0] for row in tables["documents"] if row["simhash"] is None}
    assert without == {"signs only", "markup only", "noise only"}


def test_unrelated_texts_have_distant_fingerprints(tables):
    found = {row["doc_id"]: row["simhash"] for row in tables["documents"]}
    close = [
        seed
        for seed in range(50, 60)
        if ((found[f"function words {seed}: t1"] ^ found[f"function words {seed}: t2"]) & (2**64 - 1)).bit_count() < 10
    ]
    assert close == []


def test_texts_too_short_to_compare_are_counted(tables):
    counted = tables["metrics"]["exact"]
    alone = sum(method == "near" for _, method in drops(tables).values()) - 1  # one of them equals another
    assert counted["rows"] == len(tables["documents"]) + len(tables["dropped"])
    assert counted["representatives"] == len(tables["documents"]) + alone
    assert 30 < counted["too_short_to_compare"] < len(tables["documents"])


def test_what_cannot_be_processed_is_counted_by_reason(tables):
    blank = sum(len(case.blank) for case in CASES)
    assert tables["metrics"]["quarantine"] == {"empty": blank}
    assert tables["metrics"]["rows"]["quarantine"] == len(tables["quarantine"]) == blank


def test_the_largest_bucket_is_reported(tables):
    worst = tables["metrics"]["candidates"]["worst_buckets"][0]
    assert worst["first_doc_id"] == "hot bucket: t1"
    assert worst["pairs_given"] < worst["pairs_of_a_naive_self_join"]
