"""What the user reads at the end of a run."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dedup_lib.diff import diff, visible
from dedup_lib.pipeline import Result
from dedup_lib.store import RunStore

EXAMPLES = 3
SHOWN = 500  # characters of an example
_INTERESTING = ("near", "exact_folded", "exact_normalized", "exact_raw", "verdict")  # what to show first


def print_summary(result: Result, console: Console | None = None) -> None:
    """Rows in, kept, dropped by method, review, quarantine; where the tables are; three example pairs."""
    console = console or Console(highlight=False)
    console.print()
    console.print(_figures(result.metrics))
    console.print(f"tables: {result.store.folder}", soft_wrap=True, markup=False)
    for line in _examples(result.store):
        console.print(line, soft_wrap=True)


def _figures(metrics: dict[str, Any]) -> Table:
    rows = metrics["rows"]
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column(justify="right")

    def line(name: str, count: int, of: int = rows["input"]) -> None:
        table.add_row(name, f"{count:,}", f"{count / of:.1%}" if of else "")

    line("rows in", rows["input"])
    line("kept", rows["documents"])
    line("dropped", rows["dropped"])
    for method, count in metrics["dropped"].items():
        line(f"  {method}", count)
    line("quarantine", rows["quarantine"])
    for reason, count in metrics["quarantine"].items():
        line(f"  {reason}", count)
    table.add_row("pairs for review", f"{rows['review']:,}", "")
    seconds = metrics["seconds"]["total"]
    table.add_row("seconds", f"{seconds:,.1f}", f"{rows['input'] / seconds:,.0f} rows/s")
    return table


def _examples(store: RunStore) -> list[Text]:
    """One drop of each method, the most interesting first, with the differences of the two raw texts."""
    pairs = store.table("pairs").where(F.col("decision") == "drop")
    first = pairs.groupBy("method").agg(F.min(F.struct("jaccard", "doc_id")).alias("first"))
    wanted = first.select("method", F.col("first.doc_id").alias("doc_id"))
    chosen = pairs.join(wanted, ["method", "doc_id"]).collect()
    chosen.sort(key=lambda row: _INTERESTING.index(row["method"]))
    settings = store.read_json("manifest.json")["settings"]["input"]
    texts = store.texts([i for row in chosen[:EXAMPLES] for i in (row["doc_id"], row["kept_id"])], settings)
    lines = []
    for row in chosen[:EXAMPLES]:
        head = Text(f"\n{visible(row['doc_id'])} dropped for {visible(row['kept_id'])}: {row['method']}", "bold")
        measures = f", Jaccard {row['jaccard']:.3f} (threshold {row['threshold']:.2f}), Hamming {row['hamming']}"
        lines.append(head.append(measures, "not bold"))
        lines.append(diff(texts[row["doc_id"]], texts[row["kept_id"]], SHOWN))
    return lines
