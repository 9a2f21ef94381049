"""Second implementations, in plain Python, of what the compiled kernels compute."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

MASK = 2**64 - 1
_URL = re.compile(r"(?:https?://|www\.)[a-z0-9._~:/?#@!$&'*+,;=%-]*")


def mix(key: int) -> int:
    """fmix64 of MurmurHash3."""
    key ^= key >> 33
    key = key * 0xFF51AFD7ED558CCD & MASK
    key ^= key >> 33
    key = key * 0xC4CEB9FE1A85EC53 & MASK
    return key ^ key >> 33


def shingle_hash(gram: str) -> int:
    """The 64-bit hash of a shingle."""
    key = len(gram)
    for char in gram:
        key = (key + ord(char)) * 0x9E3779B97F4A7C15 & MASK
        key ^= key >> 32
    return mix(key)


def grams(text: str, n: int) -> Counter[str]:
    """The shingles of a text and how often each occurs: ``n`` letters or numbers in a row, or all if there are fewer.

    Web addresses count as nothing.
    """
    chars = "".join(char for char in _URL.sub("", text) if unicodedata.category(char)[0] in "LN")
    width = min(n, len(chars))
    return Counter(chars[at : at + width] for at in range(len(chars) - width + 1)) if chars else Counter()


def simhash(weighted: Counter[int]) -> int:
    """SimHash of feature hashes and their occurrences: weight floor(log2(t)) + 1, bit set when its sum is above zero."""
    result = 0
    for bit in range(64):
        votes = sum(times.bit_length() * (1 if feature >> bit & 1 else -1) for feature, times in weighted.items())
        result |= (votes > 0) << bit
    return result
