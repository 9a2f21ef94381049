"""What the notebooks begin with: the run, the language, a guide to read, and a way to show charts that needs no network.

Environment variables say what to look at: DEDUP_OUTPUT (folder of the runs), DEDUP_RUN (default: the published one),
DEDUP_BEFORE (the run to compare with), DEDUP_EVALUATION (a folder of jobs/evaluate.py), DEDUP_LANGUAGE (en or zh), DEDUP_ENGINE.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import pyarrow.parquet as pq
import vl_convert
from IPython.display import display
from markupsafe import Markup
from pyspark.sql import SparkSession

from dedup_lib.analysis import side
from dedup_lib.analysis.what_if import read
from dedup_lib.config import Config
from dedup_lib.diff import visible
from dedup_lib.evaluation.tables import ALL
from dedup_lib.finished import finished_run
from dedup_lib.session import open_session
from dedup_lib.store import RunStore, current_run
from dedup_lib.strings import checked_language, strings

_OPEN = ExitStack()  # the session ends with the notebook's process
_SESSIONS: dict[str, SparkSession] = {}


class Desk(NamedTuple):
    """A run to look at; ``say``: the strings in the reader's language."""

    store: RunStore
    config: Config
    say: Mapping[str, str]

    def table(self, name: str, profile: str | None = None) -> list[dict[str, Any]]:
        """The rows of a small table, of one profile if named."""
        rows = read(self.store.folder, name).to_pylist()
        return [row for row in rows if profile in (None, row["profile"])]

    def profiles(self) -> list[str]:
        """The profiles that the histogram job saw, the one with most drawn texts first."""
        rows = [row for row in self.table("proposals") if row["length_band"] == ALL]
        return [row["profile"] for row in sorted(rows, key=lambda row: (-row["sampled"], row["profile"]))]

    def before(self) -> RunStore | None:
        """The run to compare with: the one named, else the one before; None if there is no other."""
        named = os.environ.get("DEDUP_BEFORE")
        folders = Path(self.store.output, "runs").glob("*/manifest.json")
        others = sorted((path.parent.name for path in folders if path.parent.name != self.store.run_id), key=self._started)
        earlier = [name for name in others if self._started(name) <= self._started(self.store.run_id)]
        chosen = named or (earlier[-1] if earlier else None)
        return RunStore(self.store.session, self.store.output, chosen) if chosen else None

    def _started(self, run_id: str) -> tuple[str, str]:
        return RunStore(None, self.store.output, run_id).read_json("manifest.json")["started"], run_id

    def evaluation(self) -> list[dict[str, Any]]:
        """The whole universes of an evaluation's summary; none if there is no evaluation."""
        folder = os.environ.get("DEDUP_EVALUATION")
        if not folder:
            return []
        rows = pq.read_table(Path(folder, "summary.parquet")).to_pylist()
        return [row for row in rows if row["kind"] == row["length_band"] == ALL]


def open_desk() -> Desk:
    """The run that the environment names, on the engine that it names."""
    language = checked_language(os.environ.get("DEDUP_LANGUAGE", "en"))
    output = os.environ.get("DEDUP_OUTPUT", "out/sample")
    run_id = os.environ.get("DEDUP_RUN") or current_run(output)
    engine = os.environ.get("DEDUP_ENGINE", "embedded")
    if engine not in _SESSIONS:
        _SESSIONS[engine] = _OPEN.enter_context(open_session(engine))
    store, config = finished_run(_SESSIONS[engine], RunStore(None, output, run_id).folder)
    return Desk(store, config, strings("notebooks", language))


def guide(desk: Desk, name: str) -> None:
    """What a notebook shows, how to read it, what to do next."""
    say = desk.say
    run = say["run"].format(run=desk.store.run_id, output=desk.store.output)
    parts = [Markup("<h1>{}</h1><p><small>{}</small></p>").format(say[f"{name}_title"], run)]
    parts += [Markup("<p><b>{}.</b> {}</p>").format(say[part], say[f"{name}_{part}"]) for part in ("shows", "read", "next")]
    _display(Markup().join(parts))


def heading(text: str) -> None:
    """A heading between charts."""
    _display(Markup("<h3>{}</h3>").format(visible(text)))


def _display(markup: Markup) -> None:
    display({"text/html": str(markup)}, raw=True)


_ALONE = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
_PAGE = """<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<script>{library}</script></head><body><div id="chart"></div>
<script>vegaEmbed("#chart", {spec}, {{actions: false}})</script></body></html>"""


@cache
def _library() -> str:
    return vl_convert.javascript_bundle(vl_version=".".join(alt.SCHEMA_VERSION.split(".")[:2]))


def show(desk: Desk, chart: alt.TopLevelMixin | None) -> None:
    """Show a chart, interactive, in a frame of its own that can reach neither the notebook nor the network."""
    if chart is None:
        _display(Markup("<p>{}</p>").format(desk.say["nothing"]))
        return
    spec = json.dumps(chart.to_dict(), ensure_ascii=False).replace("<", "\\u003c")  # so that it cannot end its script
    page = _PAGE.format(policy=_ALONE, library=_library(), spec=spec)
    height = _height(chart) + 30
    frame = Markup('<iframe sandbox="allow-scripts" style="width:100%;height:{}px;border:0" srcdoc="{}"></iframe>')
    _display(frame.format(height, page))


def _height(chart: alt.TopLevelMixin) -> int:
    svg = vl_convert.vegalite_to_svg(chart.to_dict())
    return int(float(svg.split('height="', 1)[1].split('"', 1)[0]))


def show_html(markup: Markup) -> None:
    """Show HTML that was made with everything escaped."""
    _display(markup)


def show_pairs(desk: Desk, rows: list[dict[str, Any]]) -> None:
    """Pairs of ``borderline`` side by side."""
    show_html(side.pairs(rows, desk.say["nothing"]))


def show_table(desk: Desk, rows: list[dict[str, Any]], headings: Mapping[str, str]) -> None:
    """Rows as a table."""
    show_html(side.table(rows, headings, desk.say["nothing"]))
