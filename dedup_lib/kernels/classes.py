"""What kind of character a code point is: one table that every kernel shares.

``FEATURE`` is the definition of what counts when texts are compared: letters and numbers of any script. Punctuation, spaces
and pictographs carry no feature, so a repost with other commas is the same text to the signatures and to the measures.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np

from dedup_lib.kernels.utf8 import MAX_CODE_POINT

FEATURE = 1  # letters and numbers: what signatures and measures see
SPACED = 2  # letters and digits of scripts that put spaces between words
SPACE = 4  # white space of any kind
DIGIT = 8  # decimal digits
STOP = 16  # marks that stand inside numbers: . , :

_UNSPACED = [(0x2E80, 0x3130), (0x31A0, 0xA4D0), (0xF900, 0xFB00), (0x20000, 0x40000)]  # Han, kana, bopomofo, Yi


@lru_cache(maxsize=1)
def character_classes() -> np.ndarray:
    """uint8 flags for each code point."""
    classes = np.zeros(MAX_CODE_POINT, np.uint8)
    for code_point in range(MAX_CODE_POINT):
        category = unicodedata.category(chr(code_point))
        if category[0] in "LN":
            classes[code_point] = FEATURE | SPACED | (DIGIT if category == "Nd" else 0)
    for low, high in _UNSPACED:
        classes[low:high] &= ~np.uint8(SPACED)
    for code_point in range(0x3001):
        if chr(code_point).isspace():
            classes[code_point] |= SPACE
    for mark in ".,:":
        classes[ord(mark)] |= STOP
    classes.setflags(write=False)
    return classes
