"""Questions go out, a person answers in a browser, the verdicts come back, and the next run obeys them."""

from __future__ import annotations

import csv
import json
import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from dedup_lib.errors import InputError
from dedup_lib.review.answers import read_answers
from dedup_lib.review.loop import import_answers
from dedup_lib.review.page import inert_json
from dedup_lib.review.questions import PAGE, SHEET, Request, export, pairs_of, question_key
from dedup_lib.review.queue import in_order, once, unanswered
from dedup_lib.review.table import Judgement, read_table, write_table
from dedup_lib.store import RunStore, current_run
from tests.browser import Browser, needs_browser
from tests.conftest import embedded_only
from tests.pages import HOSTILE, INVISIBLE, Seen
from tests.pipeline.helpers import drops, run, run_on, survivors

DOUBTS, DROPS = 4, 2
EVIL = " ".join(HOSTILE)


def articles() -> list[dict]:
    """Pairs of texts: some doubtful, some duplicates. Titles and ids are hostile."""
    draw, rows = random.Random(1), []
    for number in range(DOUBTS + DROPS):
        text = "".join(chr(draw.randrange(0x4E00, 0x9FA5)) for _ in range(200))
        other = "".join(chr(draw.randrange(0x4E00, 0x9FA5)) for _ in range(30 + number))
        changed = text[:80] + other + text[80 + len(other) :] if number < DOUBTS else text[:-6]
        for place, content in enumerate((text, changed)):
            when = datetime(2030, 1, 1) + timedelta(days=place)
            rows.append({"doc_id": f"{EVIL}{number}-{place}", "title": EVIL, "content": content, "publish_time": when})
    return rows


@pytest.fixture(scope="module")
def made(session, tmp_path_factory):
    """The folder of a run with questions, and its tables."""
    folder = tmp_path_factory.mktemp("made")
    tables = run(session, articles(), folder)
    assert (len(tables["review"]), len(tables["dropped"])) == (DOUBTS, DROPS)
    return folder, tables


@pytest.fixture
def first(made, tmp_path):
    """A run with questions, in a folder of the test's own."""
    shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
    return made[1]


def ask(session, tmp_path, **changes) -> tuple[int, int, list[str]]:
    wanted = {"run_id": None, "verdicts": None, "limit": 100, "drops": 0, "language": "en"} | changes
    return export(session, Request(output=str(tmp_path / "output"), folder=str(tmp_path / "asked"), **wanted))


def again(session, tmp_path, verdicts: Path):
    return run_on(session, str(tmp_path / "input"), tmp_path / "output", f"input.verdicts={verdicts}")


@embedded_only
def test_the_page_and_the_sheet_hold_nothing_that_runs(session, tmp_path, first):
    ask(session, tmp_path, drops=9)
    html = (tmp_path / "asked" / PAGE).read_text(encoding="utf-8")
    seen = Seen(html)
    assert seen.dangers() == [] and not INVISIBLE & set(html)
    assert seen.elements.count("script") == 2 and {"img", "svg", "iframe", "link"} & set(seen.elements) == set()
    assert "unsafe" not in html.split("Content-Security-Policy")[1].split(">")[0]
    with open(tmp_path / "asked" / SHEET, encoding="utf-8-sig", newline="") as file:
        lines = list(csv.reader(file))
    assert len(lines) == 1 + DOUBTS + DROPS
    assert not [cell for line in lines for cell in line if cell[:1] in tuple("=+-@\t\r") and cell]


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800", "中"])
def test_json_in_the_page_reads_back(text):
    shown = inert_json([text])
    assert json.loads(shown) == [text] and not set("<>&") & set(shown) and not INVISIBLE & set(shown)
    shown.encode()


@embedded_only
def test_nothing_is_asked_that_is_answered(session, tmp_path, first):
    judged = first["review"][:2]
    rows = [
        Judgement(judged[0]["kept_id"], judged[0]["doc_id"], "not_duplicate"),
        Judgement(judged[1]["doc_id"], None, "protect"),
    ]
    write_table(path := str(tmp_path / "v.parquet"), rows)
    assert ask(session, tmp_path, verdicts=path, drops=9)[:2] == (DOUBTS - 2 + DROPS, DROPS)
    assert ask(session, tmp_path, limit=1)[0] == 1 and ask(session, tmp_path, limit=0)[0] == 0


