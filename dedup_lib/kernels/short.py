"""The rule for short texts: one edit apart is the same text only where the edit is a slip of the keyboard.

In a short text one character is most often its news: of 38 pairs of real reviews of 8 and more letters that are one edit
apart, 33 say something else or something more (好吃 / 难吃, 送餐 / 送货, 一个 / 两个). So the difference has to be evidence of a
slip: a character replaced by one that sounds the same, tone and all, where one of the two makes a common word and the other
none (包装 / 包妆), a sentence particle more, or a character typed twice. Negations, contrasts (the lexicon's) and numbers keep
two texts apart; everything else goes to a person, names above all: they are no words, and another spelling is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from dedup_lib.kernels.classes import FEATURE, character_classes
from dedup_lib.kernels.decide import FACTS_DIFFER
from dedup_lib.kernels.facts import NUMERALS
from dedup_lib.kernels.tokens import segmenter
from dedup_lib.kernels.urls import GAP, URL
from dedup_lib.kernels.wording import NEGATIONS

SLIP, DOUBT, DIFFERENT, FAR = "slip", "doubt", "different", "far"
PARTICLES = "啊呀吧呢了的哦嘛哈呐啦噢喔哇"
TWINS = "的地得"  # written for each other freely
_TITLES = tuple("老师 师傅 经理 先生 女士 小姐 主任 医生 大夫 店长 老板 阿姨 姐 哥 总 叔 嫂".split())
_BEFORE_NAMES = "小阿老王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗高郑梁谢宋唐许韩冯邓曹"  # of the most frequent surnames thirty
_PROPER = ("nr", "ns", "nt", "nz")  # jieba's tags of names of persons, places, bodies, others
_COMMON = 10  # how often jieba's corpus has a word at least
_ASKS = "?"
_LONGEST_WORD = 4


class Verdict(NamedTuple):
    """What the rule says of two texts: ``kind`` is ``SLIP``, ``DOUBT``, ``DIFFERENT`` or ``FAR``; ``edits`` letters differ."""

    kind: str
    edits: int
    reason: str


def letters(text: str) -> str:
    """The feature characters of a normalised text, web addresses left out."""
    classes = character_classes()
    return "".join(char for char in URL.sub(GAP, text) if classes[ord(char)] & FEATURE)


def couples(contrasts: Iterable[str]) -> frozenset[str]:
    """Any two characters of one set, in both orders."""
    return frozenset(one + other for chars in contrasts for one, other in permutations(chars, 2))


def judge(first: str, second: str, contrasts: frozenset[str]) -> Verdict:
    """Judge two normalised short texts; the kind does not depend on their order. ``contrasts`` as ``couples`` gives them.

    ``FAR``: more than one edit between their letters. ``SLIP``: the same text. ``DIFFERENT``: known to say something else.
    """
    ours, theirs = letters(first), letters(second)
    edits = Levenshtein.editops(ours, theirs, score_hint=1)
    length = max(len(ours), len(theirs))
    if len(edits) > 1:
        return Verdict(FAR, len(edits), "")
    kinds = [_edit(edit, (first, second), ours, theirs, contrasts) for edit in edits] + [_marks(first, second)]
    kind = next((kind for kind in (DIFFERENT, DOUBT) if kind in kinds), SLIP)
    shown = "".join(
        f": {_shown(ours, edit[1], edit[0] != 'insert')} / {_shown(theirs, edit[2], edit[0] != 'delete')}" for edit in edits
    )
    return Verdict(kind, len(edits), (FACTS_DIFFER if kind == DIFFERENT else f"edit_distance {len(edits)} of {length}") + shown)


def _shown(text: str, at: int, present: bool) -> str:
    return text[at] if present else "-"


def _edit(edit: tuple[str, int, int], texts: tuple[str, str], ours: str, theirs: str, contrasts: frozenset[str]) -> str:
    kind, at, other_at = edit
    if kind == "replace":
        apart = _informs(ours[at]) or _informs(theirs[other_at]) or ours[at] + theirs[other_at] in contrasts
        return DIFFERENT if apart else _replaced(ours, at, theirs, other_at)
    return _inserted(theirs, other_at, texts[1]) if kind == "insert" else _inserted(ours, at, texts[0])


def _replaced(ours: str, at: int, theirs: str, other_at: int) -> str:
    old, new = ours[at], theirs[other_at]
    in_words = _in_word(ours, at), _in_word(theirs, other_at)
    if old in TWINS and new in TWINS and not any(in_words):
        return SLIP
    if all(in_words) or _names(ours, at, at + 1) or not _sounds(old) & _sounds(new):
        return DOUBT
    return SLIP if _makes_word(ours, at) or _makes_word(theirs, other_at) else DOUBT


def _inserted(longer: str, at: int, text: str) -> str:
    """``longer`` are the letters of ``text``, the one that has a letter more."""
    char = longer[at]
    if _informs(char):
        return DIFFERENT
    start, end = at, at + 1
    while start and longer[start - 1] == char:
        start -= 1
    while end < len(longer) and longer[end] == char:
        end += 1
    if end - start > 1:
        apart = (end - start) * char not in text  # 声中,中: a new clause begins
        return DOUBT if apart or 2 * char in _words() or _names(longer, start, end) else SLIP
    return SLIP if char in PARTICLES and not _in_word(longer, at) else DOUBT


def _informs(char: str) -> bool:
    """Whether a character is information in itself: a digit or numeral, a Latin letter, a negation."""
    return char.isascii() or char.isnumeric() or char in NUMERALS or char in NEGATIONS


def _names(text: str, start: int, end: int) -> bool:
    """Whether the characters may be of a person's name: before a form of address, behind a surname, 小 and the like."""
    addressed = any(text.startswith(_TITLES, at) for at in (end, end + 1))
    return addressed or any(char in _BEFORE_NAMES for char in text[max(0, start - 2) : start])


