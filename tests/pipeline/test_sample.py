"""The whole job on the sample: what was expected of the hand-made rows, and the contract for all of them."""

from __future__ import annotations

import csv
from collections import Counter

import pyarrow.dataset as ds
import pytest

from dedup_lib.settings import load_settings
from tests.conftest import SAMPLE, embedded_only
from tests.oracle import jaccard, shingle_set
from tests.pipeline.helpers import digest, drops, kept_apart, run_on, survivors


@pytest.fixture(scope="module")
def raw():
    """The input rows."""
    return ds.dataset([str(SAMPLE / "articles.parquet"), str(SAMPLE / "messy.parquet")]).to_table()


@pytest.fixture(scope="module")
def result(session, tmp_path_factory):
    """The published tables."""
    return run_on(session, str(SAMPLE / "*.parquet"), tmp_path_factory.mktemp("sample"), "output.keep_work=true")


@pytest.fixture(scope="module")
def expected():
    """What the hand-made rows must become."""
    with (SAMPLE / "messy_expected.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_hand_made_rows_end_as_expected(result, expected):
    kept, dropped = survivors(result), drops(result)
    quarantine = Counter((row["doc_id"], row["reason"]) for row in result["quarantine"])
    wrong = []
    for row in expected:
        doc_id, outcome = row["doc_id"], row["outcome"]
        if outcome == "kept":
            good = doc_id in kept
        elif outcome == "dropped":
            survivor, method = dropped.get(doc_id, ("", ""))
            good = survivor == row["kept_id"] and method in row["method"].split("|")
        else:
            good = quarantine[doc_id, outcome.removeprefix("quarantine:")] == 1
        if not good:
            wrong.append((row, dropped.get(doc_id), doc_id in kept))
    assert not wrong


def test_nothing_is_lost_and_raw_columns_are_unchanged(result, raw):
    columns = raw.column_names
    rows_in = Counter(repr(row) for row in raw.to_pylist())
    rows_out = Counter(
        repr({name: row[name] for name in columns}) for table in ("documents", "dropped", "quarantine") for row in result[table]
    )
    assert rows_out == rows_in


def test_every_drop_names_a_survivor_in_exactly_one_row(result):
    kept = survivors(result)
    evidence = [row for row in result["pairs"] if row["decision"] == "drop"]
    assert Counter(row["doc_id"] for row in evidence) == Counter(row["doc_id"] for row in result["dropped"])
    assert {row["kept_id"] for row in evidence} <= kept
    by_table = {row["doc_id"]: (row["kept_id"], row["method"]) for row in result["dropped"]}
    assert by_table == drops(result)


@pytest.fixture(scope="module")
def texts(result, tmp_path_factory):
    """Normalised texts, by the kernels."""
    import pyarrow as pa

    from dedup_lib.kernels.folding import fold_repeats
    from dedup_lib.kernels.normalize import Normalizer

    config = load_settings().config
    profile = config.profiles["news"]
    rows = [row for table in ("documents", "dropped") for row in result[table]]
    normalized = Normalizer(profile.normalize, config.lexicon)(pa.array([row["content"] for row in rows]))
    fold = profile.fold
    folded = fold_repeats(normalized, fold.min_unit, fold.min_repeats, fold.max_unit).to_pylist()
    return {row["doc_id"]: text for row, text in zip(rows, folded, strict=True)}


def test_measures_are_exact_and_reach_the_threshold(result, texts):
    near = [row for row in result["pairs"] if row["method"] == "near"]
    assert len(near) > 500
    for row in near:
        first, second = (shingle_set(texts[row[side]], 4) for side in ("doc_id", "kept_id"))
        assert row["jaccard"] == pytest.approx(jaccard(first, second), abs=1e-12)
        assert row["containment"] == pytest.approx(len(first & second) / min(len(first), len(second)), abs=1e-12)
        assert 0 <= row["hamming"] <= 64
        if row["decision"] == "drop":
            assert row["jaccard"] >= row["threshold"]
    for row in result["pairs"]:
        if row["method"].startswith("exact"):
            assert (row["jaccard"], row["containment"], row["hamming"]) == (1.0, 1.0, 0)


def test_review_rows_stay_and_are_asked_once(result):
    kept = survivors(result)
    asked = [row for row in result["pairs"] if row["decision"] == "review"]
    assert all(row["doc_id"] in kept and row["kept_id"] in kept for row in asked)
    assert Counter((row["doc_id"], row["kept_id"]) for row in asked) == Counter(
        (row["doc_id"], row["kept_id"]) for row in result["review"]
    )
    every = Counter(frozenset((row["doc_id"], row["kept_id"])) for row in result["pairs"])
    assert max(every.values()) == 1
    load = Counter(side for row in asked for side in (row["doc_id"], row["kept_id"]))
    limits = load_settings().config.review
    assert max(load.values()) <= limits.max_pairs_per_row + limits.max_pairs_per_original


def test_clusters_sizes_and_metrics_agree(result):
    dropped = drops(result)
    members = {row["doc_id"]: row["cluster_id"] for row in result["clusters"] if not row["is_survivor"]}
    assert members == {doc_id: survivor for doc_id, (survivor, _) in dropped.items()}
    heads = {row["doc_id"] for row in result["clusters"] if row["is_survivor"]}
    assert heads == set(members.values())
    behind = Counter(members.values())
    assert all(row["cluster_size"] == behind[row["doc_id"]] + 1 for row in result["documents"])
    rows = result["metrics"]["rows"]
    assert rows["input"] == 3346
    assert {name: len(result[name]) for name in result if name != "metrics"} == {
        name: count for name, count in rows.items() if name != "input"
    }


@embedded_only  # on the other engine the tables are the same, as the last test says
def test_survivors_that_meet_are_no_duplicates(result, texts):
    """G3 by brute force over the survivors that came near enough to be listed or share a cluster's neighbourhood."""
    kept = sorted(survivors(result))
    features = {doc_id: shingle_set(texts[doc_id], 4) for doc_id in kept}
    by_shingle: dict[str, list[str]] = {}
    for doc_id in kept:
        if len(features[doc_id]) >= 20:
            for shingle in sorted(features[doc_id])[:12]:
                by_shingle.setdefault(shingle, []).append(doc_id)
    pairs = {(a, b) for ids in by_shingle.values() if len(ids) < 60 for i, a in enumerate(ids) for b in ids[i + 1 :]}
    assert len(pairs) > 1000
    alike = [(a, b) for a, b in pairs if jaccard(features[a], features[b]) >= 0.8]
    letters = {doc_id: len(features[doc_id]) + 3 for pair in alike for doc_id in pair}
    assert all(kept_apart(texts[a], texts[b], min(letters[a], letters[b]), jaccard(features[a], features[b])) for a, b in alike)


_seen: dict[str, str] = {}


def test_both_engines_give_the_same_tables(result, session):
    """Each engine leaves the hash of its result; they must be equal."""
    engine = "embedded" if "connect" in type(session).__module__ else "spark"
    _seen[engine] = digest(result)
    assert len(set(_seen.values())) == 1
