"""Character sets: what the server's names mean, and which one a file is really in."""

from __future__ import annotations

import re

import ftfy.bad_codecs  # noqa: F401  (registers sloppy-windows-1252, which is the server's latin1)
import pyarrow as pa

from dedup_lib.errors import ConfigError
from dedup_lib.kernels import charset

LATIN, BINARY, UTF8 = "latin1", "binary", "utf8"
LATIN_CODEC = "sloppy-windows-1252"
SAMPLE = 4 << 20  # bytes from the beginning of a file that are looked at
_SURE = 32  # bytes beyond ASCII from which on valid UTF-8 contradicts a declaration
_CODECS = {
    "utf8": "utf-8", "utf8mb3": "utf-8", "utf8mb4": "utf-8", "ascii": "utf-8", "gbk": "gb18030", "gb2312": "gb18030",
    "gb18030": "gb18030", "cp936": "gb18030", "big5": "big5hkscs", "big5hkscs": "big5hkscs", "cp950": "cp950",
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


def detect(sample: bytes, declared: str | None) -> tuple[str | None, str]:
    """The character set that bytes declared as ``declared`` are in, and a remark if that is not what was declared.

    ASCII and ``binary`` contradict nothing. Valid UTF-8 of some length is UTF-8 whatever was declared, but for latin1, under
    which UTF-8 bytes are kept and dumped every day; other bytes are UTF-8 no more when they read better otherwise.
    """
    first = _BEYOND.search(sample)
    if first is None or declared in (LATIN, BINARY):
        return declared, ""
    beyond = sample[first.start() :]
    is_utf8 = _is_utf8(beyond)
    if declared is not None and codec(declared) != "utf-8" and is_utf8 and len(_BEYOND.findall(beyond[:4096])) >= _SURE:
        return UTF8, f"declared {declared}, is utf8"
    if declared is not None and codec(declared) != "utf-8":
        return declared, ""
    if is_utf8 or _mostly_utf8(beyond):
        return declared or UTF8, "" if declared else "not declared, is utf8"
    flags = charset.decode(pa.array([_pieces(beyond)], pa.binary())).flags[0].as_py() or ""
    found = next((_FROM_CODEC.get(line.split("\t")[1]) for line in flags.split("\n") if line.startswith("charset_guessed")), None)
    if found is None or found == declared:
        return declared, "" if declared else "not declared, unknown"
    return found, f"declared {declared}, is {found}" if declared else f"not declared, is {found}"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(data) - 4 and error.reason == "unexpected end of data"
    return True


def _mostly_utf8(data: bytes) -> bool:
    """Whether damage is all that keeps the bytes from being UTF-8."""
    text = data.decode("utf-8", "replace")
    return text.count("\ufffd") * 10 < sum(char >= "\x80" for char in text)


def _pieces(data: bytes) -> bytes:
    """Lines with bytes beyond ASCII, as many as the language model looks at."""
    lines, size = [], 0
    for line in re.split(rb"[\n']", data):
        if _BEYOND.search(line):
            lines.append(line)
            size += len(line)
            if size > charset.SAMPLE:
                break
    return b"\n".join(lines)