@embedded_only
def test_what_is_worth_most_comes_first_and_once(session):
    def pair(a, b, jaccard, family=None, relation="same"):
        measures = {"jaccard": jaccard, "containment": 0.5, "threshold": 0.8}
        return {"doc_id": a, "kept_id": b, "relation": relation, "family": family, **measures}

    asked = [
        pair("e", "f", 0.6),
        pair("c", "d", 0.79),
        pair("a", "b", 0.785),
        pair("b", "a", 0.3, relation="contains"),
        pair("g", "h", 0.95, 50),
    ]
    frame = session.createDataFrame(pa.Table.from_pylist(asked).to_pandas().convert_dtypes())
    sizes = session.createDataFrame([("a", 9), ("c", 1)], "doc_id string, cluster_size int")
    rows = in_order(once(frame), sizes).collect()
    assert [(row.doc_id, row.rows) for row in rows] == [("g", 52), ("a", 10), ("c", 2), ("e", 2)]
    nothing = unanswered(
        frame, session.createDataFrame([("d", "c", "duplicate")], "doc_id string, other_id string, verdict string")
    )
    assert "c" not in {row.doc_id for row in nothing.collect()}


@embedded_only
def test_a_key_means_the_same_in_every_engine_and_here(session, tmp_path, first):
    pairs = [(row["doc_id"], row["kept_id"]) for row in first["pairs"]]
    store = RunStore(session, str(tmp_path / "output"), current_run(str(tmp_path / "output")))
    assert pairs_of(store, [question_key(*pair) for pair in pairs]) == {question_key(*pair): pair for pair in pairs}


@embedded_only
@needs_browser
def test_three_pairs_are_judged_by_keyboard_and_the_next_run_obeys(session, tmp_path, first):
    ask(session, tmp_path, drops=1)
    page = (tmp_path / "asked" / PAGE).resolve()
    with Browser(tmp_path) as browser:
        browser.open(page)
        browser.value("document.getElementById('judge').value = '李'")
        title = browser.value("document.getElementById('title0').textContent")
        assert title.startswith("<script>alert(1)</script> {{ 7*7 }}") and "\u202e" not in browser.value(
            "document.body.textContent"
        )
        for key in "sdufd":  # the first skipped, the second judged, taken back and judged anew, the third judged
            browser.press(key)
        browser.open(page)  # what was answered is remembered
        assert browser.value("document.getElementById('progress').value") == 3
        for key in "pfe":  # the fourth protected; the drop is wrong; save
            browser.press(key)
        browser.until("document.getElementById('question').hidden")
        assert browser.complaints == [], "the page asks for something that its policy forbids, or fails"
        saved = tmp_path / f"verdicts-{current_run(str(tmp_path / 'output'))}.json"
        for _ in range(3000):
            if saved.exists():
                break
            browser.value("1")
    found, left = read_answers(str(saved), None, datetime.now(UTC), lambda run_id, questions: {})
    assert [row.verdict for row in found] == ["not_duplicate", "duplicate", "protect", "not_duplicate"] and left == 0
    assert {row.judged_by for row in found} == {"李"} and all(row.judged_at for row in found)

    import_answers(
        "embedded", str(saved), str(verdicts := tmp_path / "v.parquet"), str(tmp_path / "output"), None, False, datetime.now(UTC)
    )
    assert sorted(read_table(str(verdicts))) == sorted(found)
    tables = again(session, tmp_path, verdicts)
    apart, joined, protected, restored = found
    assert drops(tables)[joined.doc_id] == (joined.other_id, "verdict")
    assert {apart.doc_id, protected.doc_id, restored.doc_id} <= survivors(tables) and restored.doc_id in drops(first)
    kept = {
        (row["doc_id"], row["kept_id"]) for row in tables["pairs"] if row["decision"] == "keep" and row["method"] == "verdict"
    }
    assert {(apart.doc_id, apart.other_id), (restored.doc_id, restored.other_id)} <= kept
    assert tables["metrics"]["verdicts"] == {"restored": 1, "joined": 1, "confirmed": 1}


@embedded_only
def test_a_contradiction_stops_the_import_unless_the_latest_shall_win(session, tmp_path, first, capsys):
    row = first["review"][0]
    lines = {
        "question": question_key(row["doc_id"], row["kept_id"]),
        "run_id": "r",
        "doc_id": row["doc_id"],
        "kept_id": row["kept_id"],
    }
    path = tmp_path / "v.parquet"
    write_table(str(path), [Judgement(row["kept_id"], row["doc_id"], "duplicate")])
    with open(sheet := tmp_path / "s.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*lines, "verdict"])
        writer.writeheader()
        writer.writerow(lines | {"verdict": "different"})
    given = ("embedded", str(sheet), str(path), str(tmp_path / "output"), "王")
    with pytest.raises(InputError, match=r"1 verdicts contradict others.*but not_duplicate by 王"):
        import_answers(*given, False, datetime.now(UTC))
    assert [row.verdict for row in read_table(str(path))] == ["duplicate"]
    import_answers(*given, True, datetime.now(UTC))
    assert [row.verdict for row in read_table(str(path))] == ["not_duplicate"]
    assert "the latest wins" in capsys.readouterr().out
