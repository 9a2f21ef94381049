"""The notebooks' charts: from small aggregated tables to altair; hostile text reaches them as data alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from dedup_lib.analysis.tables import ALL
from dedup_lib.diff import visible

FONT = "Noto Sans CJK SC, Source Han Sans SC, PingFang SC, Microsoft YaHei, sans-serif"
BLUE, RED, GREEN, GREY, SHADE = "#1b6ca8", "#d1495b", "#3a8f5c", "#888888", "#e8d9a8"
WIDTH = 640
MOST = 20  # sources in a chart
Rows = Sequence[Mapping[str, Any]]
Say = Mapping[str, str]


def data(rows: Rows) -> alt.InlineData:
    """Rows inside the chart."""
    return alt.InlineData(values=list(rows))


def seen(rows: Rows) -> list[dict[str, Any]]:
    """Rows in which strangers' texts cannot turn the letters around them: invisible characters stand as their codes."""
    return [{name: visible(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]


def finished(chart: alt.TopLevelMixin) -> alt.TopLevelMixin:
    """The chart with fonts that have Chinese characters."""
    shown = chart.configure(font=FONT).configure_axis(labelFont=FONT, titleFont=FONT, labelLimit=260)
    return shown.configure_legend(labelFont=FONT, titleFont=FONT).configure_header(labelFont=FONT, titleFont=FONT)


def peaks(hist: Rows, proposals: Rows, say: Say) -> alt.TopLevelMixin:
    """Drawn texts by similarity with the valley and the run's threshold, for all lengths of one profile."""
    bars = [{"at": row["bin"] / 100, "to": (row["bin"] + 1) / 100, "texts": row["texts"]} for row in hist if _is(row, "sample")]
    x = alt.X("at:Q", bin="binned", title=say["similarity"], scale=alt.Scale(domain=[0, 1.01], nice=False))
    y = alt.Y("texts:Q", title=say["texts"], scale=alt.Scale(type="symlog"))
    base = alt.Chart(data(bars)).mark_bar(color=BLUE).encode(x=x, x2="to:Q", y=y, tooltip=["at:Q", "texts:Q"])
    whole = [row for row in proposals if row["length_band"] == ALL]
    plain = alt.Chart(data([row for row in whole if row["plain_lo"] is not None])).mark_rect(color=SHADE, opacity=0.6)
    layers = [plain.encode(x="plain_lo:Q", x2="plain_hi:Q"), base]
    for name, colour, dash in (("valley", "#222222", [5, 4]), ("drop_jaccard", RED, [1, 0])):
        marked = [row for row in whole if row[name] is not None]
        rule = alt.Chart(data(marked)).mark_rule(color=colour, strokeDash=dash, strokeWidth=2)
        layers.append(rule.encode(x=f"{name}:Q", tooltip=[f"{name}:Q", "valley_lo:Q", "valley_hi:Q"]))
    return finished(alt.layer(*layers).properties(width=WIDTH, height=260))


def kinds(hist: Rows, measure: str, say: Say) -> alt.TopLevelMixin | None:
    """Pairs by similarity and kind, one small chart below the other. None without pairs."""
    scale = 1 if measure == "hamming" else 100
    names = ("background", "sample", "nearest", "drop", "review", "guarded")
    rows = [
        {"at": row["bin"] / scale, "to": (row["bin"] + 1) / scale, "pairs": row["count"], "kind": say[row["kind"]]}
        for row in hist
        if row["measure"] == measure and row["length_band"] == ALL
    ]
    title = say["hamming"] if measure == "hamming" else say["similarity"]
    x = alt.X("at:Q", bin="binned", title=title, scale=alt.Scale(domain=[0, 65 if measure == "hamming" else 1.01], nice=False))
    y = alt.Y("pairs:Q", title=None, scale=alt.Scale(type="symlog"), axis=alt.Axis(tickCount=4))
    bars = alt.Chart(data(rows)).mark_bar(color=BLUE).encode(x=x, x2="to:Q", y=y, tooltip=["at:Q", "pairs:Q"])
    row = alt.Row("kind:N", sort=[say[name] for name in names], title=None, header=alt.Header(labelAngle=0, labelAlign="left"))
    chart = bars.properties(width=WIDTH - 120, height=70).facet(row=row).resolve_scale(y="independent")
    return finished(chart) if rows else None


def bands(proposals: Rows, say: Say) -> alt.TopLevelMixin | None:
    """The valley of each length band with its uncertainty. None if no band has one."""
    rows = [row for row in proposals if row["valley"] is not None]
    order = [row["length_band"] for row in proposals]
    base = alt.Chart(data(rows)).encode(y=alt.Y("length_band:N", sort=order, title=say["band"]))
    x = alt.X("valley:Q", title=say["similarity"], scale=alt.Scale(domain=[0, 1]))
    plain = base.mark_bar(color=SHADE, size=14).encode(x=alt.X("plain_lo:Q", title=say["similarity"]), x2="plain_hi:Q")
    spread = base.mark_rule(color="#222222", strokeWidth=2).encode(x="valley_lo:Q", x2="valley_hi:Q")
    tips = ["length_band:N", "sampled:Q", "valley:Q", "valley_lo:Q", "valley_hi:Q", "support:Q"]
    point = base.mark_point(color="#222222", filled=True, size=70).encode(x=x, tooltip=tips)
    now = base.mark_tick(color=RED, thickness=3, size=18).encode(x="drop_jaccard:Q")
    chart = alt.layer(plain, spread, point, now).properties(width=WIDTH - 100, height=alt.Step(26))
    return finished(chart) if rows else None


def curves(sweep: Rows, say: Say) -> alt.TopLevelMixin:
    """Rows dropped, clusters, review load at each threshold of one profile; precision and recall where there are labels."""
    names = ("dropped", "clusters", "largest", "review_pairs", "guarded_pairs")
    x = alt.X("threshold:Q", title=say["threshold"], scale=alt.Scale(zero=False))
    now = (
        alt.Chart(data([row for row in sweep if row["current"]][:1])).mark_rule(color=RED, strokeWidth=2).encode(x="threshold:Q")
    )
    parts = []
    for name in names:
        y = alt.Y(f"{name}:Q", title=say[name], scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
        line = alt.Chart(data(sweep)).mark_line(point=alt.OverlayMarkDef(size=18), color=BLUE)
        parts.append(alt.layer(line.encode(x=x, y=y, tooltip=["threshold:Q", f"{name}:Q"]), now))
    for name in ("precision", "recall"):
        rated = [row for row in sweep if row[name] is not None]
        if rated:
            least = min(0.9, *(row[f"{name}_lo"] for row in rated))
            y = alt.Y(f"{name}:Q", title=say[name], scale=alt.Scale(domain=[least, 1]), axis=alt.Axis(tickCount=4))
            area = alt.Chart(data(rated)).mark_area(opacity=0.25, color=GREEN).encode(x=x, y=f"{name}_lo:Q", y2=f"{name}_hi:Q")
            line = alt.Chart(data(rated)).mark_line(color=GREEN).encode(x=x, y=y, tooltip=["threshold:Q", f"{name}:Q"])
            parts.append(alt.layer(area, line, now))
    sized = [part.properties(width=WIDTH // 2 - 40, height=130) for part in parts]
    return finished(alt.concat(*sized, columns=2))


def bars(rows: Rows, label: str, value: str, title: str) -> alt.TopLevelMixin | None:
    """Horizontal bars in the order of the rows. None without rows."""
    rows = seen(rows)
    order = list(dict.fromkeys(row[label] for row in rows))
    y, x = alt.Y(f"{label}:N", sort=order, title=None), alt.X(f"{value}:Q", title=title)
    chart = alt.Chart(data(rows)).mark_bar(color=BLUE).encode(y=y, x=x, tooltip=[f"{label}:N", f"{value}:Q"])
    return finished(chart.properties(width=WIDTH - 100, height=alt.Step(20))) if rows else None


def changes(counts: Rows, say: Say) -> alt.TopLevelMixin | None:
    """What two runs decided differently, by the method of the run that dropped."""
    named = [{"what": " ".join(filter(None, [say[row["change"]], row["method"]])), "rows": row["count"]} for row in counts]
    return bars(named, "what", "rows", say["rows"])


def timeline(rows: Rows, say: Say) -> alt.TopLevelMixin | None:
    """One story: when each source published it, the earliest sources first, the survivor marked. None without times."""
    rows = seen(rows)
    named = [
        row | {"source": row["source"] or say["unknown"], "what": say["drop" if row["kept_id"] else "stays"]} for row in rows
    ]
    order = list(dict.fromkeys(row["source"] for row in named))[:MOST]
    shown = [row for row in named if row["source"] in order]
    colour = alt.Color("what:N", title=None, scale=alt.Scale(domain=[say["stays"], say["drop"]], range=[RED, BLUE]))
    x = alt.X("time:T", title=say["time"], axis=alt.Axis(format="%Y-%m-%d", tickCount=6))
    y = alt.Y("source:N", title=None, sort=order)
    tips = ["source:N", "time:N", "title:N", "doc_id:N"]
    chart = alt.Chart(data(shown)).mark_point(filled=True, size=80, opacity=0.8).encode(x=x, y=y, color=colour, tooltip=tips)
    return finished(chart.properties(width=WIDTH - 100, height=alt.Step(22))) if shown else None


def matrix(rows: Rows, say: Say) -> alt.TopLevelMixin | None:
    """Which source's rows were dropped for which source's. None if nothing was dropped."""
    rows = seen(rows)
    named = [row | {side: row[side] or say["unknown"] for side in ("copies", "stays")} for row in rows]
    orders = {side: _busiest(named, side) for side in ("copies", "stays")}
    shown = [row for row in named if all(row[side] in order for side, order in orders.items())]
    x = alt.X("stays:N", title=say["stays_source"], sort=orders["stays"], axis=alt.Axis(labelAngle=-40))
    base = alt.Chart(data(shown)).encode(x=x, y=alt.Y("copies:N", title=say["copies"], sort=orders["copies"]))
    shade = alt.Color("rows:Q", title=say["rows"], scale=alt.Scale(scheme="blues"))
    tips = ["copies:N", "stays:N", "rows:Q"]
    chart = base.mark_rect().encode(color=shade, tooltip=tips).properties(width=alt.Step(30), height=alt.Step(24))
    return finished(chart) if shown else None


def _busiest(rows: Rows, side: str) -> list[str]:
    total: dict[str, int] = {}
    for row in rows:
        total[row[side]] = total.get(row[side], 0) + row["rows"]
    return sorted(total, key=lambda name: (-total[name], name))[:MOST]


def methods(rows: Rows, say: Say) -> alt.TopLevelMixin:
    """Precision and recall of each method and setting, with intervals."""
    rows = seen(rows)
    points = [
        {
            "method": f"{row['method']} {row['setting']}",
            "rate": say[rate],
            "at": row[rate],
            "lo": row[f"{rate}_lo"],
            "hi": row[f"{rate}_hi"],
        }
        for row in rows
        for rate in ("precision", "recall")
        if row[rate] is not None
    ]
    order = list(dict.fromkeys(point["method"] for point in points))
    colour = alt.Color("rate:N", title=None, scale=alt.Scale(domain=[say["precision"], say["recall"]], range=[BLUE, RED]))
    base = alt.Chart(data(points)).encode(y=alt.Y("method:N", sort=order, title=None), color=colour)
    x = alt.X("at:Q", title=None, scale=alt.Scale(domain=[0, 1]))
    dots = base.mark_point(filled=True, size=60).encode(x=x, tooltip=["method:N", "rate:N", "at:Q", "lo:Q", "hi:Q"])
    return finished(
        alt.layer(base.mark_rule().encode(x="lo:Q", x2="hi:Q"), dots).properties(width=WIDTH - 180, height=alt.Step(20))
    )


def _is(row: Mapping[str, Any], kind: str) -> bool:
    return row["kind"] == kind and row["measure"] == "jaccard" and row["length_band"] == ALL
