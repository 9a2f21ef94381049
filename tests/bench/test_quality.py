"""Pairwise precision and recall against a count of all pairs."""

from __future__ import annotations

from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality import quality, read_truth

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4) | st.none()), min_size=1, max_size=25)


def tables(rows: list[tuple[int, int | None]]) -> tuple[pa.Table, pa.Table]:
    """What was found (rows with no label are absent) and the truth."""
    ids = [f"id{n}" for n in range(len(rows))]
    found = [(name, str(mine)) for name, (_, mine) in zip(ids, rows, strict=True) if mine is not None]
    truth = pa.table({"doc_id": ids, "cluster_id": [str(true) for true, _ in rows], "kind": pa.nulls(len(ids), pa.string())})
    columns = {"doc_id": [name for name, _ in found], "cluster_id": [label for _, label in found]}
    return pa.table(columns, schema=pa.schema({"doc_id": pa.string(), "cluster_id": pa.string()})), truth


@given(labels)
def test_equals_the_count_of_all_pairs(rows):
    pairs = list(combinations(rows, 2))
    real = {n for n, (a, b) in enumerate(pairs) if a[0] == b[0]}
    stated = {n for n, (a, b) in enumerate(pairs) if a[1] is not None and a[1] == b[1]}
    measured = quality(*tables(rows))
    assert (measured["true_pairs"], measured["found_pairs"], measured["right_pairs"]) == (
        len(real),
        len(stated),
        len(real & stated),
    )
    assert measured["precision"] == (pytest.approx(len(real & stated) / len(stated)) if stated else None)
    assert measured["recall"] == (pytest.approx(len(real & stated) / len(real)) if real else None)
    if measured["precision"] and measured["recall"]:
        harmonic = 2 / (1 / measured["precision"] + 1 / measured["recall"])
        assert measured["f1"] == pytest.approx(harmonic)


def test_rows_that_the_truth_does_not_know_are_left_out():
    found = pa.table({"doc_id": ["a", "b", "stranger"], "cluster_id": ["1", "1", "1"]})
    truth = pa.table({"doc_id": ["a", "b"], "cluster_id": ["x", "x"], "kind": ["original", "exact"]})
    measured = quality(found, truth)
    assert (measured["precision"], measured["recall"], measured["found_pairs"]) == (1.0, 1.0, 1)


def test_copies_are_counted_by_kind():
    ids = list("abcdef")
    kinds = ["original", "exact", "noise", "noise", "original", "exact"]
    truth = pa.table({"doc_id": ids, "cluster_id": list("111122"), "kind": kinds})
    found = pa.table({"doc_id": list("abce"), "cluster_id": ["1", "1", "1", "9"]})
    assert quality(found, truth)["joined_by_kind"] == {"exact": 0.5, "noise": 0.5}
    assert quality(found, truth, pa.array(["d", "e"]))["joined_or_asked_by_kind"] == {"exact": 0.5, "noise": 1.0}


def test_large_clusters_do_not_overflow():
    rows = 200_000
    ids = pa.array(range(rows)).cast(pa.string())
    one = pa.table({"doc_id": ids, "cluster_id": pa.array(["x"] * rows), "kind": pa.nulls(rows, pa.string())})
    assert quality(one, one)["true_pairs"] == rows * (rows - 1) // 2


def test_the_truth_may_be_csv_or_parquet_and_need_not_name_kinds(tmp_path):
    (tmp_path / "truth.csv").write_text("doc_id,cluster_id\n1,7\n2,7\n", "utf-8")
    read = read_truth(str(tmp_path / "truth.csv"))
    assert read.to_pylist() == [
        {"doc_id": "1", "cluster_id": "7", "kind": None},
        {"doc_id": "2", "cluster_id": "7", "kind": None},
    ]
    pq.write_table(read, tmp_path / "truth.parquet")
    assert read_truth(str(tmp_path / "truth.parquet")) == read
    (tmp_path / "wrong.csv").write_text("doc_id,label\n1,7\n", "utf-8")
    with pytest.raises(ValueError, match="cluster_id missing"):
        read_truth(str(tmp_path / "wrong.csv"))
