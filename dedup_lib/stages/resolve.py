"""``edges`` -> who is dropped, and for whom: the greedy rule, in rounds.

Walking down the ranks, a row is dropped when it is a duplicate of a row kept before it. The same answer comes in rounds
(Blelloch, Fineman, Shun, SPAA 2012): a row that no undecided row before it is joined to by an edge stays; its neighbours behind it fall, each
for the first such row. Rows in ``waiting`` have not met every row before them yet, so they may fall but not stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.errors import DedupError
from dedup_lib.schemas import Column, Table

LOSERS = Table(
    "losers",
    "rows that fall, and the surviving row they fall for",
    (Column("a", "bigint", "rank of the survivor"), Column("b", "bigint", "rank of the dropped row")),
)
Save = Callable[[DataFrame, str], DataFrame]


class Resolution(NamedTuple):
    """What one call settled. ``losers`` has one row for each dropped row; ``edges`` are those still undecided."""

    losers: DataFrame
    edges: DataFrame
    rounds: int


def resolve(edges: DataFrame, waiting: DataFrame, save: Save, name: str, max_rounds: int) -> Resolution:
    """Settle all that can be settled while ``waiting`` (``rank``) rows are undecided.

    ``edges`` joins undecided rows, earlier (``a``) to later (``b``). ``save`` stores a table and cuts off its plan. Raises
    ``DedupError`` when the rounds do not come to an end.
    """
    settled: list[DataFrame] = []
    for number in range(1, max_rounds + 1):
        losers = save(_fallen(edges, waiting), f"{name}_losers_{number}")
        if losers.isEmpty():
            return Resolution(_all_losers(settled, losers), edges, number - 1)
        settled.append(losers)
        edges = save(_without(edges, losers), f"{name}_edges_{number}")
    raise DedupError(
        f"resolve: not settled after {max_rounds} rounds; raise candidates.max_rounds if the chains in this corpus are really so long"
    )


def _fallen(edges: DataFrame, waiting: DataFrame) -> DataFrame:
    """The neighbours of rows that stay: rows that are nobody's later duplicate and wait for nothing."""
    held = edges.select(F.col("b").alias("a")).union(waiting.select(F.col("rank").alias("a"))).distinct()
    stays = edges.join(held, "a", "left_anti")
    return LOSERS.conform(stays.groupBy("b").agg(F.min("a").alias("a")))


def _without(edges: DataFrame, losers: DataFrame) -> DataFrame:
    """The edges at which neither row has fallen. An edge of a row that stays ends in a row that falls."""
    fallen = losers.select("b")
    return edges.join(fallen, "b", "left_anti").join(fallen.select(F.col("b").alias("a")), "a", "left_anti").select("a", "b")


def _all_losers(settled: list[DataFrame], nothing: DataFrame) -> DataFrame:
    total = nothing
    for losers in settled:
        total = total.union(losers)
    return total
