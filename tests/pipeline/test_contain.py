"""A text inside a longer one is a question, or falls for the longer one where the profile says so; never the reverse."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import embedded_only
from tests.pipeline.cases import CHARACTERS
from tests.pipeline.helpers import digest, drops, evidence_is_direct, run, survivors

pytestmark = embedded_only  # both engines are compared on the sample and the practitioners' cases

DROP = "profiles.news.contain.action=drop"


class Writer:
    """Sentences of random characters: two share nothing."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def sentences(self, number: int) -> list[str]:
        return ["".join(self.draw.choices(CHARACTERS, k=self.draw.randint(16, 30))) for _ in range(number)]


def text(sentences: Sequence[str]) -> str:
    """Sentences as an article of paragraphs."""
    return "".join(sentence + ("。\n" if number % 4 == 3 else "。") for number, sentence in enumerate(sentences))


def rows(texts: dict[str, str]) -> list[dict]:
    """Rows by id, in the order of priority."""
    start = datetime(2030, 1, 1)
    return [
        {"doc_id": name, "content": content, "publish_time": start + timedelta(hours=number)}
        for number, (name, content) in enumerate(texts.items())
    ]


def contained(tables) -> set[tuple[str, str]]:
    """(shorter, longer) of the review pairs with this relation."""
    return {(row["doc_id"], row["kept_id"]) for row in tables["review"] if row["relation"] == "contains"}


def decisions(tables) -> list[tuple]:
    """The audit: ids, decision, method, relation."""
    return sorted((row["doc_id"], row["kept_id"], row["decision"], row["method"], row["relation"]) for row in tables["pairs"])


def corpus() -> dict[str, str]:
    """Pairs whose names tell their parts; ids in the order of priority, so that some longer texts come later."""
    writer = Writer(1)
    whole = {name: writer.sentences(24) for name in ("cut", "noted", "part", "near", "updated", "short", "quoted", "other")}
    updated = [*whole["updated"][:5], "当日共有132人到场" + "参加活动的人们来自各地"]
    return {
        "cut.shorter": text(whole["cut"][:8] + whole["cut"][16:]),
        "cut.longer": text(whole["cut"]),
        "noted.shorter": text(whole["noted"]),
        "noted.longer": text(whole["noted"] + writer.sentences(14)),
        "part.longer": text(whole["part"]),
        "part.shorter": text(whole["part"][9:16]),
        "near.longer": text(whole["near"]),
        "near.shorter": text(whole["near"][:18]),
        "updated.longer": text([*updated, *writer.sentences(12)]).replace("132", "158"),
        "updated.shorter": text(updated),
        "short.longer": text(whole["short"]),
        "short.shorter": text(whole["short"][:2])[:50],
        "quoted.first": text(whole["quoted"]),
        "quoted.second": text([*whole["other"], *whole["quoted"][3:6]]),
        "copy.first": text(whole["cut"]),  # an exact copy of cut.longer
    }


EXPECTED = {(f"{name}.shorter", f"{name}.longer") for name in ("cut", "noted", "part", "near")}


@pytest.fixture(scope="module")
def reported(session, tmp_path_factory):
    return run(session, rows(corpus()), tmp_path_factory.mktemp("contain"))


def test_parts_are_reported_with_the_longer_text_and_nothing_else_is(reported):
    assert contained(reported) == EXPECTED
    assert len(reported["review"]) == len(EXPECTED)
    assert survivors(reported) == set(corpus()) - {"copy.first"}


def test_the_audit_tells_the_relation_and_the_measure(reported):
    told = {(row["doc_id"], row["kept_id"]): row for row in reported["pairs"]}
    assert {row["relation"] for pair, row in told.items() if pair not in EXPECTED} == {"same"}
    for pair in EXPECTED:
        row = told[pair]
        assert (row["decision"], row["method"], row["relation"], row["threshold"]) == ("review", "near", "contains", 0.9)
        assert row["containment"] >= 0.9 > row["jaccard"]
        assert row["reason"] == f"contains: {row['containment']:.2f} of the shorter text"
    assert 0.7 < told["near.shorter", "near.longer"]["jaccard"] < 0.8


def test_the_longer_text_stays_whichever_came_first(session, tmp_path):
    tables = run(session, rows(corpus()), tmp_path, DROP)
    expected = {shorter: (longer, "near") for shorter, longer in EXPECTED}
    assert drops(tables) == expected | {"copy.first": ("cut.longer", "exact_raw")}
    assert tables["review"] == [] and evidence_is_direct(tables)


