"""The result as tables: ``summary`` and ``sweep`` (one row for each method, setting and part of a universe), ``wrong``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.evaluation.methods import YES_NO, Documents, Method
from dedup_lib.evaluation.metrics import Counts, best_step, counts, rates
from dedup_lib.evaluation.sheet import write_sheet
from dedup_lib.evaluation.universe import Shape, Suspects
from dedup_lib.kernels.simhash import hamming
from dedup_lib.kernels.similarity import compare_texts

ALL = "all"
LEXICAL = ", expect = drop"  # of both rows
_RATES = ("precision", "precision_lo", "precision_hi", "recall", "recall_lo", "recall_hi", "f1")
_PART = (
    ("method", pa.string()), ("setting", pa.string()), ("threshold", pa.float64()), ("universe", pa.string()),
    ("kind", pa.string()), ("length_band", pa.string()),
)  # fmt: skip
_COUNTS = tuple((name, pa.int64()) for name in ("pairs", "tp", "fp", "fn"))
FIGURES = pa.schema([*_PART, *_COUNTS, *((name, pa.float64()) for name in _RATES)])
WRONG = pa.schema(
    [
        ("suspicion", pa.string()), ("doc_id", pa.string()), ("other_id", pa.string()), ("label", pa.string()),
        ("jaccard", pa.float64()), ("containment", pa.float64()), ("hamming", pa.int64()), ("decision", pa.string()),
        ("title", pa.string()), ("other_title", pa.string()), ("text", pa.string()), ("other_text", pa.string()),
    ]
)  # fmt: skip
WORST = 100  # of either suspicion
SHOWN = 1_000  # characters of a text


def parts(shape: Shape, tally: np.ndarray) -> Iterator[tuple[str, str, str, Counts]]:
    """Universe, kind, length band and counts of each part: the whole, each kind, each band; then the same of lexical pairs."""
    views = [(shape.name, tally)]
    if tally[:, :, 0].any():
        views.append((shape.name + LEXICAL, tally[:, :, 1:]))
    for universe, view in views:
        cut = {(ALL, ALL): view}
        cut |= {(kind, ALL): view[:, at : at + 1] for at, kind in enumerate(shape.kinds)}
        cut |= {(ALL, band): view[:, :, :, at : at + 1] for at, band in enumerate(shape.bands)}
        for (kind, band), piece in cut.items():
            if piece.any():
                yield universe, kind, band, counts(piece)


def _row(method: Method, setting: str, step: int, part: tuple[str, str, str, Counts]) -> dict[str, Any]:
    universe, kind, band, counted = part
    tp, fp = int(counted.tp[step]), int(counted.fp[step])
    return {
        "method": method.name, "setting": setting, "threshold": method.threshold(step), "universe": universe, "kind": kind,
        "length_band": band, "pairs": counted.duplicates + counted.different, "tp": tp, "fp": fp, "fn": counted.duplicates - tp,
    } | rates(tp, fp, counted.duplicates, counted.different)._asdict()  # fmt: skip


def summary(methods: Sequence[Method], shape: Shape, tallies: Sequence[np.ndarray]) -> pa.Table:
    """Every method at its reported settings and, marked ``best``, at the one with the highest F1 on these very labels."""
    rows = []
    for method, tally in zip(methods, tallies, strict=True):
        best: dict[str, int | None] = {}
        for part in parts(shape, tally):
            step = best.setdefault(part[0], best_step(part[3]))  # a universe begins with the whole of it
            rows += [_row(method, setting, step, part) for setting, step in method.reported]
            if method.scale != YES_NO and step is not None:
                rows.append(_row(method, f"{method.setting(step)} (best)", step, part))
    return pa.Table.from_pylist(rows, FIGURES)


def sweep(methods: Sequence[Method], shape: Shape, tallies: Sequence[np.ndarray]) -> pa.Table:
    """Every method that has thresholds, at each of them, loosest first."""
    rows = [
        _row(method, method.setting(step), step, part)
        for method, tally in zip(methods, tallies, strict=True)
        if method.scale != YES_NO
        for part in parts(shape, tally)
        for step in range(method.steps)
    ]
    return pa.Table.from_pylist(rows, FIGURES)


def wrong(suspects: Suspects, documents: Documents, ngram: int, drop_percent: int) -> pa.Table:
    """The pairs whose labels disagree most with their Jaccard similarity, worst first: where wrong labels are found."""
    far = [pair for pair in sorted(suspects.far) if pair[0] < drop_percent][:WORST]
    near = [pair for pair in sorted(suspects.near, key=lambda p: (-p[0], *p[1:])) if pair[0] >= drop_percent][:WORST]
    first, second = (np.array([pair[side] for pair in [*far, *near]], np.int64) for side in (1, 2))
    texts = documents.text
    jaccard, containment = compare_texts(texts.take(pa.array(first)), texts.take(pa.array(second)), ngram)
    together = {frozenset(pair) for pair in documents.review}
    rows = []
    for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        ours, theirs = int(documents.cluster[a]), int(documents.cluster[b])
        asked = "review" if frozenset((ours, theirs)) in together else "apart"
        rows.append({
            "suspicion": "labelled duplicate, far" if at < len(far) else "labelled different, near",
            "doc_id": documents.ids[a], "other_id": documents.ids[b],
            "label": "duplicate" if at < len(far) else "different",
            "jaccard": jaccard[at], "containment": containment[at],
            "hamming": int(hamming(documents.simhash[a], documents.simhash[b])),
            "decision": "one cluster" if ours == theirs else asked,
            "title": documents.title[a], "other_title": documents.title[b],
            "text": documents.content[a][:SHOWN], "other_text": documents.content[b][:SHOWN],
        })  # fmt: skip
    return pa.Table.from_pylist(rows, WRONG)


def write(table: pa.Table, folder: Path, name: str, as_csv: bool = True) -> None:
    """Write a table as Parquet and, for people, as CSV that a spreadsheet opens without running anything in it."""
    pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    if as_csv:
        with (folder / f"{name}.csv").open("w", encoding="utf-8-sig", newline="") as file:
            write_sheet(table, file)
