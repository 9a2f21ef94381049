"""Bytes -> text: the declared character set, or the one in which the bytes read as Chinese.

Valid UTF-8 is UTF-8: other Chinese text is not by chance. Everything else is read in each candidate set and costed character
by character, as a crude language model: sentence marks are cheapest, then the characters that running text is made of, then
rare ones, then what does not belong. The cheapest reading wins. A declaration is worth ``DECLARED`` points, so a short text
follows it and a long one that contradicts it does not. GB18030 stands for GBK and GB 2312; Big5 is read with the Hong Kong
supplement, as web browsers do. EUC-TW and EUC-KR have the shape of GB 2312 and are read as that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.kernels.utf8 import MAX_CODE_POINT

UTF8, GB18030, BIG5, LATIN, UTF16 = "utf-8", "gb18030", "big5hkscs", "cp1252", "utf-16"
CANDIDATES = (UTF8, GB18030, BIG5, LATIN)
_LABELS = {
    UTF8: "utf-8 utf8 unicode-1-1-utf-8",
    GB18030: "gb18030 gbk gb2312 gb_2312-80 cp936 ms936 windows-936 x-gbk euc-cn csgb2312 chinese",
    BIG5: "big5 big5-hkscs big5hkscs big5-eten cp950 windows-950 cn-big5 csbig5 x-x-big5",
    LATIN: "iso-8859-1 iso8859-1 latin1 latin-1 windows-1252 cp1252 ascii us-ascii",
    UTF16: "utf-16 utf16",
    "utf-16-le": "utf-16le utf-16-le",
    "utf-16-be": "utf-16be utf-16-be",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_WIDE = (UTF16, "utf-16-le", "utf-16-be")  # a page that says so in ASCII is not
_MARKS = ((b"\xef\xbb\xbf", UTF8), (b"\xff\xfe", UTF16), (b"\xfe\xff", UTF16), (b"\x84\x31\x95\x33", GB18030))

# Costs of a character, about its negative log probability.
MARK, FREQUENT, RARE, OTHER, BAD = 4, 8, 12, 13, 25
DECLARED = 20  # points: five to eight characters outweigh it
DOUBTFUL = 7  # a reading that wins by less is a guess: one chance in a thousand
SHORT = 64  # bytes up to which valid UTF-8 may be something else, if that is declared
SAMPLE = 1 << 12  # bytes that are costed, from the first one beyond ASCII on
GARBLED = 0.25  # share of bad characters beyond ASCII from which on the bytes are no text
MEAN = OTHER  # mean cost of characters beyond ASCII above which a Chinese reading is none: only bad ones bring it there

_HEAD = 4096  # bytes in which a page declares its character set
_IN_PAGE = r"(?i)<(?:\?xml|meta)\b[^>]*?\b(?:charset|encoding)\s*=\s*[\"']?\s*(?P<name>[a-z0-9_.:-]{1,40})"
_IN_COLUMN = r"(?i)^(?:.*charset\s*=)?\s*[\"']?\s*(?P<name>[a-z0-9_.:-]{1,40})\s*[\"']?\s*(?:;.*)?$"
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


class Readable(NamedTuple):
    """Texts of a batch, and what there is to say about each: lines of a flag, a tab and its detail, or null."""

    texts: pa.Array
    flags: pa.Array


def decode(content: pa.Array, declared: pa.Array | None = None) -> Readable:
    """Decode a binary array; ``declared`` names the character set of each value, as a label or an HTTP content type.

    Texts are null where the bytes are null or cannot be read as text. Flags: ``charset_guessed`` (nothing declared),
    ``charset_doubtful`` (another reading is nearly as good, or better than the declared one), ``charset_mismatch`` (declared,
    and not what it is), ``bytes_replaced`` (replacement characters in the text), ``undecodable``. Never raises.
    """
    names, by_column = _declarations(content, declared)
    texts, invalid = _as_utf8(content)
    codes = names.dictionary_encode()
    codecs = pa.array([_CODECS.get(name) for name in codes.dictionary.to_pylist()], pa.string()).take(codes.indices)
    plain = pc.or_kleene(pc.fill_null(pc.equal(codecs, UTF8), False), pc.or_kleene(names.is_null(), pc.string_is_ascii(texts)))
    other = pc.invert(pc.fill_null(plain, False))
    wide = pc.and_(by_column, pc.fill_null(pc.starts_with(codecs, UTF16), False))
    short = pc.and_(other, pc.fill_null(pc.less_equal(pc.binary_length(content), SHORT), False))
    rows = np.flatnonzero(pc.and_(content.is_valid(), pc.or_(invalid, pc.or_(wide, short))))
    mismatch = pc.binary_join_element_wise("charset_mismatch\t", names, ", read as utf-8", "")
    flags = pc.if_else(pc.and_(other, texts.is_valid()), mismatch, pa.scalar(None, pa.string()))
    texts = pc.utf8_ltrim(texts, "\ufeff")
    if not len(rows):
        return Readable(texts, flags)
    chosen = pa.array(rows)
    found = [
        _read(data, name, codec if named or codec not in _WIDE else UTF8)
        for data, name, codec, named in zip(
            *(column.take(chosen).to_pylist() for column in (content, names, codecs, by_column)), strict=True
        )
    ]
    mask = np.zeros(len(content), bool)
    mask[rows] = True
    texts = pc.replace_with_mask(texts, mask, pa.array([text for text, _ in found], texts.type))
    flags = pc.replace_with_mask(flags, mask, pa.array(["\n".join(lines) or None for _, lines in found], pa.string()))
    return Readable(texts, flags)


def _declarations(content: pa.Array, declared: pa.Array | None) -> tuple[pa.Array, pa.Array]:
    """The declared label of each row, from the column or the page itself, in small letters; and whether the column said it."""
    in_page = pc.struct_field(pc.extract_regex(pc.binary_slice(content, 0, _HEAD), _IN_PAGE), "name").cast(pa.string())
    if declared is None:
        return pc.utf8_lower(in_page), pa.array(np.zeros(len(content), bool))
    given = pc.struct_field(pc.extract_regex(declared.cast(pa.string()), _IN_COLUMN), "name")
    return pc.utf8_lower(pc.coalesce(given, in_page)), given.is_valid()


def _as_utf8(content: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The values that are valid UTF-8 as texts, the others null; and which those are. No Python per row if all are valid."""
    try:
        return content.cast(pa.string()), pa.array(np.zeros(len(content), bool))
    except pa.ArrowInvalid:
        invalid = pa.array([data is not None and not _is_utf8(data) for data in content.to_pylist()], pa.bool_())
        return pc.if_else(invalid, pa.scalar(None, content.type), content).cast(pa.string()), invalid


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode(UTF8)
    except UnicodeDecodeError:
        return False
    return True


