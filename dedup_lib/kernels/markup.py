"""Take the text out of HTML: tags, scripts, styles, comments and entities go, block elements become line breaks."""

from __future__ import annotations

import html
import re

from selectolax.lexbor import LexborHTMLParser

MARKS = "<&＆﹠"  # texts without any of them are left alone

_BLOCKS = (
    "address article aside blockquote br dd div dl dt figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr li main nav ol p pre section table td th tr ul"
)
_INLINE = (
    "a abbr b big body button caption center cite code col colgroup del em embed font head html i iframe img input ins "
    "label link mark meta noscript object option param q s samp script select small source span strike strong style sub "
    "sup tbody template textarea tfoot thead title tt u var video wbr svg audio figcaption strong summary details"
)
_REMOVED = ["script", "style", "noscript", "template", "textarea", "iframe", "svg"]
_NAMES = "|".join(sorted(set((_BLOCKS + " " + _INLINE).split()), key=lambda name: (-len(name), name)))
# A known name, and no Chinese outside quotation marks: "a<b 且 c>d" is a formula.
_OPENS = rf"/?(?:{_NAMES})(?=[\s/>])(?![^<>\"']*[\u3400-\u9fff])"
_TAG = re.compile(rf"<{_OPENS}[^<]*>|<!--|<!doctype", re.IGNORECASE)
_NOT_A_TAG = re.compile(rf"<(?!{_OPENS}|!--|!doctype)", re.IGNORECASE)
_CDATA = re.compile(r"<!\[CDATA\[((?:(?!<!\[CDATA\[).)*?)\]\]>", re.DOTALL)  # never past the next one: linear time
_HIDDEN = re.compile(r"<(script|style)\b(?:(?!<\1\b).)*?</\1\s*>|<!--(?:(?!<!--).)*?-->", re.DOTALL | re.IGNORECASE)
# More tags than a page has. A parser's time grows with their depth, so such a text is stripped without a tree.
MANY_TAGS = 20_000
_LONG_TAG = re.compile(r"<[^<>]{20000}")  # so is a tag of thousands of attributes
_TOO_LONG = re.compile(r"&#(?:[0-9]{8,}|x[0-9a-f]{8,});?", re.IGNORECASE)  # a number that no character has
_BLOCK_TAG = re.compile(rf"(?=</?(?:{'|'.join(_BLOCKS.split())})(?=[\s/>]))", re.IGNORECASE)
_AMPERSANDS = re.compile("[&＆﹠](?:amp;)*", re.IGNORECASE)
_LEVELS = 8


def strip_html(text: str) -> str:
    """The text of an HTML fragment or page; plain text comes back as it was, with entities resolved.

    Only names that HTML knows make a tag: "a<b" and "<张三>" are text. Markup that was escaped (&lt;p&gt;) is markup too, up to
    eight levels deep.
    """
    for _ in range(_LEVELS):
        plain = _strip_once(text)
        if plain == text:
            break
        text = plain
    return text


def _strip_once(text: str) -> str:
    text = _TOO_LONG.sub("\ufffd", _CDATA.sub(r"\1", _AMPERSANDS.sub("&", text)))
    if not _TAG.search(text):
        return html.unescape(text)
    if text.count("<") > MANY_TAGS or _LONG_TAG.search(text):
        return html.unescape(_TAG.sub("\n", _HIDDEN.sub("\n", text)))
    tree = LexborHTMLParser(_BLOCK_TAG.sub("\n", _NOT_A_TAG.sub("&lt;", text)))
    tree.strip_tags(_REMOVED)
    body = tree.body
    return body.text(separator="") if body is not None else ""
