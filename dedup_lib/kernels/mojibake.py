"""Repair text that was decoded with the wrong character set, where the repair is certain.

Three damages occur in Chinese crawls: UTF-8 read as Latin-1 or Windows-1252 (ä¸»å›¾), UTF-8 read as GBK (涓诲浘) and GBK read
as Latin-1 (ÖÐ¹ú). A repair is certain when the text encodes back to bytes without loss and those bytes are valid in the right
character set and read as Chinese. Text that lost a byte on the way is left as it is: guessing would invent characters.
ftfy (Robyn Speer, 2015-) knows the first kind, also in mixed text; the other two are undone here.
"""

from __future__ import annotations

import re

import ftfy
import ftfy.bad_codecs  # registers sloppy-windows-1252

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


_TIMES = 4  # layers of damage that are undone
_VARIETY = 2  # different characters that Chinese text has at least
_LEVEL_ONE = range(0xB0A1, 0xD7FA)  # GB 2312 level 1: the 3,755 characters that make up nearly all running text


def repair_mojibake(text: str) -> str:
    """The text as it was before it was misread, once or several times; unchanged when that cannot be told for certain."""
    for _ in range(_TIMES):
        fixed = _repair_once(text)
        if fixed == text:
            break
        text = fixed
    return text


def _repair_once(text: str) -> str:
    if re.search(_LATIN_RUN, text):
        for undo in (_undo_utf8_as_latin, _undo_gbk_as_latin):
            if (fixed := undo(text)) != text:
                return fixed
    if re.search(_UTF8_AS_LATIN, text) and (fixed := _undo_parts(text)) != text:
        return fixed
    return _undo_utf8_as_gbk(text)


def _undo_utf8_as_latin(text: str) -> str:
    """Undo it for the whole text, strictly."""
    for codec in ("latin-1", "sloppy-windows-1252"):
        try:
            fixed = text.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        return fixed if _reads_as_chinese(fixed) else text
    return text


def _reads_as_chinese(text: str) -> bool:
    """Whether a text is running Chinese text, or the next layer of a damage that hides one."""
    return _is_common(text) or repair_mojibake(text) != text


def _undo_parts(text: str) -> str:
    """Undo UTF-8 read as Windows-1252 where it stands beside other text."""
    fixed = ftfy.fix_encoding(text)
    better = len(_HAN.findall(fixed)) > len(_HAN.findall(text)) and fixed.count("\ufffd") <= text.count("\ufffd")
    return fixed if better else text


def _undo_gbk_as_latin(text: str) -> str:
    try:
        fixed = text.encode("latin-1").decode("gb18030")
    except UnicodeError:
        return text
    various = len(set(_HAN.findall(fixed))) >= _VARIETY  # "········" and "±×±×" are what they look like
    return fixed if various and _is_common(fixed) and _only_text(fixed) else text


def _is_common(text: str) -> bool:
    """Whether the Chinese characters of a text are those that running text is made of."""
    han = _HAN.findall(text)
    return sum(int.from_bytes(char.encode("gb18030")[:2], "big") in _LEVEL_ONE for char in han) >= max(1, 0.8 * len(han))


def _undo_utf8_as_gbk(text: str) -> str:
    try:
        fixed = text.encode("gb18030").decode("utf-8")
    except UnicodeError:
        return text
    return fixed if len(fixed) < len(text) and _reads_as_chinese(fixed) else text


def _only_text(text: str) -> bool:
    return all(char.isprintable() or char.isspace() for char in text)
