"""The differences of two texts, character by character, for a terminal: [-only the first-] {+only the second+}, in colour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import Indel, MatchingBlock
from rich.text import Text

from dedup_lib.strings import strings

CONTEXT = 20  # characters shown on each side of a difference
LONGEST = 20_000  # characters compared; the rest of a longer text is left out and said so
ONLY_FIRST, ONLY_SECOND = "bold white on red", "bold white on green"

_SHOWN = {ord("\n"): "⏎", ord("\r"): "␍", ord("\t"): "⇥"}


def visible(text: str) -> str:
    """A text on one line: line breaks as signs, other control and invisible characters as U+XXXX. Safe for a terminal."""
    text = text.translate(_SHOWN)
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


class Stretch(NamedTuple):
    """What only the first text has, what only the second has, and what both have behind it; whether that begins or ends both."""

    first: str
    second: str
    equal: str
    begins: bool
    ends: bool


def stretches(first: str, second: str) -> Iterator[Stretch]:
    """Two texts taken apart where they differ, from left to right; of longer ones the first ``LONGEST`` characters."""
    ours, theirs = first[:LONGEST], second[:LONGEST]
    blocks = [block for block in Indel.editops(ours, theirs).as_matching_blocks() if block.size]
    at, other = 0, 0
    for block in [*blocks, MatchingBlock(len(ours), len(theirs), 0)]:
        before = ours[at : block.a], theirs[other : block.b]
        at, other = block.a + block.size, block.b + block.size
        yield Stretch(*before, ours[block.a : at], block.a + block.b == 0, at == len(ours) and other == len(theirs))


def diff(first: str, second: str, most: int = 20_000, language: str = "en") -> Text:
    """What only ``first`` has, what only ``second`` has, and equal stretches, shortened; about ``most`` characters of it."""
    shown, told = Text(), strings("diff", language)
    for stretch in stretches(first, second):
        if len(shown) > most:
            shown.truncate(most)
            shown.append(f" … {told['more']}", "dim")
            break
        if stretch.first:
            shown.append(f"[-{visible(stretch.first)}-]", ONLY_FIRST)
        if stretch.second:
            shown.append(f"{{+{visible(stretch.second)}+}}", ONLY_SECOND)
        shown.append(_shortened(stretch.equal, stretch.begins, stretch.ends, told["equal"]))
    if max(len(first), len(second)) > LONGEST:
        shown.append(f" … {told['cut'].format(number=f'{LONGEST:,}')}", "dim")
    return shown


def _shortened(text: str, first: bool, last: bool, told: str) -> str:
    """An equal stretch: its ends where differences touch it, its head where none does."""
    if len(text) <= 3 * CONTEXT:
        return visible(text)
    head = "" if first and not last else visible(text[:CONTEXT])
    tail = "" if last else visible(text[-CONTEXT:])
    return f"{head} … {told.format(number=len(text) - 2 * CONTEXT)} … {tail}"
