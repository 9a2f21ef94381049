"""The scanner itself: statements one after the other, and rows of INSERT and REPLACE into tables of value bounds."""

from __future__ import annotations

import numpy as np

from dedup_lib.dump.compiling import compiled
from dedup_lib.dump.lexis import at, head_end, in_word, is_word, skip_space, statement_end, word_end
from dedup_lib.dump.scan import (
    AFTER,
    BAD_HEAD,
    BETWEEN,
    BODY,
    CLOSED,
    COUNT,
    DAMAGE,
    END,
    ERROR,
    ERROR_AT,
    EXPECT,
    FULL,
    HEAD,
    MISSING,
    MODE,
    MORE,
    NO_COMMA,
    NO_SEPARATOR,
    NO_TUPLE,
    NO_VALUE,
    OTHER,
    POS,
    ROWS,
    START,
    TUPLE,
    WRONG_COUNT,
    value,
)  # fmt: skip

_INSERT, _REPLACE, _DELIMITER = (np.frombuffer(word, np.uint8) for word in (b"INSERT", b"REPLACE", b"DELIMITER"))
_ON, _AS, _ROW, _RETURNING = (np.frombuffer(word, np.uint8) for word in (b"ON", b"AS", b"ROW", b"RETURNING"))


@compiled
def _damage(state, problem, where):
    state[ERROR], state[ERROR_AT] = problem, where
    return DAMAGE


@compiled
def _tuple(data, i, stop, rules, state, slots, bounds, kinds, row, keep):
    """The row whose bracket is at ``i``: position behind it, -1 not in the window, -2 damaged. Counts its values."""
    count = 0
    i = skip_space(data, i + 1, stop)
    if i >= 0 and data[i] == 0x29:
        state[COUNT] = 0
        return i + 1
    while i >= 0:
        start, end, kind, i = value(data, i, stop, rules)
        if i < 0:
            if i == -2:
                _damage(state, NO_VALUE, start)
            return i
        if keep and count < len(slots):
            slot = slots[count]
            bounds[row, slot, 0], bounds[row, slot, 1], kinds[row, slot] = start, end, kind
        count += 1
        if i >= stop:
            return -1
        if data[i] != 0x2C and data[i] != 0x29:
            i = skip_space(data, i, stop)
            if i < 0:
                return -1
        if data[i] == 0x29:
            state[COUNT] = count
            return i + 1
        if data[i] != 0x2C:
            _damage(state, NO_COMMA, i)
            return -2
        i += 1
        if i < stop and data[i] <= 0x2F:  # blanks, comments; also quotes, which stay where they are
            i = skip_space(data, i, stop)
    return -1


@compiled
def _expect(data, stop, rules, state, slots, wanted, bounds, kinds, spans):
    """Read one row where one must stand."""
    i = skip_space(data, state[POS], stop)
    if i < 0:
        return MORE
    state[POS] = i
    if data[i] | 0x20 == 0x72:  # VALUES ROW(…), ROW(…)
        j = word_end(data, i, stop)
        j = skip_space(data, j, stop) if j == stop or is_word(data, i, j, _ROW) else i
        if j < 0:
            return MORE
        i = j
    if data[i] != 0x28:
        return _damage(state, NO_TUPLE, i)
    row, keep = state[ROWS], len(spans) > 0
    if keep:
        kinds[row, :] = MISSING
    state[TUPLE] = i
    behind = _tuple(data, i, stop, rules, state, slots, bounds, kinds, row, keep)
    if behind < 0:
        return MORE if behind == -1 else DAMAGE
    if wanted and state[COUNT] != len(slots):
        state[END] = behind
        return _damage(state, WRONG_COUNT, i)
    if keep:
        spans[row, 0], spans[row, 1], spans[row, 2], spans[row, 3] = i, behind, state[START], 0
    state[ROWS] += 1
    state[POS], state[MODE] = behind, AFTER
    return 0


