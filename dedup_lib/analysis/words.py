"""What the histogram job says on the terminal, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from dedup_lib.analysis.tables import ALL
from dedup_lib.diff import visible
from dedup_lib.strings import strings

SURE = 0.9  # share of resamples that must have a valley
_COUNTS = ("dropped", "clusters", "largest", "review_pairs", "guarded_pairs")
_RATES = ("precision", "recall")


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def proposal_lines(made: Mapping[str, pa.Table], folder: str, language: str) -> Iterator[str]:
    """The valleys in words, profile by profile, and what to do next."""
    say = strings("histogram", language)
    rows = made["proposals"].to_pylist()
    sweep = made["threshold_sweep"].to_pylist() if "threshold_sweep" in made else []
    for profile in dict.fromkeys(row["profile"] for row in rows):
        mine = [row for row in rows if row["profile"] == profile]
        whole = next(row for row in mine if row["length_band"] == ALL)
        yield say["head"].format(profile=visible(profile), sampled=f"{whole['sampled']:,}")
        unrelated = whole["unrelated"]
        yield say["no_background"] if unrelated is None else say["background"].format(unrelated=_shown(unrelated))
        yield from (_valley(row, say) for row in mine)
        if (advice := _advice(whole, say)) is not None:
            yield advice
        yield from _best([row for row in sweep if row["profile"] == profile], say)
    yield say["nothing_changed"].format(folder=visible(folder))
    if sweep:
        yield say["next"]


def _valley(row: Mapping[str, Any], say: Mapping[str, str]) -> str:
    band = say["everything"] if row["length_band"] == ALL else say["band"].format(band=row["length_band"])
    if row["valley"] is None:
        return say["none"].format(band=band)
    figures = {name: _shown(row[f"valley_{name}"]) for name in ("lo", "hi")}
    plain = {name: _shown(row[name]) for name in ("plain_lo", "plain_hi", "valley")}
    line = say["valley"].format(band=band, low=figures["lo"], high=figures["hi"], **plain)
    return line + (say["weak"].format(support=f"{row['support']:.0%}") if row["support"] < SURE else "")


def _advice(whole: Mapping[str, Any], say: Mapping[str, str]) -> str | None:
    drop = whole["drop_jaccard"]
    if drop is None:
        return say["exact_only"]
    if whole["valley"] is None:
        return None
    where = "below" if drop < whole["plain_lo"] else "above" if drop > whole["plain_hi"] else "inside"
    return say[where].format(drop=_shown(drop), **{name: _shown(whole[name]) for name in ("valley", "plain_hi")})


def _best(sweep: list[dict[str, Any]], say: Mapping[str, str]) -> Iterator[str]:
    rated = [row for row in sweep if row["f1"] is not None]
    if rated:
        best = max(rated, key=lambda row: (row["f1"], row["threshold"]))
        equal = [row["threshold"] for row in rated if row["f1"] == best["f1"]]
        plain = f" ({_shown(min(equal))} - {_shown(max(equal))})" if len(equal) > 1 else ""
        if best is rated[0]:
            plain += say["edge"]
        names = [f"{rate}{end}" for rate in _RATES for end in ("", "_lo", "_hi")]
        figures = {name: "-" if best[name] is None else f"{best[name]:.3f}" for name in (*names, "f1")}
        yield say["best"].format(threshold=_shown(best["threshold"]), plain=plain, **figures)


def what_if_lines(answer: Mapping[str, Any], language: str) -> Iterator[str]:
    """What another threshold would have done: the answer of ``what_if.what_if`` in words."""
    say = strings("histogram", language)
    for row in answer["profiles"]:
        now, then = row["now"], row["then"]
        yield say["what_if"].format(profile=visible(row["profile"]), at=_shown(then["threshold"]), now=_shown(now["threshold"]))
        if now["threshold"] == then["threshold"]:
            yield say["same"]
        for name in _COUNTS:
            yield f"  {now[name]:>12,} -> {then[name]:>12,}  {then[name] - now[name]:>+10,}  {say[name]}"
        for name in _RATES:
            if then[name] is not None and now[name] is not None:
                yield f"  {now[name]:>12.4f} -> {then[name]:>12.4f}  {then[name] - now[name]:>+10.4f}  {say[name]}"
        yield from _changes(row, say)
        numbers = {"low": _shown(row["lowest"]), "at": _shown(then["threshold"]), "now": _shown(now["threshold"])}
        yield say["range"].format(found=f"{then['found']:.4f}", **numbers)


def _changes(row: Mapping[str, Any], say: Mapping[str, str]) -> Iterator[str]:
    if not row["pairs"]:
        yield say["no_pairs"]
        return
    key = "newly_dropped" if row["then"]["threshold"] < row["now"]["threshold"] else "newly_kept"
    yield say[key].format(pairs=f"{row['pairs']:,}")
    for pair in row["examples"]:
        ids = f"{visible(pair['doc_id'])} / {visible(pair['other_id'])}"
        yield f"    {pair['jaccard']:.3f}  {ids}  {visible(pair['title'] or '')} | {visible(pair['other_title'] or '')}"