def test_nothing_is_looked_for_without_the_setting(session, tmp_path):
    tables = run(session, rows(corpus()), tmp_path, "profiles.news.contain=null")
    assert {row["relation"] for row in tables["pairs"]} == {"same"}
    assert ("near.shorter", "near.longer", "review", "near", "same") in decisions(tables)
    assert "part.shorter" not in {row["doc_id"] for row in tables["pairs"]}


@pytest.mark.parametrize("action", ["review", "drop"])
def test_order_of_rows_and_number_of_files_do_not_matter(session, tmp_path, action):
    given = rows(corpus())
    results = set()
    for files in (1, 5):
        order = random.Random(files).sample(given, len(given))
        tables = run(session, order, tmp_path / str(files), f"profiles.news.contain.action={action}", files=files)
        results.add(digest(tables))
    assert len(results) == 1


def test_a_sentence_that_many_texts_share_brings_nobody_together(session, tmp_path):
    writer = Writer(2)
    (notice,) = writer.sentences(1)
    texts = {f"r{number:03d}": text([*writer.sentences(6), notice]) for number in range(500)}
    tables = run(session, rows(texts), tmp_path, "profiles.news.templates=null")  # else it is learned and taken off
    assert tables["metrics"]["contain"] == {"pairs": 0, "skipped_anchors": 1, "most_rows_of_an_anchor": 500}
    assert tables["pairs"] == []


@pytest.mark.parametrize(("first", "asked"), [(True, 9), (False, 5)])
def test_the_later_row_is_asked_about_so_often_and_no_more(session, tmp_path, first, asked):
    writer = Writer(3)
    whole = writer.sentences(10)
    longer = {f"r{number}": text(whole + writer.sentences(6 + number)) for number in range(9)}
    part = {"part": text(whole)}
    tables = run(session, rows(part | longer if first else longer | part), tmp_path)
    assert contained(tables) == {("part", f"r{number}") for number in range(asked)}  # the nearest are the shortest


def nested(folder: Path, session, *overrides: str, seed: int = 4, **extra: str):
    """``small`` lies in ``middle``, which lies in ``large``; they come in this order, then what else is given."""
    sentences = Writer(seed).sentences(40)
    texts = {"small": text(sentences[:10]), "middle": text(sentences[:20]), "large": text(sentences)}
    return run(session, rows(texts | extra), folder, *overrides)


def test_each_falls_for_the_longest(session, tmp_path):
    tables = nested(tmp_path, session, DROP)
    assert drops(tables) == {"small": ("large", "near"), "middle": ("large", "near")}
    assert evidence_is_direct(tables)


def test_exact_copies_follow(session, tmp_path):
    small = text(Writer(4).sentences(40)[:10])
    tables = nested(tmp_path, session, DROP, copy=small, spaced=f" {small} ")
    assert {name: kept for name, (kept, _) in drops(tables).items()} == dict.fromkeys(
        ("small", "middle", "copy", "spaced"), "large"
    )
    told = {row["doc_id"]: row for row in tables["pairs"]}
    assert {told[name]["relation"] for name in ("small", "copy", "spaced")} == {"contains"}
    assert told["copy"]["jaccard"] == told["small"]["jaccard"] < 0.5
    assert evidence_is_direct(tables)


def test_a_row_that_near_copies_fell_for_stays(session, tmp_path):
    small = text(Writer(4).sentences(40)[:10])
    tables = nested(tmp_path, session, DROP, edited=f"{small}特此说明。")
    assert drops(tables) == {"edited": ("small", "near"), "middle": ("large", "near")}
    assert contained(tables) == {("small", "large")}
    assert evidence_is_direct(tables)


def judged(folder: Path, session, lines: Sequence[str], *overrides: str):
    folder.joinpath("verdicts.csv").write_text("\n".join(["doc_id,other_id,verdict", *lines]) + "\n")
    return nested(folder, session, f"input.verdicts={folder}/verdicts.csv", *overrides)


@pytest.mark.parametrize("line", ["small,large,not_duplicate", "large,small,not_duplicate"])
def test_a_judged_pair_is_not_asked_about_again(session, tmp_path, line):
    tables = judged(tmp_path, session, [line])
    assert contained(tables) == {("small", "middle"), ("middle", "large")}
    assert [row[2:] for row in decisions(tables) if set(row[:2]) == {"small", "large"}] == [("keep", "verdict", "same")]


def test_a_judged_pair_does_not_fall(session, tmp_path):
    tables = judged(tmp_path, session, ["middle,large,not_duplicate"], DROP)
    assert drops(tables) == {"small": ("large", "near")}


def test_a_protected_row_does_not_fall(session, tmp_path):
    tables = judged(tmp_path, session, ["small,,protect"], DROP)
    assert drops(tables) == {"middle": ("large", "near")}
    assert ("small", "large", "keep", "verdict", "contains") in decisions(tables)
    assert tables["review"] == []
