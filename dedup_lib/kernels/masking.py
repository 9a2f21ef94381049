"""Mask what differs from one log line of an event to the next: times, numbers, ids, addresses, paths.

Words stay, whatever they are: a line in which one word differs is another event. The kinds of masks are few, so that lines
of one event meet even where one shows 12ms and the next 1.5s. Masking is idempotent: a mask holds nothing that is masked.
"""

from __future__ import annotations

import re
from functools import cache

from dedup_lib.kernels.triggers import Trigger, matching

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d+)?(?:\s?[ap]m\b)?"
_ZONE = r"(?:\s?(?:z|utc|gmt|cst|[+-]\d{2}:?\d{2})\b)?"
_DATE = r"(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{1,2}\.\d{1,2}\.\d{4}|(?:19|20)\d{6}(?=[-t ]?\d)|\d{1,2}/[a-z]{3}/\d{4}|\d{1,2}-\d{1,2}(?=\s\d{1,2}:))"
_STAMP = (
    rf"(?:{_DAY},?\s+)?(?:{_DATE}|{_MONTH}\s+\d{{1,2}}(?:,?\s\d{{4}})?)[-t:,_. ]\s*(?:{_CLOCK}|\d\d\.\d\d\.\d\d(?:\.\d+)?)"
    rf"{_ZONE}(?:\s\d{{4}}\b)?",
    rf"{_DATE}",
    rf"{_CLOCK}{_ZONE}",
    r"\d{1,2}时\d{1,2}分(?:\d{1,2}秒)?",
)
_UNITS = r"(?:%|\s?(?:[kmgt]i?)?b(?:/s|ps)?|[kmgt]|\s?bytes?|[mnuμ]?s|secs?|ms|分钟|小时|毫秒|微秒|秒|天|次|个|条)?"
_KINDS = {
    "ip": r"(?=[0-9/a-f])(?<![\w.])/?(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.]*\d)|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b",
    "time": rf"(?<![0-9a-z])(?=[0-9]|[adfjmnostw][a-z]{{2,}}[ ,])(?:{'|'.join(_STAMP)})(?![0-9])",
    "url": r"\b(?=\w+:|\w+\+)[a-z][a-z0-9+.-]*://[^\s\"'<>()\[\]，。]+",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "mac": r"(?=[0-9a-f]{2}[:-])\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5,7}\b",
    "id": r"(?=[0-9a-f]{2}|0x)(?:\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b)",
    "path": r"(?=[/~\\]|[a-z]:)(?<![\w<>:/.\\])(?:[a-z]:\\|\\\\|~?/)[^\s\"'<>:;,()\[\]|，。]+",
    "num": rf"(?=[0-9+-])(?:(?<![a-z0-9)\]])[+-])?(?<![0-9])\d+(?:[.,]\d+)*(?:{_UNITS}(?![a-z0-9]))?",
}
_SIGNS = {"url": ("://",), "email": ("@",), "path": ("/", "\\"), "mac": (":", "-")}  # without one of these in the line there is nothing to look for
_SERIES = re.compile(r"(<num>)(?:[\s,;:x*/_-]*<num>)+")

maskable: Trigger = matching(r"[0-9]|[@\\]|://|(^|[^\w<>:/.])~?/[^\s]")


def mask(line: str) -> str:
    """The line with ``<time>``, ``<num>``, ``<ip>``, ``<id>``, ``<path>``, ``<url>``, ``<email>`` and ``<mac>`` in place of values.

    Numbers in a row become one ``<num>``, since lists are of any length.
    """
    kinds = tuple(kind for kind in _KINDS if kind not in _SIGNS or any(sign in line for sign in _SIGNS[kind]))
    masked = _pattern(kinds).sub(lambda found: f"<{found.lastgroup}>", line)
    return _SERIES.sub(r"\1", masked)


@cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{_KINDS[kind]})" for kind in kinds), re.IGNORECASE)
