"""Bounds of values -> bytes, integers and times. What the compiled forms cannot read they leave to the caller, and say so."""

from __future__ import annotations

import numpy as np

from dedup_lib.dump.compiling import compiled
from dedup_lib.dump.lexis import _LEAD, _PLAIN, _QUOTE, _SLASH, skip_space
from dedup_lib.dump.scan import BITS, ESCAPED, FALSE, HEX, KIND, NUMBER, STRING, TRUE

OK, IS_NULL, UNREAD, ZERO = 0, 1, 2, 3  # outcome of reading a value

# What a backslash and a letter stand for; \% and \_ keep their backslash, which 0 says.
_MEANING = np.arange(256, dtype=np.uint8)
for _letter, _meant in zip(b"0bnrtZ", b"\x00\x08\n\r\t\x1a", strict=True):
    _MEANING[_letter] = _meant
_KEEPS_SLASH = np.zeros(256, np.bool_)
_KEEPS_SLASH[[*b"%_"]] = True


@compiled
def _unescape(data, i, end, rules, out, at):
    """Copy a string without its escapes, doubled quotes and the gaps between its parts; returns the position behind."""
    quote = data[i - 1]
    while i < end:
        byte = data[i]
        kind = rules[0, byte]
        if kind == _PLAIN or (kind == _QUOTE and byte != quote):
            out[at] = byte
            i += 1
        elif kind == _LEAD:
            out[at] = byte
            i += 1
            if i < end and rules[1, data[i]]:
                at += 1
                out[at] = data[i]
                i += 1
        elif kind == _SLASH and i + 1 < end:
            if _KEEPS_SLASH[data[i + 1]]:
                out[at] = byte
                at += 1
            out[at] = _MEANING[data[i + 1]]
            i += 2
        elif kind == _QUOTE and i + 1 < end and data[i + 1] == quote:
            out[at] = byte
            i += 2
        elif kind == _QUOTE:  # the next part of 'a' 'b'
            i = skip_space(data, i + 1, end)
            if i < 0:
                return at
            quote = data[i]
            i += 1
            continue
        else:
            out[at] = byte
            i += 1
        at += 1
    return at


@compiled
def _nibble(byte):
    return byte - 0x30 if byte <= 0x39 else (byte | 0x20) - 0x57


@compiled
def _from_digits(data, start, end, bits, out, at):
    """Bytes of hexadecimal or binary digits, filled up on the left; returns the position behind."""
    per_byte = 8 if bits else 2
    missing = -(end - start) % per_byte
    value, have = 0, missing
    for i in range(start, end):
        value = (value << 1) | (data[i] & 1) if bits else (value << 4) | _nibble(data[i])
        have += 1
        if have == per_byte:
            out[at] = value & 0xFF
            at += 1
            value, have = 0, 0
    return at


@compiled
def gather(data, bounds, kinds, rules, out, offsets, valid):
    """Bytes of n values: into ``out`` (as long as all values together), ``offsets`` (int64, n+1) and ``valid`` (bool, n).

    Null, missing, default values and expressions are not valid. Returns the number of bytes.
    """
    at = 0
    offsets[0] = 0
    for k in range(len(kinds)):
        start, end, kind = bounds[k, 0], bounds[k, 1], kinds[k] & KIND
        valid[k] = True
        if kind == STRING or kind == NUMBER:
            for i in range(start, end):
                out[at + i - start] = data[i]
            at += end - start
        elif kind == ESCAPED:
            at = _unescape(data, start, end, rules, out, at)
        elif kind == HEX or kind == BITS:
            at = _from_digits(data, start, end, kind == BITS, out, at)
        elif kind == TRUE or kind == FALSE:
            out[at] = 0x31 if kind == TRUE else 0x30
            at += 1
        else:
            valid[k] = False
        offsets[k + 1] = at
    return at


@compiled
def integers(data, bounds, kinds, low, high, values, status):
    """Integers of n values into ``values`` (int64) and ``status``; decimal digits with a sign, of at most 18, are read."""
    for k in range(len(kinds)):
        i, end, kind = bounds[k, 0], bounds[k, 1], kinds[k] & KIND
        values[k] = 0
        if kind != NUMBER and kind != STRING:
            status[k] = UNREAD if kind == ESCAPED or kind == HEX or kind == BITS or kind == TRUE or kind == FALSE else IS_NULL
            values[k] = 0
            continue
        negative = i < end and data[i] == 0x2D
        if negative:
            i += 1
        number, good = 0, 0 < end - i <= 18
        while good and i < end:
            good = 0x30 <= data[i] <= 0x39
            number = number * 10 + (data[i] - 0x30)
            i += 1
        number = -number if negative else number
        good = good and low <= number <= high
        status[k] = OK if good else UNREAD
        values[k] = number if good else 0


@compiled
def _days(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@compiled
def _days_in(year, month):
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@compiled
def _fields(text, start, end, fields):
    """Year to second and microseconds into ``fields`` (int64, 7); whether the text is a date, or a date and time."""
    fields[:] = 0
    length = end - start
    bare = length == 14 or length == 8
    for i in range(start, end):
        bare = bare and 0x30 <= text[i] <= 0x39
    i = start
    for part in range(6):
        width = 4 if part == 0 else 2
        digits = 0
        while i < end and digits < width and 0x30 <= text[i] <= 0x39:
            fields[part] = fields[part] * 10 + (text[i] - 0x30)
            i += 1
            digits += 1
        if digits == 0 or (part == 0 and digits != 4):
            return False
        if i == end:
            return part >= 2
        if bare or part == 5:
            continue
        good = text[i] == 0x2D if part < 2 else (text[i] == 0x20 or text[i] == 0x54 if part == 2 else text[i] == 0x3A)
        if not good:
            return False
        i += 1
    if text[i] != 0x2E:
        return False
    i, scale = i + 1, 100000
    while i < end and 0x30 <= text[i] <= 0x39:
        fields[6] += scale * (text[i] - 0x30)
        scale //= 10
        i += 1
    return i == end


@compiled
def times(text, offsets, valid, values, status):
    """Microseconds since 1970 of n texts into ``values`` (int64); ``status``: OK, IS_NULL, ZERO or UNREAD.

    ZERO: year, month or day is 0. Reads 2014-05-06, with 07:08:09 and fractions, and both without separators.
    """
    fields = np.zeros(7, np.int64)
    for k in range(len(valid)):
        values[k] = 0
        if not valid[k]:
            status[k] = IS_NULL
            continue
        good = _fields(text, offsets[k], offsets[k + 1], fields)
        year, month, day = fields[0], fields[1], fields[2]
        if good and (year == 0 or month == 0 or day == 0):
            status[k] = ZERO
        elif not good or month > 12 or day > _days_in(year, month) or fields[3] > 23 or fields[4] > 59 or fields[5] > 59:
            status[k] = UNREAD
        else:
            seconds = _days(year, month, day) * 86400 + fields[3] * 3600 + fields[4] * 60 + fields[5]
            values[k] = seconds * 1000000 + fields[6]
            status[k] = OK
