"""Bytes of text columns -> text: in the dump's character set, and right where old sites wrote others into latin1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.dump import charsets, multibyte
from dedup_lib.kernels import charset

Flag = Callable[[int, str, str], None]  # row, name, detail
_TWO_BYTES = ("gb18030", "big5", "big5hkscs", "cp950", "cp932", "cp949")


def binary_array(out: np.ndarray, offsets: np.ndarray, valid: np.ndarray) -> pa.Array:
    """A ``binary`` array (``large_binary`` beyond 2 GiB) over bytes and n+1 offsets."""
    large = offsets[-1] > np.iinfo(np.int32).max
    bounds = pa.py_buffer(offsets if large else offsets.astype(np.int32))
    mask = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.large_binary() if large else pa.binary(), len(valid), [mask, bounds, pa.py_buffer(out)])


def decode(content: pa.Array, connection: str | None, column: str | None, flag: Flag) -> pa.Array:
    """Texts of a column's values. ``connection``: what the file is in there; ``column``: the column's own character set.

    ``flag`` is called for every value that was not read in the plain way: ``charset_repaired`` (latin1 that held UTF-8 or GBK),
    ``charset_mismatch``, ``bytes_replaced`` (characters lost). Never raises.
    """
    source = connection if connection not in (None, charsets.BINARY) else (column or connection or charsets.UTF8)
    codec = charsets.codec(source)
    if codec == charsets.LATIN_CODEC:
        return _latin(content, flag)
    if codec == "utf-8":
        texts = _utf8(content, flag)
    elif codec in _TWO_BYTES:
        texts = _two_bytes(content, codec, source, flag)
    else:
        texts = _one_by_one(content, codec, flag)
    return _misread(texts, flag) if column == charsets.LATIN else texts


def _replace(texts: pa.Array, rows: list[int], values: list[str]) -> pa.Array:
    if not rows:
        return texts
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    return pc.replace_with_mask(texts, mask, pa.array(values, texts.type))


def _as_text(content: pa.Array) -> pa.DataType:
    return pa.large_string() if pa.types.is_large_binary(content.type) else pa.string()


def _utf8(content: pa.Array, flag: Flag) -> pa.Array:
    try:
        return content.cast(_as_text(content))
    except pa.ArrowInvalid:
        pass
    rows, values = [], []
    for row, data in enumerate(content.to_pylist()):
        if data is not None and not charset.is_strictly(data, "utf-8"):
            rows.append(row)
            values.append(_guess(row, data, "utf-8", flag))
    empty = _replace(content, rows, [b""] * len(rows))
    return _replace(empty.cast(_as_text(content)), rows, values)


def _guess(row: int, data: bytes, codec: str, flag: Flag) -> str:
    """A value that is not in its character set."""
    result = charset.decode(pa.array([data], pa.binary()), pa.array([codec]))
    text, flags = result.texts[0].as_py(), result.flags[0].as_py() or ""
    if text is None or "charset_doubtful" in flags:
        text = data.decode(codec, "replace")
        flag(row, "bytes_replaced", str(text.count("\ufffd")))
        return text
    for line in flags.split("\n"):
        flag(row, *line.split("\t", 1))
    return text


def _two_bytes(content: pa.Array, codec: str, source: str, flag: Flag) -> pa.Array:
    """Through the table; what it does not know (four bytes, combinations, damage) one by one."""
    wide = content.cast(pa.large_binary())
    _, offsets, data = wide.buffers()
    bounds = np.frombuffer(offsets, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    out = np.empty((bounds[-1] - bounds[0]) * 3 // 2 + 4, np.uint8)
    ends, good = np.empty(len(wide) + 1, np.int64), np.empty(len(wide), np.bool_)
    multibyte.to_utf8(raw, bounds, multibyte.table(codec), out, ends, good)
    valid = content.is_valid().to_numpy(zero_copy_only=False)
    texts = binary_array(out, ends, valid)
    texts = texts.cast(_as_text(texts))
    rows = np.flatnonzero(valid & ~good).tolist()
    return _replace(texts, rows, [_careful(row, content[row].as_py(), codec, source, flag) for row in rows])


def _careful(row: int, data: bytes, codec: str, source: str, flag: Flag) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return _guess(row, data, codec if codec in charset.CANDIDATES else source, flag)


def _one_by_one(content: pa.Array, codec: str, flag: Flag) -> pa.Array:
    values = []
    for row, data in enumerate(content.to_pylist()):
        text = None if data is None else data.decode(codec, "replace")
        if text is not None and "\ufffd" in text:
            flag(row, "bytes_replaced", str(text.count("\ufffd")))
        values.append(text)
    return pa.array(values, _as_text(content))


def _latin(content: pa.Array, flag: Flag) -> pa.Array:
    """Bytes that were declared latin1: UTF-8 or GBK where they certainly are, else the server's latin1."""
    values = content.to_pylist()
    rows = [row for row, data in enumerate(values) if data is not None and not data.isascii()]
    repaired = _repaired([values[row] for row in rows])
    ascii_only = _replace(content, rows, [b""] * len(rows)).cast(_as_text(content))
    texts = []
    for row, text in zip(rows, repaired, strict=True):
        if text is not None:
            flag(row, "charset_repaired", text[1])
        texts.append(text[0] if text is not None else values[row].decode(charsets.LATIN_CODEC))
    return _replace(ascii_only, rows, texts)


def _misread(texts: pa.Array, flag: Flag) -> pa.Array:
    """Texts of a latin1 column in a dump of another character set: the server took UTF-8 or GBK bytes for letters of latin1."""
    rows = np.flatnonzero(pc.fill_null(pc.invert(pc.string_is_ascii(texts)), False)).tolist()
    found = []
    for row in rows:
        try:
            found.append((row, texts[row].as_py().encode(charsets.LATIN_CODEC)))
        except UnicodeEncodeError:
            continue  # never came through latin1
    repaired = _repaired([data for _, data in found])
    certain = [(row, text) for (row, _), text in zip(found, repaired, strict=True) if text is not None]
    for row, text in certain:
        flag(row, "charset_repaired", text[1])
    return _replace(texts, [row for row, _ in certain], [text[0] for _, text in certain])


def _repaired(values: list[bytes]) -> list[tuple[str, str] | None]:
    """For bytes in latin1 columns the text and the character set that they certainly are in, None where they are latin1."""
    if not values:
        return []
    result = charset.decode(pa.array(values, pa.binary()), pa.array(["latin1"] * len(values)))
    found: list[tuple[str, str] | None] = []
    for text, flags in zip(result.texts.to_pylist(), result.flags.to_pylist(), strict=True):
        certain = text is not None and flags and "charset_mismatch" in flags
        bad = not certain or "charset_doubtful" in flags or "bytes_replaced" in flags or "undecodable" in flags
        found.append(None if bad else (text, flags.split("read as ")[-1].split("\n")[0]))
    return found
