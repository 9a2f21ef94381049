"""Same wording, other facts: numbers, codes and model names that stand in the same place of two texts but differ.

A fact is a run of Latin letters and digits with the marks that stand inside numbers (12.4, G1503, A12s, 20:05), or a run of
Chinese numerals. Two texts conflict when one has a fact that the other lacks, the other has one that the first lacks, and
both stand in the same surroundings (two characters on each side, in which every fact reads alike). Facts that moved, that
were left out, or that a damaged character broke up have no counterpart and are no conflict.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_FACT = re.compile(r"[0-9a-z]+(?:[.,:/%+-]*[0-9a-z]+)*%?|[〇零一二三四五六七八九十百千万亿两]+")
_AROUND = 2  # characters of context on each side
_MASK = "#"
_EDGE = "^"


class Fact(NamedTuple):
    """A fact and what stands before and behind it."""

    value: str
    before: str
    behind: str


def facts(text: str) -> list[Fact]:
    """The facts of a normalised text, in order."""
    masked, spans, end = [], [], 0
    for match in _FACT.finditer(text):
        masked.append(_only_letters(text[end : match.start()]))
        spans.append((match[0], sum(map(len, masked))))
        masked.append(_MASK)
        end = match.end()
    masked.append(_only_letters(text[end:]))
    line = _EDGE * _AROUND + "".join(masked) + _EDGE * _AROUND
    return [Fact(value, line[at : at + _AROUND], line[at + _AROUND + 1 : at + 2 * _AROUND + 1]) for value, at in spans]


def _only_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def conflicts(first: str, second: str) -> list[tuple[str, str]]:
    """Pairs of differing facts (of ``first``, of ``second``) that stand in the same surroundings, sorted.

    Both texts are normalised: letters in lower case, marks in half width.
    """
    ours, theirs = facts(first), facts(second)
    only_ours = Counter(f.value for f in ours) - Counter(f.value for f in theirs)
    only_theirs = Counter(f.value for f in theirs) - Counter(f.value for f in ours)
    if not only_ours or not only_theirs:
        return []
    there: dict[tuple[str, str], set[str]] = {}
    for fact in theirs:
        if fact.value in only_theirs:
            there.setdefault((fact.before, fact.behind), set()).add(fact.value)
    found = {
        (fact.value, other)
        for fact in ours
        if fact.value in only_ours
        for other in there.get((fact.before, fact.behind), ())
    }
    return sorted(found)
