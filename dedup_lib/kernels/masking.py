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
_DOTTED_CLOCK = r"\d\d\.\d\d\.\d\d(?:\.\d+)?"
_ZONE = r"(?:\s?(?:z|utc|gmt|cst|[+-]\d{2}:?\d{2})\b)?"
_DATES = (
    r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?",
    r"\d{1,2}[-/]\d{1,2}[-/]\d{2,4}",
    r"\d{1,2}\.\d{1,2}\.\d{4}",
    r"(?:19|20)\d{6}(?=[-t ]?\d)",
    r"\d{1,2}/[a-z]{3}/\d{4}",
    r"\d{1,2}-\d{1,2}(?=\s\d{1,2}:)",
)
_DATE = f"(?:{'|'.join(_DATES)})"
_NAMED_DATE = rf"{_MONTH}\s+\d{{1,2}}(?:,?\s\d{{4}})?"
_TIMES = (
    rf"(?:{_DAY},?\s+)?(?:{_DATE}|{_NAMED_DATE})[-t:,_. ]\s*(?:{_CLOCK}|{_DOTTED_CLOCK}){_ZONE}(?:\s\d{{4}}\b)?",
    _DATE,
    rf"{_CLOCK}{_ZONE}",
    r"\d{1,2}时\d{1,2}分(?:\d{1,2}秒)?",
)
_UNIT = r"(?:%|\s?(?:[kmgt]i?)?b(?:/s|ps)?|[kmgt]|\s?bytes?|[mnuμ]?s|secs?|分钟|小时|毫秒|微秒|秒|天|次|个|条)?"
_OUTSIDE = r"\s\"'<>:;,()\[\]|，。"  # where a path ends
_HEX = r"[0-9a-f]"
# Of two kinds that begin at one place the first is meant. The look-aheads only spare the engine the rest.
_KINDS = {
    "ip": rf"(?={_HEX}|/)(?<![\w.])/?(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d+)?(?![\w.]*\d)|\b(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}\b",
    "time": rf"(?<![0-9a-z])(?=[0-9]|[adfjmnostw][a-z]{{2,}}[ ,])(?:{'|'.join(_TIMES)})(?![0-9])",
    "url": r"\b(?=\w+:|\w+\+)[a-z][a-z0-9+.-]*://[^\s\"'<>()\[\]，。]+",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "mac": rf"(?={_HEX}{{2}}[:-])\b{_HEX}{{2}}(?:[:-]{_HEX}{{2}}){{5,7}}\b",
    "id": rf"(?={_HEX}{{2}}|0x)(?:\b{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}\b|\b0x{_HEX}+\b"
    rf"|\b(?=[a-f]*\d)(?=\d*[a-f]){_HEX}{{8,}}\b)",
    "path": rf"(?=[/~\\]|[a-z]:)(?<![\w<>:/.\\])(?:[a-z]:\\|\\\\|~?/)[^{_OUTSIDE}]+",
    "num": rf"(?=[0-9+-])(?:(?<![a-z0-9)\]])[+-])?(?<![0-9])\d+(?:[.,]\d+)*(?:{_UNIT}(?![a-z0-9]))?",
}
_SIGNS = {"url": ("://",), "email": ("@",), "path": ("/", "\\"), "mac": (":", "-")}  # a line without has none of the kind
_SERIES = re.compile(r"(<num>)(?:[\s,;:x*/_-]*<num>)+")

maskable: Trigger = matching(r"[0-9]|[@\\]|://|(^|[^\w<>:/.])~?/[^\s]")


def mask(line: str) -> str:
    """The line with ``<time>``, ``<num>``, ``<ip>``, ``<id>``, ``<path>``, ``<url>``, ``<email>``, ``<mac>`` for its values.

    Numbers in a row become one ``<num>``, since lists are of any length.
    """
    kinds = tuple(kind for kind in _KINDS if kind not in _SIGNS or any(sign in line for sign in _SIGNS[kind]))
    masked = _pattern(kinds).sub(lambda found: f"<{found.lastgroup}>", line)
    return _SERIES.sub(r"\1", masked)


@cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{_KINDS[kind]})" for kind in kinds), re.IGNORECASE)
