"""Write docs/tables.md, the reference of all tables, from dedup_lib/schemas.py.

python tools/tables.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dedup_lib.analysis.tables import ANALYSIS
from dedup_lib.run_history import RUN_HISTORY
from dedup_lib.schemas import ALL_TABLES, PUBLISHED
from dedup_lib.tables import Table


def reference() -> str:
    """The page as Markdown: published tables first, then those that live as long as a run."""
    lines = [
        "# Tables",
        "",
        "Made from `dedup_lib/schemas.py` by `python tools/tables.py`. *raw* stands for the input's own columns.",
    ]
    others = [table for table in ALL_TABLES if table not in PUBLISHED]
    for title, tables in (
        ("Published, for each run", PUBLISHED),
        ("Made from a run by jobs/histogram.py", ANALYSIS),
        ("Beside the runs", [RUN_HISTORY]),
        ("Input and work tables", others),
    ):
        lines += ["", f"## {title}"]
        for table in tables:
            lines += ["", f"### {table.name}", "", f"{table.meaning}.", "", *_columns(table)]
    return "\n".join(lines) + "\n"


def _columns(table: Table) -> list[str]:
    raw = ["| *raw* | | as they came in |"] if table.raw else []
    own = [f"| {column.name} | {column.type} | {column.meaning} |" for column in table.columns]
    return ["| column | type | meaning |", "| --- | --- | --- |", *raw, *own]


if __name__ == "__main__":
    (ROOT / "docs" / "tables.md").write_text(reference(), encoding="utf-8")
