"""How near one text is to many others, by one measure at a time: compiled scores in whole steps, nearest highest.

Every measure is ``measure(i, others) -> uint8``, a step for each pair of row ``i`` and a row of ``others`` (int64). Shares go
from 0 to 100 and are rounded down, so that "at least t percent" is exact; a distance of d bits is step 64 - d; what knows only
yes and no is 1 and 0. Rows of ``others`` must be larger than ``i``: a pair is asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

from dedup_lib.kernels.against import shingle_lists
from dedup_lib.kernels.simhash import BITS, hamming
from dedup_lib.kernels.utf8 import compiled

Measure = Callable[[int, np.ndarray], np.ndarray]
PERCENT = 100
BUCKETS = 256


class Sets(NamedTuple):
    """A set of 64-bit features for each row: those of row r are ``values[offsets[r]:offsets[r + 1]]``, each once."""

    values: np.ndarray  # uint64
    offsets: np.ndarray  # int64, rows + 1


def shingle_sets(texts: pa.Array, ngram: int) -> Sets:
    """The distinct shingles of each normalised text, as the product's own measures see them."""
    return Sets(*shingle_lists(texts, ngram))


@compiled
def _count_shared(i, offsets, after, end, rows, shared):
    """Add to ``shared`` how many features of row ``i`` each later row has."""
    for k in range(offsets[i], offsets[i + 1]):
        for at in range(after[k], end[k]):
            shared[rows[at]] += 1


@compiled
def _shares(i, others, offsets, shared, of_smaller, out):
    size = offsets[i + 1] - offsets[i]
    for x in range(len(others)):
        j = others[x]
        theirs = offsets[j + 1] - offsets[j]
        whole = min(size, theirs) if of_smaller else size + theirs - shared[j]
        out[x] = 100 * shared[j] // whole if whole > 0 else 0


class Overlap:
    """Jaccard similarity of feature sets, or containment (``of_smaller``), by an inverted index.

    The rows of each feature stand together in order; every feature of every row knows where the later ones begin. All pairs of
    n rows cost the sum of the squared row counts of the features, not n² comparisons of sets.
    """

    def __init__(self, sets: Sets, of_smaller: bool = False) -> None:
        rows = np.repeat(np.arange(len(sets.offsets) - 1, dtype=np.int32), np.diff(sets.offsets))
        order = np.argsort(sets.values, kind="stable")
        ordered = sets.values[order]
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.empty(0, np.int64)
        self._rows = rows[order]
        self._after, self._end = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        self._after[order] = np.arange(1, len(order) + 1)
        self._end[order] = np.repeat(last + 1, np.diff(last, prepend=-1))
        self._offsets = sets.offsets
        self._of_smaller = of_smaller

    def __call__(self, i: int, others: np.ndarray) -> np.ndarray:
        shared, out = np.zeros(len(self._offsets) - 1, np.int64), np.empty(len(others), np.uint8)
        _count_shared(i, self._offsets, self._after, self._end, self._rows, shared)
        _shares(i, others, self._offsets, shared, self._of_smaller, out)
        return out


@compiled
def _closeness(fingerprints, i, others, out):
    for x in range(len(others)):
        out[x] = BITS - hamming(fingerprints[i], fingerprints[others[x]])


def closeness(fingerprints: np.ndarray) -> Measure:
    """64 less the Hamming distance of two fingerprints (uint64)."""
    return partial(_measured, _closeness, fingerprints)


@compiled
def _agreement(signatures, i, others, out):
    length = signatures.shape[1]
    for x in range(len(others)):
        ours, theirs = signatures[i], signatures[others[x]]
        equal = 0
        for p in range(length):
            equal += ours[p] == theirs[p]
        out[x] = 100 * equal // length


def agreement(signatures: np.ndarray) -> Measure:
    """The share of equal positions of two MinHash signatures (rows, permutations): the estimated Jaccard similarity."""
    return partial(_measured, _agreement, signatures)


def _measured(kernel: Callable, rows: np.ndarray, i: int, others: np.ndarray) -> np.ndarray:
    out = np.empty(len(others), np.uint8)
    kernel(rows, i, others, out)
    return out


def equality(codes: np.ndarray) -> Measure:
    """1 where two rows have the same code (int64); a negative code equals nothing."""
    return lambda i, others: ((codes[others] == codes[i]) & (codes[i] >= 0)).astype(np.uint8)


def linked(codes: np.ndarray, links: Sequence[tuple[int, int]]) -> Measure:
    """1 where two rows have the same code, or codes that a link names."""
    partners: dict[int, list[int]] = {}
    for a, b in links:
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    near = np.zeros(int(codes.max(initial=-1)) + 1, np.uint8)

    def measure(i: int, others: np.ndarray) -> np.ndarray:
        named = [codes[i], *partners.get(int(codes[i]), ())]
        near[named] = 1
        out = near[codes[others]]
        near[named] = 0
        return out

    return measure


@compiled
def _may_reach(i, others, lengths, counts, least, out):
    """Whether the characters that two texts have in common, in any order, allow a ratio of ``least``."""
    for x in range(len(others)):
        j = others[x]
        both = lengths[i] + lengths[j]
        out[x] = 2 * min(lengths[i], lengths[j]) >= least * both - 1e-9
        if out[x]:
            common = 0
            for bucket in range(BUCKETS):
                common += min(counts[i, bucket], counts[j, bucket])
            out[x] = 2 * common >= least * both - 1e-9


def edit_ratio(texts: Sequence[str], least: float) -> Measure:
    """1 where two texts have 2·M/T >= ``least``: M matching characters in order, T the characters of both.

    difflib finds M by taking the longest common block, then the longest on either side of it, and so on (and leaves characters
    that are frequent in long texts out of account, unless told otherwise); here M is the longest common subsequence
    (rapidfuzz's Indel), the most that any such choice can find. So this ratio is never below difflib's. Only pairs whose
    characters, counted without regard to order, allow the ratio are compared: no pair is lost by that.
    """
    points = [np.frombuffer(text.encode("utf-32-le"), np.uint32) for text in texts]
    lengths = np.array([len(chars) for chars in points], np.int64)
    counts = np.stack([np.bincount(chars % BUCKETS, minlength=BUCKETS) for chars in points]).astype(np.int32)

    def measure(i: int, others: np.ndarray) -> np.ndarray:
        out = np.empty(len(others), np.uint8)
        _may_reach(i, others, lengths, counts, least, out)
        near = np.flatnonzero(out)
        theirs = [texts[j] for j in others[near]]
        ratios = cpdist([texts[i]] * len(near), theirs, scorer=Indel.normalized_similarity, score_cutoff=least, dtype=np.float64)
        out[near] = ratios >= least
        return out

    return measure
