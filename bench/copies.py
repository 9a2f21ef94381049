"""What copying does to a text: one function for each kind of copy, from a text and a seeded source of chance to a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from random import Random

Copy = Callable[[str, Random, str], str]  # text, chance, characters to draw from

_HEADERS = ("本网综合报道", "来源：综合整理", "点击蓝字关注我们", "以下为转载内容，仅供参考")
_FOOTERS = ("（完）", "责任编辑：编辑部", "更多内容请下载客户端查看", "以上内容不代表本站立场")
_SPACES = (" ", "\u3000", "&nbsp;", "<br/>", "\u200b", "\u00a0")
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_FULL_STOP = re.compile("。")


def exact(text: str, chance: Random, characters: str) -> str:
    """The same text."""
    return text


def noise(text: str, chance: Random, characters: str) -> str:
    """White space, full-width forms and markup: the same text for a reader."""
    spaced = _FULL_STOP.sub(lambda stop: "。" + (chance.choice(_SPACES) if chance.random() < 0.4 else ""), text.translate(_WIDE))
    return "<p>" + spaced.replace("\n", "</p>\r\n<p>") + "</p>"


def framed(text: str, chance: Random, characters: str) -> str:
    """A site's line before the text, after it or both."""
    where = chance.randrange(3)
    head = chance.choice(_HEADERS) + "\n" if where != 0 else ""
    tail = "\n" + chance.choice(_FOOTERS) if where != 1 else ""
    return head + text + tail


def traditional(text: str, chance: Random, characters: str) -> str:
    """Traditional characters."""
    return _to_traditional()(text)


def shuffled(text: str, chance: Random, characters: str) -> str:
    """The paragraphs in another order."""
    paragraphs = text.split("\n")
    chance.shuffle(paragraphs)
    return "\n".join(paragraphs)


def shortened(text: str, chance: Random, characters: str) -> str:
    """One paragraph removed, where there are two."""
    paragraphs = text.split("\n")
    if len(paragraphs) > 1:
        del paragraphs[chance.randrange(len(paragraphs))]
    return "\n".join(paragraphs)


def retouched(text: str, chance: Random, characters: str) -> str:
    """1 to 2 % of the characters replaced."""
    return _replaced(text, chance.uniform(0.01, 0.02), chance, characters)


def rewritten(text: str, chance: Random, characters: str) -> str:
    """2 to 5 % of the characters replaced."""
    return _replaced(text, chance.uniform(0.02, 0.05), chance, characters)


def _replaced(text: str, share: float, chance: Random, characters: str) -> str:
    letters = list(text)
    for place in chance.sample(range(len(letters)), max(1, round(len(letters) * share))):
        letters[place] = chance.choice(characters)
    return "".join(letters)


@cache
def _to_traditional() -> Callable[[str], str]:
    from opencc import OpenCC

    return OpenCC("s2t").convert


KINDS: dict[str, Copy] = {
    kind.__name__: kind for kind in (exact, noise, framed, traditional, shuffled, shortened, retouched, rewritten)
}
EQUAL_WITHOUT_SPACE = ("exact",)  # kinds whose copies equal their original once white space is removed
