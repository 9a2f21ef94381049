"""Make a corpus with known duplicates: seeded, of any size, in bounded memory; same arguments, same bytes.

    python -m bench.corpus --mode mixed --rows 20000 --seed 1 --output DIR

Writes DIR/corpus/part-*.parquet (doc_id, url, title, content, source, publish_time; the rows of a cluster are scattered over
the files) and DIR/truth.parquet (doc_id, cluster_id, kind).
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from bench.modes import MODES, Row

CORPUS = pa.schema(
    {
        "doc_id": pa.string(), "url": pa.string(), "title": pa.string(), "content": pa.string(), "source": pa.string(),
        "publish_time": pa.timestamp("us"),
    }
)  # fmt: skip
TRUTH = pa.schema({"doc_id": pa.string(), "cluster_id": pa.string(), "kind": pa.string()})
_BATCH = 8192  # rows held at once, and rows of a row group
_SOURCES = [place + kind for place in "东南西北中" for kind in ("方网", "城日报", "部晚报", "岸在线", "区时报")]


class Corpus(NamedTuple):
    """Where a corpus lies. ``truth`` is null where nobody knows it."""

    files: str  # glob
    truth: str | None


def make_corpus(mode: str, rows: int, seed: int, output: Path, files: int = 8) -> Corpus:
    """Write a corpus of ``rows`` rows into ``output``, in ``files`` files."""
    stream = MODES[mode](rows, seed)
    rng = np.random.default_rng([seed, 3])
    folder = output / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_Part(folder / f"part-{number:03d}.parquet") for number in range(files)]
    with pq.ParquetWriter(output / "truth.parquet", TRUTH, compression="zstd") as truth:
        first = 0
        while batch := list(islice(stream, _BATCH)):
            ids = _ids(first, len(batch), seed)
            truth.write_table(_truth(batch, ids))
            table = _documents(batch, ids, rng)
            place = rng.integers(0, files, len(batch))
            for number, part in enumerate(parts):
                part.add(table.take(np.flatnonzero(place == number)))
            first += len(batch)
    for part in parts:
        part.close()
    return Corpus(str(folder / "*.parquet"), str(output / "truth.parquet"))


class _Part:
    """One file of the corpus, written in whole row groups."""

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(path, CORPUS, compression="zstd")
        self._waiting: list[pa.Table] = []

    def add(self, table: pa.Table) -> None:
        self._waiting.append(table)
        if sum(map(len, self._waiting)) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting.clear()

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _ids(first: int, count: int, seed: int) -> list[str]:
    """Hexadecimal ids: the numbers of the rows through a bijection (splitmix64), so that none occurs twice."""
    number = np.arange(first, first + count, dtype=np.uint64) + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number = (number ^ (number >> np.uint64(shift))) * np.uint64(factor)
    return [f"{value:016x}" for value in (number ^ (number >> np.uint64(31))).tolist()]


def _documents(batch: list[Row], ids: list[str], rng: np.random.Generator) -> pa.Table:
    sources = pa.DictionaryArray.from_arrays(rng.integers(0, len(_SOURCES), len(batch)).astype(np.int32), _SOURCES)
    columns = [
        pa.array(ids),
        pa.array([f"https://news.example.cn/{name[:4]}/{name}.html" for name in ids]),
        pa.array([row.title for row in batch]),
        pa.array([row.content for row in batch]),
        sources.cast(pa.string()),
        pa.array(np.array([row.published for row in batch], np.int64) * 1_000_000).cast(pa.timestamp("us")),
    ]
    return pa.table(columns, schema=CORPUS)


def _truth(batch: list[Row], ids: list[str]) -> pa.Table:
    clusters = pa.array([row.cluster for row in batch], pa.int64()).cast(pa.string())
    return pa.table([pa.array(ids), clusters, pa.array([row.kind for row in batch])], schema=TRUTH)


def main(
    output: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the corpus and its truth.")],
    mode: Annotated[str, typer.Option(help=", ".join(MODES))] = "mixed",
    rows: Annotated[int, typer.Option(min=2, help="How many rows.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another corpus.")] = 1,
    files: Annotated[int, typer.Option(min=1, help="Files of the corpus.")] = 8,
) -> None:
    """Make a corpus with known duplicates."""
    if mode not in MODES:
        raise typer.BadParameter(f"mode {mode!r}: choose one of {', '.join(MODES)}")
    corpus = make_corpus(mode, rows, seed, output, files)
    print(f"{rows:,} rows: {corpus.files}, truth {corpus.truth}")


if __name__ == "__main__":
    typer.run(main)
