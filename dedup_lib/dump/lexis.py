"""Lexical ground of the tokenizer: bytes, strings, words, comments, the ends of statements and of INSERT heads.

The rules are the server's: a backslash takes the next byte with it, a valid two-byte character of the client's character set is
never a quote or an escape, a lead byte with an invalid second byte stands alone, ``--`` needs a blank to be a comment. All
kernels take a window ``data`` (uint8) and its end ``stop``, and say -1 where what they look for is not complete in it.
"""

from __future__ import annotations

import re

import numpy as np

from dedup_lib.dump.compiling import compiled
from dedup_lib.dump.files import PADDING

OPENED = re.compile(rb"/\*M?!\d*\s*$")  # the opening of a conditional comment
_LINE_COMMENT = re.compile(rb"(?m)^[ \t]*(?:--\s|#)[^\n]*\s*\Z")  # the last line is one
_SPACE = re.compile(rb"[\s\x00\x1a]*")
# Classes of bytes; character sets with second bytes below 0x80 add LEAD.
_PLAIN, _QUOTE, _SLASH, _LEAD = 0, 1, 2, 3
_TRAILS = {  # lead bytes and second bytes, as the server has them
    "gbk": (((0x81, 0xFE),), ((0x40, 0x7E), (0x80, 0xFE))),
    "big5": (((0xA1, 0xF9),), ((0x40, 0x7E), (0xA1, 0xFE))),
    "sjis": (((0x81, 0x9F), (0xE0, 0xFC)), ((0x40, 0x7E), (0x80, 0xFC))),
}


def rules(family: str, backslash: bool) -> np.ndarray:
    """The lexical rules as a uint8 array of 2 x 256: the class of each byte, and whether it can be a second byte.

    ``family``: gbk, big5, sjis, or anything else for character sets whose bytes cannot be mistaken.
    """
    table = np.zeros((2, 256), np.uint8)
    table[0, [*b"'\"`"]] = _QUOTE
    if backslash:
        table[0, ord("\\")] = _SLASH
    leads, trails = _TRAILS.get(family, ((), ()))
    for low, high in leads:
        table[0, low : high + 1] = _LEAD
    for low, high in trails:
        table[1, low : high + 1] = 1
    return table


@compiled
def string_end(data, i, stop, quote, rules):
    """From behind an opening quote: position of the closing one (-1: not in the window), and whether there are escapes."""
    escaped = False
    while i < stop:
        kind = rules[0, data[i]]
        if kind == _PLAIN:
            i += 1
        elif kind == _QUOTE:
            if data[i] != quote:
                i += 1
            elif i + 1 < stop and data[i + 1] == quote:
                escaped = True
                i += 2
            else:
                return i, escaped
        elif kind == _SLASH:
            escaped = escaped or quote != 0x60
            i += 1 if quote == 0x60 else 2  # no escape in a quoted name
        else:
            i += 2 if i + 1 < stop and rules[1, data[i + 1]] else 1
    return -1, escaped


@compiled
def in_word(byte):
    """Whether a byte can be of a word."""
    return 0x61 <= (byte | 0x20) <= 0x7A or 0x30 <= byte <= 0x39 or byte == 0x5F or byte == 0x24 or byte >= 0x80


@compiled
def word_end(data, i, stop):
    """Position behind the letters, digits, ``_`` and ``$`` that begin at ``i``."""
    while i < stop and in_word(data[i]):
        i += 1
    return i


@compiled
def is_word(data, start, end, word):
    """Whether ``data[start:end]`` is the word, which is given in capitals (uint8)."""
    if end - start != len(word):
        return False
    for k in range(len(word)):
        byte = data[start + k]
        if (byte & 0xDF if byte >= 0x61 else byte) != word[k]:
            return False
    return True


