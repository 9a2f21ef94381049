"""Make the sample data: real articles, hand-made messy rows, and the outcome that is right for each messy row.

    python make_sample.py --source DIR [--out DIR]    all of it
    python make_sample.py [--out DIR]                 only the messy part

DIR of --source holds articles.parquet and pairs_structural.parquet. The same source and the same
pyarrow give the same bytes. Needs pyarrow and pandas.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from article_choice import choose_articles
from messy_decisions import DECISIONS
from messy_dirt import DIRT
from messy_model import DROPPED, DUPLICATE_ID, KEPT, expected_records, input_records

SCHEMA = pa.schema(
    [
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("title", pa.string()),
        ("content", pa.string()),
        ("source", pa.string()),
        ("publish_time", pa.timestamp("us")),
        ("origin", pa.string()),
    ]
)
EXPECTED_COLUMNS = ("doc_id", "outcome", "kept_id", "method", "why")
MESSY = DIRT + DECISIONS


def main() -> None:
    """Parse the command line and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, help="folder with articles.parquet and pairs_structural.parquet")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="default: the folder of this script")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.source:
        write_articles(args.source, args.out / "articles.parquet")
    write_messy(args.out / "messy.parquet")
    write_expected(args.out / "messy_expected.csv")


def write_articles(source: Path, target: Path) -> None:
    """Choose real articles and write them."""
    articles = pq.read_table(source / "articles.parquet", columns=SCHEMA.names).to_pandas()
    pairs = pq.read_table(source / "pairs_structural.parquet", columns=["doc_id_a", "doc_id_b", "label"]).to_pandas()
    chosen = choose_articles(articles, pairs)
    write_parquet(pa.Table.from_pandas(chosen, SCHEMA, preserve_index=False), target)


def write_messy(target: Path) -> None:
    """Write the hand-made rows."""
    write_parquet(pa.Table.from_pylist(list(input_records(MESSY)), SCHEMA), target)


def write_expected(target: Path) -> None:
    """Write the right outcomes as RFC 4180 CSV, one line for each input row."""
    records = list(expected_records(MESSY))
    check_expected(records)
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, EXPECTED_COLUMNS)
        writer.writeheader()
        writer.writerows(records)


def check_expected(records: list[dict]) -> None:
    """Refuse a table that contradicts itself: every dropped row needs a survivor, an id is shared only on purpose."""
    survivors = [r["doc_id"] for r in records if r["outcome"] == KEPT]
    others = [r["doc_id"] for r in records if r["outcome"] not in (KEPT, DUPLICATE_ID)]
    if len(set(survivors + others)) != len(survivors + others):
        raise ValueError("a doc_id stands twice, but not as duplicate_id")
    for record in records:
        is_dropped = record["outcome"] == DROPPED
        if is_dropped != bool(record["kept_id"]) or is_dropped != bool(record["method"]):
            raise ValueError(f"kept_id and method belong to dropped rows alone: {record}")
        if is_dropped and record["kept_id"] not in survivors:
            raise ValueError(f"kept_id is no survivor: {record}")


def write_parquet(table: pa.Table, target: Path) -> None:
    """Write one zstd file without the writer's own Arrow or pandas notes, so that all files look alike."""
    pq.write_table(
        table.replace_schema_metadata(),
        target,
        compression="zstd",
        compression_level=19,
        store_schema=False,
    )


if __name__ == "__main__":
    main()
