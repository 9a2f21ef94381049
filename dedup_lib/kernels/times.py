"""Publication times of any type as microseconds, so that rows can be put in order on every engine alike."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

_DATE = re.compile(
    r"\s*(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?"
    r"(?:[\sT]*(\d{1,2})\s*[:时]\s*(\d{1,2})(?:\s*[:分]\s*(\d{1,2})(?:[.,](\d{1,6})\d*)?)?\s*[秒分]?)?\s*(Z|[+-]\d{2}:?\d{2})?\s*"
)
_SECONDS_BEFORE = 10**11  # an integer below this counts seconds, above it milliseconds, above 10^14 microseconds
_MILLIS_BEFORE = 10**14
_LARGEST = 2**62


def to_micros(times: pa.Array) -> pa.Array:
    """int64 microseconds: since 1970 in UTC for times with a zone, on the wall clock for times without.

    Takes timestamps, dates, numbers (seconds, milliseconds or microseconds by size) and strings (2024-03-01 08:00:00,
    2024/3/1, 2024年3月1日, ISO 8601). What cannot be read becomes null.
    """
    kind = times.type
    if pa.types.is_timestamp(kind):
        return pc.cast(times.cast(pa.timestamp("us", kind.tz), safe=False), pa.int64())
    if pa.types.is_date(kind):
        return pc.cast(times.cast(pa.timestamp("us")), pa.int64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.array(map(_scaled, times.to_pylist()), pa.int64())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.array(map(_parsed, times.to_pylist()), pa.int64())
    return pa.nulls(len(times), pa.int64())


def _scaled(value: float | None) -> int | None:
    if value is None or value != value or abs(value) > _LARGEST:
        return None
    size = abs(value)
    return int(value * (1_000_000 if size < _SECONDS_BEFORE else 1_000 if size < _MILLIS_BEFORE else 1))


def _parsed(text: str | None) -> int | None:
    match = _DATE.fullmatch(text or "")
    if not match:
        return _scaled(int(text)) if text and re.fullmatch(r"\s*\d{9,16}\s*", text) else None
    *parts, fraction, zone = match.groups()
    zone = "+00:00" if zone in (None, "Z") else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        moment = datetime(*(int(part or 0) for part in parts), int((fraction or "").ljust(6, "0")))
        shift = datetime.strptime(zone, "%z").utcoffset()
    except ValueError:
        return None
    delta = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC) - shift
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
