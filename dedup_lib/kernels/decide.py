"""The duplicate rule: from the measures of a pair to a decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.conflicting import conflicting
from dedup_lib.kernels.facts import conflicts

NONE, DROP, REVIEW = 0, 1, 2
SHOWN_FACTS = 5


class Rule(NamedTuple):
    """When two texts are near-duplicates. Hamming limits are (up to so many feature characters, limit), the last for any."""

    ngram: int
    drop_jaccard: float
    review_jaccard: float
    hamming_jaccard: float
    hamming_limits: tuple[tuple[int, int], ...]
    fact_guard: bool


class Decisions(NamedTuple):
    """One entry for each pair."""

    outcome: np.ndarray  # int8: NONE, DROP, REVIEW
    threshold: np.ndarray  # float64: the Jaccard similarity that a drop of this pair needed
    reason: list[str]


def hamming_limit(features: np.ndarray, limits: tuple[tuple[int, int], ...]) -> np.ndarray:
    """The Hamming limit for texts of so many feature characters."""
    result = np.full(len(features), limits[-1][1], np.int64)
    for up_to, limit in reversed(limits[:-1]):
        result[features <= up_to] = limit
    return result


def decide(
    rule: Rule, jaccard: np.ndarray, hamming: np.ndarray, features: np.ndarray, first: pa.Array, second: pa.Array
) -> Decisions:
    """Decide pairs of normalised texts by their measures; ``features`` is the shorter text's number of feature characters.

    A pair is dropped at ``drop_jaccard``, or at ``hamming_jaccard`` when its SimHashes agree within the limit for its
    length; the facts of such a pair must not conflict. From ``review_jaccard`` on, what is not dropped goes to review.
    """
    close = hamming <= hamming_limit(features, rule.hamming_limits)
    threshold = np.where(close, rule.hamming_jaccard, rule.drop_jaccard)
    outcome = np.where(jaccard >= rule.review_jaccard, REVIEW, NONE).astype(np.int8)
    alike = jaccard >= threshold
    outcome[alike] = DROP
    reason = np.where(outcome == REVIEW, "below_threshold", np.where(close, "hamming_and_jaccard", "jaccard")).tolist()
    if rule.fact_guard:
        _guard(np.flatnonzero(alike), first, second, outcome, reason)
    return Decisions(outcome, threshold, reason)


def _guard(alike: np.ndarray, first: pa.Array, second: pa.Array, outcome: np.ndarray, reason: list[str]) -> None:
    """Send pairs whose facts conflict to review."""
    ours, theirs = first.take(pa.array(alike)), second.take(pa.array(alike))
    guarded = np.flatnonzero(conflicting(ours, theirs))
    for at, i in zip(alike[guarded], guarded, strict=True):
        found = conflicts(ours[i].as_py(), theirs[i].as_py(), SHOWN_FACTS)
        outcome[at] = REVIEW
        reason[at] = "number_diff: " + "; ".join(f"{a} / {b}" for a, b in found)
