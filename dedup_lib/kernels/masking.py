"""Mask what differs from one log line of an event to the next: times, numbers, ids, addresses, paths.

Words stay, whatever they are: a line in which one word differs is another event. The kinds of masks are few, so that lines
of one event meet even where one shows 12ms and the next 1.5s, or one id has letters and the next has none. ``RULES`` are the
definition: each is a pattern that Python's ``re`` and Arrow's RE2 read alike, and what it is replaced by, applied one after
the other. RE2 runs them on a whole batch in linear time and without the interpreter lock. Masking is idempotent: the last rules
leave no digit, and no mask looks like the start of an address or path.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

MASKS = ("<time>", "<num>", "<host>", "<path>", "<url>", "<email>")

# Beginnings that only a captured character can tell; the replacement puts it back.
_NO_LETTER = r"(^|[^0-9A-Za-z])"
_NO_NAME = r"(^|[^0-9A-Za-z_.-])"

_CLOCK = r"\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d+)?(?: ?[AaPp][Mm]\b)?"
_DOTTED_CLOCK = r"\d\d\.\d\d\.\d\d(?:\.\d+)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[CEMP][SD]T|CES?T|BST|JST|[+-]\d{2}:?\d{2})\b)?"
_DAY = "(?:(?i:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?),? +)?"  # whole: Monitor is no day
_MONTH = "(?i:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)"
_NAMED = rf"{_MONTH} +\d{{1,2}}"
_DATE = "(?:" + "|".join((
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}", r"\d{4}年\d{1,2}月\d{1,2}日", r"\d{1,2}[-/]\d{1,2}[-/](?:\d{4}|\d\d)",
    r"\d{1,2}\.\d{1,2}\.\d{4}", rf"\d{{1,2}}[-/ ]{_MONTH}[-/ ]\d{{4}}", rf"{_NAMED}(?:,? \d{{4}})?",
)) + ")"  # fmt: skip
_BESIDE_A_CLOCK = rf"(?:{_DATE}|(?:19|20)\d{{6}}|\d{{1,2}}-\d{{1,2}})"  # dates that alone would be numbers
_CHINESE_CLOCK = r"\d{1,2}[时点]\d{1,2}分(?:\d{1,2}秒)?"
_TIME = "|".join((
    rf"{_DAY}{_NAMED} {_CLOCK}{_ZONE} \d{{4}}\b",
    rf"{_DAY}{_BESIDE_A_CLOCK}(?:[-Tt:,_.]| *)(?:{_CLOCK}|{_DOTTED_CLOCK}){_ZONE}",
    rf"{_DAY}{_DATE}(?: ?{_CHINESE_CLOCK})?", rf"{_CLOCK}{_ZONE}", _CHINESE_CLOCK,
))  # fmt: skip

_PORT = r"(?::\d+)?"
_IPV4 = r"/?(?:\d{1,3}\.){3}\d{1,3}\b"
_IPV6 = r"/?(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b|[A-Fa-f]{0,3}\d[0-9A-Fa-f]{0,3}(?::[0-9A-Fa-f]{1,4})*::[0-9A-Fa-f:]*"
_MAC = r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})\b"
_COUNTRY = (
    "(?:ar|at|au|be|br|ca|ch|cn|cz|de|dk|es|eu|fi|fr|gr|hk|hu|id|il|in|io|it|jp|kr|mx|my|nl|no|nz|ph|pl|pt|ro|ru|se|sg|th|tr|tw"
    "|ua|uk|us|vn|za)"
)
# Names of numbered machines; other names are words.
_NAME = (
    r"(?:[A-Za-z_-]+\.)*[A-Za-z_-]*\d[0-9A-Za-z_-]*\."
    rf"(?:(?:[0-9A-Za-z-]+\.)*(?:com|net|org|edu|gov|info|biz)|(?:[0-9A-Za-z-]+\.)+{_COUNTRY})\b"
)

# Eight or more hexadecimal digits, letters and decimal digits among them.
_HEX = "[0-9A-Fa-f]"
_HASH = "|".join(
    rf"{first}{{{n}{end}}}{second}{_HEX}{{{max(7 - n, 0)},}}"
    for first, second in ((r"[A-Fa-f]", r"\d"), (r"\d", "[A-Fa-f]"))
    for n, end in [*((n, "") for n in range(1, 8)), (8, ",")]
)
_UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_PART = r"[A-Za-z]{0,2}\d[0-9A-Za-z]*"
_JOINED = rf"{_PART}(?:[-_:](?:(?:[A-Z]{{1,2}}|[a-z])[-_:])*{_PART})+"  # R02-M1-NE-C:J12-U11, 1445_0001_m_000003_0
_MIXED = r"[A-Za-z]*\d+[A-Za-z]+\d+[A-Za-z]+\d[0-9A-Za-z]*|[A-Za-z]{0,2}\d+[A-Za-z]+\d[0-9A-Za-z]*"  # Xy7Kq2Lm9, 1h30m5

_UNIT = (
    r"(?:%|毫秒|微秒|秒|分钟|小时|天|字节| ?(?:(?i:[kmgtp]i?b(?:/s|ps)?|bytes?)|[mnuµμ]?s|secs?|seconds?|minutes?|hours?|B)\b"
    r"|[KMGTkmgthd]\b)?"
)
# A part of a path or URL may begin with Chinese, but ends where Chinese follows ASCII, and the last part holds some ASCII: what
# stands behind it is a word, as in /a.txt失败.
_WIDE = r"[^\x00-\x7f，。；、]"
_OUTSIDE = "\\s\"'<>:;,()\\[\\]|\x80-\U0010ffff"
_ASCII = rf"[^{_OUTSIDE}\\/]"
_PARTS = rf"[\\/](?:{_WIDE}*{_ASCII}*[\\/])*(?:{_WIDE}*{_ASCII}+)?"
_ROOT = rf"/(?:[^\d{_OUTSIDE}]|\d+[^\d.{_OUTSIDE}]){_ASCII}*"  # not /10.0.0.1, which is an address
_WIDE_ROOT = rf"/{_WIDE}+{_ASCII}*[\\/]{_WIDE}*{_ASCII}+(?:{_PARTS})?"
_PLACED = rf"(?:[A-Za-z]:|\\|~|\.{{1,2}}){_PARTS}"
_URL = "[^\\s\"'<>()\\[\\]/\x80-\U0010ffff]"
_URL_PARTS = f"/(?:{_WIDE}*{_URL}*/)*(?:{_WIDE}*{_URL}+)?"
_HAN = "\u3400-\u9fff"

RULES: tuple[tuple[str, str], ...] = (
    (r"\b[A-Za-z][0-9A-Za-z+.-]*://(?:" + rf"{_WIDE}*{_URL}+(?:{_URL_PARTS})?|{_URL_PARTS})", "<url>"),
    (r"[0-9A-Za-z_.+-]+@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*\.[A-Za-z][0-9A-Za-z-]+", "<email>"),
    (rf"([{_HAN}])(?:{_PLACED}|{_WIDE_ROOT}|{_ROOT}{_PARTS})", r"\1<path>"),  # 启动/stop is no path
    (rf"(^|[^0-9A-Za-z_<>/.\\{_HAN}])(?:{_PLACED}|{_WIDE_ROOT}|{_ROOT}(?:{_PARTS})?)", r"\1<path>"),
    (rf"{_NO_LETTER}{_MAC}", r"\1<host>"),
    (rf"{_NO_LETTER}(?:{_UUID}|0[xX]{_HEX}+|{_HASH}|[fF]{{8,}})\b", r"\1<num>"),
    (rf"{_NO_NAME}(?:{_NAME}|{_IPV4}|{_IPV6}){_PORT}", r"\1<host>"),
    (rf"{_NO_LETTER}(?:{_TIME})", r"\1<time>"),
    (rf"{_NO_LETTER}(?:{_JOINED}|{_MIXED})", r"\1<num>"),
    (rf"\d+(?:[.,]\d+)*{_UNIT}", "<num>"),
    (r"(^|[^0-9A-Za-z)\]>+-])[+-]<num>", r"\1<num>"),  # a sign, no hyphen
    (r"<num>(?:[\s,.;:x*/_-]*<num>)+", "<num>"),
    (r"[ \t]{2,}<num>", " <num>"),  # columns are padded
    (r"<(time|num)>[ \t]{2,}", r"<\1> "),
)


LEVELS = ("warn", "error")
_WORDS = {
    "quiet": "TRACE|VERBOSE|FINE|DEBUG|INFO|NOTICE?|调试|信息",
    "warn": "WARN(?:ING)?|警告",
    "error": "ERR(?:OR)?|SEVERE|CRIT(?:ICAL)?|FATAL|ALERT|EMERG(?:ENCY)?|PANIC|错误|严重|致命",
}
_LETTERS = {"quiet": "VDI", "warn": "W", "error": "EF"}
_ANY_WORD = f"(?:{'|'.join(_WORDS.values())})"
# Cuts a line at its level: one letter behind times and numbers, a word in capitals, or any word in brackets or behind level=.
_CUT = (
    r"(?s)^(?:(?P<values>(?:<time>|<num>|\d/|[0-9\s:.,-])+)(?P<letter>\s[VDIWEF][ /])|(?P<head>.*?)(?P<word>"
    rf"(?:^|[\s|:(]){_ANY_WORD}(?:[\s|:,)-]|$)"
    rf"|(?i:(?:[\[【] ?|(?:level|lvl|severity)\"?[=:] ?\"?){_ANY_WORD}(?:[^0-9A-Za-z_]|$))))(?P<rest>.*)$"
)


def mask(lines: pa.Array) -> pa.Array:
    """The lines with one of ``MASKS`` for each of their values: 12ms, 3.5MB, 0x1f, blk_-12, UUIDs and hashes are all ``<num>``.

    Numbers in a row become one ``<num>``, since lists are of any length.
    """
    for pattern, replacement in RULES:
        lines = pc.replace_substring_regex(lines, pattern, replacement)
    return lines


def mask_below(lines: pa.Array, level: str) -> pa.Array:
    """Like ``mask``, but of a line at ``level`` (one of ``LEVELS``) or above only what stands before the level is masked.

    The level is the first that a line names; a line that names none is masked.
    """
    parts = pc.extract_regex(lines, _CUT)
    values, letter, head, word, rest = (pc.struct_field(parts, name) for name in ("values", "letter", "head", "word", "rest"))
    loud = LEVELS[LEVELS.index(level) :]
    letters, words = "".join(_LETTERS[name] for name in loud), "|".join(_WORDS[name] for name in loud)
    named = pc.match_substring_regex(word, f"(?i:(?:^|[^a-z])(?:{words})(?:[^a-z]|$))")
    is_loud = pc.fill_null(pc.or_(named, pc.match_substring_regex(letter, f"[{letters}]")), False)
    kept = pc.binary_join_element_wise(mask(values), letter, mask(head), word, rest, "")
    return pc.if_else(is_loud, kept, mask(lines))
