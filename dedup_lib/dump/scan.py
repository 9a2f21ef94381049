"""The tokenizer: bytes of a dump -> statements, rows and the bounds of their values. Strict, so that damage shows where it is.

It works on a window of the file and stops in front of what is not complete in it; the caller brings more bytes and calls again.
``state`` (int64, ``STATE_SIZE``) holds where it stands, as positions in the window; they may be negative for what began earlier.
"""

from __future__ import annotations

import numpy as np

from dedup_lib.dump.compiling import compiled
from dedup_lib.dump.lexis import in_word, is_word, skip_space, string_end, word_end

# Fields of the state.
POS, MODE, START, BODY, END, TUPLE, ROWS, COUNT, ERROR, ERROR_AT, CLOSED, STATE_SIZE = range(12)
BETWEEN, EXPECT, AFTER = 0, 1, 2  # modes: between statements, in front of a tuple, behind one
MORE, OTHER, HEAD, FULL, DAMAGE = 1, 2, 3, 4, 5  # why the scanner returned

# Kinds of values. A string's bounds are without its quotes, hexadecimal and binary digits without their prefix.
MISSING, NULL, NUMBER, STRING, ESCAPED, HEX, BITS, TRUE, FALSE, DEFAULT, EXPRESSION = range(11)
KIND, BINARY, INTRODUCED = 0x0F, 0x20, 0x40  # flags: _binary, another introducer of a character set

# What can be wrong.
NO_TUPLE, NO_SEPARATOR, NO_VALUE, NO_COMMA, WRONG_COUNT, BAD_HEAD = 1, 2, 3, 4, 5, 6
PROBLEMS = {
    NO_TUPLE: "a row '(…)' is expected here",
    NO_SEPARATOR: "',' or the end of the statement is expected behind a row",
    NO_VALUE: "a value is expected here",
    NO_COMMA: "',' or ')' is expected behind a value",
    BAD_HEAD: "an INSERT or REPLACE with neither VALUES nor SELECT nor SET",
}

_NULL, _TRUE, _FALSE, _DEFAULT = (np.frombuffer(word, np.uint8) for word in (b"NULL", b"TRUE", b"FALSE", b"DEFAULT"))
_BINARY, _COLLATE = (np.frombuffer(word, np.uint8) for word in (b"_BINARY", b"COLLATE"))
_DATE, _TIME, _TIMESTAMP = (np.frombuffer(word, np.uint8) for word in (b"DATE", b"TIME", b"TIMESTAMP"))


@compiled
def _number_end(data, i, stop):
    """Behind the characters of a number; -1: not in the window."""
    while i < stop:
        byte = data[i]
        digit = 0x30 <= byte <= 0x39 or byte == 0x2E or byte | 0x20 == 0x65
        sign = (byte == 0x2B or byte == 0x2D) and data[i - 1] | 0x20 == 0x65
        if not digit and not sign:
            return i
        i += 1
    return -1


@compiled
def _strings(data, i, stop, flags, rules):
    """A string, and those that continue it ('a' 'b'): start, end, kind, position behind. ``i`` is at the opening quote."""
    start, escaped = i + 1, False
    while True:
        quote = data[i]
        end, one = string_end(data, i + 1, stop, quote, rules)
        if end < 0 or end + 1 >= stop:
            return start, start, 0, -1
        escaped = escaped or one
        i = end + 1
        if data[i] == 0x2C or data[i] == 0x29:
            break
        i = skip_space(data, i, stop)
        if i < 0:
            return start, start, 0, -1
        if data[i] == 0x27 or data[i] == 0x22:
            escaped = True
            continue
        if data[i] | 0x20 == 0x63:  # COLLATE name
            word = word_end(data, i, stop)
            if word == stop:
                return start, start, 0, -1
            if is_word(data, i, word, _COLLATE):
                i = skip_space(data, word, stop)
                i = word_end(data, i, stop) if i >= 0 else i
                if i == stop:
                    i = -1
        break
    return start, end, (ESCAPED if escaped else STRING) | flags, i


@compiled
def _digits(data, i, stop, kind, quoted):
    """Hexadecimal or binary digits from ``i``, up to the quote or as far as they go."""
    end = i
    while end < stop:
        byte = data[end]
        good = 0x30 <= byte <= 0x31 if kind & KIND == BITS else (0x30 <= byte <= 0x39 or 0x61 <= byte | 0x20 <= 0x66)
        if not good:
            break
        end += 1
    if end == stop:
        return i, i, 0, -1
    if quoted and data[end] != 0x27:
        return end, end, 0, -2
    return i, end, kind, end + 1 if quoted else end


