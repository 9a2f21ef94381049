"""The duplicate rule: from the measures of a pair to a decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.guard import Guard, guarded, severity

NONE, DROP, REVIEW, GUARDED = 0, 1, 2, 3
FACTS_DIFFER = "facts_differ"


class Rule(NamedTuple):
    """When two texts are near-duplicates. Hamming limits are (up to so many feature characters, limit), the last for any."""

    ngram: int
    drop_jaccard: float
    review_jaccard: float
    hamming_jaccard: float
    hamming_limits: tuple[tuple[int, int], ...]
    guard: Guard | None
    short_features: tuple[int, int] | None  # short texts: the shorter one has from so many to less than so many features
    spam_jaccard: float | None  # texts of a family that are equal but for their codes
    contrasts: frozenset[str]  # couples of characters that contrast, in both orders


class Decisions(NamedTuple):
    """One entry for each pair."""

    outcome: np.ndarray  # int8: NONE, DROP, REVIEW, or GUARDED: for review, since the facts differ
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
    length; the facts of such a pair must not differ. From ``review_jaccard`` on, what is not dropped goes to review.
    """
    close = hamming <= hamming_limit(features, rule.hamming_limits)
    threshold = np.where(close, rule.hamming_jaccard, rule.drop_jaccard)
    outcome = np.where(jaccard >= rule.review_jaccard, REVIEW, NONE).astype(np.int8)
    alike = jaccard >= threshold
    outcome[alike] = DROP
    reason = np.where(outcome == REVIEW, "below_threshold", np.where(close, "hamming_and_jaccard", "jaccard")).tolist()
    if rule.guard:
        lenient = rule.guard._replace(letters_up_to=0, words_up_to=0)  # below the threshold words differ anyhow
        for outcome_before, guard in ((DROP, rule.guard), (REVIEW, lenient)):
            rows = np.flatnonzero(outcome == outcome_before)
            differ = rows[guarded(first.take(rows), second.take(rows), features[rows], jaccard[rows], guard)]
            outcome[differ] = GUARDED
            for row in differ:
                reason[row] = FACTS_DIFFER
    return Decisions(outcome, threshold, reason)


def guard_headings(guard: Guard, decided: Decisions, first: pa.Array, second: pa.Array) -> None:
    """Send duplicates whose headings give other facts to review: one body under 第一季度 and 第二季度."""
    rows = np.flatnonzero(decided.outcome == DROP)
    ours, theirs = first.take(rows), second.take(rows)
    facts = severity(ours, theirs, np.full(len(rows), guard.words_up_to + 1), guard).facts
    for row in rows[facts > 0]:
        decided.outcome[row] = GUARDED
        decided.reason[row] = FACTS_DIFFER
