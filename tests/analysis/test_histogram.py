"""The histogram job on a small corpus: its tables against a count of all pairs, against real runs, and in words."""

from __future__ import annotations

import json
import os
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.analysis.histogram import Request, analyse, analyse_input
from dedup_lib.analysis.sample import compare, draw
from dedup_lib.analysis.what_if import what_if
from dedup_lib.analysis.words import proposal_lines, what_if_lines
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.finished import finished_run
from dedup_lib.kernels.against import STEPS
from dedup_lib.kernels.similarity import compare_texts
from dedup_lib.pipeline import rebuild
from dedup_lib.settings import load_settings
from dedup_lib.store import RunStore
from dedup_lib.strings import LANGUAGES
from tests.analysis.conftest import settings
from tests.conftest import embedded_only
from tests.pipeline.helpers import write_rows
from tests.test_jobs import job

DRAWN = ("3", "1", "0", "4", "2")
TEXTS = [
    "天上下着大雨地上都是水",
    "天上下着大雨地上全是水",
    "明天的会议改在下午举行",
    "明天的会议改在上午举行",
    "图书馆周末照常开放",
]


def silent(line: str) -> None:
    """Say nothing."""


def few_texts(session):
    """Settings, and a frame of the texts."""
    rows = [
        {"doc_id": str(at), "profile": "news", "text": text, "features": len(text), "simhash": at}
        for at, text in enumerate(TEXTS)
    ]
    return load_settings(overrides=["profiles.news.ngram=2"]).config, session.createDataFrame(pa.Table.from_pylist(rows))


def test_a_sample_of_everything_is_every_pair_on_either_engine(session):
    config, texts = few_texts(session)
    texts = texts.repartition(2)
    drawn = draw(texts, config, 1, 10)
    tally = compare(texts, drawn).tallies["news"]
    expected = np.zeros(STEPS, np.int64)
    for first, second in combinations(TEXTS, 2):
        jaccard, _ = compare_texts(pa.array([first]), pa.array([second]), 2)
        expected[int(jaccard[0] * 100 + 1e-9)] += 2
    assert (tally[..., :STEPS].sum(axis=(0, 1, 2)) == expected).all() and tally[:, 0].sum() == 0
    assert drawn["news"].ids == DRAWN  # by hash, which is the same in both engines


@embedded_only
def test_a_draw_depends_on_its_seed_and_not_on_partitions(session):
    config, texts = few_texts(session)
    assert draw(texts.repartition(1), config, 1, 10)["news"].ids == draw(texts.repartition(3), config, 1, 10)["news"].ids == DRAWN
    assert set(draw(texts, config, 2, 2)["news"].ids) != set(draw(texts, config, 1, 2)["news"].ids)


@embedded_only
def test_the_sweep_says_what_a_run_with_that_threshold_does(session, analysed):
    store, _ = analysed
    rows = pq.read_table(f"{store.folder}/threshold_sweep").to_pylist()
    for run, threshold in (("second", 0.8), ("strict", 0.9)):
        (row,) = [row for row in rows if row["threshold"] == threshold]
        done = json.loads(open(f"{store.output}/runs/{run}/metrics.json").read())
        assert row["dropped"] == done["rows"]["dropped"]
        assert row["clusters"] == done["rows"]["clusters"] - done["rows"]["dropped"]
        asked = row["review_pairs"] + row["guarded_pairs"]
        assert asked == done["rows"]["review"] if row["current"] else abs(asked - done["rows"]["review"]) <= 2  # of excerpts
        assert row["current"] == (threshold == 0.8)
    fallen = [row["dropped"] for row in rows]
    assert fallen == sorted(fallen, reverse=True) and fallen[0] > fallen[-1] >= 3  # three exact copies fall at any threshold
    assert [row["labels"] for row in rows] == [40] * len(rows) and all(
        0 < row["precision_lo"] <= row["precision"] for row in rows
    )
    recalls = [row["recall"] for row in rows]
    assert recalls == sorted(recalls, reverse=True) and 0 < recalls[-1] < recalls[0] <= 1