@compiled
def _close(state, spans, end):
    """Behind the delimiter: note the end with the statement's last row, or in CLOSED if that was handed over already."""
    if state[ROWS] and len(spans):
        spans[state[ROWS] - 1, 3] = end
    elif len(spans):
        state[CLOSED] = end
    state[POS], state[MODE] = end, BETWEEN


@compiled
def _after(data, stop, delimiter, rules, state, spans):
    """Behind a row: another one, or the end of the statement."""
    i = state[POS]
    if i < stop and data[i] != 0x2C:
        i = skip_space(data, i, stop)
    if i < 0 or i >= stop or i + len(delimiter) > stop:
        return MORE
    if at(data, i, stop, delimiter):
        _close(state, spans, i + len(delimiter))
    elif data[i] == 0x2C:
        state[POS], state[MODE] = i + 1, EXPECT
    else:
        word = word_end(data, i, stop)
        if not (is_word(data, i, word, _ON) or is_word(data, i, word, _AS) or is_word(data, i, word, _RETURNING)):
            return MORE if word == stop else _damage(state, NO_SEPARATOR, i)
        end = statement_end(data, i, stop, delimiter, rules)
        if end < 0:
            return MORE
        _close(state, spans, end + len(delimiter))
    return 0


@compiled
def _begin(data, stop, delimiter, rules, state, head):
    """Begin a statement: an INSERT with the head that is known goes on to its rows, everything else returns to the caller."""
    i = skip_space(data, state[POS], stop)
    if i < 0 or i + len(delimiter) > stop:
        return MORE
    state[POS] = state[START] = i
    if at(data, i, stop, delimiter):
        state[POS] = i + len(delimiter)
        return 0
    word = word_end(data, i, stop)
    if word == stop:
        return MORE
    if is_word(data, i, word, _INSERT) or is_word(data, i, word, _REPLACE):
        if len(head) and at(data, i, stop, head) and i + len(head) < stop and not in_word(data[i + len(head)]):
            state[BODY] = state[POS] = i + len(head)
            state[MODE] = EXPECT
            return 0
        body = head_end(data, word, stop, rules)
        if body == -1:
            return MORE
        if body == -3:
            return _damage(state, BAD_HEAD, i)
        if body > 0:
            state[BODY] = body
            return HEAD
    if is_word(data, i, word, _DELIMITER):
        end = word
        while end < stop and data[end] != 0x0A:
            end += 1
        if end == stop:
            return MORE
        state[END], state[POS] = end, end + 1
        return OTHER
    end = statement_end(data, word, stop, delimiter, rules)
    if end < 0:
        return MORE
    state[END], state[POS] = end, end + len(delimiter)
    return OTHER


@compiled
def scan(data, stop, limit, delimiter, rules, state, head, slots, wanted, bounds, kinds, spans):
    """Scan the window until there is something to say; returns MORE, OTHER, HEAD, FULL or DAMAGE.

    ``limit``: position from which on it returns FULL in front of a row of a wanted table. ``head``: the bytes of the INSERT
    head that is known, up to VALUES. ``slots`` (int32): column of each value in a row of it. ``wanted``: whether its rows count
    values and obey ``limit``. ``bounds`` (int64, rows x columns x 2), ``kinds`` (uint8, rows x columns) and ``spans`` (int64,
    rows x 4: tuple start, tuple end, statement start, position behind the statement where the row is its last one, else 0)
    take the rows; with no ``spans`` rows are counted only.
    """
    while True:
        if state[MODE] == EXPECT:
            if wanted and state[ROWS] and (state[POS] >= limit or (len(spans) and state[ROWS] >= len(spans))):
                return FULL
            code = _expect(data, stop, rules, state, slots, wanted, bounds, kinds, spans)
        elif state[MODE] == AFTER:
            code = _after(data, stop, delimiter, rules, state, spans)
        else:
            code = _begin(data, stop, delimiter, rules, state, head)
        if code:
            return code