@compiled
def _expression(data, start, i, stop, rules):
    """A function call: behind the bracket that closes the one at ``i``."""
    depth = 0
    while i < stop:
        byte = data[i]
        if byte == 0x27 or byte == 0x22 or byte == 0x60:
            i, _ = string_end(data, i + 1, stop, byte, rules)
            if i < 0:
                return start, start, 0, -1
        elif byte == 0x28:
            depth += 1
        elif byte == 0x29:
            depth -= 1
            if depth == 0:
                return start, i + 1, EXPRESSION, i + 1
        elif byte == 0x3B:
            return i, i, 0, -2
        i += 1
    return start, start, 0, -1


@compiled
def _introduced(data, i, end, stop, rules):
    """What follows a word that may stand in front of a literal: _binary '…', _gbk x'…', N'…', DATE '…'."""
    flags = 0
    if data[i] == 0x5F:
        flags = BINARY if is_word(data, i, end, _BINARY) else INTRODUCED
    elif not (
        (end - i == 1 and data[i] | 0x20 == 0x6E)
        or is_word(data, i, end, _DATE)
        or is_word(data, i, end, _TIME)
        or is_word(data, i, end, _TIMESTAMP)
    ):
        return i, i, 0, -2
    j = skip_space(data, end, stop)
    if j < 0 or j + 2 >= stop:
        return i, i, 0, -1
    if data[j] == 0x27 or data[j] == 0x22:
        return _strings(data, j, stop, flags, rules)
    if data[j] | 0x20 == 0x78 and data[j + 1] == 0x27:
        return _digits(data, j + 2, stop, HEX | flags, True)
    if data[j] == 0x30 and data[j + 1] == 0x78:
        return _digits(data, j + 2, stop, HEX | flags, False)
    return j, j, 0, -2


@compiled
def _word(data, i, stop, rules):
    """A value that begins with a letter or ``_``."""
    if i + 1 >= stop:
        return i, i, 0, -1
    if data[i + 1] == 0x27 and (data[i] | 0x20 == 0x78 or data[i] | 0x20 == 0x62):
        return _digits(data, i + 2, stop, HEX if data[i] | 0x20 == 0x78 else BITS, True)
    end = word_end(data, i, stop)
    if end == stop:
        return i, i, 0, -1
    if is_word(data, i, end, _NULL):
        return i, end, NULL, end
    if is_word(data, i, end, _TRUE) or is_word(data, i, end, _FALSE):
        return i, end, TRUE if is_word(data, i, end, _TRUE) else FALSE, end
    if is_word(data, i, end, _DEFAULT):
        return i, end, DEFAULT, end
    j = skip_space(data, end, stop)
    if j < 0:
        return i, i, 0, -1
    if data[j] == 0x28:
        return _expression(data, i, j, stop, rules)
    if end - i > 8 and data[i] | 0x20 == 0x63 and data[i + 7] == 0x5F and (data[j] == 0x2C or data[j] == 0x29):
        return i, end, EXPRESSION, end  # CURRENT_TIMESTAMP and its like
    return _introduced(data, i, end, stop, rules)


@compiled
def value(data, i, stop, rules):
    """The value at ``i``: start, end, kind, and the position behind; -1 not in the window, -2 no value (start says where)."""
    byte = data[i]
    if byte == 0x27 or byte == 0x22:
        return _strings(data, i, stop, 0, rules)
    if i + 2 >= stop:
        return i, i, 0, -1
    if byte == 0x30 and (data[i + 1] == 0x78 or data[i + 1] == 0x62):
        return _digits(data, i + 2, stop, HEX if data[i + 1] == 0x78 else BITS, False)
    if 0x30 <= byte <= 0x39 or byte == 0x2D or byte == 0x2E or byte == 0x2B:
        end = _number_end(data, i + 1, stop)
        if end > 0 and end - i < 2 and not 0x30 <= byte <= 0x39:
            return i, i, 0, -2
        return i, end, NUMBER, end
    if byte == 0x5C and data[i + 1] == 0x4E:  # \N
        return i, i + 2, NULL, i + 2
    if in_word(byte) and byte < 0x80:
        return _word(data, i, stop, rules)
    return i, i, 0, -2
