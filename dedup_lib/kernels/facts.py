"""Same wording, other facts: numbers, codes and model names that stand in the same place of two texts but differ.

A fact is a run of Latin letters and digits with the marks that stand inside numbers (12.4, -3, G1503, A12s, 20:05), or a run
of Chinese numerals. Two texts conflict when each has a fact that the other lacks in that place: the same characters stand on
both sides, or many on one. Facts that moved with their surroundings, that were left out, or that a damaged character broke up
have no counterpart and are no conflict.

These functions say what a conflict is and list it for a person; ``conflicting.py`` finds the pairs that have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.urls import GAP, URL

NUMERALS = "〇零一二三四五六七八九十百千万亿两"
JOINING = ".,:/%+-"  # marks that stand inside a fact
SIGNS = "+-"
COUNTING, COUNTED = "第", "年月日号时点期届版次轮章条款"  # before or behind a fact that names something
LONG_NUMBER = 5  # digits from which on a bare number is a code or a telephone number
NEAR = 2  # characters of context that must agree on both sides
FAR = 4  # characters that must agree where only one side does

_FACT = re.compile(rf"(?:(?<![0-9a-z])[{SIGNS}])?[0-9a-z]+(?:[{JOINING}]*[0-9a-z]+)*%?|[{NUMERALS}]+")
_MASK, _EDGE = "\x00", "\x01"


class Fact(NamedTuple):
    """A fact and what stands around it: letters only, in which every fact reads alike."""

    value: str
    before: str
    behind: str

    @property
    def numeral(self) -> bool:
        """Whether it is written in Chinese numerals."""
        return self.value[0] > "\x7f"


def facts(text: str) -> list[Fact]:
    """The facts of a normalised text, in order. Web addresses hold none."""
    text = URL.sub(GAP, text)
    values = _FACT.findall(text)
    line = _EDGE * FAR + _MASK.join(map(_letters, _FACT.split(text))) + _EDGE * FAR
    found, at = [], -1
    for value in values:
        at = line.index(_MASK, at + 1)
        found.append(Fact(value, line[at - FAR : at], line[at + 1 : at + 1 + FAR]))
    return found


def _letters(gap: str) -> str:
    classes = character_classes()
    return "".join(char for char in gap if classes[ord(char)] & FEATURE)


def names(text: str, start: int, end: int) -> bool:
    """Whether the fact at ``text[start:end]`` names something (a date, an ordinal, a time, a code) and does not measure it.

    A figure can be corrected and the article stay the same one; another date or number makes it another one.
    """
    value = text[start:end]
    code = bool(re.search("[0-9]", value)) and bool(re.search("[a-z]", value))
    bare = re.fullmatch(rf"[0-9]{{{LONG_NUMBER},}}", value) is not None
    marked = ":" in value or "-" in value[1:-1]
    return code or bare or marked or text[end : end + 1] in tuple(COUNTED) or text[:start].endswith(COUNTING)


def conflicts(first: str, second: str, most: int = 1000) -> list[tuple[str, str]]:
    """Pairs of differing facts (of ``first``, of ``second``) that stand in the same place, at most ``most``.

    Both texts are normalised: letters in lower case, marks in half width. The same facts in the same order never conflict.
    """
    if _FACT.findall(URL.sub(GAP, first)) == _FACT.findall(URL.sub(GAP, second)):
        return []
    ours, theirs = _unmatched(facts(first), facts(second), _place)
    rest = _unmatched(ours, theirs, _value)
    found = chain(_meeting(ours, theirs, _both_sides), _meeting(*rest, _left_side), _meeting(*rest, _right_side))
    distinct: dict[tuple[str, str], None] = {}
    for pair in found:
        distinct[pair] = None
        if len(distinct) >= most:
            break
    return sorted(distinct)


def _meeting(ours: list[Fact], theirs: list[Fact], place: Callable[[Fact], object]) -> Iterator[tuple[str, str]]:
    """Values of differing facts that stand in one place, in the order of the first text."""
    there: dict[object, dict[str, Fact]] = {}
    for fact in theirs:
        there.setdefault(place(fact), {}).setdefault(fact.value, fact)
    for fact in {(fact.value, place(fact)): fact for fact in ours}.values():
        for other in there.get(place(fact), {}).values():
            if _differ(fact, other, place):
                yield fact.value, other.value


def _unmatched(ours: list[Fact], theirs: list[Fact], identity: Callable[[Fact], object]) -> tuple[list[Fact], list[Fact]]:
    """The facts of each side that have no counterpart of the same identity on the other."""
    count_ours, count_theirs = Counter(map(identity, ours)), Counter(map(identity, theirs))
    more_ours, more_theirs = count_ours - count_theirs, count_theirs - count_ours
    return [f for f in ours if identity(f) in more_ours], [f for f in theirs if identity(f) in more_theirs]


def _place(fact: Fact) -> tuple[str, tuple[str, str]]:
    return fact.value, _both_sides(fact)


def _value(fact: Fact) -> str:
    return fact.value


def _both_sides(fact: Fact) -> tuple[str, str]:
    return fact.before[-NEAR:], fact.behind[:NEAR]


def _left_side(fact: Fact) -> str:
    return fact.before


def _right_side(fact: Fact) -> str:
    return fact.behind


def _differ(ours: Fact, theirs: Fact, place: object) -> bool:
    """Whether two facts of one place are two facts: not one of them with a piece broken off."""
    if ours.numeral != theirs.numeral or ours.value == theirs.value:
        return False
    if place is _left_side:
        return not (ours.value.startswith(theirs.value) or theirs.value.startswith(ours.value))
    if place is _right_side:
        return not (ours.value.endswith(theirs.value) or theirs.value.endswith(ours.value))
    return True
