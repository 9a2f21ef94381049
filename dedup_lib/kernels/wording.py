"""Same template, other names: words that stand where the other text has other words.

Numbers are the business of ``facts.py``; here each fact is one symbol (``MASK``), so that texts are compared by their words.
Two readings of one difference must be told apart: another name (青河市 / 临湖市), and an editor's or a scanner's touch. The
shorter the text, the more likely a differing word is its news; in a long text a single touched word is not.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.kernels.alignment import align
from dedup_lib.kernels.conflicting import MANY, MASK
from dedup_lib.kernels.facts import FAR
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.utf8 import compiled

LONGEST_WORDS = 12  # letters; where both sides have more, another passage stands there, not another name
FEW = 2  # in a text that differs at no more places every letter matters
FEW_GAPS = 4  # a text that differs at more places is damaged or rewritten
NEGATIONS = "不没未非无勿莫别"
LITTLE_WORDS = "的地得着著了过还仍也又而且和与及其该此这作做他她它"  # editors and converters exchange them freely
_NEGATIONS = np.array([ord(char) for char in NEGATIONS], np.int32)
_LITTLE_WORDS = np.array([ord(char) for char in LITTLE_WORDS], np.int32)


@compiled
def _letters(line, start, end):
    """Letters that say something, no little words; a masked fact counts as one."""
    count = 0
    for i in range(start, end):
        says = True
        for char in _LITTLE_WORDS:
            says &= line[i] != char
        count += says
    return count


@compiled
def _only_facts(line, start, end):
    for i in range(start, end):
        if line[i] != MASK:
            return False
    return True


@compiled
def _negates(line, start, end):
    """Whether a passage that the other text lacks is a negation."""
    if end - start != 1:
        return False
    for char in _NEGATIONS:
        if line[start] == char:
            return True
    return False


@compiled
def _couple(line_a, line_b, gap):
    """A hash of what stands on the two sides of a gap."""
    key = np.uint64(gap[1] - gap[0])
    for i in range(gap[0], gap[1]):
        key = mix(key ^ np.uint64(line_a[i])) + np.uint64(0x9E3779B97F4A7C15)
    for i in range(gap[2], gap[3]):
        key = mix(key ^ np.uint64(line_b[i])) + np.uint64(0xD6E8FEB86659FD93)
    return key


@compiled
def count_rewordings(line_a, length_a, line_b, length_b, features, letters_up_to, words_up_to):
    """How many differing words matter, up to ``MANY``.

    Lines as ``conflicting.read_facts`` makes them; ``features`` is the shorter text's number of feature characters. In texts
    of up to ``letters_up_to`` features every replaced letter matters. Up to ``words_up_to`` two in a row do, unless the texts
    differ at many places, and single ones where nothing else differs or one couple of letters stands at several places: many
    different ones are damage. In longer texts only a couple of words at several places matters. A negation that one text
    lacks matters unless the texts differ at many places.
    """
    gaps = align(line_a[FAR : length_a - FAR], length_a - 2 * FAR, line_b[FAR : length_b - FAR], length_b - 2 * FAR)
    couples = np.empty(len(gaps), np.uint64)
    count, noted, singles, negated = 0, 0, 0, False
    for k in range(len(gaps)):
        gap = gaps[k] + FAR
        ours, theirs = _letters(line_a, gap[0], gap[1]), _letters(line_b, gap[2], gap[3])
        if _only_facts(line_a, gap[0], gap[1]) and _only_facts(line_b, gap[2], gap[3]):
            continue
        if ours == 0 or theirs == 0:
            alone = gap[0] == gap[1] or gap[2] == gap[3]
            negated |= alone and (_negates(line_a, gap[0], gap[1]) or _negates(line_b, gap[2], gap[3]))
            continue
        if min(ours, theirs) > LONGEST_WORDS:
            continue
        several = min(ours, theirs) > 1
        if features <= letters_up_to or (features <= words_up_to and several and len(gaps) <= FEW_GAPS):
            count += 1
        elif (several or features <= words_up_to) and not _lies_in(line_a, line_b, gap):
            singles += not several
            couples[noted] = _couple(line_a, line_b, gap)
            noted += 1
    if negated and (features <= letters_up_to or len(gaps) <= FEW_GAPS):
        return MANY
    if count == 0 and ((singles and len(gaps) <= FEW) or _repeats(couples[:noted])):
        return MANY
    return min(count, MANY)


@compiled
def _lies_in(line_a, line_b, gap):
    """Whether one side of a gap holds the other: 东港 / 东港重工 is one name."""
    ours, theirs = gap[1] - gap[0], gap[3] - gap[2]
    for shift in range(abs(ours - theirs) + 1):
        same = True
        for i in range(min(ours, theirs)):
            at_a = gap[0] + i + (shift if ours > theirs else 0)
            at_b = gap[2] + i + (shift if theirs > ours else 0)
            same &= line_a[at_a] == line_b[at_b]
        if same:
            return True
    return False


@compiled
def _repeats(couples):
    """Whether any value stands twice."""
    ordered = np.sort(couples)
    for k in range(1, len(ordered)):
        if ordered[k] == ordered[k - 1]:
            return True
    return False
