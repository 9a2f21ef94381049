"""What all HTML pages share: the template environment, how strangers' texts are shown, the style sheet.

Every text comes from strangers: templates escape all that is put into them, and invisible characters are shown as their codes.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from dedup_lib.diff import ONLY_FIRST, ONLY_SECOND, diff, visible

_TITLE = 100  # characters
_CODE = visible("\u3000")
_KINDS = {ONLY_FIRST: "del", ONLY_SECOND: "ins"}


@cache
def environment(package: str) -> Environment:
    """Templates of a package, and those of this one beside them; filters for numbers and texts."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("dedup_lib.html", ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": "{:,}".format, "seen": seen, "share": share}
    return made


def legible(text: str) -> str:
    """A text on one line; the ideographic space, with which every Chinese paragraph begins, is no code here."""
    return visible(text).replace(_CODE, "\u3000")


def seen(text: str | None, most: int = _TITLE) -> str:
    """The beginning of a text on one line, harmless to read."""
    text = text or ""
    return legible(text[:most]) + (" …" if len(text) > most else "")


def share(count: int, of: int) -> str:
    """A count as a percentage of another; nothing of nothing."""
    return f"{count / of:.1%}" if of else ""


def pieces(first: str, second: str, most: int, language: str = "en") -> list[tuple[str, str]]:
    """The difference of two texts as kind ('', ins, del) and text of each stretch."""
    rich = diff(first, second, most, language)
    edges = sorted({0, len(rich), *(edge for span in rich.spans for edge in (span.start, span.end))})
    found = []
    for start, end in pairwise(edges):
        style = next((str(span.style) for span in rich.spans if span.start <= start and end <= span.end), "")
        found.append((_KINDS.get(style, ""), rich.plain[start:end].replace(_CODE, "\u3000")))
    return found
