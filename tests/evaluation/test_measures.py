"""Every measure against a plain computation on the same two texts."""

from __future__ import annotations

import difflib
from itertools import combinations

import datasketch
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.evaluation.baselines import gram_hashes, raw_minhash
from dedup_lib.evaluation.measures import (
    Overlap,
    Sets,
    agreement,
    closeness,
    edit_ratio,
    equality,
    linked,
    shingle_sets,
)
from dedup_lib.kernels.similarity import compare_texts
from tests.strategies import chinese_text, hostile_text

texts = st.lists(st.one_of(chinese_text, hostile_text, st.text("甲乙丙", max_size=12)), min_size=2, max_size=6)
words = st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=6)


def scores(measure, rows: int) -> dict[tuple[int, int], int]:
    """The score of every pair."""
    found = {}
    for i in range(rows - 1):
        others = np.arange(i + 1, rows)
        found |= {(i, int(j)): int(score) for j, score in zip(others, measure(i, others), strict=True)}
    return found


def expected(rows: int, score) -> dict[tuple[int, int], int]:
    return {pair: score(*pair) for pair in combinations(range(rows), 2)}


def percent(shared: int, whole: int) -> int:
    return 100 * shared // whole if whole else 0


@given(st.lists(st.sets(st.integers(0, 12)), min_size=2, max_size=7))
def test_overlap_equals_pythons_sets(rows):
    sets = Sets(np.array([v for row in rows for v in row], np.uint64), np.cumsum([0, *map(len, rows)], dtype=np.int64))
    jaccard = expected(len(rows), lambda i, j: percent(len(rows[i] & rows[j]), len(rows[i] | rows[j])))
    assert scores(Overlap(sets), len(rows)) == jaccard
    smaller = expected(len(rows), lambda i, j: percent(len(rows[i] & rows[j]), min(len(rows[i]), len(rows[j]))))
    assert scores(Overlap(sets, of_smaller=True), len(rows)) == smaller


@given(texts, st.integers(1, 6))
def test_overlap_of_shingles_is_the_products_jaccard(rows, n):
    array = pa.array(rows, pa.string())
    first, second = map(list, zip(*combinations(range(len(rows)), 2), strict=True))
    jaccard, containment = compare_texts(array.take(pa.array(first)), array.take(pa.array(second)), n)
    for measure, exact in ((Overlap(shingle_sets(array, n)), jaccard), (Overlap(shingle_sets(array, n), True), containment)):
        found = np.array([*scores(measure, len(rows)).values()])
        assert (np.abs(found / 100 - exact) < 0.01 + 1e-9).all() and (found / 100 <= exact + 1e-9).all()


def test_only_the_rows_asked_for_are_scored():
    sets = Sets(np.array([1, 2, 1, 2, 1, 9], np.uint64), np.array([0, 2, 4, 6], np.int64))
    assert Overlap(sets)(0, np.array([2])).tolist() == [33]


@given(words)
def test_closeness_is_64_less_the_differing_bits(values):
    found = scores(closeness(np.array(values, np.uint64)), len(values))
    assert found == expected(len(values), lambda i, j: 64 - (values[i] ^ values[j]).bit_count())


@given(st.lists(st.lists(st.integers(0, 2), min_size=8, max_size=8), min_size=2, max_size=5))
def test_agreement_is_the_share_of_equal_positions(rows):
    same = expected(len(rows), lambda i, j: 100 * sum(a == b for a, b in zip(rows[i], rows[j], strict=True)) // 8)
    assert scores(agreement(np.array(rows, np.uint32)), len(rows)) == same


@given(st.lists(st.integers(-1, 3), min_size=2, max_size=8), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_equal_and_linked_codes(codes, links):
    array = np.array(codes, np.int64)
    assert scores(equality(array), len(codes)) == expected(len(codes), lambda i, j: int(codes[i] == codes[j] != -1))
    known, array = [abs(code) for code in codes], np.abs(array)
    links = [link for link in links if set(link) <= set(known)]
    either = {frozenset(link) for link in links}
    near = expected(len(known), lambda i, j: int(known[i] == known[j] or frozenset((known[i], known[j])) in either))
    assert scores(linked(array, links), len(known)) == near


def common_subsequence(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for char in a:
        row = [0, *(max(row[j + 1], 0) if char != other else row[j] + 1 for j, other in enumerate(b))]
        for j in range(1, len(row)):
            row[j] = max(row[j], row[j - 1])
    return row[-1]


@given(st.lists(st.text("甲乙丙丁\U00020000", max_size=9), min_size=2, max_size=5), st.sampled_from([0.5, 0.7, 0.85]))
def test_the_edit_ratio_is_2m_over_t_and_never_below_difflibs(rows, least):
    def ratio(i: int, j: int) -> int:
        both = len(rows[i]) + len(rows[j])
        return int(2 * common_subsequence(rows[i], rows[j]) >= least * both - 1e-9)

    found = scores(edit_ratio(rows, least), len(rows))
    assert found == expected(len(rows), ratio)
    for (i, j), near in found.items():
        assert near or difflib.SequenceMatcher(None, rows[i], rows[j], autojunk=False).ratio() < least


@pytest.mark.parametrize(
    ("first", "second"), [("甲乙丙丁戊己庚辛", "甲乙丙丁戊己庚"), ("<p>甲乙，丙丁戊</p>", "甲乙，丙丁戊"), ("甲", "甲")]
)
def test_raw_signatures_are_datasketchs(first, second):
    ours = raw_minhash([first, second], 5, 128)
    hashes, offsets = gram_hashes([first, second], 5)
    theirs = []
    for row in range(2):
        sketch = datasketch.MinHash(num_perm=128, seed=1, scheme="affine32", hashfunc=lambda h: int(h) & 0xFFFFFFFF)
        for value in hashes[offsets[row] : offsets[row + 1]]:
            sketch.update(value)
        theirs.append(sketch)
    assert [row.tolist() for row in ours] == [sketch.hashvalues.tolist() for sketch in theirs]
    step = agreement(ours)(0, np.array([1]))[0]
    assert step == int(100 * theirs[0].jaccard(theirs[1]) + 1e-9)
