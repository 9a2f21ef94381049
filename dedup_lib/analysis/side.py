"""Two texts side by side with their differences highlighted, as HTML in which nothing of the texts can run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup, escape

from dedup_lib.diff import CONTEXT, LONGEST, stretches, visible

STYLE = Markup("""<style>
.pair { border: 1px solid #ddd; border-radius: 4px; margin: .8em 0; font: 14px/1.7 "Noto Sans CJK SC", "Source Han Sans SC",
  "PingFang SC", "Microsoft YaHei", sans-serif; color: #222; background: #fff; max-width: 76em }
.pair header { padding: .4em .8em; background: #f4f4f4; overflow-wrap: anywhere }
.pair .sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20em, 100%), 1fr)) }
.pair .side { padding: .5em .8em; overflow-wrap: anywhere; border-left: 1px solid #eee; text-align: left; unicode-bidi: isolate }
.pair .side b { display: block } .pair .same { color: #666 }
.pair del { background: #f6cdd2; text-decoration: none } .pair ins { background: #c9ead2; text-decoration: none }
</style>""")


def sides(first: str, second: str) -> tuple[Markup, Markup]:
    """Both texts, what only one of them has marked, long equal stretches shortened."""
    left, right = [], []
    for stretch in stretches(first, second):
        equal = _equal(stretch.equal)
        left += [_marked("del", stretch.first), equal]
        right += [_marked("ins", stretch.second), equal]
    more = Markup(' <span class="same">…</span>')
    ends = [more if len(text) > LONGEST else Markup() for text in (first, second)]
    return Markup().join([*left, ends[0]]), Markup().join([*right, ends[1]])


def _marked(tag: str, text: str) -> Markup:
    return Markup("<{0}>{1}</{0}>").format(Markup(tag), visible(text)) if text else Markup()


def _equal(text: str) -> Markup:
    if not text:
        return Markup()
    if len(text) > 4 * CONTEXT:
        text = f"{text[:CONTEXT]} … {text[-CONTEXT:]}"
    return Markup('<span class="same">{}</span>').format(visible(text))


def pair(row: Mapping[str, Any]) -> Markup:
    """One pair of the table ``borderline``."""
    left, right = sides(row["text"] or "", row["other_text"] or "")
    hamming = "-" if row["hamming"] is None else row["hamming"]
    facts = f"Jaccard {row['jaccard']:.3f} / {row['threshold']:.2f} · containment {row['containment']:.3f} · Hamming {hamming}"
    head = Markup("<header>{} · {} · {}</header>").format(facts, visible(row["reason"] or ""), visible(row["profile"]))
    shown = [
        Markup('<div class="side"><b>{}</b><small>{}</small><br>{}</div>').format(visible(title or ""), visible(doc_id), text)
        for title, doc_id, text in (
            (row["title"], row["doc_id"], left), (row["other_title"], row["other_id"], right),
        )
    ]  # fmt: skip
    return Markup('<div class="pair">{}<div class="sides">{}</div></div>').format(head, Markup().join(shown))


def pairs(rows: Iterable[Mapping[str, Any]], nothing: str) -> Markup:
    """Several pairs with their style, or a word that there are none."""
    found = Markup().join(pair(row) for row in rows)
    return STYLE + (found or escape(nothing))


def table(rows: Iterable[Mapping[str, Any]], headings: Mapping[str, str], nothing: str) -> Markup:
    """Rows as a table: ``headings`` names the columns shown."""
    lines = [
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(_cell(row[name])) for name in headings))
        for row in rows
    ]
    if not lines:
        return Markup("<p>{}</p>").format(nothing)
    head = Markup().join(Markup('<th style="text-align:left">{}</th>').format(text) for text in headings.values())
    return Markup('<table style="font-family:sans-serif">{}{}</table>').format(
        Markup("<tr>{}</tr>").format(head), Markup().join(lines)
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else visible(f"{value:,}" if isinstance(value, int) else str(value))
