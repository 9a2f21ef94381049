"""The report of a run: it stands in the run's folder, its figures are those of the tables, strangers' texts stay texts."""

from __future__ import annotations

import json
from datetime import datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.errors import GateRefused
from dedup_lib.pipeline import rebuild
from dedup_lib.report import write_report
from dedup_lib.report.charts import histogram
from dedup_lib.report.history import previous_runs
from dedup_lib.report.page import stages
from dedup_lib.report.words import reason_in_words
from dedup_lib.settings import load_settings
from dedup_lib.store import RunStore, current_run
from dedup_lib.strings import LANGUAGES, strings
from tests.conftest import embedded_only
from tests.pages import HOSTILE, INVISIBLE, Seen
from tests.pipeline.cases import CLINIC, LIBRARY, REWORDED
from tests.pipeline.helpers import LENIENT, write_rows

REVISED = CLINIC.replace("手机上预约，尽量避开晚间", "公众号预约，避开夜间")  # Jaccard 0.70: a question
LINE = "某" * 1_000_000


def rows(evil: str) -> list[dict]:
    """Drops, a question and a row for quarantine, with what nobody should write in every place where a text can stand."""
    return [
        {"doc_id": evil + "a", "title": evil, "source": evil, "content": LIBRARY + evil},
        {"doc_id": evil + "b", "title": evil, "source": evil, "content": REWORDED + evil},
        {"doc_id": evil + "c", "title": evil, "source": evil, "content": CLINIC + evil},
        {"doc_id": evil + "d", "title": evil, "source": evil, "content": REVISED + evil},
        {"doc_id": evil + "e", "title": evil, "source": evil, "content": ""},
    ]


LONG = [
    {"doc_id": "long-1", "title": LINE, "content": LIBRARY + LINE, "publish_time": datetime(2030, 1, 1)},
    {"doc_id": "long-2", "title": LINE, "content": REWORDED + LINE},
]


def run(session, folder, given, *overrides: str, run_id: str = "r1"):
    source = write_rows(given, folder / "input")
    wanted = [f"input.path={json.dumps(str(source))}", f"output.path={folder / 'out'}", LENIENT, *overrides]
    return rebuild(session, load_settings(None, wanted).config, run_id, say=lambda line: None)


