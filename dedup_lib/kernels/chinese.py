"""Steps that know Chinese: one script for traditional and simplified text, no pinyin glosses."""

from __future__ import annotations

import re
from functools import lru_cache

from opencc import OpenCC

TONED = "āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜńňǹḿ"
PINYIN_TRIGGER = f"[(（][a-zü' ]{{0,7}}[{TONED}]"  # RE2
_GLOSS = re.compile(rf"(?<=[\u3400-\u9fff])[(（](?=[^)）]*[{TONED}])[a-zü'’ {TONED}]{{1,24}}[)）]", re.IGNORECASE)


@lru_cache(maxsize=4)
def _converter(configuration: str) -> OpenCC:
    """One converter for each process: it cannot be sent between processes."""
    return OpenCC(configuration)


def simplify(text: str) -> str:
    """Traditional characters to simplified ones, phrase by phrase (OpenCC, configuration t2s), until nothing changes."""
    convert = _converter("t2s").convert
    while (simple := convert(text)) != text:
        text = simple
    return text


def strip_pinyin(text: str) -> str:
    """Remove pinyin in brackets behind the character it explains: 發(fā)現(xiàn) becomes 發現.

    Only syllables with a tone mark count: (A) and (ok) stay.
    """
    return _GLOSS.sub("", text)
