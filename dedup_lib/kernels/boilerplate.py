"""Remove the phrases that sites and editors put around a text: title tags, editors' names, copyright notes.

The phrases come from a lexicon (``conf/lexicon/``). A text is expected to be normalised in characters before: the lexicon is
written in simplified characters and half-width marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dedup_lib.kernels.triggers import NOWHERE, Trigger, containing, matching

_WHITE = r"[\s\p{Z}\x{1c}-\x{1f}\x{85}]"  # for RE2, whose \s is ASCII only
_PASSES = 4  # what is removed can uncover more; only text made for the purpose needs so many
LONGEST_LINE = 80  # characters; a longer line is an article's own sentence, whatever it begins with


class Lexicon(NamedTuple):
    """Phrases to remove, each in the form that the character steps leave it in, and characters that contrast."""

    title_tags: tuple[str, ...] = ()  # between brackets at the head of a title or text
    lines: tuple[str, ...] = ()  # a line that begins with one of these goes
    phrases: tuple[str, ...] = ()  # removed wherever they stand
    keep: tuple[str, ...] = ()  # what holds one of these is no template, however often it recurs
    contrasts: tuple[str, ...] = ()  # sets of characters, of which one for another turns a text around; see ``short.py``


def _either(phrases: Sequence[str]) -> str:
    """An alternation, longest first, so that the result does not depend on the order of the file."""
    return "|".join(re.escape(phrase) for phrase in sorted(phrases, key=lambda p: (-len(p), p)))


def _nothing(text: str) -> str:
    return text


def title_tag_remover(lexicon: Lexicon) -> tuple[Callable[[str], str], Trigger]:
    """A function that removes [快讯], (图) and their like at the head of a text, and its trigger."""
    if not lexicon.title_tags:
        return _nothing, NOWHERE
    tags = _either(lexicon.title_tags)
    head = re.compile(rf"^(?:\s*[\[(]\s*(?:{tags})\s*[\])]\s*[:!]?|\s*(?:{tags})\s*[!:])+\s*")
    return lambda text: head.sub("", text), matching(rf"^{_WHITE}*[\[(]?{_WHITE}*(?:{tags})")


def noise_remover(lexicon: Lexicon) -> tuple[Callable[[str], str], Trigger]:
    """A function that removes noise lines and phrases, and its trigger.

    A line goes when it begins with a phrase of ``lines`` and is short; so does the end of a line behind a full stop or an
    opening bracket ("…。责任编辑:某某"). What is removed is repeated until nothing is found, since removing can uncover more.
    """
    every = (*lexicon.lines, *lexicon.phrases)
    if not every:
        return _nothing, NOWHERE
    patterns = []
    if lexicon.phrases:
        patterns.append(_either(lexicon.phrases))
    if lexicon.lines:
        heads = _either(lexicon.lines)
        tail = rf"[ \t]*[\[(]?(?:{heads})[^\n。!?]{{0,{LONGEST_LINE}}}[。!?]?[\])]?[ \t]*"
        patterns.append(rf"(?:(?<=\n)|^|(?<=[。!?)\]])){tail}(?=\n|$)")
    found = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    begins = re.compile(_either(every))  # many times faster; it tells the lines to look at
    spanning = any("\n" in phrase for phrase in every)

    def remove(text: str) -> str:
        for _ in range(_PASSES):
            lines = [text] if spanning else text.split("\n")
            shorter = "\n".join(found.sub("", line) if begins.search(line) else line for line in lines)
            if shorter == text or not begins.search(shorter):
                return shorter
            text = shorter
        return text

    return remove, containing(every)
