"""Normalising steps that look at one character at a time, and their fast batch form.

Each step is defined twice: as a plain function on a string (the meaning) and, derived from that function, as a table from
code point to replacement (the speed). Consecutive steps are composed into one table, so that a batch is read once however
many steps a profile lists. Characters whose result depends on their neighbours (combining marks, joiners between emoji) have
no place in a table: a text that holds one is handed to the plain functions.

Sources: Unicode Standard Annex 15 (normalization forms), section 3.13 of the Unicode Standard (case folding).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.utf8 import MAX_CODE_POINT, compiled, decode, encode, string_array, string_buffers

IN_CONTEXT = -1  # table entry: the result depends on neighbours
ROOM = 128  # bytes that one character can become (the longest, U+FDFA, takes 33)
FIRST_EXPANSION = -2  # table entry -2-k: the k-th expansion (none, two or more characters)

# Every range in which some character is changed by some step; all other code points are copied.
CHANGEABLE = [(0x0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x20000), (0x2F800, 0x2FA20), (0xE0000, 0xE1000)]

MOST_MARKS = 30  # on one character
JOINER = "\u200d"
_LINE_BREAKS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Symbols that a joiner can make one emoji of; letters and numbers in circles become plain ones and are none.
_PICTOGRAPHS = "\u2190-\u245f\u2500-\u2bff\U0001f000-\U0001f0ff\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff"
_STRAY_JOINER = re.compile(f"(?<![\u200d{_PICTOGRAPHS}])\u200d+|\u200d+(?![{_PICTOGRAPHS}])")
_FORMS = {
    '"': "“”„‟«»「」『』〝〞〟",
    "'": "‘’‚‛`´′",
    "-": "‐‑‒–—―─−﹣",
    "~": "∼〜",
    "·": "•・‧∙⋅●",
    "[": "【〔〖",
    "]": "】〕〗",
    "〈": "<‹",  # what is left of < is no markup, and must not become markup when read again
    "〉": ">›",
}
_PUNCTUATION = str.maketrans({mark: form for form, marks in _FORMS.items() for mark in marks} | {"⋯": "..."})


def nfkc(text: str) -> str:
    """Compatibility composition: ＡＢＣ becomes ABC, ㎡ becomes m2, U+3000 becomes a space.

    Of more than 30 marks on one character the first 30 stay (the bound of Annex 15, Stream-Safe Text): putting them in order
    takes quadratic time, which a text of nothing else would turn into hours.
    """
    return _few_marks(unicodedata.normalize("NFKC", _few_marks(text)))


def _few_marks(text: str) -> str:
    return text if text.isascii() else _many_marks().sub(r"\1", text)


@lru_cache(maxsize=1)
def _many_marks() -> re.Pattern:
    marks = "".join(char for char in map(chr, range(MAX_CODE_POINT)) if unicodedata.combining(char))
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


def invisible(text: str) -> str:
    """Remove what has no shape: zero-width characters, byte order marks, soft hyphens, direction marks, controls.

    A zero-width joiner stays between two pictographs, where it makes one emoji of them.
    """
    return _STRAY_JOINER.sub("", _INVISIBLE.sub("", text))


def spaces(text: str) -> str:
    """Make every kind of space U+0020 and every kind of line break a line feed."""
    return "".join("\n" if c in _LINE_BREAKS else " " if c == "\t" or unicodedata.category(c) == "Zs" else c for c in text)


def case(text: str) -> str:
    """Fold letter case; the result is in compatibility composition again."""
    while (folded := nfkc(text.casefold())) != text:
        text = folded
    return text


def punctuation(text: str) -> str:
    """Give each kind of quotation mark, dash, bracket and dot one form. Commas and full stops stay what they are."""
    return text.translate(_PUNCTUATION)


STEPS: dict[str, Callable[[str], str]] = {
    "nfkc": nfkc,
    "invisible": invisible,
    "spaces": spaces,
    "case": case,
    "punctuation": punctuation,
}


@lru_cache(maxsize=1)
def visible_characters() -> frozenset[str]:
    """Every character that leaves a mark: a text without one is blank."""
    code_points = (c for c in range(MAX_CODE_POINT) if not 0xD800 <= c < 0xE000)
    chars = (chr(c) for c in code_points if c == 0x2800 or unicodedata.category(chr(c))[0] not in "ZC")
    return frozenset(c for c in chars if not _INVISIBLE.match(c))


@lru_cache(maxsize=1)
def _visible() -> np.ndarray:
    visible = np.zeros(MAX_CODE_POINT, np.bool_)
    visible[[ord(char) for char in visible_characters()]] = True
    return visible


@compiled
def _blank(data, offsets, visible, blank):
    for row in range(len(offsets) - 1):
        i = offsets[row]
        blank[row] = True
        while blank[row] and i < offsets[row + 1]:
            char, i = decode(data, i)
            blank[row] = not visible[char]


def blank_texts(texts: pa.Array) -> pa.Array:
    """Texts without any visible character (booleans)."""
    blank = np.empty(len(texts), bool)
    _blank(*string_buffers(texts), _visible(), blank)
    return pa.array(blank)


class CharacterTable(NamedTuple):
    """``replacement[c]`` is a code point, ``IN_CONTEXT``, or ``FIRST_EXPANSION - k`` for ``expansions`` from ``starts[k]``."""

    replacement: np.ndarray  # int32, one entry per code point
    starts: np.ndarray  # int64
    expansions: np.ndarray  # int32


def _apply(text: str, steps: Sequence[str]) -> str:
    for name in steps:
        text = STEPS[name](text)
    return text


@lru_cache(maxsize=1)
def _combining() -> frozenset[str]:
    """Characters that may change, or be changed by, the character before them under composition."""
    found = set()
    for code_point in _changeable():
        char = chr(code_point)
        parts = unicodedata.decomposition(char).split()
        if unicodedata.combining(char):
            found.add(char)
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    jamo = [*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)]  # vowels and finals join the syllable before them
    return frozenset(found | set(map(chr, jamo)))


def _changeable() -> Iterable[int]:
    return (c for low, high in CHANGEABLE for c in range(low, high) if not 0xD800 <= c < 0xE000)


@lru_cache(maxsize=8)
def character_table(steps: tuple[str, ...]) -> CharacterTable:
    """Compose per-character steps into one table, derived from the plain functions themselves."""
    combining = _combining()
    replacement = np.arange(MAX_CODE_POINT, dtype=np.int32)
    starts, expansions = [0], []
    for code_point in _changeable():
        char = chr(code_point)
        result = _apply(char, steps)
        if char == JOINER or char in combining or not combining.isdisjoint(result):
            replacement[code_point] = IN_CONTEXT
        elif len(result) == 1:
            replacement[code_point] = ord(result)
        else:
            replacement[code_point] = FIRST_EXPANSION - (len(starts) - 1)
            expansions.extend(map(ord, result))
            starts.append(len(expansions))
    return CharacterTable(replacement, np.array(starts, np.int64), np.array(expansions or [0], np.int32))


def in_context(steps: tuple[str, ...]) -> frozenset[str]:
    """The characters whose result depends on their neighbours."""
    return frozenset(map(chr, np.flatnonzero(character_table(steps).replacement == IN_CONTEXT)))


@compiled
def _translate(data, offsets, replacement, starts, expansions, out, out_offsets, left_out):
    """Write the new texts one behind the other; a text that needs the plain functions, or more room, is left empty and marked."""
    at = 0
    for row in range(len(offsets) - 1):
        begin = at
        i = offsets[row]
        while i < offsets[row + 1]:
            char, i = decode(data, i)
            new = replacement[char]
            if new == IN_CONTEXT or at + ROOM > len(out):
                left_out[row] = True
                at = begin
                break
            if new >= 0:
                at = encode(new, out, at)
            else:
                for k in range(starts[FIRST_EXPANSION - new], starts[FIRST_EXPANSION - new + 1]):
                    at = encode(expansions[k], out, at)
        out_offsets[row + 1] = at


def apply_characters(texts: pa.Array, steps: Sequence[str]) -> pa.Array:
    """Apply per-character steps to an Arrow string array; equal to applying the plain functions to each text."""
    table = character_table(tuple(steps))
    data, offsets = string_buffers(texts)
    size = offsets[-1] - offsets[0]
    out = np.empty(size + size // 4 + ROOM, np.uint8)
    out_offsets = np.zeros(len(texts) + 1, np.int64)
    left_out = np.zeros(len(texts), bool)
    _translate(data, offsets, *table, out, out_offsets, left_out)
    result = string_array(out[: out_offsets[-1]], out_offsets)
    if not left_out.any():
        return result
    plain = [_apply(text or "", steps) for text in texts.filter(pa.array(left_out)).to_pylist()]
    return pc.replace_with_mask(result, pa.array(left_out), pa.array(plain, result.type))
