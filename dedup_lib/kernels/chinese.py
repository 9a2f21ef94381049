"""Steps that know Chinese: one script for traditional and simplified text, no pinyin glosses."""

from __future__ import annotations

import re
from functools import lru_cache

from opencc import OpenCC

_LONGEST_GLOSS = 24  # characters
TONED = "āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜńňǹḿ"
_GLOSS = re.compile(
    rf"(?<=[\u3400-\u9fff])(?:[(（](?=[^)）]{{0,{_LONGEST_GLOSS}}}[{TONED}])[a-zü'’ {TONED}]{{1,{_LONGEST_GLOSS}}}[)）])+",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def _converter(configuration: str) -> OpenCC:
    """One converter for each process: it cannot be sent between processes."""
    return OpenCC(configuration)


@lru_cache(maxsize=1)
def traditional_characters() -> frozenset[str]:
    """The characters that make a text traditional: those that OpenCC converts, alone or inside a phrase.

    Left out are 坏 and 沈: simplified text is full of them, and OpenCC takes 坏土 for 坯土.
    """
    chars = [chr(c) for c in range(0x2E80, 0x323B0) if not 0xD800 <= c < 0xF900]
    simple = _converter("t2s").convert("\n".join(chars)).split("\n")
    return frozenset(a for a, b in zip(chars, simple, strict=True) if a != b) | frozenset("瞭覆藉")


def simplify(text: str) -> str:
    """Traditional characters to simplified ones, phrase by phrase (OpenCC, configuration t2s).

    A text without traditional characters stays as it is; one with them is converted until nothing changes.
    """
    convert, traditional = _converter("t2s").convert, traditional_characters()
    while not traditional.isdisjoint(text) and (simple := convert(text)) != text:
        text = simple
    return text


def strip_pinyin(text: str) -> str:
    """Remove pinyin in brackets behind the character it explains: 發(fā)現(xiàn) becomes 發現.

    Only syllables with a tone mark count: (A) and (ok) stay.
    """
    return _GLOSS.sub("", text)
