"""UTF-8 inside compiled kernels: Arrow string buffers in, code points out, and back.

Kernels read the bytes of an Arrow string array where they lie; nothing is turned into Python strings. Every loop here is
compiled by numba without the interpreter lock, so that two tasks of one process use two cores.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

MAX_CODE_POINT = 0x110000

# One set of compiler options for the whole package: cached on disk, no interpreter lock, checks off.
compiled = njit(cache=True, nogil=True, boundscheck=False)
inlined = njit(cache=True, nogil=True, boundscheck=False, inline="always")


def string_buffers(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The bytes (uint8) and the n+1 offsets (int64) of a string array, without copying the text. Nulls read as empty."""
    texts = texts.cast(pa.large_string()) if texts.type != pa.large_string() else texts
    if texts.null_count:
        texts = texts.fill_null("")  # the slot of a null may hold bytes
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if data is None:
        return np.empty(0, np.uint8), np.zeros(len(texts) + 1, np.int64)
    return np.frombuffer(data, dtype=np.uint8), bounds


def string_array(data: np.ndarray, offsets: np.ndarray) -> pa.Array:
    """A ``string`` array over the given UTF-8 bytes and n+1 offsets (``large_string`` when they exceed 2 GiB)."""
    large = len(offsets) and offsets[-1] > np.iinfo(np.int32).max
    kind, width = (pa.large_string(), np.int64) if large else (pa.string(), np.int32)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, dtype=width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


@inlined
def decode(data, i):
    """The code point that starts at byte ``i`` and the position of the next one. Input is valid UTF-8."""
    first = np.int32(data[i])
    if first < 0x80:
        return first, i + 1
    if first < 0xE0:
        return ((first & 0x1F) << 6) | (np.int32(data[i + 1]) & 0x3F), i + 2
    if first < 0xF0:
        middle = (np.int32(data[i + 1]) & 0x3F) << 6
        return ((first & 0x0F) << 12) | middle | (np.int32(data[i + 2]) & 0x3F), i + 3
    high = ((first & 0x07) << 18) | ((np.int32(data[i + 1]) & 0x3F) << 12)
    return high | ((np.int32(data[i + 2]) & 0x3F) << 6) | (np.int32(data[i + 3]) & 0x3F), i + 4


@inlined
def encode(code_point, out, i):
    """Write a code point at byte ``i`` of ``out``; returns the position behind it."""
    if code_point < 0x80:
        out[i] = code_point
        return i + 1
    if code_point < 0x800:
        out[i] = 0xC0 | (code_point >> 6)
        out[i + 1] = 0x80 | (code_point & 0x3F)
        return i + 2
    if code_point < 0x10000:
        out[i] = 0xE0 | (code_point >> 12)
        out[i + 1] = 0x80 | ((code_point >> 6) & 0x3F)
        out[i + 2] = 0x80 | (code_point & 0x3F)
        return i + 3
    out[i] = 0xF0 | (code_point >> 18)
    out[i + 1] = 0x80 | ((code_point >> 12) & 0x3F)
    out[i + 2] = 0x80 | ((code_point >> 6) & 0x3F)
    out[i + 3] = 0x80 | (code_point & 0x3F)
    return i + 4


@compiled
def code_points(data, start, stop, out):
    """Decode bytes ``start:stop`` into ``out`` (int32, long enough); returns the number of code points."""
    count = 0
    i = start
    while i < stop:
        out[count], i = decode(data, i)
        count += 1
    return count
