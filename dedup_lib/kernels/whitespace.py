"""Join the lines of a text: white space means nothing next to a Chinese character or a mark, and separates words elsewhere."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import DIGIT, SPACE, SPACED, STOP, character_classes
from dedup_lib.kernels.utf8 import compiled, decode, encode, string_array, string_buffers


@compiled
def _join(data, start, stop, classes, out, at):
    """Copy one text; a run of white space becomes one space where it separates, nothing elsewhere. Returns the end in ``out``."""
    before, last = np.uint8(0), np.uint8(0)  # classes of the last two characters written
    pending = False
    i = start
    while i < stop:
        char, i = decode(data, i)
        this = classes[char]
        if this & SPACE:
            pending = True
            continue
        if pending:
            words = (last & SPACED) and (this & SPACED)
            listed = (before & DIGIT) and (last & STOP) and (this & DIGIT)  # "1, 234" is not "1,234"
            if words or listed:
                at = encode(32, out, at)
            pending = False
        at = encode(char, out, at)
        before, last = last, this
    return at


@compiled
def _join_all(data, offsets, classes, out, out_offsets):
    at = 0
    for row in range(len(offsets) - 1):
        at = _join(data, offsets[row], offsets[row + 1], classes, out, at)
        out_offsets[row + 1] = at


def join_lines(texts: pa.Array) -> pa.Array:
    """Remove white space at the ends and beside Chinese characters and marks; elsewhere leave one space for each run."""
    data, offsets = string_buffers(texts)
    out = np.empty(offsets[-1] - offsets[0], np.uint8)
    out_offsets = np.zeros(len(offsets), np.int64)
    _join_all(data, offsets, character_classes(), out, out_offsets)
    return string_array(out[: out_offsets[-1]], out_offsets)
