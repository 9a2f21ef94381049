"""Charts of the results, drawn by Vega-Lite in this process, offline, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import vl_convert

from bench.fit import fit

_COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e6bbf", "#c77d0a", "#3c3c3c", "#17a2b8"]
_STAGE_COLOURS = ["#cfd8dc", "#1b6ca8", "#7fb2d9", "#8e6bbf", "#c5b3e0", "#d1495b", "#f0a35e", "#2e8b57", "#9ccc9c", "#777777"]
_WIDTH, _HEIGHT = 400, 300
_CURVE_POINTS = 40
# The fonts that vl-convert brings, so that the picture is the same everywhere.
_FONT = "Liberation Sans, DejaVu Sans, sans-serif"

Line = Mapping[str, object]


def series(line: Line) -> str:
    """The name of the curve that a result belongs to."""
    return f"{line['corpus']['mode']}, {line['engine']}"


def svg(chart: alt.TopLevelMixin) -> str:
    """The chart as an SVG element."""
    return vl_convert.vegalite_to_svg(_finished(chart))


def png(chart: alt.TopLevelMixin) -> bytes:
    """The chart as a picture, twice as large as in the page."""
    return vl_convert.vegalite_to_png(_finished(chart), scale=2)


def _finished(chart: alt.TopLevelMixin) -> dict[str, object]:
    styled = chart.configure_view(stroke=None).configure(font=_FONT).configure_axis(labelFontSize=11, titleFontSize=12)
    return styled.configure_legend(labelFontSize=11, labelLimit=320, symbolStrokeWidth=2).to_dict()


def scaling(lines: Sequence[Line]) -> alt.LayerChart:
    """Rows against wall seconds, both logarithmic, with the fitted curve of each series that has enough sizes."""
    lines = _with_growth(lines)
    points, curves, names = [], [], {}
    for name in dict.fromkeys(map(series, lines)):
        mine = [line for line in lines if series(line) == name]
        rows = [line["corpus"]["rows"] for line in mine]
        seconds = [line["run"]["wall_seconds"] for line in mine]
        found = fit(rows, seconds)
        names[name] = name if found is None else f"{name}: {found.fixed:.1f} s + c · rows^{found.exponent:.2f}"
        points += [{"series": names[name], "rows": x, "seconds": y} for x, y in zip(rows, seconds, strict=True)]
        if found:
            grid = np.geomspace(min(rows), max(rows), _CURVE_POINTS)
            curves += [{"series": names[name], "rows": x, "seconds": found.seconds(x)} for x in grid.tolist()]
    layers = [_points(points, "seconds", "wall seconds", [*names.values()])]
    if curves:
        layers.insert(0, _base(curves, "seconds", "wall seconds", [*names.values()]).mark_line(strokeWidth=1.5, opacity=0.8))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title="Time: fixed start and growth")


def memory(lines: Sequence[Line]) -> alt.LayerChart:
    """Rows against the peak memory of the process tree in GB (10^9 bytes), both logarithmic."""
    lines = _with_growth(lines)
    names = [*dict.fromkeys(map(series, lines))]
    points = [
        {"series": series(line), "rows": line["corpus"]["rows"], "gb": line["run"]["peak_memory_bytes"] / 1e9} for line in lines
    ]
    joined = _base(points, "gb", "peak memory, GB", names).mark_line(strokeWidth=1.5, opacity=0.8)
    chart = alt.layer(joined, _points(points, "gb", "peak memory, GB", names))
    return chart.properties(width=_WIDTH, height=_HEIGHT, title="Memory: sum over the process tree")


def stages(lines: Sequence[Line]) -> alt.Chart:
    """Seconds of each stage of each series' largest run; what the process needs beside them is "start and end"."""
    bars, order = [], []
    for line in _largest(lines):
        told = {name: value for name, value in line["run"]["stages"].items() if name != "total"}
        told["start and end"] = max(0.0, line["run"]["wall_seconds"] - sum(told.values()))
        label = f"{series(line)}, {line['corpus']['rows']:,}"
        for place, (name, value) in enumerate(told.items()):
            order += [name] if name not in order else []
            bars.append({"run": label, "stage": name, "seconds": value, "place": place})
    colour = alt.Color("stage:N", sort=order, title=None, scale=alt.Scale(domain=order, range=_STAGE_COLOURS))
    labels = [*dict.fromkeys(bar["run"] for bar in bars)]
    chart = alt.Chart(_data(bars)).mark_bar().encode(
        x=alt.X("seconds:Q", title="seconds"),
        y=alt.Y("run:N", sort=labels, title=None, axis=alt.Axis(labelLimit=260)),
        color=colour,
        order="place:Q",
    )  # fmt: skip
    return chart.properties(width=2 * _WIDTH, height=30 * len(labels), title="Seconds by stage, largest run of each corpus")


def peers(measured: Sequence[Line]) -> alt.LayerChart:
    """Rows for each second against pairwise F1 of the product and the other tools on one corpus."""
    points = [{"tool": m["name"], "speed": m["rows_per_second"], "f1": m["quality"]["f1"]} for m in measured]
    base = alt.Chart(_data(points)).encode(
        x=alt.X("speed:Q", title="rows/s", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s")),
        y=alt.Y("f1:Q", title="pairwise F1", scale=alt.Scale(zero=False, padding=15)),
    )
    names = base.mark_text(align="left", dx=8, fontSize=11).encode(text="tool:N")
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        color=alt.condition("datum.tool == 'product'", alt.value(_COLOURS[1]), alt.value(_COLOURS[0]))
    )
    return alt.layer(dots, names).properties(width=_WIDTH + 80, height=_HEIGHT - 60)


def _with_growth(lines: Sequence[Line]) -> Sequence[Line]:
    """Results of series of more than one size; all, where there is no such series."""
    sizes: dict[str, set[object]] = {}
    for line in lines:
        sizes.setdefault(series(line), set()).add(line["corpus"]["rows"])
    return [line for line in lines if len(sizes[series(line)]) > 1] or lines


def _largest(lines: Sequence[Line]) -> list[Line]:
    found: dict[str, Line] = {}
    for line in lines:
        if series(line) not in found or line["corpus"]["rows"] >= found[series(line)]["corpus"]["rows"]:
            found[series(line)] = line
    return [*found.values()]


def _base(rows: Sequence[Line], field: str, title: str, names: Sequence[str]) -> alt.Chart:
    log = alt.Scale(type="log", nice=False, padding=12)
    return alt.Chart(_data(rows)).encode(
        x=alt.X("rows:Q", title="rows", scale=log, axis=alt.Axis(format="~s", tickCount=6, gridOpacity=0.4)),
        y=alt.Y(f"{field}:Q", title=title, scale=log, axis=alt.Axis(format="~g", tickCount=6, gridOpacity=0.4)),
        color=alt.Color("series:N", title=None, scale=alt.Scale(domain=[*names], range=_COLOURS), legend=_BELOW),
    )


_BELOW = alt.Legend(orient="bottom", columns=1)


def _points(rows: Sequence[Line], field: str, title: str, names: Sequence[str]) -> alt.Chart:
    return _base(rows, field, title, names).mark_point(filled=True, size=55, opacity=1)


def _data(rows: Sequence[Line]) -> alt.InlineData:
    return alt.InlineData(values=list(rows))
