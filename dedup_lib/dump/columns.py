"""Value bounds of one column -> an Arrow array of the column's type. What cannot be read becomes null and is flagged."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.dump import charsets, text, values
from dedup_lib.dump.ddl import Column
from dedup_lib.dump.scan import BINARY, BITS, DEFAULT, ESCAPED, EXPRESSION, HEX, INTRODUCED, KIND, MISSING, STRING

_DAY, _EPOCH = 86_400_000_000, date(1970, 1, 1).toordinal()
_LOOSE = re.compile(r"\s*(\d{4})\D(\d{1,2})\D(\d{1,2})(?:[T\s]+(\d{1,2})\D(\d{1,2})(?:\D(\d{1,2})(?:\.(\d+))?)?)?\s*(?!\d)")
_INTRODUCER = re.compile(rb"_(\w+)\s*(?:[xX]?['\"]|0x)$")
_OFFSET = re.compile(r"([+-])(\d{1,2}):(\d{2})")


class Cells(NamedTuple):
    """The values of one column in a batch: ``bounds`` (int64, n x 2) are positions in ``data``.

    ``zone``: time zone that the dump states; ``to``: the one in which TIMESTAMP columns are wanted.
    """

    data: np.ndarray
    bounds: np.ndarray
    kinds: np.ndarray
    rules: np.ndarray
    charset: str | None
    zone: str | None
    to: str | None


Flag = Callable[[int, str, str], None]


def array(column: Column, cells: Cells, flag: Flag) -> pa.Array:
    """The column's values. ``flag`` (row, name, detail) is called for what was not plainly read: ``zero_date``, ``bad_date``,
    ``bad_value``, ``expression``, and the flags of ``text.decode``."""
    kinds = cells.kinds & KIND
    for row in np.flatnonzero(kinds == EXPRESSION):
        start, end = cells.bounds[row]
        flag(int(row), "expression", cells.data[start:end].tobytes()[:80].decode("latin-1"))
    found = _typed(column, cells, flag)
    absent = (kinds == MISSING) | (kinds == DEFAULT)
    if column.default is None or not absent.any():
        return found
    data = column.default.encode()
    one = cells._replace(
        data=np.frombuffer(data + b"'", np.uint8), bounds=np.array([[0, len(data)]]), kinds=np.array([STRING], np.uint8),
        charset=charsets.UTF8,
    )  # fmt: skip
    value = _typed(column, one, lambda *ignored: None)
    return pc.if_else(pa.array(absent), value[0], found)


def _typed(column: Column, cells: Cells, flag: Flag) -> pa.Array:
    kind = column.type
    if column.declared.startswith("bit"):
        return _bits(column, cells, flag)
    if pa.types.is_integer(kind):
        return _integers(column, cells, flag)
    content = content_of(cells)
    if pa.types.is_binary(kind):
        return content
    if pa.types.is_string(kind):
        return _text(column, cells, content, flag)
    if pa.types.is_temporal(kind):
        return _times(column, content, cells, flag)
    return _numbers(column, cells, content, flag)


def content_of(cells: Cells) -> pa.Array:
    """Bytes of the values without quotes and escapes; null where there is no literal."""
    count = len(cells.kinds)
    size = int((cells.bounds[:, 1] - cells.bounds[:, 0]).sum(where=(cells.kinds & KIND) > 1)) + count + 8
    out, offsets, valid = np.empty(size, np.uint8), np.empty(count + 1, np.int64), np.empty(count, np.bool_)
    values.gather(cells.data, cells.bounds, cells.kinds, cells.rules, out, offsets, valid)
    return text.binary_array(out, offsets, valid)


def _text(column: Column, cells: Cells, content: pa.Array, flag: Flag) -> pa.Array:
    """Text, for which literals may name other character sets than the connection's."""
    own = np.flatnonzero((cells.kinds & BINARY > 0) | np.isin(cells.kinds & KIND, (HEX, BITS)))
    other = np.flatnonzero(cells.kinds & INTRODUCED)
    special = {*own.tolist(), *other.tolist()}
    plain = (lambda row, *what: None if row in special else flag(row, *what)) if special else flag
    texts = text.decode(content, cells.charset, column.charset, plain)
    for row in special:
        before = cells.data[max(0, cells.bounds[row, 0] - 40) : cells.bounds[row, 0]].tobytes()
        named = _INTRODUCER.search(before)
        charset = named[1].decode().lower() if row in other and named else charsets.BINARY
        one = text.decode(content.slice(row, 1), charset, column.charset, lambda _, *what, row=row: flag(row, *what))
        texts = pc.if_else(pa.array(np.arange(len(texts)) == row), one[0], texts)
    return texts


def _integers(column: Column, cells: Cells, flag: Flag) -> pa.Array:
    count = len(cells.kinds)
    width = column.type.bit_width
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    found, status = np.empty(count, np.int64), np.empty(count, np.uint8)
    values.integers(cells.data, cells.bounds, cells.kinds, low, high, found, status)
    missing = status == values.IS_NULL
    if (status == values.UNREAD).any():
        content = content_of(cells)
        for row in np.flatnonzero(status == values.UNREAD):
            number = _number(content[row].as_py(), int(cells.kinds[row]), int(row), flag)
            whole = None if number is None else int(number.to_integral_value(ROUND_HALF_UP))
            if whole is not None and not low <= whole <= high:
                flag(int(row), "bad_value", str(whole))
                whole = None
            missing[row] = whole is None
            found[row] = whole or 0
    return pa.array(found.astype(column.type.to_pandas_dtype()), column.type, mask=missing)


