"""The rules of comments, where the common rule of ``decide.py`` does not reach: short texts, and families of spam."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dedup_lib.kernels import short
from dedup_lib.kernels.decide import DROP, GUARDED, NONE, REVIEW, Decisions, Rule

SAME_BUT_FOR_DIGITS = "same_but_for_digits"
_OUTCOMES = {short.SLIP: DROP, short.DOUBT: REVIEW, short.DIFFERENT: GUARDED, short.FAR: NONE}


def least_jaccard(shingles: np.ndarray | int, ngram: int, edits: int) -> np.ndarray:
    """The Jaccard similarity that so many edits leave at least, ``shingles`` being the smaller set's size.

    An edit touches at most ``ngram`` shingles of either text.
    """
    touched = ngram * edits
    return np.maximum(shingles - touched, 0) / np.maximum(shingles + touched, 1)


def decide_short(
    rule: Rule, decided: Decisions, features: np.ndarray, shingles: np.ndarray, first: pa.Array, second: pa.Array
) -> None:
    """Decide again, in place, the pairs of which the shorter text is a short one: one edit apart, and that a slip.

    ``features`` and ``shingles`` are the numbers of the shorter text. The threshold is what the edit leaves at least.
    """
    if rule.short_features is None:
        return
    shortest, longest = rule.short_features
    rows = np.flatnonzero((features >= shortest) & (features < longest))
    for row, ours, theirs in zip(rows, first.take(rows).to_pylist(), second.take(rows).to_pylist(), strict=True):
        verdict = short.judge(theirs, ours, rule.contrasts)  # the reason names the later row first
        outcome = _OUTCOMES[verdict.kind]
        decided.outcome[row] = outcome
        decided.threshold[row] = least_jaccard(shingles[row], rule.ngram, min(verdict.edits, 1))
        decided.reason[row] = verdict.reason


def decide_spam(rule: Rule, decided: Decisions, jaccard: np.ndarray, masked: np.ndarray) -> None:
    """Drop, in place, the pairs of one family that are equal but for their codes (``masked``: which pairs)."""
    if rule.spam_jaccard is None:
        return
    for row in np.flatnonzero(masked & (jaccard >= rule.spam_jaccard)):
        decided.outcome[row] = DROP
        decided.threshold[row] = rule.spam_jaccard
        decided.reason[row] = SAME_BUT_FOR_DIGITS
