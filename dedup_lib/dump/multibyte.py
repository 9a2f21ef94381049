"""Two-byte character sets -> UTF-8 by a table, compiled. Values with anything else in them are left to a careful reader."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dedup_lib.dump.compiling import compiled
from dedup_lib.kernels.utf8 import encode

_NONE = -1
_LARGER = {"big5": ("cp950", "big5hkscs"), "cp950": ("big5hkscs",)}  # have what the first one lacks


@lru_cache(maxsize=8)
def table(codec: str) -> np.ndarray:
    """The code point (int32) of each pair of bytes, -1 for those that are no character, or more than one."""
    pairs = np.full(1 << 16, _NONE, np.int32)
    for lead in range(0x81, 0xFF):
        for trail in range(0x40, 0xFF):
            pair = bytes([lead, trail])
            char = next(filter(None, (pair.decode(name, "ignore") for name in (codec, *_LARGER.get(codec, ())))), "")
            if len(char) == 1 and ord(char) >= 0x80:
                pairs[lead << 8 | trail] = ord(char)
    return pairs


@compiled
def to_utf8(data, offsets, pairs, out, ends, good):
    """Transcode n values into ``out`` (1.5 times as long) and ``ends`` (int64, n+1); ``good``: only ASCII and known pairs.

    A value that is not good comes out empty. Returns the number of bytes.
    """
    at = 0
    ends[0] = 0
    for k in range(len(good)):
        i, stop, begin = offsets[k], offsets[k + 1], at
        good[k] = True
        while i < stop:
            byte = data[i]
            if byte < 0x80:
                out[at] = byte
                at += 1
                i += 1
                continue
            code = pairs[(np.int64(byte) << 8) | data[i + 1]] if i + 1 < stop else -1
            if code < 0:
                good[k] = False
                at = begin
                break
            at = encode(code, out, at)
            i += 2
        ends[k + 1] = at
    return at