def _read(data: bytes, name: str | None, declared: str | None) -> tuple[str | None, list[str]]:
    """One value that is not plainly UTF-8: its text, null where there is none, and flags."""
    codec = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    marked = codec is not None
    readings = [_cost(data, c) for c in ((codec,) if marked else dict.fromkeys((*CANDIDATES, *filter(None, [declared]))))]
    ranked = sorted(readings, key=lambda reading: reading.cost - DECLARED * (reading.codec == declared))
    best = ranked[0]
    if best.is_no_text():
        return None, [f"undecodable\tnearest: {best.codec}"]
    lines = []
    if name is not None and best.codec != declared:
        lines.append(f"charset_mismatch\t{name}, read as {best.codec}")
    elif name is None and not marked:
        lines.append(f"charset_guessed\t{best.codec}")
    rival = min(ranked[1:], key=lambda reading: reading.cost, default=None)
    if rival and rival.cost - best.cost < (0 if best.codec == declared else DOUBTFUL):
        lines.append(f"charset_doubtful\t{best.codec} or {rival.codec}")
    text = data.decode(best.codec, "replace")
    if (broken := text.count("\ufffd")) and not is_strictly(data, best.codec):
        lines.append(f"bytes_replaced\t{broken}")
    return text.lstrip("\ufeff"), lines


def is_strictly(data: bytes, codec: str) -> bool:
    """Whether bytes are valid in a codec."""
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True


class _Reading(NamedTuple):
    codec: str
    cost: int
    beyond: int  # characters beyond printable ASCII
    bad: int  # those of them that stand in no text

    def is_no_text(self) -> bool:
        chinese = self.codec in (UTF8, GB18030, BIG5)
        return self.bad > GARBLED * self.beyond or (chinese and self.cost > MEAN * self.beyond)


def _cost(data: bytes, codec: str) -> _Reading:
    first = _BEYOND_ASCII.search(data)
    start = first.start() & ~1 if first else 0  # even, for the sake of UTF-16
    text = data[start : start + SAMPLE].decode(codec, "replace")
    costs = _costs()[np.frombuffer(text.encode("utf-32-le"), np.uint32)]
    return _Reading(codec, int(costs.sum(dtype=np.int64)), int(np.count_nonzero(costs)), int(np.count_nonzero(costs == BAD)))


@lru_cache(maxsize=1)
def _costs() -> np.ndarray:
    """The cost of each code point. Frequent are level 1 of GB 2312 and of Big5, which hold nearly all running text."""
    costs = np.full(MAX_CODE_POINT, OTHER, np.int8)
    for rare in (slice(0x2000, 0x3400), slice(0x4E00, 0xA000), slice(0xFF00, 0xFFF0)):  # signs, kana, the rest of Han, full width
        costs[rare] = RARE
    for codec, codes in (("gb2312", range(0xB0A1, 0xD7FA)), ("big5", range(0xA440, 0xC67F))):
        text = b"".join(code.to_bytes(2, "big") for code in codes if code & 0xFF in range(0x40, 0xFF)).decode(codec, "ignore")
        costs[[ord(char) for char in text if "\u4e00" <= char < "\ua000"]] = FREQUENT
    costs[[*map(ord, "，。、：；！？“”‘’（）《》「」『』—…·　％【】～")]] = MARK
    for bad in (slice(0, 0x20), slice(0x7F, 0xA0), slice(0xE000, 0xF900), slice(0xF0000, None), 0xFFFD, 0xFFFF):
        costs[bad] = BAD
    costs[0x20:0x7F] = 0
    costs[[*b"\t\n\r\f"]] = 0
    costs[0xFEFF] = 0
    return costs
