"""A seeded sample of texts against all others: how often each similarity occurs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.analysis.tables import ALL
from dedup_lib.config import Config
from dedup_lib.evaluation.universe import band_names
from dedup_lib.kernels.against import BAND_EDGES, BANDS, MEASURES, Few, add_pairs, empty_tally, few
from dedup_lib.schemas import PROFILE, Column, Table
from dedup_lib.stages.bridge import arrow_schema, pieces, to_batch

BAND_NAMES = band_names(BAND_EDGES)
_TALLY = Table(
    "tally",
    "pairs of the drawn texts with the texts of a partition",
    (
        PROFILE,
        Column("text", "int", "which of the drawn texts"),
        Column("drawn", "boolean", "whether the other text was drawn too"),
        Column("band", "int", "number of the length band"),
        Column("step", "int", "step of a measure, see kernels/against.py"),
        Column("count", "bigint", "pairs"),
    ),
)


class Sample(NamedTuple):
    """``tallies`` by profile: pairs (int64) with the axes drawn text, other drawn too or not, length band, step."""

    tallies: dict[str, np.ndarray]
    texts: int  # all distinct ones


def draw(texts: DataFrame, config: Config, seed: int, size: int) -> dict[str, Few]:
    """Up to ``size`` texts of each profile, those whose ids hash lowest: independent of the order of rows and of partitions."""
    hashed = texts.withColumn("draw", F.xxhash64(F.lit(seed), F.col("doc_id")))
    found = {}
    for (name,) in texts.select("profile").distinct().orderBy("profile").collect():
        lowest = hashed.where(F.col("profile") == name).select("doc_id", "text", "features", "simhash", "draw")
        rows = lowest.orderBy("draw", "doc_id").limit(size).toArrow().sort_by([("draw", "ascending"), ("doc_id", "ascending")])
        prints = pc.fill_null(rows["simhash"], 0).to_numpy()
        ids, body = rows["doc_id"].to_pylist(), rows["text"].combine_chunks()
        found[name] = few(ids, body, rows["features"].to_numpy(), prints, config.profiles[name].ngram)
    return found


def compare(texts: DataFrame, drawn: Mapping[str, Few]) -> Sample:
    """Every drawn text against every other of its profile. ``texts``: one row for each distinct text."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield to_batch(_partition(batches, drawn), arrow_schema(_TALLY.columns))

    narrow = texts.select("doc_id", "profile", "text", "simhash")
    cells = narrow.mapInArrow(run, _TALLY.ddl).groupBy(*_TALLY.names[:-1]).agg(F.sum("count").alias("count")).toArrow()
    tallies = {}
    for name, index in drawn.items():
        mine = cells.filter(pc.equal(cells["profile"], name))
        tally = empty_tally(index)
        places = tuple(mine[axis].to_numpy() if axis != "drawn" else mine[axis].cast("int64").to_numpy() for axis in _AXES)
        tally[places] = mine["count"].to_numpy()
        tallies[name] = tally
    return Sample(tallies, texts.count())


_AXES = ("text", "drawn", "band", "step")


def _partition(batches: Iterator[pa.RecordBatch], drawn: Mapping[str, Few]) -> dict[str, object]:
    """The cells of one partition's tally that are not zero."""
    tallies = {name: empty_tally(index) for name, index in drawn.items()}
    for whole in batches:
        for batch in pieces(whole):
            for name in pc.unique(batch.column("profile")).to_pylist():
                rows, index = batch.filter(pc.equal(batch.column("profile"), name)), drawn[name]
                own = pc.fill_null(pc.index_in(rows.column("doc_id"), value_set=pa.array(index.ids, pa.string())), -1)
                prints = pc.fill_null(rows.column("simhash"), 0).to_numpy()
                add_pairs(index, rows.column("text"), own.to_numpy().astype(np.int64), prints, tallies[name])
    parts = [(name, tally, np.nonzero(tally)) for name, tally in tallies.items()]
    columns = [np.concatenate([where[axis] for _, _, where in parts]) for axis in range(4)] if parts else [np.empty(0, int)] * 4
    return {
        "profile": [name for name, _, where in parts for _ in where[0]],
        "text": columns[0].astype(np.int32),
        "drawn": columns[1].astype(bool),
        "band": columns[2].astype(np.int32),
        "step": columns[3].astype(np.int32),
        "count": np.concatenate([tally[where] for _, tally, where in parts]) if parts else columns[0],
    }


def histogram(profile: str, tally: np.ndarray) -> list[dict[str, object]]:
    """The rows of ``score_hist`` that a sample gives: kinds background, sample and nearest, of each band and of all."""
    rows, at = [], 0
    for measure, steps in MEASURES.items():
        piece = tally[..., at : at + steps]
        at += steps
        for band in (ALL, *range(BANDS)):
            mine = piece.sum(axis=2) if band == ALL else piece[:, :, band]
            by_text = mine.sum(axis=1)
            has = by_text > 0
            some = has.any(axis=1)
            best = has[some].argmax(axis=1) if measure == "hamming" else steps - 1 - has[some][:, ::-1].argmax(axis=1)
            nearest = np.bincount(best, minlength=steps)
            halved = mine[:, 1].sum(axis=0) // 2  # a pair of two drawn texts was counted from both sides
            kinds = {
                "background": (halved, (mine[:, 1] > 0).sum(axis=0)),
                "sample": (by_text.sum(axis=0), has.sum(axis=0)),
                "nearest": (nearest, nearest),
            }
            name = ALL if band == ALL else BAND_NAMES[band]
            for kind, (counts, texts) in kinds.items():
                for step in np.flatnonzero(counts):
                    rows.append({
                        "profile": profile, "length_band": name, "kind": kind, "measure": measure, "bin": int(step),
                        "count": int(counts[step]), "texts": int(texts[step]),
                    })  # fmt: skip
    return rows
