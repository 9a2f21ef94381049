"""Where a web address begins and ends in a normalised text. Addresses carry no feature and no fact: reposts change them."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from dedup_lib.kernels.utf8 import compiled, inlined

_INSIDE = "abcdefghijklmnopqrstuvwxyz0123456789-._~:/?#@!$&'*+,;=%"
URL = re.compile(rf"(?:https?://|www\.)[{re.escape(_INSIDE)}]*")


GAP = "\n"  # what stands for an address where it is taken out


@lru_cache(maxsize=1)
def url_characters() -> np.ndarray:
    """For each byte, whether it can stand in an address."""
    inside = np.zeros(256, np.bool_)
    inside[[ord(char) for char in _INSIDE]] = True
    return inside


@inlined
def may_begin_url(char):
    """Whether an address can begin with this character or byte. To be asked first: a call costs more than most texts hold."""
    return char == 104 or char == 119  # h, w


@compiled
def url_end(text, start, stop, inside):
    """Where the address that begins at ``start`` ends; ``start`` if none begins there.

    ``text`` holds UTF-8 bytes or code points: an address is ASCII, so both read alike.
    """
    left = stop - start
    if left < 4 or not may_begin_url(text[start]):
        return start
    if text[start] == 119:
        if not (text[start + 1] == 119 and text[start + 2] == 119 and text[start + 3] == 46):  # www.
            return start
        i = start + 4
    else:
        if left < 7 or not (text[start + 1] == 116 and text[start + 2] == 116 and text[start + 3] == 112):  # http
            return start
        i = start + 4
        if text[i] == 115:  # s
            i += 1
        if i + 3 > stop or not (text[i] == 58 and text[i + 1] == 47 and text[i + 2] == 47):  # ://
            return start
        i += 3
    while i < stop and text[i] < 128 and inside[text[i]]:
        i += 1
    return i


@compiled
def take_out_urls(text, count, inside):
    """Replace each address among the first ``count`` code points by a gap, in place; returns the new count."""
    out, i = 0, 0
    while i < count:
        end = url_end(text, i, count, inside) if may_begin_url(text[i]) else i
        text[out] = text[i] if end == i else 10
        out += 1
        i = max(end, i + 1)
    return out
