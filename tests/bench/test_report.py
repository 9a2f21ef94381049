"""The fit and the page, from results written by hand."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.fit import fit
from bench.report import figures, main, newest, read_results, report

SIZES = (1_000, 5_000, 20_000, 100_000)
MACHINE = {
    "processor": "A <b>fast</b> one",
    "cores": 2,
    "memory_bytes": 2**34,
    "system": "Linux",
    "python": "3.11",
    "packages": {},
}


@given(st.floats(0, 60), st.floats(1e-6, 1e-3), st.floats(0.5, 2.0))
def test_a_curve_without_noise_is_found_again(fixed, factor, exponent):
    found = fit(SIZES, [fixed + factor * rows**exponent for rows in SIZES])
    growth = factor * SIZES[-1] ** exponent
    if growth > 0.6 * fixed:  # otherwise the rows hardly show in the seconds
        assert found.exponent == pytest.approx(exponent, abs=0.05)
        assert found.seconds(SIZES[-1]) == pytest.approx(fixed + growth, rel=0.01)


@given(st.lists(st.floats(0.1, 1e5), min_size=4, max_size=4))
def test_neither_part_is_negative(seconds):
    found = fit(SIZES, seconds)
    assert found is None or (found.fixed >= 0 and found.factor > 0)


def test_no_exponent_is_read_from_noise():
    assert fit([2_000, 5_000, 20_000], [111.9, 93.2, 110.5]) is None


def test_two_sizes_are_too_few():
    assert fit([1000, 1000, 2000], [1, 1, 2]) is None
    assert fit([], []) is None


def line(rows: int, seconds: float, made: str = "2026-01-01T00:00:00Z", **other: object) -> dict[str, object]:
    good = {"precision": 1.0, "recall": 0.9, "f1": 0.947, "joined_by_kind": {}}
    cost = {
        "wall_seconds": seconds, "cpu_seconds": seconds, "peak_memory_bytes": 10**9 + rows, "peak_disk_bytes": 10**6,
        "rows_per_second": rows / seconds, "mb_per_second": 1.0, "quality": good,
    }  # fmt: skip
    run = cost | {
        "shuffle_bytes": None, "spilled_bytes": None, "candidate_pairs": 10, "verified_pairs": 5,
        "stages": {"read": 0.1, "normalize": seconds / 2, "settle": seconds / 4, "total": seconds},
    }  # fmt: skip
    peers = [cost | {"name": "<script>alert(1)</script>", "version": "1 & 2"}, {"name": "x", "version": None, "skipped": "a < b"}]
    about = {"mode": "mixed", "seed": 1, "rows": rows, "bytes": 100 * rows}
    told = {"made": made, "commit": "abc", "changed": True, "machine": MACHINE, "corpus": about, "engine": "embedded"}
    return told | {"settings": [], "run": run, "peers": peers} | other


LINES = [line(rows, 3 + rows * 0.001) for rows in SIZES]


class Page(HTMLParser):
    """Notes what a page would fetch or run, and whether its elements close in order."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open, self.foreign, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.foreign += [tag] if tag in ("script", "link", "img", "iframe") else []
        self.foreign += [value for name, value in attrs if name in ("src", "href", "xlink:href") and not value.startswith("#")]
        self.open += [] if tag in self.VOID else [tag]

    def handle_startendtag(self, tag, attrs):
        self.foreign += [value for name, value in attrs if name in ("src", "href", "xlink:href") and not value.startswith("#")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_is_complete_escaped_and_fetches_nothing():
    page = Page()
    page.feed(report(LINES))
    page.close()
    assert (page.open, page.foreign) == ([], [])
    assert "<script>alert(1)</script>" in page.text  # as text
    assert "A <b>fast</b> one" in page.text
    assert "x is left out: a < b" in page.text
    assert "seconds grow as rows^1.00" in page.text


def test_a_page_of_one_result_without_truth_is_possible():
    alone = line(300, 5.0)
    alone["run"]["quality"] = None
    alone["peers"] = []
    assert "<svg" in report([alone])


def test_figures_are_of_the_newest_results_of_one_machine():
    other = line(1_000, 9.0, "2026-01-02T00:00:00Z", machine=MACHINE | {"cores": 64})
    again = line(1_000, 7.0, "2026-01-03T00:00:00Z")
    chosen = figures(newest([*LINES, other, again]))
    assert [found["run"]["wall_seconds"] for found in chosen] == [7.0, *(found["run"]["wall_seconds"] for found in LINES[1:])]


def test_files_are_written(tmp_path):
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(found) + "\n" for found in LINES), "utf-8")
    assert read_results(results) == LINES
    main(results, tmp_path / "report.html", tmp_path / "curves.svg")
    main(results, tmp_path / "report.html", tmp_path / "curves.png")
    assert ElementTree.parse(tmp_path / "curves.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
