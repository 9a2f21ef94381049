"""The evaluation from labels to files, on a corpus whose figures can be counted by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.evaluate import Request, evaluate
from dedup_lib.settings import load_settings
from tests.conftest import embedded_only
from tests.pipeline.cases import CLINIC, EARNINGS, LIBRARY, REWORDED
from tests.test_jobs import job

HOSTILE = "<script>alert(1)</script>"
OTHER_QUARTER = EARNINGS.replace("第二季度", "第三季度").replace("12.4", "31.7")
ROWS = {
    "doc_id": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "title": ["图书馆", "图书馆", "新馆", None, "门诊", "=1+1", "=2+2", ""],
    "content": [LIBRARY, f"<p>{LIBRARY}</p>", REWORDED, CLINIC, CLINIC.replace("，", ","), EARNINGS, OTHER_QUARTER, None],
}
TRUTH = {
    "doc_id": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "cluster_id": ["L", "L", "L", "C", "C", "E1", "E2", "H"],
    "kind": ["orig", "tags", "reworded", "orig", HOSTILE, "orig", "orig", "orig"],
    "expect": ["drop", "drop", "any", "drop", "drop", "drop", "drop", "drop"],
}
PAIRS = {
    "doc_id": ["a", "c", "d", "f", "a"],
    "other_id": ["b", "a", "e", "g", "d"],
    "label": ["twin", "twin", "twin", "template", "unclear"],
}
MEANINGS = {"twin": "duplicate", "template": "different", "unclear": "skip"}


@pytest.fixture(scope="module")
def measure(session, tmp_path_factory):
    """Evaluate labels on the corpus; the folder of the result."""
    folder = tmp_path_factory.mktemp("corpus")
    pq.write_table(pa.table(ROWS), folder / "input.parquet")
    given = [f"input.path={folder / 'input.parquet'}", "gates.quarantine_share.fail=1"]
    config = load_settings(overrides=given).config

    def run(labels: dict, run: str | None = None, as_csv: bool = False) -> Path:
        made = tmp_path_factory.mktemp("result")
        path = made / ("labels.csv" if as_csv else "labels.parquet")
        (pa.csv.write_csv if as_csv else pq.write_table)(pa.table(labels), str(path))
        evaluate(session, config, Request(str(path), str(made / "out"), run, MEANINGS), say=lambda line: None)
        return made / "out"

    return run


@pytest.fixture(scope="module")
def clusters(measure) -> Path:
    return measure(TRUTH)


@pytest.fixture(scope="module")
def pairs(measure, clusters) -> Path:
    return measure(PAIRS, run=str(clusters / "rebuild"), as_csv=True)


def figures(folder: Path, method: str, setting: str, universe: str = "all pairs", kind: str = "all") -> tuple[int, int, int]:
    """Pairs proposed rightly, wrongly, and missed."""
    rows = pq.read_table(folder / "summary.parquet").to_pylist()
    at = {"method": method, "setting": setting, "universe": universe, "kind": kind, "length_band": "all"}
    (row,) = [row for row in rows if at.items() <= row.items()]
    return row["tp"], row["fp"], row["fn"]


@embedded_only
@pytest.mark.parametrize(
    ("method", "setting", "expected"),
    [
        ("product", "dropped", (4, 0, 0)),
        ("product", "dropped or review", (4, 1, 0)),  # the two quarters wait for a person
        ("jaccard_4", ">= 0.80", (4, 1, 0)),
        ("md5_title", "equal", (1, 0, 3)),
        ("md5_text", "equal", (1, 0, 3)),
        ("simhash_4grams", "<= 2 bits", (4, 0, 0)),  # marks are no tokens; the reworded text is two bits away
        ("difflib", ">= 0.85", (4, 1, 0)),
    ],
)
def test_the_figures_of_clusters_are_those_counted_by_hand(clusters, method, setting, expected):
    assert figures(clusters, method, setting) == expected


@embedded_only
def test_pairs_are_counted_by_kind_and_expectation(clusters):
    assert figures(clusters, "md5_text", "equal", kind="tags") == (1, 0, 0)
    assert figures(clusters, "md5_text", "equal", kind="reworded") == (0, 0, 1)
    assert figures(clusters, "md5_text", "equal", "all pairs, expect = drop") == (1, 0, 1)
    assert figures(clusters, "product", "dropped or review", kind="(unrelated)") == (0, 1, 0)


@embedded_only
def test_exactly_the_labelled_pairs_count_and_a_finished_run_will_do(pairs):
    assert figures(pairs, "product", "dropped", "labelled pairs") == (3, 0, 0)
    assert figures(pairs, "product", "dropped or review", "labelled pairs") == (3, 1, 0)
    assert figures(pairs, "md5_text", "equal", "labelled pairs", "twin") == (1, 0, 2)


@embedded_only
def test_the_sweep_has_every_threshold_and_recall_falls(clusters):
    rows = pq.read_table(clusters / "sweep.parquet").to_pylist()
    for method, steps in (("jaccard_3", 101), ("containment", 101), ("simhash_product", 65), ("minhash", 101)):
        mine = [row for row in rows if row["method"] == method and row["kind"] == row["length_band"] == "all"]
        mine = [row for row in mine if row["universe"] == "all pairs"]
        assert len({row["threshold"] for row in mine}) == len(mine) == steps
        recalls = [row["recall"] for row in mine]
        assert recalls == sorted(recalls, reverse=True) and recalls[0] == 1.0
        assert all(row["pairs"] == 28 and row["tp"] + row["fn"] == 4 for row in mine)


@embedded_only
def test_a_finished_run_gives_the_same_figures_as_a_new_one(clusters, measure):
    again = measure(TRUTH, run=str(clusters / "rebuild"))
    for name in ("summary.csv", "sweep.parquet", "wrong.csv"):
        assert (again / name).read_bytes() == (clusters / name).read_bytes()


@embedded_only
def test_each_profile_has_its_figures(clusters, measure):
    rows = pq.read_table(clusters / "profiles.parquet").to_pylist()
    whole = [row for row in pq.read_table(clusters / "summary.parquet").to_pylist() if row["method"] == "product"]
    assert rows == [{"profile": "news", **row} for row in whole] and rows[0]["precision_lo"] < 1.0


@embedded_only
def test_verdicts_are_labels_and_those_on_absent_rows_are_passed_over(clusters, measure):
    verdicts = {
        "doc_id": ["a", "f", "d", "x"], "other_id": ["b", "g", None, "a"],
        "verdict": ["duplicate", "not_duplicate", "protect", "duplicate"],
    }  # fmt: skip
    found = measure(verdicts, run=str(clusters / "rebuild"))
    assert figures(found, "product", "dropped", "labelled pairs") == (1, 0, 0)
    assert figures(found, "product", "dropped or review", "labelled pairs") == (1, 1, 0)


@embedded_only
def test_suspicious_labels_are_listed_and_nothing_in_them_runs(clusters):
    with (clusters / "wrong.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["suspicion"], row["doc_id"], row["other_id"], row["decision"]) == ("labelled different, near", "f", "g", "review")
    assert row["title"] == "'=1+1" and row["other_text"] == OTHER_QUARTER
    page = (clusters / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "http" not in page.replace("http://www.w3.org/", "") and page.count("<svg") == 4


@embedded_only
def test_the_result_says_which_pairs_its_figures_speak_of(clusters, pairs):
    notes = json.loads((clusters / "evaluation.json").read_text())
    assert notes["universe"].startswith("all pairs: every pair of the 8 labelled rows, none sampled.")
    notes = json.loads((pairs / "evaluation.json").read_text())
    assert "exactly the 4 pairs of the labels, 3 of them duplicates" in notes["universe"]
    assert "proposing every pair would have precision 0.7500" in notes["universe"]


@embedded_only
@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        ({"id": ["a"]}, "need the columns doc_id, cluster_id or doc_id, other_id, label"),
        ({"doc_id": ["a", "x"], "cluster_id": ["1", "1"]}, "1 of 2 ids are not in the corpus: 'x'"),
        ({"doc_id": pa.array([], pa.string()), "cluster_id": pa.array([], pa.string())}, "hold no rows"),
    ],
)
def test_labels_that_cannot_be_used_are_named(clusters, measure, labels, complaint):
    with pytest.raises(InputError, match=complaint):
        measure(labels, run=str(clusters / "rebuild"))


@embedded_only
def test_a_folder_that_is_no_run_is_named(clusters, measure):
    with pytest.raises(InputError, match="not the folder of a run"):
        measure(TRUTH, run=str(clusters))
    with pytest.raises(InputError, match=r"manifest.json: no such file"):
        measure(TRUTH, run=str(clusters / "rebuild" / "runs" / "other"))


@embedded_only
def test_a_result_is_never_written_over(session, clusters):
    with pytest.raises(ConfigError, match="exists and is not an empty folder"):
        evaluate(session, load_settings().config, Request("labels.csv", str(clusters)))


def test_the_command_measures_and_shows_the_comparison(tmp_path):
    pq.write_table(pa.table(ROWS), tmp_path / "input.parquet")
    pyarrow.csv.write_csv(pa.table(PAIRS), tmp_path / "labels.csv")
    given = [f"--meaning={value}={meaning}" for value, meaning in MEANINGS.items()]
    more = ("--set", "gates.quarantine_share.fail=1")
    done = job("evaluate", "--input", "input.parquet", "--labels", "labels.csv", "--output", "out", *given, *more, cwd=tmp_path)
    assert done.code == 0, done.error
    lines = [line.split() for line in done.out.splitlines()]
    assert ["product", "dropped", "1.0000", "1.0000", "1.0000", "3", "0"] in lines
    assert "report: out/report.html" in done.out and (tmp_path / "out" / "summary.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["--meaning", "x"], 2, "error: --meaning x: write it as VALUE=duplicate"),
        (["--run", "r", "--input", "i"], 2, "error: --run: a finished run has its own input and settings"),
        ([], 4, "error: input labels.csv: no such file or folder"),
    ],
)
def test_wrong_usage_is_told(tmp_path, arguments, code, complaint):
    done = job("evaluate", "--labels", "labels.csv", "--output", "out", *arguments, cwd=tmp_path)
    assert done.code == code and complaint in done.error and not (tmp_path / "out").exists()
