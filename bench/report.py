"""The results as one page without scripts or anything from elsewhere, and its curves as a picture for the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Annotated

import altair as alt
import typer

from bench import charts
from bench.fit import fit
from bench.machine import ROOT

Line = Mapping[str, object]

RESULTS, PAGE, PICTURE = ROOT / "bench" / "results.jsonl", ROOT / "bench" / "report.html", ROOT / "docs" / "bench.svg"

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem } svg { max-width: 100%; height: auto }
div { overflow-x: auto } small { color: #666 }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
td.text, th.text { text-align: left } tr.product td { background: #eef5fa }
"""
_TEXT = ("corpus", "engine", "commit", "tool", "version", "machine", "")


def read_results(path: Path) -> list[Line]:
    """All results, oldest first."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def newest(lines: Iterable[Line]) -> list[Line]:
    """Of each corpus, engine, settings and machine the newest result, by corpus and size: what the figures are about."""
    found = {_what(line): line for line in lines}
    return sorted(found.values(), key=lambda line: (line["corpus"]["mode"], line["engine"], line["corpus"]["rows"]))


def _what(line: Line) -> tuple[object, ...]:
    corpus = line["corpus"]
    return corpus["mode"], corpus["rows"], line["engine"], tuple(line["settings"]), _machine(line)


def figures(lines: Sequence[Line]) -> list[Line]:
    """Those of ``lines`` that belong on one curve: made with the machine and the settings of the newest result."""
    last = max(lines, key=lambda line: line["made"])
    return [line for line in lines if _machine(line) == _machine(last) and line["settings"] == last["settings"]]


def picture(lines: Sequence[Line]) -> alt.VConcatChart:
    """Curves and stages in one picture."""
    both = alt.hconcat(charts.scaling(lines), charts.memory(lines), spacing=40).resolve_scale(color="independent")
    return alt.vconcat(both, charts.stages(lines), spacing=30).resolve_scale(color="independent")


def report(lines: Sequence[Line]) -> str:
    """The page as HTML."""
    chosen = figures(newest(lines))
    body = ["<h1>Benchmark</h1>", f"<p>{escape(_machine(chosen[-1]))}. Wall time of a fresh process, its start included.</p>"]
    body += ["<h2>Runs</h2>", _table(map(_run_cells, newest(lines)))]
    body += ["<h2>Growth</h2>", *_fits(chosen), f"<div>{charts.svg(picture(chosen))}</div>"]
    for line in newest(line for line in lines if line["peers"]):  # the product's row is of the same invocation
        body += _other_tools(line)
    head = f'<meta charset="utf-8"><title>Benchmark</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _other_tools(line: Line) -> list[str]:
    """The product and the tools that ran beside it: table, picture, and why some are missing."""
    corpus = f"{line['corpus']['mode']}, {line['corpus']['rows']:,} rows, {line['engine']}"
    measured = [{**line["run"], "name": "product"}, *line["peers"]]
    drawn = [m for m in measured if "skipped" not in m and m["quality"] and m["quality"]["f1"] is not None]
    return [
        f"<h2>Other tools: {escape(corpus)}</h2>",
        _table(map(_peer_cells, measured), "product"),
        *([f"<div>{charts.svg(charts.peers(drawn))}</div>"] if drawn else []),
        *(_left_out(m) for m in line["peers"] if "skipped" in m),
    ]


def _machine(line: Line) -> str:
    told = line["machine"]
    return f"{told['processor']}, {told['cores']} cores, {told['memory_bytes'] / 2**30:.0f} GiB"


def _fits(lines: Sequence[Line]) -> list[str]:
    """A line for each series with enough sizes: the fitted start and exponent."""
    told = []
    for name in dict.fromkeys(map(charts.series, lines)):
        mine = [line for line in lines if charts.series(line) == name]
        found = fit([line["corpus"]["rows"] for line in mine], [line["run"]["wall_seconds"] for line in mine])
        if found:
            told.append(
                f"<p>{escape(name)}: {found.fixed:.1f} s fixed, beyond that seconds grow as rows^{found.exponent:.2f}.</p>"
            )
    return told


def _run_cells(line: Line) -> dict[str, str]:
    run, corpus = line["run"], line["corpus"]
    return {
        "corpus": corpus["mode"],
        "rows": f"{corpus['rows']:,}",
        "engine": line["engine"],
        **_cost_cells(run),
        "disk, GB": _giga(run["peak_disk_bytes"]),
        "shuffled, GB": _giga(run["shuffle_bytes"]),
        "spilled, GB": _giga(run["spilled_bytes"]),
        "candidates": f"{run['candidate_pairs']:,}",
        "verified": f"{run['verified_pairs']:,}",
        **_quality_cells(run["quality"]),
        "commit": (line["commit"] or "-") + ("+" if line["changed"] else ""),
        "": " ".join(line["settings"]),
    }


def _peer_cells(measured: Line) -> dict[str, str]:
    if "skipped" in measured:
        return {"tool": measured["name"], "version": measured["version"] or "-"}
    who = {"tool": measured["name"], "version": measured.get("version") or ""}
    return who | _cost_cells(measured) | _quality_cells(measured["quality"])


def _cost_cells(run: Line) -> dict[str, str]:
    return {
        "seconds": f"{run['wall_seconds']:,.1f}",
        "CPU seconds": f"{run['cpu_seconds']:,.1f}",
        "rows/s": f"{run['rows_per_second']:,.0f}",
        "MB/s": f"{run['mb_per_second']:.2f}",
        "memory, GB": _giga(run["peak_memory_bytes"]),
    }


def _quality_cells(quality: Line | None) -> dict[str, str]:
    rates = ("precision", "recall", "f1")
    return {rate: "-" if not quality or quality[rate] is None else f"{quality[rate]:.4f}" for rate in rates}


def _left_out(peer: Line) -> str:
    return f"<p><small>{escape(peer['name'])} is left out: {escape(peer['skipped'])}.</small></p>"


def _giga(size: int | None) -> str:
    return "-" if size is None else f"{size / 1e9:.2f}"


def _table(rows: Iterable[Mapping[str, str]], marked: str | None = None) -> str:
    """Rows as a table; a column that a row lacks is a dash. The row whose first cell is ``marked`` stands out."""
    rows = list(rows)
    names = list(dict.fromkeys(name for row in rows for name in row))
    shape = {name: ' class="text"' if name in _TEXT else "" for name in names}
    lines = ["<div><table><tr>" + "".join(f"<th{shape[name]}>{escape(name)}</th>" for name in names) + "</tr>"]
    for row in rows:
        cells = "".join(f"<td{shape[name]}>{escape(row.get(name, '-'))}</td>" for name in names)
        mark = ' class="product"' if marked and marked in row.values() else ""
        lines.append(f"<tr{mark}>{cells}</tr>")
    return "\n".join([*lines, "</table></div>"])


def main(
    results: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines of the measurements.")] = RESULTS,
    page: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = PAGE,
    drawing: Annotated[Path, typer.Option("--picture", metavar="FILE", help="The curves, SVG or PNG.")] = PICTURE,
) -> None:
    """Draw the report of all results."""
    lines = read_results(results)
    if not lines:
        raise typer.BadParameter(f"results {results}: no measurement yet; make bench makes one")
    page.write_text(report(lines), encoding="utf-8")
    chart = picture(figures(newest(lines)))
    drawing.write_bytes(charts.png(chart) if drawing.suffix == ".png" else charts.svg(chart).encode())
    print(f"{page}\n{drawing}")


if __name__ == "__main__":
    typer.run(main)
