"""The report as HTML: one page without scripts or anything from elsewhere, to read, to print, and to show to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dedup_lib.html import environment, pieces
from dedup_lib.levels import Gates, ShareLevel
from dedup_lib.report.charts import histogram, shares
from dedup_lib.report.facts import BINS, METHODS, Facts, Row
from dedup_lib.report.history import Past
from dedup_lib.report.words import profile_in_words, reason_in_words, run_in_words
from dedup_lib.store import Reading
from dedup_lib.strings import strings

_DIFFERENCE = 800  # characters of a difference
_NOTHING = Reading("", None, None)
_LATER = {"verdicts": {}, "lengths": [], "flags": {}, "templates": {}}  # what metrics of older runs lack


def page(found: Facts, past: Sequence[Past], language: str, refused: str | None = None) -> str:
    """The page of what was found. ``past``: earlier runs, the latest first; ``refused``: why it was not published."""
    t = strings("report", language)
    settings, metrics = found.manifest["settings"], _LATER | found.metrics
    profiles = {name: settings["profiles"][name] for name in found.profiles if name in settings["profiles"]}
    charts = [histogram(found.pairs, name, profile.get("near"), BINS) for name, profile in profiles.items()]
    lengths = metrics["lengths"]
    return environment("dedup_lib.report").get_template("report.html.j2").render(
        t=t, lang={"zh": "zh-CN"}.get(language, language), found=found, metrics=metrics, rows=metrics["rows"], refused=refused,
        manifest=found.manifest, past=past, changes=changes(metrics["rows"], past), stages=stages(metrics),
        methods=[(name, metrics["dropped"][name]) for name in METHODS if name in metrics["dropped"]],
        rules=rules(found.pairs), charts=[chart for chart in charts if chart], gates=gates(found),
        lengths=list(zip(lengths, [*[band["from"] - 1 for band in lengths[1:]], None], strict=True)) if lengths else [],
        samples=[_sample(row, found, language) for row in found.samples],
        questions=[_question(row, language) for row in found.questions],
        seconds=list(zip(metrics["seconds"].items(), shares(_seconds(metrics)), strict=False)),
        profiles={name: profile_in_words(profile, t) for name, profile in profiles.items()}, run=run_in_words(settings, t),
        nothing=_NOTHING, reason_in_words=lambda reason: reason_in_words(reason, t),
    )  # fmt: skip


def _seconds(metrics: Mapping[str, Any]) -> list[float]:
    return [seconds for stage, seconds in metrics["seconds"].items() if stage != "total"]


def changes(rows: Mapping[str, int], past: Sequence[Past]) -> dict[str, int]:
    """What each count has more than in the run before; empty where there is none."""
    return {name: rows[name] - count for name, count in past[0].rows.items()} if past else {}


def stages(metrics: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """The funnel: what is counted, how many rows, how many fewer than before."""
    rows, exact = metrics["rows"], metrics["exact"]
    counts = [("read", rows["input"]), ("comparable", exact["rows"]), ("different", exact["representatives"])]
    counts.append(("survivors", rows["documents"]))
    before = [counts[0][1], *(count for _, count in counts)]
    return [(name, count, earlier - count) for (name, count), earlier in zip(counts, before, strict=False)]


def rules(pairs: Sequence[Row]) -> list[tuple[str, str, int]]:
    """Pairs by decision and the rule that decided, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in pairs:
        counts[row["decision"], row["rule"]] += row["count"]
    order = {"drop": 0, "review": 1, "keep": 2}
    return [(*key, n) for key, n in sorted(counts.items(), key=lambda item: (order.get(item[0][0], 3), -item[1], item[0]))]


def gates(found: Facts) -> list[Row]:
    """What the result had to satisfy; ``told``: value, warning level and limit of each gate."""
    forms = {name: "{:.2%}" if field.annotation is ShareLevel else "{:,.4g}" for name, field in Gates.model_fields.items()}

    def told(gate: Row) -> list[str]:
        return ["–" if gate[name] is None else forms[gate["gate"]].format(gate[name]) for name in ("value", "warn", "fail")]

    def verdict(gate: Row) -> str:
        return "off" if gate["warn"] is gate["fail"] is None else gate["verdict"]

    return [gate | {"told": told(gate), "verdict": verdict(gate)} for gate in found.gates]


def _sample(row: Row, found: Facts, language: str) -> dict[str, Any]:
    ours, theirs = (found.readings.get(row[side], _NOTHING) for side in ("doc_id", "kept_id"))
    difference = pieces(ours.text, theirs.text, _DIFFERENCE, language)
    return row | {"title": ours.title, "kept_title": theirs.title, "pieces": difference, "equal": ours.text == theirs.text}


def _question(row: Row, language: str) -> dict[str, Any]:
    difference = pieces(row["text"] or "", row["kept_text"] or "", _DIFFERENCE, language)
    return row | {"method": "", "decision": "review", "pieces": difference, "equal": row["text"] == row["kept_text"]}
