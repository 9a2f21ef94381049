"""Repair text that was decoded with the wrong character set, where the repair is certain.

Three damages occur in Chinese crawls: UTF-8 read as Latin-1 or Windows-1252 (ä¸»å›¾), UTF-8 read as GBK (涓诲浘) and GBK read
as Latin-1 (ÖÐ¹ú). A repair is certain when the text encodes back to bytes without loss and those bytes are valid in the right
character set and read as Chinese. Text that lost a byte on the way is left as it is: guessing would invent characters.
ftfy (Robyn Speer, 2015-) knows the first kind, also in mixed text; the other two are undone here.
"""

from __future__ import annotations

import re

import ftfy

from dedup_lib.kernels.triggers import Trigger, dense, either, holding

_HAN = re.compile("[\u4e00-\u9fff]")
_LATIN_RUN = "[\u00a1-\u00ff][\u0080-\u00ff]{3}"
_UTF8_AS_LATIN = "[\u00e3-\u00e9\u00ef][\u0080-\u00bf\u0152-\u0178\u2013-\u203a\u02c6\u02dc\u20ac\u2122\u0192]"


def _first_of_misread_utf8() -> str:
    """The characters that GBK shows for the first two bytes of a Chinese character in UTF-8."""
    pairs = (bytes([lead, trail]) for lead in range(0xE4, 0xEA) for trail in range(0x80, 0xC0) if trail != 0x7F)
    return "".join(sorted({pair.decode("gbk", "ignore") for pair in pairs}))


def suspicious() -> Trigger:
    """Texts that may be damaged. Misread UTF-8 shows a lead byte in every third character, misread GBK nothing but bytes."""
    return either(holding("ãäåæçèéï"), dense({*_first_of_misread_utf8(), *map(chr, range(0xA1, 0x100))}, 1 / 6))


_LEVEL_ONE = range(0xB0A1, 0xD7FA)  # GB 2312 level 1: the 3,755 characters that make up nearly all running text


def repair_mojibake(text: str) -> str:
    """The text as it was before it was misread; unchanged when that cannot be told for certain."""
    if re.search(_UTF8_AS_LATIN, text):
        text = _undo_utf8_as_latin(text)
    if re.search(_LATIN_RUN, text):
        text = _undo_gbk_as_latin(text)
    return _undo_utf8_as_gbk(text)


def _undo_utf8_as_latin(text: str) -> str:
    fixed = ftfy.fix_encoding(text)
    better = len(_HAN.findall(fixed)) > len(_HAN.findall(text)) and fixed.count("\ufffd") <= text.count("\ufffd")
    return fixed if better else text


def _undo_gbk_as_latin(text: str) -> str:
    try:
        fixed = text.encode("latin-1").decode("gb18030")
    except UnicodeError:
        return text
    han = _HAN.findall(fixed)
    common = sum(int.from_bytes(char.encode("gb18030")[:2], "big") in _LEVEL_ONE for char in han)
    return fixed if len(han) >= 2 and common >= 0.8 * len(han) and _only_text(fixed) else text


def _undo_utf8_as_gbk(text: str) -> str:
    try:
        fixed = text.encode("gb18030").decode("utf-8")
    except UnicodeError:
        return text
    return fixed if _HAN.search(fixed) and len(fixed) < len(text) else text


def _only_text(text: str) -> bool:
    return all(char.isprintable() or char.isspace() for char in text)
