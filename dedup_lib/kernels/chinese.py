"""Steps that know Chinese: one script for traditional and simplified text, no pinyin glosses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from opencc import OpenCC

# Words that make a text Taiwan's, in simplified characters: of 57,236 mainland articles 123 have two of them.
TAIWAN_WORDS = (
    "程式", "软体", "硬体", "网路", "伺服", "萤幕", "滑鼠", "位元", "记忆体", "函式", "型别", "引数", "变数", "字串", "使用者",
    "磁碟", "视窗", "列印", "档案", "资讯", "预设", "支援", "相容", "作业系统", "资料库",
)  # fmt: skip
SEVERAL = 2
_TAIWAN = re.compile("|".join(TAIWAN_WORDS))  # none begins inside another
# Characters that simplified text has too: only the phrase tells (反覆 is 反复, 覆盖 stays).
BOTH = "乾瞭覆藉"
_DOUBTFUL = re.compile(f"[{BOTH}]")
_BASIC = "\uffff"
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_PHRASE = 8  # characters; OpenCC's phrases with one of them have four
_LONGEST_GLOSS = 24  # characters
TONED = "āáǎàēéěèīíǐìōóǒòūúǔùǖǘǚǜńňǹḿ"
_SYLLABLES = rf"(?=[^)）]{{0,{_LONGEST_GLOSS}}}[{TONED}])[a-zü'’ {TONED}]{{1,{_LONGEST_GLOSS}}}"
_GLOSS = re.compile(
    rf"[(（](?<=[\u3400-\u9fff][(（]){_SYLLABLES}[)）](?:[(（]{_SYLLABLES}[)）])*",  # begins with what can be looked for fast
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
    return frozenset(a for a, b in zip(chars, simple, strict=True) if a != b) | frozenset(BOTH)


@lru_cache(maxsize=2)
def _pattern(left_out: str) -> re.Pattern:
    """A traditional character of the basic plane; ``re`` would look those beyond it up one by one."""
    return re.compile(f"[{''.join(sorted(c for c in traditional_characters() if c <= _BASIC and c not in left_out))}]")


def _holds_traditional(text: str, left_out: str = "") -> bool:
    if _pattern(left_out).search(text):
        return True
    return bool(_BEYOND.search(text)) and not traditional_characters().difference(left_out).isdisjoint(text)


def simplify(text: str) -> str:
    """Traditional characters to simplified ones, phrase by phrase (OpenCC, configuration t2s).

    A text without traditional characters stays as it is; one with them is converted until nothing changes. Taiwan has words of
    its own (档案 for 文件, 使用者 for 用户); where a text has several of them, its words are converted as well (tw2sp).
    """
    convert = _converter("t2s").convert
    if not _holds_traditional(text, BOTH) and not any(convert(around) != around for around in _around_doubtful(text)):
        return text
    simple = convert(text)
    if len(set(_TAIWAN.findall(simple))) >= SEVERAL:
        text = _converter("tw2sp").convert(text)
        simple = convert(text) if _holds_traditional(text) else text
    while simple != text and _holds_traditional(simple):
        text, simple = simple, convert(simple)
    return simple


def _around_doubtful(text: str) -> Iterator[str]:
    """What stands around the characters that both scripts have: more than the longest phrase that could change them."""
    return (text[max(found.start() - _PHRASE, 0) : found.end() + _PHRASE] for found in _DOUBTFUL.finditer(text))


def regional(text: str) -> str:
    """A simplified text with one word for what the mainland and Taiwan call differently: to Taiwan's words and back (OpenCC).

    Two versions of one text become equal but for what no dictionary has. Takes about 2 ms for 1,000 characters.
    """
    return _converter("tw2sp").convert(_converter("s2twp").convert(text))


def strip_pinyin(text: str) -> str:
    """Remove pinyin in brackets behind the character it explains: 發(fā)現(xiàn) becomes 發現.

    Only syllables with a tone mark count: (A) and (ok) stay.
    """
    return _GLOSS.sub("", text)