def _number(data: bytes, kind: int, row: int, flag: Flag) -> Decimal | None:
    """A number as the server would take it from a string, or from hexadecimal or binary digits."""
    if kind & KIND in (HEX, BITS):
        return Decimal(int.from_bytes(data, "big"))
    try:
        number = Decimal(data.decode("latin-1").strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite():
        return number
    flag(row, "bad_value", data[:80].decode("latin-1"))
    return None


def _bits(column: Column, cells: Cells, flag: Flag) -> pa.Array:
    found = []
    for row, (data, kind) in enumerate(zip(content_of(cells).to_pylist(), cells.kinds.tolist(), strict=True)):
        if data is None:
            found.append(None)
        elif kind & KIND in (STRING, ESCAPED, HEX, BITS):
            found.append(int.from_bytes(data, "big"))
        else:
            number = _number(data, kind, row, flag)
            found.append(None if number is None else int(number))
    return pa.array(found, pa.int64()) if pa.types.is_int64(column.type) else pa.array(map(_decimal, found), column.type)


def _decimal(value: int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _numbers(column: Column, cells: Cells, content: pa.Array, flag: Flag) -> pa.Array:
    """Decimals and floats: Arrow reads them all, or each is read with care."""
    if not np.isin(cells.kinds & KIND, (HEX, BITS)).any():
        try:
            return content.cast(pa.string()).cast(column.type)
        except pa.ArrowInvalid:
            pass
    floating = pa.types.is_floating(column.type)
    scale = None if floating else Decimal(1).scaleb(-column.type.scale)
    found = []
    for row, (data, kind) in enumerate(zip(content.to_pylist(), cells.kinds.tolist(), strict=True)):
        number = None if data is None else _number(data, kind, row, flag)
        if number is not None and not floating:
            if number.adjusted() >= column.type.precision - column.type.scale and number != 0:
                flag(row, "bad_value", str(number))
                number = None
            else:
                number = number.quantize(scale, ROUND_HALF_UP)
        found.append(float(number) if floating and number is not None else number)
    return pa.array(found, column.type)


def _times(column: Column, content: pa.Array, cells: Cells, flag: Flag) -> pa.Array:
    wide = content.cast(pa.large_binary())
    _, offsets, data = wide.buffers()
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    valid = content.is_valid().to_numpy(zero_copy_only=False)
    found, status = np.empty(len(wide), np.int64), np.empty(len(wide), np.uint8)
    values.times(raw, np.frombuffer(offsets, np.int64)[: len(wide) + 1], valid, found, status)
    for row in np.flatnonzero(status == values.ZERO):
        flag(int(row), "zero_date", content[row].as_py()[:40].decode("latin-1"))
    missing = status != values.OK
    for row in np.flatnonzero(status == values.UNREAD):
        moment, whole = _loose(content[row].as_py().decode("latin-1"))
        missing[row] = moment is None
        found[row] = moment or 0
        if not whole:
            flag(int(row), "bad_date", content[row].as_py()[:40].decode("latin-1"))
    if pa.types.is_date(column.type):
        return pa.array((found // _DAY).astype(np.int32), pa.int32(), mask=missing).cast(column.type)
    moments = pa.array(found, pa.int64(), mask=missing).cast(pa.timestamp("us"))
    return _moved(moments, cells.zone, cells.to) if column.instant else moments


def _loose(written: str) -> tuple[int | None, bool]:
    """Microseconds of a date in one of the server's looser forms (2014/5/6, 2014-5-6 7:8), and whether that is all of it.

    As the server does, takes the date alone when what follows is no time; None if there is no date.
    """
    fields = _LOOSE.match(written)
    whole = fields is not None and fields.end() == len(written)
    parts = [int(part or 0) for part in fields.groups()[:6]] if fields else []
    try:
        moment = datetime(*(parts if whole else parts[:3]))
    except (ValueError, TypeError):
        return None, False
    seconds = (moment.toordinal() - _EPOCH) * 86400 + moment.hour * 3600 + moment.minute * 60 + moment.second
    fraction = int((fields[7] or "0").ljust(6, "0")[:6]) if whole else 0
    return seconds * 1_000_000 + fraction, whole


def _moved(moments: pa.Array, zone: str | None, to: str | None) -> pa.Array:
    """Wall clock of the zone that a dump states (+08:00) -> wall clock of another; as they are where one of them is not known."""
    stated = _OFFSET.fullmatch(zone or "")
    if stated is None or to is None:
        return moments
    minutes = (int(stated[2]) * 60 + int(stated[3])) * (-1 if stated[1] == "-" else 1)
    instants = pc.subtract(moments.cast(pa.int64()), minutes * 60_000_000).cast(pa.timestamp("us", "UTC"))
    return pc.local_timestamp(instants.cast(pa.timestamp("us", to)))
