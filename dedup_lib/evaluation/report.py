"""The result as one page: what was measured on what, the comparison, curves and breakdowns. No scripts, nothing from elsewhere.

Charts are drawn by Vega-Lite (through altair and vl-convert, in this process, offline) as SVG inside the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import vl_convert

from dedup_lib.evaluation.methods import DISTANCE, YES_NO, Method
from dedup_lib.evaluation.tables import ALL

_COLOURS = {"precision": "#1b6ca8", "recall": "#d1495b", "f1": "#3c3c3c"}
_WIDTH = 560
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left } td.about { white-space: normal; text-align: left; color: #666 }
tr.product td { background: #eef5fa } small { color: #666 } svg { max-width: 100%; height: auto }
"""


def report(summary: pa.Table, sweep: pa.Table, methods: Sequence[Method], notes: Mapping[str, str]) -> str:
    """The page as HTML. ``notes``: what to say of the corpus, the labels and the universe, by heading."""
    universes = list(dict.fromkeys(summary["universe"].to_pylist()))
    about = {method.name: method.about for method in methods if method.scale != YES_NO or method.name != "product"}
    about["product"] = "both rows in one cluster of the run (dropped); or a pair of their clusters waits for a person (review)"
    body = ["<h1>Evaluation</h1>", "<dl>"]
    body += [f"<dt><b>{escape(name)}</b></dt><dd>{escape(text)}</dd>" for name, text in notes.items()]
    body.append("</dl>")
    for universe in universes:
        body += [f"<h2>Comparison: {escape(universe)}</h2>", _figures(_part(summary, universe), about)]
    first = universes[0]
    body += [f"<h2>Precision, recall and F1: {escape(first)}</h2>", _svg(_comparison(_part(summary, first)))]
    body += [f"<h2>At every threshold: {escape(first)}</h2>", _svg(_curves(_part(sweep, first), methods))]
    for axis, title in (("kind", "Recall by kind"), ("length_band", "Recall by length of the shorter text (letters and digits)")):
        chart = _heatmap(summary, first, axis)
        body += [f"<h2>{title}: {escape(first)}</h2>", _svg(chart)] if chart else []
    head = f'<meta charset="utf-8"><title>Evaluation</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _part(table: pa.Table, universe: str) -> pa.Table:
    """The rows of a whole universe."""
    whole = pc.and_(pc.equal(table["kind"], ALL), pc.equal(table["length_band"], ALL))
    return table.filter(pc.and_(whole, pc.equal(table["universe"], universe)))


def _figures(part: pa.Table, about: Mapping[str, str]) -> str:
    names = ("method", "setting", "precision", "recall", "F1", "tp", "fp", "fn", "")
    lines = ["<table><tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr>"]
    for row in part.to_pylist():
        cells = [escape(row["method"]), escape(row["setting"])]
        cells += [_with_interval(row, name) for name in ("precision", "recall")] + [shown(row["f1"])]
        cells += [f"{row[name]:,}" for name in ("tp", "fp", "fn")]
        mark = ' class="product"' if row["method"] == "product" else ""
        tail = f'<td class="about">{escape(about.get(row["method"], ""))}</td>'
        lines.append(f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in cells) + tail + "</tr>")
    return "\n".join([*lines, "</table>", "<p><small>Small figures: 95 % Wilson interval.</small></p>"])


def shown(value: float | None) -> str:
    """A rate to read; a dash for none."""
    return "-" if value is None else f"{value:.4f}"


def _with_interval(row: Mapping[str, float | None], name: str) -> str:
    low, high = row[f"{name}_lo"], row[f"{name}_hi"]
    return shown(row[name]) + ("" if low is None else f" <small>{low:.3f} to {high:.3f}</small>")


def _svg(chart: alt.TopLevelMixin) -> str:
    return vl_convert.vegalite_to_svg(chart.configure_view(stroke=None).to_dict())


def _data(rows: Sequence[Mapping[str, object]]) -> alt.InlineData:
    return alt.InlineData(values=list(rows))


def _rates(row: Mapping[str, object]) -> list[dict[str, object]]:
    """One record for each rate that a row has."""
    return [
        {"rate": rate, "value": row[rate], "lo": row.get(f"{rate}_lo"), "hi": row.get(f"{rate}_hi")}
        for rate in _COLOURS
        if row[rate] is not None
    ]


def _colour() -> alt.Color:
    return alt.Color("rate:N", scale=alt.Scale(domain=[*_COLOURS], range=[*_COLOURS.values()]), title=None)


def _comparison(part: pa.Table) -> alt.LayerChart:
    names, rows = [], []
    for row in part.to_pylist():
        names.append(f"{row['method']} {row['setting']}")
        rows += [{"method": names[-1], **rate} for rate in _rates(row)]
    y = alt.Y("method:N", sort=names, title=None, axis=alt.Axis(labelLimit=260, grid=True))
    base = alt.Chart(_data(rows)).encode(y=y, color=_colour())
    points = base.mark_point(filled=True, size=60, opacity=0.9).encode(
        x=alt.X("value:Q", title=None, scale=alt.Scale(domain=[0, 1])),
        shape=alt.Shape("rate:N", scale=alt.Scale(domain=[*_COLOURS]), title=None),
    )
    return alt.layer(base.mark_rule().encode(x="lo:Q", x2="hi:Q"), points).properties(width=_WIDTH, height=20 * len(names))


def _curves(part: pa.Table, methods: Sequence[Method]) -> alt.VConcatChart:
    rows = [{"method": row["method"], "at": row["threshold"], **rate} for row in part.to_pylist() for rate in _rates(row)]

    def charts(distance: bool) -> alt.FacetChart:
        names = [m.name for m in methods if m.scale != YES_NO and (m.scale == DISTANCE) == distance]
        mine = [row for row in rows if row["method"] in names]
        x = alt.X("at:Q", title="at most so many bits differ" if distance else "at least")
        y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]))
        lines = alt.Chart(_data(mine)).mark_line(clip=True).encode(x=x, y=y, color=_colour()).properties(width=230, height=150)
        return lines.facet(alt.Facet("method:N", sort=names, title=None), columns=3)

    return alt.vconcat(charts(False), charts(True))


def _heatmap(summary: pa.Table, universe: str, axis: str) -> alt.LayerChart | None:
    other = "length_band" if axis == "kind" else "kind"
    mine = pc.and_(pc.equal(summary["universe"], universe), pc.equal(summary[other], ALL))
    rows = summary.filter(pc.and_(mine, pc.and_(pc.not_equal(summary[axis], ALL), pc.is_valid(summary["recall"])))).to_pylist()
    if not rows:
        return None
    cells = [
        {"method": f"{r['method']} {r['setting']}", "part": f"{r[axis]} ({r['tp'] + r['fn']:,})", "recall": r["recall"]}
        for r in rows
    ]
    methods, columns = (list(dict.fromkeys(cell[name] for cell in cells)) for name in ("method", "part"))
    base = alt.Chart(_data(cells)).encode(
        x=alt.X("part:N", sort=columns, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=260)),
        y=alt.Y("method:N", sort=methods, title=None, axis=alt.Axis(labelLimit=260)),
    )
    colour = alt.Color("recall:Q", scale=alt.Scale(domain=[0, 1], scheme="blues"), title="recall")
    dark = alt.condition("datum.recall > 0.6", alt.value("white"), alt.value("#222"))
    text = base.mark_text(fontSize=10).encode(text=alt.Text("recall:Q", format=".3f"), color=dark)
    size = {"width": 52 * len(columns), "height": 20 * len(methods)}
    return alt.layer(base.mark_rect().encode(color=colour), text).properties(**size)