def html(result, name: str = "report.html") -> str:
    return open(f"{result.store.folder}/{name}", encoding="utf-8").read()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run over hostile rows, its report in every language."""
    from dedup_lib.session import open_session

    with open_session("embedded") as session:
        result = run(session, tmp_path_factory.mktemp("hostile"), rows(" ".join(HOSTILE)) + LONG)
        pages = {}
        for language in LANGUAGES:
            write_report(result.store, language)
            pages[language] = html(result)
    return pages


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_texts_stay_texts(hostile, language):
    page = hostile[language]
    seen = Seen(page)
    assert seen.dangers() == [] and not INVISIBLE & set(page)
    assert {"script", "img", "svg", "iframe", "link", "object", "form", "base"} & set(seen.elements) == set()
    assert seen.elements.count("style") == 1 and "default-src 'none'" in page
    assert "<script>alert(1)</script>" in seen.words and "7*7" in seen.words
    assert len(page) < 200_000  # a line of a megabyte is shown by its beginning


def test_every_section_is_there_in_every_language(hostile):
    first, *others = (Seen(hostile[language]) for language in LANGUAGES)
    for other in others:
        assert other.elements == first.elements
    places = [value for name, value in first.attributes if name == "href"]
    assert places and {place[1:] for place in places} <= {value for name, value in first.attributes if name == "id"}


@embedded_only  # on Spark: tests/pipeline/test_cases.py
def test_the_figures_are_those_of_the_run(session, tmp_path):
    result = run(session, tmp_path, rows("中"))
    counts = result.metrics["rows"]
    words = Seen(html(result)).words
    assert counts["dropped"] == 1 and counts["review"] == 1 and counts["quarantine"] == 1
    for text in ("5rows read", "3kept", "1dropped", "1pairs for review", "1in quarantine"):
        assert text in words
    assert [count for _, count, _ in stages(result.metrics)] == [5, 4, 4, 3]
    assert sum(band["rows"] for band in result.metrics["lengths"]) == 4


@embedded_only
def test_a_refused_run_has_a_report_that_says_why(session, tmp_path):
    with pytest.raises(GateRefused):
        run(
            session,
            tmp_path,
            rows("中"),
            "gates.quarantine_share.fail=0.01",
            "gates.quarantine_share.warn=0.01",
            "output.language=zh",
        )
    page = (tmp_path / "out" / "runs" / "r1" / "report.html").read_text()
    assert "未发布" in page and "quarantine_share" in page and "未通过" in page


@embedded_only
def test_the_next_run_says_what_changed(session, tmp_path):
    run(session, tmp_path, rows("中")[:4], run_id="r1")
    manifest = tmp_path / "out" / "runs" / "r1" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"started": "2020-01-01T00:00:00+00:00"}))
    for name, content in (("broken", "{"), ("other", '{"rows": 1}')):
        (tmp_path / "out" / "runs" / name).mkdir()
        (tmp_path / "out" / "runs" / name / "metrics.json").write_text(content)
        (tmp_path / "out" / "runs" / name / "manifest.json").write_text(content)
    result = run(session, tmp_path, rows("中"), run_id="r2")
    assert [past.run_id for past in previous_runs(result.store)] == ["r1"]
    assert "+1 than before" in Seen(html(result)).words


@embedded_only
@pytest.mark.parametrize(
    "given",
    [[{"content": LIBRARY}], [{"content": LIBRARY}] * 3, [{"doc_id": "1", "content": ""}], [{"doc_id": "1", "content": "👍"}]],
    ids=["one", "copies", "nothing usable", "too short"],
)
def test_odd_runs_have_a_report(session, tmp_path, given):
    schema = pa.schema([(name, pa.string()) for name in given[0]])
    source = write_rows(given, tmp_path / "input", schema=schema)
    wanted = [f"input.path={source}", f"output.path={tmp_path / 'out'}", LENIENT]
    said = []
    result = rebuild(session, load_settings(None, wanted).config, say=said.append)
    assert not [line for line in said if "could not be written" in line] and "</html>" in html(result)


@embedded_only
def test_no_report_where_none_is_wanted(session, tmp_path):
    result = run(session, tmp_path, rows("中"), "output.report=false")
    assert current_run(str(tmp_path / "out")) == "r1"
    with pytest.raises(FileNotFoundError):
        html(result)
    assert write_report(RunStore(session, str(tmp_path / "out"), "r1")) == "report.html"


BIN = st.fixed_dictionaries(
    {"bin": st.integers(0, 50), "count": st.integers(1, 10**6), "decision": st.sampled_from(["drop", "review", "keep"])}
)


@settings(max_examples=50)
@given(st.lists(BIN, min_size=1))
def test_a_histogram_draws_every_pair_inside_its_frame(bins):
    pairs = [{"method": "near", "relation": "same", "profile": "news", **row} for row in bins]
    near = {"review_jaccard": 0.6, "hamming_jaccard": 0.75, "drop_jaccard": 0.8}
    chart = histogram(pairs, "news", near, 50)
    assert sum(chart.totals.values()) == sum(row["count"] for row in bins)
    drawn = [sum(heights) for _, heights in chart.columns]
    assert max(drawn) == pytest.approx(100) and sum(height > 0 for height in drawn) == len({row["bin"] for row in bins})
    assert all(0 <= place <= 100 for _, _, place in chart.lines) and all(0 <= place <= 100 for _, place in chart.ticks)


def test_equal_texts_are_not_in_the_histogram():
    pair = {"method": "exact_raw", "relation": "same", "profile": "news", "bin": 50, "count": 1, "decision": "drop"}
    assert histogram([pair], "news", None, 50) is None


def test_reasons_are_told_in_words():
    t = strings("report", "en")
    assert reason_in_words("facts_differ in a family of 1,200 rows: A / B", t).endswith("in a family of 1,200 rows: A / B")
    told = reason_in_words("contains: 0.90 of the shorter text", strings("report", "zh"))
    assert told == "一篇包含另一篇：占较短一篇的 0.90"
    assert reason_in_words("<b>", t) == "<b>" and reason_in_words(None, t) == ""
