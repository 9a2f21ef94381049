"""Pairwise precision, recall and F1 of a clustering against the true one, counted without listing pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from bench.modes import ORIGINAL


def read_truth(path: str) -> pa.Table:
    """``doc_id``, ``cluster_id`` and ``kind`` (null where not given) of a Parquet or CSV file, or a folder of Parquet files."""
    table = pa.csv.read_csv(path) if path.endswith(".csv") else pq.read_table(path)
    if missing := {"doc_id", "cluster_id"} - set(table.column_names):
        raise ValueError(f"truth {path}: needs the columns doc_id and cluster_id, {' and '.join(sorted(missing))} missing")
    kinds = table["kind"] if "kind" in table.column_names else pa.nulls(len(table))
    columns = {"doc_id": table["doc_id"], "cluster_id": table["cluster_id"], "kind": kinds}
    return pa.table({name: column.cast(pa.string()) for name, column in columns.items()})


def read_run(folder: Path) -> pa.Table:
    """``doc_id`` and ``cluster_id`` of the rows of a finished run that share their cluster; the others are alone."""
    return pq.read_table(folder / "clusters", columns=["doc_id", "cluster_id"])


def read_asked(folder: Path) -> pa.Array:
    """Ids of the rows about which a finished run asks a person."""
    pairs = pq.read_table(folder / "review", columns=["doc_id", "kept_id"])
    return pa.concat_arrays([pairs["doc_id"].combine_chunks(), pairs["kept_id"].combine_chunks()])


def quality(found: pa.Table, truth: pa.Table, asked: pa.Array | None = None) -> dict[str, object]:
    """Pairs of ``truth`` that ``found`` has too. Both: ``doc_id``, ``cluster_id``; rows that ``found`` lacks are alone.

    Precision and recall are null where there is nothing to be precise about. ``joined_by_kind``: for each kind of copy the
    share of rows that are in the cluster of their original. ``asked``: ids of rows about which a person is asked; then
    ``joined_or_asked_by_kind`` counts those as well.
    """
    place = pc.index_in(truth["doc_id"], pa.array(found["doc_id"].combine_chunks()))
    mine = found["cluster_id"].take(place)
    clusters = pc.fill_null(mine.combine_chunks().dictionary_encode().indices, -1).to_numpy().astype(np.int64)
    alone = clusters < 0
    clusters[alone] = np.arange(len(clusters))[alone] + len(clusters)
    true = truth["cluster_id"].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    both = true * (2 * len(clusters) + 1) + clusters
    hits, stated, real = (_pairs(labels) for labels in (both, clusters, true))
    originals = both[np.array(pc.fill_null(pc.equal(truth["kind"], ORIGINAL), False))]
    joined = np.isin(both, originals)
    waiting = joined if asked is None else joined | np.array(pc.is_in(truth["doc_id"], asked))
    return {
        "true_pairs": real,
        "found_pairs": stated,
        "right_pairs": hits,
        "precision": hits / stated if stated else None,
        "recall": hits / real if real else None,
        "f1": 2 * hits / (stated + real) if stated + real else None,
        "joined_by_kind": _by_kind(joined, truth["kind"]),
        "joined_or_asked_by_kind": None if asked is None else _by_kind(waiting, truth["kind"]),
    }


def _pairs(labels: np.ndarray) -> int:
    """Pairs of rows with one label."""
    sizes = np.unique(labels, return_counts=True)[1].astype(object)  # of a cluster of five billion rows 64 bits are too few
    return int((sizes * (sizes - 1) // 2).sum()) if len(sizes) else 0


def _by_kind(yes: np.ndarray, kinds: pa.ChunkedArray) -> dict[str, float]:
    """For each kind of copy the share of its rows for which ``yes`` holds, rounded to four digits."""
    names = np.array(kinds.to_pylist(), dtype=object)
    copies = sorted({name for name in names if name not in (None, ORIGINAL)})
    return {name: round(float(yes[names == name].mean()), 4) for name in copies}
