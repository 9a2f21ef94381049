"""Counting and rates against brute force over all pairs."""

from __future__ import annotations

from itertools import combinations
from math import isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.errors import InputError
from dedup_lib.evaluation import universe as universes
from dedup_lib.evaluation.labels import Clusters, Pairs
from dedup_lib.evaluation.measures import equality
from dedup_lib.evaluation.metrics import best_step, counts, rates, wilson
from dedup_lib.evaluation.tables import parts
from dedup_lib.evaluation.universe import TWO_COPIES, UNRELATED, AllPairs, LabelledPairs, band_names, length_bands, tally

documents = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from(["orig", "trad", "noise"]), st.booleans(), st.integers(0, 60)),
    min_size=2,
    max_size=9,
)


def clusters_of(rows) -> tuple[Clusters, np.ndarray]:
    cluster, kind, lexical, features = map(list, zip(*rows, strict=True))
    return Clusters([f"{at}" for at in range(len(rows))], cluster, kind, lexical, 0), np.array(features)


def table_of(rows):
    """A score of 0 to 9 for each pair, and the measure that gives it."""
    score = {(i, j): (7 * i + 3 * j) % 10 for i, j in combinations(range(len(rows)), 2)}
    return score, lambda i, others: np.array([score[i, int(j)] for j in others], np.uint8)


def kind_of(first, second, with_originals: bool) -> str:
    if first[0] != second[0]:
        return UNRELATED
    if not with_originals:
        return first[1] if first[1] == second[1] else TWO_COPIES
    copies = [kind for kind in (first[1], second[1]) if kind != "orig"]
    return copies[0] if len(copies) == 1 else TWO_COPIES


@given(documents)
def test_every_pair_is_counted_in_its_parts(rows):
    labels, features = clusters_of(rows)
    score, measure = table_of(rows)
    universe = AllPairs(labels, features, "orig")
    (counted,), _ = tally(universe, [measure], [10], 0)
    originals, seen = any(row[1] == "orig" for row in rows), set()
    for name, kind, band, found in parts(universe.shape, counted):
        seen.add((name, kind, band))
        for step in range(10):
            tp = fp = duplicates = different = 0
            for i, j in combinations(range(len(rows)), 2):
                first, second = rows[i], rows[j]
                short = band_names()[length_bands(np.array([min(first[3], second[3])]))[0]]
                inside = kind in ("all", kind_of(first, second, originals)) and band in ("all", short)
                if not inside or (name != "all pairs" and not (first[2] and second[2])):
                    continue
                same, near = first[0] == second[0], score[i, j] >= step
                duplicates, different = duplicates + same, different + (not same)
                tp, fp = tp + (same and near), fp + (near and not same)
            assert (found.tp[step], found.fp[step], found.duplicates, found.different) == (tp, fp, duplicates, different)
    assert ("all pairs", "all", "all") in seen


@given(documents)
def test_the_suspects_of_a_row_are_its_worst_pairs(rows):
    labels, features = clusters_of(rows)
    score, measure = table_of(rows)
    _, suspects = tally(AllPairs(labels, features, "orig"), [measure], [10], 0)
    for i in range(len(rows)):
        same = [score[i, j] for j in range(i + 1, len(rows)) if rows[i][0] == rows[j][0] and rows[i][2] and rows[j][2]]
        other = [score[i, j] for j in range(i + 1, len(rows)) if rows[i][0] != rows[j][0]]
        assert [step for step, row, _ in suspects.far if row == i] == ([min(same)] if same else [])
        assert [step for step, row, _ in suspects.near if row == i] == ([max(other)] if other else [])


def test_labelled_pairs_are_exactly_these():
    labels = Pairs(["a", "a", "c"], ["b", "c", "d"], [True, False, True], ["url", "url", "item"])
    universe = LabelledPairs(labels, np.array([10, 30, 400, 2000]))
    (counted,), _ = tally(universe, [equality(np.array([1, 1, 2, 3]))], [2], 0)
    found = {(kind, band): (c.tp[1], c.fp[1], c.duplicates, c.different) for _, kind, band, c in parts(universe.shape, counted)}
    assert found == {
        ("all", "all"): (1, 0, 2, 1),
        ("item", "all"): (0, 0, 1, 0),
        ("url", "all"): (1, 0, 1, 1),
        ("all", "0-19"): (1, 0, 1, 1),
        ("all", "300-999"): (0, 0, 1, 0),
    }


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(universes, "MAX_ROWS", 1)
    with pytest.raises(InputError, match="2 rows, and all pairs are compared: label at most 1"):
        AllPairs(*clusters_of([("p", "orig", True, 1)] * 2), "orig")


def test_length_bands_meet_without_gaps():
    assert band_names((20, 50)) == ["0-19", "20-49", "50+"]
    assert length_bands(np.array([0, 19, 20, 999, 1000])).tolist() == [0, 0, 1, 4, 5]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=30))
def test_rates_equal_their_definition(pairs):
    counted = np.zeros((2, 1, 5), np.int64)
    for duplicate, step in pairs:
        counted[int(duplicate), 0, step] += 1
    found = counts(counted)
    f1s = []
    for step in range(5):
        proposed = [duplicate for duplicate, at in pairs if at >= step]
        both = {duplicate for duplicate, _ in pairs} == {True, False}
        precision = sum(proposed) / len(proposed) if proposed and both else None
        duplicates = sum(duplicate for duplicate, _ in pairs)
        recall = sum(proposed) / duplicates if duplicates else None
        got = rates(int(found.tp[step]), int(found.fp[step]), found.duplicates, found.different)
        assert (got.precision, got.recall) == (precision, recall)
        if both and precision:
            assert isclose(got.f1, 2 * precision * recall / (precision + recall))
        f1s.append(got.f1)
    best = best_step(found)
    assert best is None if None in f1s else f1s[best] == max(f1s) > max([*f1s[best + 1 :], -1])


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_bounds_are_the_shares_that_the_score_test_just_accepts(shares):
    hits, trials = shares
    low, high = wilson(hits, trials)
    assert 0 <= low <= hits / trials <= high <= 1
    for bound in (low, high):
        if 0 < bound < 1:
            assert isclose(abs(hits / trials - bound) / sqrt(bound * (1 - bound) / trials), 1.959964, rel_tol=1e-6)


def test_wilson_of_nothing_is_nothing():
    assert wilson(0, 0) == (None, None)
    assert wilson(0, 10) == (0.0, pytest.approx(0.2775, abs=1e-4))
