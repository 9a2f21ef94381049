"""Character sets: what the server's names mean, and which one a file is really in."""

from __future__ import annotations

import re
from functools import lru_cache

import ftfy.bad_codecs  # noqa: F401  (registers sloppy-windows-1252, which is the server's latin1)
import pyarrow as pa

from dedup_lib.errors import ConfigError
from dedup_lib.kernels import charset

LATIN, BINARY, UTF8 = "latin1", "binary", "utf8"
LATIN_CODEC = "sloppy-windows-1252"
SAMPLE = 1 << 20  # bytes from the beginning of a file that are looked at
_SURE = 32  # bytes beyond ASCII from which on valid UTF-8 contradicts a declaration
_CODECS = {
    "utf8": "utf-8", "utf8mb3": "utf-8", "utf8mb4": "utf-8", "ascii": "utf-8", "gbk": "gb18030", "gb2312": "gb18030",
    "gb18030": "gb18030", "cp936": "gb18030", "big5": "big5", "big5hkscs": "big5hkscs", "cp950": "cp950",
    "latin1": LATIN_CODEC, "cp1252": LATIN_CODEC, "sjis": "cp932", "cp932": "cp932", "ujis": "euc_jp", "eucjpms": "euc_jp",
    "euckr": "cp949", "latin2": "iso8859_2", "latin5": "iso8859_9", "latin7": "iso8859_13", "greek": "iso8859_7",
    "hebrew": "iso8859_8", "tis620": "tis_620", "koi8r": "koi8_r", "koi8u": "koi8_u", "cp850": "cp850", "cp852": "cp852",
    "cp866": "cp866", "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257", "macroman": "mac_roman",
    "ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be", "binary": LATIN_CODEC,
}  # fmt: skip
_ALIASES = {"utf-8": "utf8", "gb-2312": "gb2312", "big5-hkscs": "big5hkscs", "iso-8859-1": "latin1", "windows-1252": "latin1"}
_FAMILIES = {"gbk": "gbk", "gb18030": "gbk", "cp936": "gbk", "big5": "big5", "big5hkscs": "big5", "cp950": "big5",
             "sjis": "sjis", "cp932": "sjis"}  # fmt: skip
_FROM_CODEC = {"gb18030": "gbk", "big5hkscs": "big5", "utf-8": UTF8, "cp1252": LATIN}
_SHARE = 0.05  # of literals in UTF-8 among all, from which on a file is UTF-8: the others are blobs, or were damaged
_SHARE_AGAINST = 5  # the same, where a table is of another set
_MAJORITY = 0.6  # of the bytes of literals that are not UTF-8
_VOTES = 1 << 16  # bytes of literals that are looked at one by one
_BETWEEN_QUOTES, _CONTROL, _ASCII = re.compile(rb"[\n']"), re.compile(rb"[\x00-\x08\x0e-\x1f]|\\0"), bytes(range(128))
_BEYOND = re.compile(rb"[\x80-\xff]")


def known(name: str) -> str:
    """The server's name of a character set. Raises ``ConfigError`` for one that is unknown."""
    lower = name.strip().lower()
    found = _ALIASES.get(lower, lower)
    if found not in _CODECS:
        raise ConfigError(f"dump option charset: {name!r} is unknown; use one of {', '.join(sorted(_CODECS))}")
    return found


def codec(name: str | None) -> str:
    """Python's codec for one of the server's character sets; of an unknown one, Latin-1, which loses no byte."""
    return _CODECS.get(name or UTF8, LATIN_CODEC)


def family(name: str | None) -> str:
    """How the bytes of a character set can be mistaken: gbk, big5, sjis, or '' for not at all."""
    return _FAMILIES.get(name or "", "")


def of_collation(collation: str) -> str:
    """The character set of a collation: gbk_chinese_ci is of gbk."""
    return collation.split("_")[0].lower()


@lru_cache(maxsize=64)
def detect(sample: bytes, declared: str | None, hint: str | None = None) -> tuple[str | None, str]:
    """The character set that bytes declared as ``declared`` are in, and a remark if that is not what was declared.

    ``hint``: character set of a table, where nothing is declared; tables are often in another one than the dump. ASCII
    contradicts nothing, nor does anything latin1 and ``binary``, under which bytes of all kinds are dumped. Literals that are
    valid UTF-8 with Chinese characters show that a file is UTF-8, whatever was declared and whatever its blobs hold: in other
    sets there are none.
    """
    if declared in (LATIN, BINARY) or not _BEYOND.search(sample):
        return declared or hint, ""
    utf8, other, texts = _literals(sample)
    hint = hint if declared is None and hint not in (None, LATIN, BINARY) and codec(hint) != "utf-8" else None
    is_utf8 = utf8 >= _SURE and utf8 > (_SHARE_AGAINST if hint else _SHARE) * other
    if declared is not None and codec(declared) != "utf-8":
        return (UTF8, f"declared {declared}, is utf8") if is_utf8 and not other else (declared, "")
    if is_utf8 or not other:
        return declared or UTF8, "" if declared else "not declared, is utf8"
    if hint:
        return hint, ""
    found = _vote(texts)
    if found in (None, declared):
        return declared, "" if declared else "not declared, unknown"
    return found, f"declared {declared}, is {found}" if declared else f"not declared, is {found}"


def _vote(texts: list[bytes]) -> str | None:
    """The character set that most bytes certainly are in, each literal by itself; None if there are few, or no such set."""
    votes: dict[str | None, int] = {}
    flags = charset.decode(pa.array(texts, pa.binary())).flags.to_pylist() if texts else []
    for piece, said in zip(texts, flags, strict=True):
        certain = (said or "").startswith("charset_guessed\t") and "\n" not in said
        codec = said.split("\t")[1] if certain else None
        votes[codec] = votes.get(codec, 0) + len(piece)
    best = max(votes, key=lambda codec: votes[codec], default=None)
    enough = best is not None and votes[best] >= _SURE and votes[best] > _MAJORITY * sum(votes.values())
    return _FROM_CODEC.get(best) if enough else None


def _literals(sample: bytes) -> tuple[int, int, list[bytes]]:
    """Bytes beyond ASCII in literals that are UTF-8 with Chinese, in texts that are no UTF-8, and the beginning of the latter."""
    utf8, other, texts, size = 0, 0, [], 0
    for piece in _BETWEEN_QUOTES.split(sample):
        if piece.isascii() or _CONTROL.search(piece):
            continue
        beyond = len(piece.translate(None, _ASCII))
        try:
            utf8 += beyond * (len(piece) - len(piece.decode("utf-8")) > 3)  # two characters of three bytes, or more
            continue
        except UnicodeDecodeError:
            other += beyond
        if size < _VOTES:
            texts.append(piece)
            size += len(piece)
    return utf8, other, texts
