"""A small corpus with copies of every degree, run once and analysed once."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dedup_lib.analysis.histogram import Request, analyse
from dedup_lib.finished import finished_run
from dedup_lib.pipeline import rebuild
from dedup_lib.settings import load_settings
from tests.conftest import SAMPLE
from tests.pipeline.helpers import LENIENT, UNREPORTED, write_rows

HOSTILE = '<script>alert(1)</script></textarea>=1+1\u202e"&'
LETTERS = "风云山水花鸟虫鱼春夏秋冬"


def corpus() -> list[dict[str, Any]]:
    """Real articles, and copies of them in which more and more letters are others."""
    draw = random.Random(7)
    real = pq.read_table(SAMPLE / "articles.parquet", columns=["content"])["content"].to_pylist()
    bodies = [text for text in real if 300 < len(text) < 900][:60]
    rows = [
        {"doc_id": f"a{at}", "title": f"第{at}篇", "content": text, "source": f"site{at % 5}"} for at, text in enumerate(bodies)
    ]
    for at, text in enumerate(bodies[:30]):
        letters = list(text)
        for place in draw.sample(range(len(letters)), len(letters) * at // 250):
            letters[place] = draw.choice(LETTERS)
        title = HOSTILE if 7 < at < 13 else None
        rows.append(
            {"doc_id": f"b{at}{HOSTILE if at == 21 else ''}", "title": title, "content": "".join(letters), "source": "copyist"}
        )
    rows += [{"doc_id": f"c{at}", "content": bodies[at], "source": HOSTILE} for at in range(3)]
    return rows


def settings(folder: Path, output: Path, *more: str):
    """The settings of a run over the corpus."""
    return load_settings(None, [f"input.path={folder}", f"output.path={output}", LENIENT, UNREPORTED, *more]).config


@pytest.fixture(scope="session")
def given(tmp_path_factory) -> Path:
    """The corpus as files, and labels beside it."""
    folder = tmp_path_factory.mktemp("desk")
    write_rows(corpus(), folder / "input")
    lines = [
        "doc_id,other_id,label",
        *[f"a{at},b{at},duplicate" for at in range(20)],
        *[f"a{at},a{at + 1},different" for at in range(20)],
    ]
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="session")
def analysed(session, given):
    """A run of the corpus with the tables of the analysis; embedded only."""
    output = given / "out"
    if not output.exists():
        silent = {"say": lambda line: None}
        rebuild(session, settings(given / "input", output, "profiles.news.near.drop_jaccard=0.9"), "strict", **silent)
        rebuild(session, settings(given / "input", output), "second", **silent)
        analyse(*finished_run(session, str(output)), Request(sample=50, labels=str(given / "labels.csv")), **silent)
    return finished_run(session, str(output))
