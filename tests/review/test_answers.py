"""Answers come back through spreadsheets and hands: what they changed is mended or named, never guessed."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime

import pytest

from dedup_lib.errors import InputError
from dedup_lib.review.answers import read_answers
from dedup_lib.review.questions import question_key
from dedup_lib.review.table import Judgement

NOW = datetime(2030, 1, 1, tzinfo=UTC)
IDS = ("007", "=b")
KEY = question_key(*IDS)
HEAD = ["verdict", "doc_id", "kept_id", "question", "run_id"]


def nobody(run_id, questions):
    raise AssertionError("no run is needed where the file holds the ids")


def sheet(path, *lines, head=HEAD, encoding="utf-8-sig", delimiter=","):
    with open(path, "w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([head, *lines])
    return str(path)


def page(path, **changes):
    verdict = {
        "question": KEY,
        "doc_id": IDS[0],
        "kept_id": IDS[1],
        "verdict": "different",
        "judged_at": "2030-01-01T08:00:00+08:00",
    }
    saved = {
        "format": "dedup-verdicts",
        "version": 1,
        "run_id": "r",
        "judged_by": "李",
        "verdicts": [verdict | changes.pop("verdict", {})],
    }
    path.write_text(json.dumps(saved | changes))
    return str(path)


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("duplicate", "duplicate"),
        (" Different ", "not_duplicate"),
        ("重复", "duplicate"),
        ("不同", "not_duplicate"),
        ("P", "protect"),
    ],
)
@pytest.mark.parametrize(("encoding", "delimiter"), [("utf-8-sig", ","), ("gb18030", ","), ("utf-8", ";"), ("utf-8", "\t")])
def test_a_sheet_in_the_words_of_its_reader(tmp_path, word, verdict, encoding, delimiter):
    path = sheet(tmp_path / "s.csv", [word, *IDS, KEY, "r"], ["", *IDS, KEY, "r"], encoding=encoding, delimiter=delimiter)
    found, left = read_answers(path, "王", NOW, nobody)
    assert found == [Judgement(IDS[0], None if verdict == "protect" else IDS[1], verdict, "王", NOW)] and left == 1


def test_ids_that_a_spreadsheet_changed_come_from_the_run(tmp_path):
    path = sheet(tmp_path / "s.csv", ["duplicate", "7", "'=b", KEY, "r"])
    found, _ = read_answers(path, None, NOW, lambda run_id, questions: {KEY: IDS} if (run_id, questions) == ("r", [KEY]) else {})
    assert found == [Judgement(*IDS, "duplicate", None, NOW)]
    with pytest.raises(InputError, match="line 2: question"):
        read_answers(path, None, NOW, lambda run_id, questions: {})


def test_the_file_of_the_page(tmp_path):
    found, _ = read_answers(page(tmp_path / "p.json"), None, NOW, nobody)
    assert found == [Judgement(*IDS, "not_duplicate", "李", NOW)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"verdict": {"verdict": "maybe"}}, "verdicts.0.verdict"), ({"verdict": {"judged_at": "today"}}, "judged_at"),
        ({"verdict": {"doc_id": 7}}, "doc_id"), ({"format": "other"}, "format"), ({"verdicts": None}, "verdicts"),
        ({"verdict": {"judged_at": "2030-01-01T08:00:00"}}, "timezone"),
    ],
)  # fmt: skip
def test_another_file_is_refused_with_the_place(tmp_path, changes, complaint):
    with pytest.raises(InputError, match=complaint):
        read_answers(page(tmp_path / "p.json", **changes), None, NOW, nobody)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "JSON"),
        ("[" * 10**5, "lacks the column"),
        ("{" + '"a":[' * 10**5, "JSON"),
        ("", "lacks the column"),
        ("verdict,x\n", "question"),
    ],
)
def test_nonsense_is_refused(tmp_path, content, complaint):
    (tmp_path / "x").write_text(content)
    with pytest.raises(InputError, match=complaint):
        read_answers(str(tmp_path / "x"), None, NOW, nobody)


def test_every_wrong_line_is_named(tmp_path):
    path = sheet(tmp_path / "s.csv", ["yes", *IDS, KEY, "r"], ["d", *IDS, KEY, "r"], ["\u202eno", *IDS, KEY, "r"])
    with pytest.raises(InputError, match=r"line 2: verdict 'yes'.*line 4: verdict '<U\+202E>no'") as caught:
        read_answers(path, None, NOW, nobody)
    assert "\u202e" not in str(caught.value)