def _in_word(text: str, at: int) -> bool:
    """Whether the character at ``at`` is part of a word of several characters."""
    words = _words()
    return any(
        text[start : start + size] in words
        for size in range(2, _LONGEST_WORD + 1)
        for start in range(max(0, at - size + 1), min(at, len(text) - size) + 1)
    )


def _makes_word(text: str, at: int) -> bool:
    """Whether the character at ``at`` belongs to a common word that is no name, as a segmenter reads the text."""
    end = 0
    for word in segmenter("jieba")(text):
        end += len(word)
        if at < end:
            return _words().get(word, False)
    return False


def _marks(first: str, second: str) -> str:
    """What the signs between the letters say: pictographs, questions and moved commas can turn a text around."""
    (commas, asks, signs), (other_commas, other_asks, other_signs) = _signs(first), _signs(second)
    if signs != other_signs or asks != other_asks:
        return DOUBT
    return SLIP if commas <= other_commas or other_commas <= commas else DOUBT


def _signs(text: str) -> tuple[set[str], bool, set[str]]:
    """What stands before each mark that has letters on both sides, whether the text asks, and its pictographs."""
    classes = character_classes()
    commas, signs, last = set(), set(), ""
    open_mark = False
    for char in URL.sub(GAP, text):
        if classes[ord(char)] & FEATURE:
            if open_mark and last:
                commas.add(last + char)
            last, open_mark = char, False
        elif char.isspace() or char in "!,.;:、。~-—…·'\"()<>《》[]":
            open_mark = True
        elif char != _ASKS:
            signs.add(char)
    return commas, _ASKS in text, signs


@lru_cache(maxsize=4096)
def _sounds(char: str) -> frozenset[str]:
    """The readings of a character, with tones: without, 红糖 and 红汤 sound alike."""
    from pypinyin import Style, pinyin

    readings = pinyin(char, style=Style.TONE3, heteronym=True, errors="ignore")
    return frozenset(readings[0]) if readings else frozenset()


@lru_cache(maxsize=1)
def _words() -> Mapping[str, bool]:
    """The words of jieba's dictionary, read on first use: whether each is common and no name."""
    import jieba

    with jieba.get_dict_file() as file:
        entries = (line.decode().split() for line in file)
        return {
            word: int(times) >= _COMMON and not tag.startswith(_PROPER)
            for word, times, tag in entries
            if 2 <= len(word) <= _LONGEST_WORD
        }
