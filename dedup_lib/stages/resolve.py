"""``edges`` -> who is dropped, and for whom: the greedy rule.

Walking down the ranks, a row is dropped when it is a duplicate of a row kept before it. Up to ``LOCAL_EDGES`` edges one task
walks them in a second or two. More are settled in distributed rounds (Blelloch, Fineman, Shun, SPAA 2012) until so few are
left: a row that no undecided row before it is joined to stays; its neighbours behind it fall, each for the first such row.
Both give the answer of the sequential walk. Rows in ``waiting`` have not met every row before them yet, so they may fall but
not stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.errors import DedupError
from dedup_lib.kernels.greedy import walk
from dedup_lib.schemas import Column, Table
from dedup_lib.stages.bridge import map_partitions

LOCAL_EDGES = 10_000_000  # 16 bytes each, and about as much again to sort them

LOSERS = Table(
    "losers",
    "rows that fall, and the surviving row they fall for",
    (Column("a", "bigint", "rank of the survivor"), Column("b", "bigint", "rank of the dropped row")),
)
_WALKED = Table(
    "walked",
    "the outcome of a walk: losers, and edges that stay open",
    (*LOSERS.columns, Column("fallen", "boolean", "whether b falls for a; else the edge stays open")),
)
Save = Callable[[DataFrame, str], DataFrame]


class Resolution(NamedTuple):
    """What one call settled. ``losers`` has one row for each dropped row; ``edges`` are those still undecided."""

    losers: DataFrame
    edges: DataFrame
    rounds: int


def resolve(
    edges: DataFrame,
    most: int,
    waiting: DataFrame,
    save: Save,
    name: str,
    max_rounds: int,
    local_edges: int = LOCAL_EDGES,
) -> Resolution:
    """Settle all that can be settled while ``waiting`` (``rank``) rows are undecided.

    ``edges`` joins undecided rows, earlier (``a``) to later (``b``); they are at most ``most``. ``save`` stores a table and cuts
    off its plan. Raises ``DedupError`` when ``max_rounds`` distributed rounds leave more than ``local_edges`` edges.
    """
    settled: list[DataFrame] = []
    given = edges = save(edges, f"{name}_edges") if most > local_edges else edges
    while most > local_edges and edges.count() > local_edges:
        number = len(settled) + 1
        if number > max_rounds:
            raise DedupError(
                f"resolve: {edges.count():,} edges are open after {max_rounds} rounds; raise candidates.max_rounds if the "
                "chains of duplicates in this corpus are really so long"
            )
        losers = save(_fallen(edges, waiting), f"{name}_losers_{number}")
        if losers.isEmpty():
            break
        settled.append(losers)
        edges = save(_without(edges, losers), f"{name}_edges_{number}")
    walked = save(_walk_in_one_task(edges, waiting), f"{name}_walked")
    losers = walked.where("fallen").select("a", "b")
    for before in settled:
        losers = losers.union(before)
    if settled:
        losers = save(first_survivors(given, losers), f"{name}_losers")
    return Resolution(losers, walked.where("NOT fallen").select("a", "b"), len(settled))


def first_survivors(edges: DataFrame, losers: DataFrame) -> DataFrame:
    """``losers`` with the first surviving duplicate of each row: a later round may have kept one before the row's own cause."""
    fallen = losers.select("b")
    standing = edges.join(fallen.select(F.col("b").alias("a")), "a", "left_anti").join(fallen, "b", "left_semi")
    return LOSERS.conform(standing.groupBy("b").agg(F.min("a").alias("a")))


def _walk_in_one_task(edges: DataFrame, waiting: DataFrame) -> DataFrame:
    waits = waiting.select(F.col("rank").alias("a"), F.lit(None).cast("bigint").alias("b"))
    return map_partitions(edges.select("a", "b").union(waits).coalesce(1), _WALKED, _walk_batch)


def _walk_batch(batch: pa.RecordBatch) -> dict[str, object]:
    is_edge = np.asarray(batch.column("b").is_valid())
    first = batch.column("a").to_numpy()
    second = batch.column("b").fill_null(0).to_numpy()
    done = walk(np.stack([first[is_edge], second[is_edge]], axis=1), first[~is_edge])
    both = np.concatenate([done.losers, done.edges])
    return {"a": both[:, 0], "b": both[:, 1], "fallen": np.arange(len(both)) < len(done.losers)}


def _fallen(edges: DataFrame, waiting: DataFrame) -> DataFrame:
    """The neighbours of rows that stay: rows that are nobody's later duplicate and wait for nothing."""
    held = edges.select(F.col("b").alias("a")).union(waiting.select(F.col("rank").alias("a"))).distinct()
    stays = edges.join(held, "a", "left_anti")
    return LOSERS.conform(stays.groupBy("b").agg(F.min("a").alias("a")))


def _without(edges: DataFrame, losers: DataFrame) -> DataFrame:
    """The edges at which neither row has fallen. An edge of a row that stays ends in a row that falls."""
    fallen = losers.select("b")
    return edges.join(fallen, "b", "left_anti").join(fallen.select(F.col("b").alias("a")), "a", "left_anti").select("a", "b")