@compiled
def _comment_end(data, i, stop):
    """Behind the plain comment or the opening of a conditional one at ``i``; ``i`` if there is none, -1 if it is not complete."""
    if i + 3 >= stop:
        return -1
    if data[i] == 0x23 or (data[i] == 0x2D and data[i + 1] == 0x2D and data[i + 2] <= 0x20):
        while i < stop:
            if data[i] == 0x0A:
                return i + 1
            i += 1
        return -1
    if data[i] == 0x2A and data[i + 1] == 0x2F:
        return i + 2
    if data[i] != 0x2F or data[i + 1] != 0x2A:
        return i
    j = i + 3 if data[i + 2] == 0x4D else i + 2
    if data[j] == 0x21:  # /*!40101 or /*M!100100: what follows is code
        j += 1
        while j < stop and 0x30 <= data[j] <= 0x39:
            j += 1
        if j >= stop:
            return -1
        if data[j] != 0x5C:  # but for the mark of a dump that wants a careful client: /*M!999999\- …
            return j
    while j + 1 < stop:
        if data[j] == 0x2A and data[j + 1] == 0x2F:
            return j + 2
        j += 1
    return -1


@compiled
def skip_space(data, i, stop):
    """Position of what is neither blank nor comment; conditional comments are opened. -1: not in the window."""
    while i < stop:
        byte = data[i]
        if byte == 0x20 or 0x09 <= byte <= 0x0D:
            i += 1
        elif byte == 0x2F or byte == 0x2D or byte == 0x23 or byte == 0x2A:
            j = _comment_end(data, i, stop)
            if j == i or j < 0:
                return j
            i = j
        else:
            return i
    return -1


@compiled
def at(data, i, stop, mark):
    """Whether the bytes of ``mark`` stand at ``i``."""
    if i + len(mark) > stop:
        return False
    for k in range(len(mark)):
        if data[i + k] != mark[k]:
            return False
    return True


@compiled
def statement_end(data, i, stop, delimiter, rules):
    """Position of the delimiter that ends a statement, -1 if it is not in the window."""
    while i < stop:
        byte = data[i]
        kind = rules[0, byte]
        if byte == delimiter[0] and at(data, i, stop, delimiter):
            return i
        if kind == _QUOTE:
            i, _ = string_end(data, i + 1, stop, byte, rules)
            if i < 0:
                return -1
            i += 1
        elif byte == 0x2F or byte == 0x2D or byte == 0x23:
            j = _comment_end(data, i, stop) if i + 3 < stop else i
            if j < 0:
                return -1
            i = j if j > i else i + 1
        elif kind == _LEAD and i + 1 < stop and rules[1, data[i + 1]]:
            i += 2
        else:
            i += 1
    return -1


_VALUES, _VALUE, _SELECT, _SET = (np.frombuffer(word, np.uint8) for word in (b"VALUES", b"VALUE", b"SELECT", b"SET"))


@compiled
def head_end(data, i, stop, rules):
    """Behind VALUES of an INSERT or REPLACE; -1: not in the window, -2: it has SELECT or SET instead, -3: nothing of all that."""
    depth = 0
    while i < stop:
        i = skip_space(data, i, stop)
        if i < 0:
            return -1
        byte = data[i]
        if in_word(byte):
            end = word_end(data, i, stop)
            if end == stop:
                return -1
            if depth == 0 and (is_word(data, i, end, _VALUES) or is_word(data, i, end, _VALUE)):
                return end
            if is_word(data, i, end, _SELECT) or (depth == 0 and is_word(data, i, end, _SET)):
                return -2
            i = end
        elif byte == 0x60 or byte == 0x22:
            i, _ = string_end(data, i + 1, stop, byte, rules)
            if i < 0:
                return -1
            i += 1
        elif byte == 0x28 or byte == 0x29:
            depth += 1 if byte == 0x28 else -1
            i += 1
        elif byte == 0x2C or byte == 0x2E:
            i += 1
        else:
            return -3
    return -1


def is_blank(rest: bytes) -> bool:
    """Whether bytes are blanks and comments only; a Ctrl-Z or zeros at the end of a file are blanks.

    The opening of a conditional comment is none of them: something would follow it.
    """
    if _SPACE.fullmatch(rest):
        return True
    if OPENED.search(rest) and not _LINE_COMMENT.search(rest):
        return False
    text = np.frombuffer(rest + PADDING + b"x", np.uint8)
    behind = skip_space(np.concatenate([text, np.zeros(4, np.uint8)]), 0, len(text) + 4)
    return behind >= len(rest)
