"""The guard: two texts of one template that differ in the facts are two texts, however alike they are.

Compares what differs, not how much is the same: numbers, dates, codes, models (``facts.py``), names, words, negations
(``wording.py``), revisions (``editions.py``). The same article with one corrected figure, with another editor's name, date
line or page counter stays the same article: one figure in a long and otherwise equal text is forgiven, and a second look
leaves the site's remarks out (``remarks.py``), a third one the words that regions have of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.alignment import align
from dedup_lib.kernels.chinese import regional
from dedup_lib.kernels.conflicting import MANY, MASK, WIDTH, count_conflicts, digest_facts, fact_characters, read_facts
from dedup_lib.kernels.editions import editions, other_editions
from dedup_lib.kernels.facts import FAR, conflicts
from dedup_lib.kernels.features import longest_text
from dedup_lib.kernels.remarks import holding_remarks, without_remarks
from dedup_lib.kernels.urls import take_out_urls, url_characters
from dedup_lib.kernels.utf8 import code_points, compiled, string_buffers
from dedup_lib.kernels.wording import LONGEST_WORDS, count_rewordings


class Guard(NamedTuple):
    """When a difference matters; lengths in feature characters of the shorter text."""

    letters_up_to: int  # every replaced letter matters
    words_up_to: int  # two replaced letters in a row matter
    correction_from: int  # one corrected figure does not matter
    correction_jaccard: float  # if the texts are so alike
    remarks: bool  # the site's remarks (editors, date lines, counters) do not matter


@compiled
def _severity(data_a, offsets_a, data_b, offsets_b, features, letters_up_to, words_up_to, kinds, in_url, facts, found):
    longest = max(longest_text(offsets_a), longest_text(offsets_b))
    text_a, text_b = np.empty(longest, np.int32), np.empty(longest, np.int32)
    line_a, line_b = np.empty(longest + 2 * FAR, np.int32), np.empty(longest + 2 * FAR, np.int32)
    facts_a, facts_b = np.empty((longest, WIDTH), np.int64), np.empty((longest, WIDTH), np.int64)
    for row in range(len(found)):
        count_a = take_out_urls(text_a, code_points(data_a, offsets_a[row], offsets_a[row + 1], text_a), in_url)
        count_b = take_out_urls(text_b, code_points(data_b, offsets_b[row], offsets_b[row + 1], text_b), in_url)
        number_a, length_a = read_facts(text_a, count_a, kinds, line_a, facts_a)
        number_b, length_b = read_facts(text_b, count_b, kinds, line_b, facts_b)
        facts[row] = count_conflicts(text_a, facts_a[:number_a], text_b, facts_b[:number_b])
        found[row] = facts[row]
        if found[row] < MANY:
            words = count_rewordings(line_a, length_a, line_b, length_b, features[row], letters_up_to, words_up_to)
            found[row] = min(found[row] + words, MANY)


class Severity(NamedTuple):
    """For each pair, 0, 1 or 2 for more (int8)."""

    facts: np.ndarray  # conflicting facts
    all: np.ndarray  # facts and words


def severity(first: pa.Array, second: pa.Array, features: np.ndarray, guard: Guard) -> Severity:
    """How many facts and words of each pair of normalised texts conflict."""
    found = Severity(np.zeros(len(first), np.int8), np.zeros(len(first), np.int8))
    limits = guard.letters_up_to, guard.words_up_to
    tables = fact_characters(), url_characters()
    _severity(*string_buffers(first), *string_buffers(second), features.astype(np.int64), *limits, *tables, *found)
    return found


def guarded(first: pa.Array, second: pa.Array, features: np.ndarray, jaccard: np.ndarray, guard: Guard) -> np.ndarray:
    """Which pairs must not be dropped (booleans), ``features`` being the shorter text's number of feature characters."""
    counted = severity(first, second, features, guard)
    found = _matters(counted, features, jaccard, guard)
    if guard.remarks and found.any():
        rows = np.flatnonzero(found)
        rows = rows[np.asarray(pc.or_(holding_remarks(first.take(rows)), holding_remarks(second.take(rows))))]
        ours, theirs = without_remarks(first.take(rows)), without_remarks(second.take(rows))
        found[rows] = _matters(severity(ours, theirs, features[rows], guard), features[rows], jaccard[rows], guard)
    rows = np.flatnonzero(found & (counted.facts == 0) & (features > guard.letters_up_to))
    if len(rows):
        ours, theirs = (_regional(_plain(side.take(rows), guard)) for side in (first, second))
        found[rows] = _matters(severity(ours, theirs, features[rows], guard), features[rows], jaccard[rows], guard)
    return found | other_editions(first, second)


def _plain(texts: pa.Array, guard: Guard) -> pa.Array:
    return without_remarks(texts) if guard.remarks else texts


def _regional(texts: pa.Array) -> pa.Array:
    return pa.array(map(regional, texts.to_pylist()), pa.string())


def _matters(severe: Severity, features: np.ndarray, jaccard: np.ndarray, guard: Guard) -> np.ndarray:
    forgiven = (severe.all == 1) & (features >= guard.correction_from) & (jaccard >= guard.correction_jaccard)
    return (severe.all > 0) & ~forgiven


@compiled
def _digests(data, offsets, kinds, in_url, found):
    longest = longest_text(offsets)
    text, line, facts = np.empty(longest, np.int32), np.empty(longest + 2 * FAR, np.int32), np.empty((longest, WIDTH), np.int64)
    for row in range(len(found)):
        count = take_out_urls(text, code_points(data, offsets[row], offsets[row + 1], text), in_url)
        number, _ = read_facts(text, count, kinds, line, facts)
        found[row] = digest_facts(facts[:number])


def digests(texts: pa.Array, guard: Guard) -> np.ndarray:
    """A hash of the facts of each normalised text, whatever their order (int64); 0 for a text without facts."""
    texts = without_remarks(texts) if guard.remarks else texts
    found = np.zeros(len(texts), np.int64)
    _digests(*string_buffers(texts), fact_characters(), url_characters(), found)
    return found


def differences(first: str, second: str, most: int) -> list[tuple[str, str]]:
    """Conflicting facts and replaced words of two normalised texts, as (of ``first``, of ``second``), at most ``most``."""
    numbers = [*_other_marks(first, second), *conflicts(first, second, most)][:most]
    return numbers + list(islice(_replaced_words(first, second), most - len(numbers)))


def _other_marks(first: str, second: str) -> list[tuple[str, str]]:
    ours, theirs = editions(first), editions(second)
    more = [" ".join(sorted(one - other)) for one, other in ((ours, theirs), (theirs, ours))]
    return [(more[0], more[1])] if ours != theirs else []


def _replaced_words(first: str, second: str) -> Iterator[tuple[str, str]]:
    seen = set()
    ours, theirs = _line(first), _line(second)
    for start, end, other_start, other_end in align(ours, len(ours), theirs, len(theirs)):
        pair = tuple("".join(chr(c) for c in side if c != MASK) for side in (ours[start:end], theirs[other_start:other_end]))
        if any(pair) and max(map(len, pair)) <= LONGEST_WORDS and pair not in seen:
            seen.add(pair)
            yield pair


def _line(text: str) -> np.ndarray:
    """The letters of a text, each fact as one mask (int32)."""
    chars = np.array([ord(char) for char in text], np.int32)
    line, table = np.empty(len(chars) + 2 * FAR, np.int32), np.empty((len(chars), WIDTH), np.int64)
    _, length = read_facts(chars, take_out_urls(chars, len(chars), url_characters()), fact_characters(), line, table)
    return line[FAR : length - FAR]
