"""The evidence for one row, read from the published tables."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.text import Text

from dedup_lib.diff import ONLY_FIRST, ONLY_SECOND, diff, visible
from dedup_lib.errors import InputError
from dedup_lib.store import RunStore, current_run

SHOWN = 10


class Explanation(NamedTuple):
    """What a run did with a row. ``pairs`` are the audit rows that name it, the decisive one first."""

    doc_id: str
    run_id: str
    outcome: str  # kept, dropped, or quarantine: reason
    cluster: list[str]  # the survivor first; at most SHOWN ids
    cluster_size: int
    pairs: list[dict[str, Any]]
    texts: dict[str, str]


def explain(session: SparkSession, output: str, doc_id: str, run_id: str | None = None) -> Explanation:
    """Find a row in the published (or the named) run. Raises ``InputError`` if the run does not hold it."""
    store = RunStore(session, output, run_id or current_run(output))
    settings = store.read_json("manifest.json")["settings"]["input"]
    pairs = store.table("pairs").where((F.col("doc_id") == doc_id) | (F.col("kept_id") == doc_id))
    decisive = F.col("decision") != "drop"
    mine = F.col("doc_id") != doc_id
    rows = [row.asDict() for row in pairs.orderBy(decisive, mine, F.desc("jaccard"), "doc_id").limit(SHOWN).collect()]
    cluster, size = _cluster(store.table("clusters"), doc_id)
    outcome = _outcome(store, doc_id, settings["columns"], rows)
    wanted = {doc_id, *(i for row in rows for i in (row["doc_id"], row["kept_id"]))}
    return Explanation(doc_id, store.run_id, outcome, cluster, size, rows, store.texts(sorted(wanted), settings))


def _cluster(clusters: DataFrame, doc_id: str) -> tuple[list[str], int]:
    mine = clusters.where(F.col("doc_id") == doc_id).first()
    if mine is None:
        return [], 1
    members = clusters.where(F.col("cluster_id") == mine["cluster_id"])
    ordered = members.orderBy(F.desc("is_survivor"), "doc_id").limit(SHOWN).collect()
    return [row["doc_id"] for row in ordered], members.count()


def _outcome(store: RunStore, doc_id: str, columns: dict[str, str | None], pairs: list[dict[str, Any]]) -> str:
    if any(row["doc_id"] == doc_id and row["decision"] == "drop" for row in pairs):
        return "dropped"
    if store.rows("documents", [doc_id], columns).count():
        return "kept"
    reasons = [row["reason"] for row in store.rows("quarantine", [doc_id], columns).limit(1).collect()]
    if not reasons:
        raise InputError(f"run {store.run_id} has no row {doc_id!r}; ids are compared exactly as the input gave them")
    return f"quarantine: {reasons[0]}"


def print_explanation(found: Explanation, console: Console | None = None) -> None:
    """Print an explanation with a coloured difference for each pair."""
    console = console or Console(highlight=False)
    console.print(Text(f"{visible(found.doc_id)}: {found.outcome}", "bold").append(f"   (run {found.run_id})", "dim"))
    if found.cluster:
        more = f" and {found.cluster_size - len(found.cluster)} more" if found.cluster_size > len(found.cluster) else ""
        members = ", ".join(map(visible, found.cluster[1:]))
        console.print(
            Text(f"cluster of {found.cluster_size}: survivor {visible(found.cluster[0])}; {members}{more}"), soft_wrap=True
        )
    for row in found.pairs:
        _print_pair(row, found.texts, console)
    if found.pairs:
        legend = Text("\n").append("[-only the first text-]", ONLY_FIRST).append(" ").append("{+only the second+}", ONLY_SECOND)
        console.print(legend)


def _print_pair(row: dict[str, Any], texts: dict[str, str], console: Console) -> None:
    verb = {"drop": "dropped for", "review": "for review with", "keep": "kept apart by a verdict from"}[row["decision"]]
    console.print(Text(f"\n{visible(row['doc_id'])} {verb} {visible(row['kept_id'])}", "bold"), soft_wrap=True)
    numbers = {"Jaccard": row["jaccard"], "threshold": row["threshold"], "containment": row["containment"]}
    measures = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items() if value is not None)
    console.print(
        Text(f"method {row['method']}, {measures}, Hamming {row['hamming']}, reason {visible(row['reason'] or '')}"),
        soft_wrap=True,
    )
    console.print(diff(texts.get(row["doc_id"], ""), texts.get(row["kept_id"], "")), soft_wrap=True)
