"""Whole web pages -> their body: what an article says, without navigation, footer, links and comments.

The extractor is readability-lxml (Arc90's readability, ported by Yuri Baburov and others): it takes the block with the most
running text, by commas, length and share of links, which suits Chinese pages. Only texts that look like a page from ``<html``
on are given to it; the test is an Arrow search.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from readability import Document

from dedup_lib.kernels.charset import Readable, decode
from dedup_lib.kernels.markup import strip_html
from dedup_lib.kernels.utf8 import string_buffers

logging.getLogger("readability").setLevel(logging.CRITICAL)  # it reports each page that it cannot read, with a traceback

# The extractor's time grows with each; a page at the bounds takes three seconds at worst. No article is longer.
MAX_CHARACTERS = 2_000_000
MAX_BARE = 500_000  # characters of the page written anew
MAX_TAGS = 10_000
MIN_TAGS = 20  # of a page that is known by its <body> alone
MIN_BODY = 20  # characters
MIN_PARAGRAPH = 8  # characters: a Chinese sentence is short
LONGEST_NAME = 200  # characters of a class or id
_STARTS = r"(?is)^[\s\x{feff}]*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*){0,3}<(?:!doctype\s+html|html)[\s>]"
_BRACKET = ord("<")
_HEAD = 2000  # characters in which a page must begin
_SPACES = re.compile(r"\s+")
# Tags as HTML reads them: quotation marks count only around a value. No expression goes back over what it has read.
_OPENING = re.compile(r"<(?P<slash>/?)(?P<name>[a-zA-Z!?][^\s/>]*)")
_NAME = re.compile("[a-zA-Z][a-zA-Z0-9]*")
_ATTRIBUTE = re.compile(r"""(?P<name>[^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?P<value>"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+""")
_TAG = re.compile(rf"</?[a-zA-Z!?][^\s/>]*+(?:[\s/]++|{_ATTRIBUTE.pattern})*+>")
_RAW_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}


class Pages(NamedTuple):
    """Which rows are pages: ``mode`` is never, detect or always; sources in ``always`` and ``never`` have it their own way."""

    mode: str = "never"
    always: Sequence[str] = ()
    never: Sequence[str] = ()


def readable(content: pa.Array, charset: pa.Array | None, source: pa.Array | None, pages: Pages) -> Readable:
    """What is compared of each row before it is normalised: the content, decoded if it is bytes, a page's body alone.

    Flags as in ``charset.decode``, and ``body_extracted`` or ``no_body_found`` for pages.
    """
    if pa.types.is_string(content.type) or pa.types.is_large_string(content.type):
        texts, flags = content, pa.nulls(len(content), pa.string())
    else:
        texts, flags = decode(content, charset)
    rows = np.flatnonzero(pc.fill_null(wanted(texts, source, pages), False))
    if not len(rows):
        return Readable(texts, flags)
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    before = texts.take(pa.array(rows)).to_pylist()
    bodies = [extract_body(page) for page in before]
    both = list(zip(bodies, before, strict=True))
    said = [f"body_extracted\t{len(body)} of {len(page)} characters" if body else "no_body_found\t" for body, page in both]
    texts = pc.replace_with_mask(texts, mask, pa.array([body or page for body, page in both], texts.type))
    lines = pc.replace_with_mask(pa.nulls(len(texts), pa.string()), mask, pa.array(said, pa.string()))
    return Readable(texts, pc.coalesce(pc.binary_join_element_wise(flags, lines, "\n"), flags, lines))


def wanted(texts: pa.Array, source: pa.Array | None, pages: Pages) -> pa.Array:
    """Which texts are to be treated as pages."""
    found = is_page(texts) if pages.mode == "detect" else pa.array(np.full(len(texts), pages.mode == "always"))
    if source is None:
        return found
    for sources, answer in ((pages.always, True), (pages.never, False)):
        if sources:
            found = pc.if_else(pc.is_in(source, value_set=pa.array(sources, source.type)), answer, found)
    return found


def is_page(texts: pa.Array) -> pa.Array:
    """Texts that begin as an HTML document does, or hold a body and many tags. Null for null."""
    data, offsets = string_buffers(texts)
    marked = np.zeros(len(texts), bool)
    marked[np.searchsorted(offsets, offsets[0] + np.flatnonzero(data[offsets[0] : offsets[-1]] == _BRACKET), "right") - 1] = True
    few = texts.filter(pa.array(marked))
    begins = pc.match_substring_regex(pc.utf8_slice_codeunits(few, 0, _HEAD), _STARTS)
    bodied = pc.match_substring(few, "<body", ignore_case=True)
    tagged = pc.greater_equal(pc.count_substring(few, "<"), MIN_TAGS)
    found = pc.replace_with_mask(pa.array(np.zeros(len(texts), bool)), pa.array(marked), pc.or_(begins, pc.and_(bodied, tagged)))
    return pc.if_else(pc.is_valid(texts), found, pa.scalar(None, pa.bool_()))


def extract_body(page: str) -> str | None:
    """The text of a page's body, paragraphs as lines; None where none is found or the page is beyond the bounds.

    Never raises, whatever the markup.
    """
    if len(page) > MAX_CHARACTERS or page.count("<") > MAX_TAGS:
        return None
    try:
        plain = bare(page)
        summary = Document(plain, min_text_length=MIN_PARAGRAPH).summary(html_partial=True) if len(plain) <= MAX_BARE else ""
    except Exception:  # the parser's own, or whatever hostile markup makes of its working
        return None
    body = strip_html(summary).strip()
    return body if len(body) >= MIN_BODY else None


def bare(page: str) -> str:
    """The page with what the extractor goes by: elements, class and id, and text with single spaces.

    Parsers take quadratic time on a tag of thousands of attributes, the extractor takes minutes on style attributes and runs
    of spaces made for the purpose. So tags are read here, as HTML reads them, and written anew: linear time, and no markup that
    this function did not write.
    """
    parts, at = [], 0
    while (begin := page.find("<", at)) >= 0:
        parts.append(_SPACES.sub(" ", page[at:begin]))
        if page.startswith("<!--", begin):
            end = page.find("-->", begin + 4)
            at = end + 3 if end >= 0 else len(page)
        elif not (opening := _OPENING.match(page, begin)):
            parts.append("&lt;")
            at = begin + 1
        elif not (tag := _TAG.match(page, begin)):  # it never ends
            return "".join(parts)
        else:
            parts.append(_written_anew(opening, page[opening.end() : tag.end() - 1]))
            at = tag.end()
            if raw := not opening["slash"] and _RAW_ENDS.get(opening["name"].lower()):
                end = raw.search(page, at)
                at = end.start() if end else len(page)
    parts.append(_SPACES.sub(" ", page[at:]))
    return "".join(parts)


def _written_anew(opening: re.Match, rest: str) -> str:
    """A tag without attributes, save class and id; nothing for declarations and names that no element has."""
    slash, name = opening["slash"], opening["name"]
    if not _NAME.fullmatch(name):
        return ""
    kept = {}
    if not slash and ("class" in (low := rest.lower()) or "id" in low):
        for attribute in _ATTRIBUTE.finditer(rest):
            if (known := attribute["name"].lower()) in ("class", "id"):
                value = (attribute["value"] or "").strip("\"'")
                kept.setdefault(known, html.escape(value[:LONGEST_NAME]))
    return f"<{slash}{name}" + "".join(f' {known}="{value}"' for known, value in kept.items()) + ">"
