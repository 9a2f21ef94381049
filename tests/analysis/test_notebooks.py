"""The notebooks run, hold no outputs, and what strangers wrote does nothing in them."""

from __future__ import annotations

import html
import os
import re

import nbformat
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from markupsafe import Markup
from nbclient import NotebookClient

from dedup_lib.analysis import side
from dedup_lib.evaluation.tables import FIGURES
from tests.analysis.conftest import HOSTILE
from tests.conftest import ROOT, embedded_only

BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FORGET = (
    "for name in [name for name in globals() if not name.startswith('_') and name not in ('In', 'Out')]:\n    del globals()[name]"
)


def test_there_are_six_without_outputs():
    assert len(BOOKS) == 6
    for path in BOOKS:
        for cell in nbformat.read(path, 4).cells:
            assert cell.cell_type == "code" and not cell.outputs and cell.execution_count is None


@embedded_only
@pytest.mark.parametrize("language", ["zh"])
def test_all_run_and_show_strangers_texts_as_texts(analysed, given, language, monkeypatch):
    store, _ = analysed
    evaluation = given / "evaluation"
    if not evaluation.exists():
        part = {"method": HOSTILE, "setting": "equal", "universe": "all pairs", "kind": "all", "length_band": "all"}
        evaluation.mkdir()
        pq.write_table(pa.Table.from_pylist([part | {"precision": 1.0, "recall": 0.5}], FIGURES), evaluation / "summary.parquet")
    where = {"OUTPUT": store.output, "RUN": "second", "BEFORE": "strict", "EVALUATION": str(evaluation), "LANGUAGE": language}
    for name, value in where.items():
        monkeypatch.setenv(f"DEDUP_{name}", value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    together = nbformat.v4.new_notebook()  # one process for all six: a start takes longer than a notebook
    for path in BOOKS:
        together.cells += [*nbformat.read(path, 4).cells, nbformat.v4.new_code_cell(FORGET)]
    for at, cell in enumerate(together.cells):
        cell["id"] = f"cell-{at}"
    NotebookClient(together, timeout=120, kernel_name="python3").execute()
    shown = [output.get("data", {}).get("text/html", "") for cell in together.cells for output in cell.outputs]
    assert not [output for cell in together.cells for output in cell.outputs if output.output_type == "stream"]
    frames = [page for page in shown if page.startswith("<iframe")]
    assert len(frames) >= 8 and all('sandbox="allow-scripts"' in frame for frame in frames)
    assert all("<script" not in page for page in shown)  # of frames the whole page is an escaped attribute
    for frame in frames:
        page = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
        assert "alert(1)" not in page or "\\u003cscript>alert(1)" in page
        assert page.count("</script>") == 2 and "default-src 'none'" in page
    assert any("&lt;script&gt;alert(1)" in page for page in shown) and not any("\u202e" in page for page in shown)


def test_differences_are_marked_and_nothing_runs():
    left, right = side.sides(f"春天来了{HOSTILE}", "春天走了<b>")
    assert "<del>来</del>" in left and "<ins>走</ins>" in right
    for markup in (left, right):
        text = Markup(re.sub(r"</?(del|ins|span)( class=\"same\")?>", "", markup))
        assert "<" not in text and "\u202e" not in text


def test_a_text_of_a_megabyte_is_shortened():
    left, right = side.sides("长" * 1_000_000, "长" * 1_000_000)
    assert len(left) < 500 and len(right) < 500
