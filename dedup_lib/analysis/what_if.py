"""What another threshold would have done, from the tables of an analysed run: no engine, no text is compared again."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as dataset

from dedup_lib.analysis.words import what_if_lines
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.store import RunStore, current_run
from dedup_lib.strings import checked_language

EXAMPLES = 5


def run_folder(output: str, run_id: str | None) -> str:
    """The folder of the named or the published run. Raises ``ConfigError`` for a name that is none."""
    return RunStore(None, output, run_id or current_run(output)).folder


def answer(output: str, run_id: str | None, at: float, language: str) -> None:
    """Say what ``drop_jaccard = at`` would have done."""
    checked_language(language)
    for line in what_if_lines(what_if(run_folder(output, run_id), at), language):
        print(line)


def read(folder: str, name: str, columns: list[str] | None = None, where: pc.Expression | None = None) -> pa.Table:
    """A table of a run's folder. Raises ``InputError`` where it is missing."""
    path = os.path.join(folder, name)
    if not os.path.isdir(path):
        raise InputError(f"{path}: no such table; run jobs/histogram.py on this run first")
    return dataset.dataset(path, format="parquet").to_table(columns=columns, filter=where)


def what_if(folder: str, at: float) -> dict[str, Any]:
    """For each profile the sweep's row at ``at`` beside the run's own, and the pairs between the two thresholds.

    Raises ``ConfigError`` for a threshold at which nothing is known.
    """
    rows = read(folder, "threshold_sweep").to_pylist()
    answers, problems = [], []
    for profile in sorted({row["profile"] for row in rows}):
        mine = sorted((row for row in rows if row["profile"] == profile), key=lambda row: row["threshold"])
        if len(mine) < 2:
            continue  # compared exactly only
        lowest = mine[0]["threshold"]
        if not lowest <= at <= 1:
            problems.append(
                f"--at {at:g}: profile {profile} knows thresholds from {lowest:g} to 1; pairs below its review_jaccard are not "
                f"stored: lower it and run again to see further down"
            )
            continue
        now = next(row for row in mine if row["current"])
        then = min(mine, key=lambda row: (abs(row["threshold"] - at), row["threshold"]))
        answers.append({"profile": profile, "now": now, "then": then, "lowest": lowest, **_between(folder, profile, now, then)})
    if not answers:
        raise ConfigError(problems or f"{folder}: no profile of this run has a threshold")
    return {"profiles": answers}


def _between(folder: str, profile: str, now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """The stored pairs whose fate hangs on the change, and those nearest to the run's threshold as examples."""
    low, high = sorted((now["threshold"], then["threshold"]))
    lowered = then["threshold"] < now["threshold"]
    names = ["doc_id", "other_id", "jaccard"]
    chosen = (pc.field("profile") == profile) & (pc.field("jaccard") >= low) & (pc.field("jaccard") < high)
    chosen &= (pc.field("outcome") == (2 if lowered else 1)) & (pc.field("relation") == "same")
    chosen &= pc.field("reason") == ("below_threshold" if lowered else "jaccard")
    pairs = read(folder, "scores", names, chosen)
    order = [("jaccard", "descending" if lowered else "ascending"), ("doc_id", "ascending"), ("other_id", "ascending")]
    shown = pairs.sort_by(order).slice(0, EXAMPLES).to_pylist()
    ids = pa.array([pair["doc_id"] for pair in shown], pa.string())
    titled = read(folder, "borderline", ["doc_id", "other_id", "title", "other_title"], pc.field("doc_id").isin(ids))
    titles = {(row["doc_id"], row["other_id"]): row for row in titled.to_pylist()}
    nothing = {"title": None, "other_title": None}
    return {
        "pairs": pairs.num_rows,
        "examples": [nothing | pair | titles.get((pair["doc_id"], pair["other_id"]), {}) for pair in shown],
    }