@embedded_only
def test_the_histogram_counts_what_the_run_stored(analysed):
    store, _ = analysed
    hist = pq.read_table(f"{store.folder}/score_hist").to_pylist()
    whole = [row for row in hist if row["length_band"] == "all" and row["measure"] == "jaccard"]
    counts = {kind: sum(row["count"] for row in whole if row["kind"] == kind) for kind in {row["kind"] for row in whole}}
    texts = store.read_json("metrics.json")["exact"]["representatives"]
    assert counts["sample"] == 50 * (texts - 1) and counts["background"] == 50 * 49 // 2 and counts["nearest"] == 50
    scores = pq.read_table(f"{store.folder}/scores")
    assert counts["drop"] == scores["outcome"].to_pylist().count(1) and counts["review"] == scores["outcome"].to_pylist().count(2)
    by_band = sum(
        row["count"] for row in hist if row["length_band"] != "all" and row["measure"] == "jaccard" and row["kind"] == "sample"
    )
    assert by_band == counts["sample"]


@embedded_only
def test_the_same_answer_again_and_nothing_left_behind(session, analysed):
    store, config = analysed
    before = pq.read_table(f"{store.folder}/score_hist").to_pylist()
    again = analyse(store, config, Request(sample=50, labels=f"{store.output}/../labels.csv"), say=silent)
    assert sorted(map(str, before)) == sorted(map(str, again["score_hist"].to_pylist()))
    assert not any(path.startswith("_work") for path in os.listdir(store.folder))


@embedded_only
def test_pairs_at_the_cut_are_the_nearest_with_their_texts(analysed):
    store, _ = analysed
    rows = pq.read_table(f"{store.folder}/borderline").to_pylist()
    assert {row["side"] for row in rows} == {"above", "below"}
    assert all((row["jaccard"] >= row["threshold"]) == (row["side"] == "above") for row in rows)
    assert all(row["text"] and row["other_text"] for row in rows)


@embedded_only
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_says_in_words_what_it_found(analysed, language):
    store, _ = analysed
    made = {name: pq.read_table(f"{store.folder}/{name}") for name in ("proposals", "threshold_sweep")}
    told = "\n".join(proposal_lines(made, store.folder, language))
    assert store.folder in told and "{" not in told
    answer = "\n".join(what_if_lines(what_if(store.folder, 0.7), language))
    assert "0.70" in answer and "0.80" in answer and "{" not in answer and "\u202e" not in answer


@embedded_only
def test_a_threshold_that_nothing_is_known_of_is_refused(analysed):
    store, _ = analysed
    with pytest.raises(ConfigError, match=r"knows thresholds from 0.6 to 1"):
        what_if(store.folder, 0.3)
    with pytest.raises(InputError, match=r"run jobs/histogram.py on this run first"):
        what_if(f"{store.output}/runs/strict", 0.7)


@embedded_only
@pytest.mark.parametrize(
    ("rows", "more"),
    [
        ([{"content": "没有编号也没有标题的唯一一篇，讲的是春天的花。"}, {"content": ""}], ("input.columns.title=null",)),
        (
            [{"doc_id": f"c{at}", "content": f"第{at}条", "source": "comment"} for at in range(3)]
            + [{"doc_id": f"l{at}", "content": f"2024-01-0{at} ERROR disk {at} full", "source": "log"} for at in range(1, 4)],
            ("input.profile_column=source",),
        ),
    ],
    ids=["one document without an id", "comments and logs"],
)
def test_odd_runs_are_analysed_too(session, tmp_path, rows, more):
    write_rows(rows, tmp_path / "input")
    rebuild(session, settings(tmp_path / "input", tmp_path / "out", *more), "odd", say=silent)
    store, config = finished_run(session, str(tmp_path / "out"))
    made = analyse(store, config, Request(sample=10), say=silent)
    whole = [row for row in made["proposals"].to_pylist() if row["length_band"] == "all"]
    assert {row["profile"] for row in whole} == {row.get("source") or "news" for row in rows}
    assert {row["valley"] for row in whole} == {None} and all(row["dropped"] >= 0 for row in made["threshold_sweep"].to_pylist())
    assert list(proposal_lines(made, store.folder, "zh"))


@embedded_only
def test_raw_input_needs_no_run(session, given, tmp_path):
    store = RunStore(session, str(tmp_path), "look")
    made = analyse_input(session, settings(given / "input", tmp_path), Request(sample=50), store, say=silent)
    assert set(made) == {"score_hist", "proposals"} and made["proposals"].num_rows


@embedded_only
def test_the_command_answers_and_names_what_is_wrong(analysed, tmp_path):
    store, _ = analysed
    done = job("histogram", "--output", store.output, "--at", "0.75", "--language", "zh", cwd=tmp_path)
    assert done.code == 0 and "drop_jaccard 由 0.80 改为 0.75" in done.out
    done = job("histogram", "--output", "nowhere", cwd=tmp_path)
    assert done.code == 4 and "nothing is published here" in done.error
