"""``signatures`` -> verified pairs and dropped rows: candidates, verify and resolve, in rounds.

Most corpora need one round. A hot bucket takes more: its first rows are compared with all others, what they make fall leaves
the bucket, and the rest is looked at again with a larger budget. Rows that have met everything need no bucket any more, so
each round is smaller than the one before. What still waits after the first round is mostly a family: notices from one template
that differ in the facts. From then on the facts are part of the key, so that a family costs no square of its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.errors import DedupError
from dedup_lib.schemas import VERIFIED
from dedup_lib.stages.bridge import small
from dedup_lib.stages.candidates import HOT, PAIR, TOTAL, WAITING, Meeting, buckets, expand
from dedup_lib.stages.resolve import Save, first_survivors, resolve
from dedup_lib.stages.verdicts import Verdicts, apply_verdicts
from dedup_lib.stages.verify import fact_digests, verify

GROWTH = 4  # by which a bucket's budget for each row grows from round to round


class Settled(NamedTuple):
    """``verified``: every pair worth keeping, once. ``losers``: (a, b) for each dropped row. ``candidates``: all rounds."""

    verified: DataFrame
    losers: DataFrame
    candidates: DataFrame
    rounds: int


def settle(
    signatures: DataFrame,
    normalized: DataFrame,
    meetings: dict[str, Meeting],
    verdicts: Verdicts | None,
    config: Config,
    rows: int,
    save: Save,
    say: Callable[[str], None],
) -> Settled:
    """Find, verify and resolve until no row waits. Raises ``DedupError`` when that takes more than the configured rounds."""
    limits = config.candidates
    entries = buckets(signatures, meetings)
    asked = verdicts.pairs.select("a", "b") if verdicts else None
    found, pairs, verified, losers = [], [], [], []
    edges, compared_rows = None, 0
    for number in range(1, limits.max_rounds + 1):
        growth = GROWTH ** (number - 1)
        given = save(expand(entries, meetings, limits.all_pairs_up_to, growth, rows), f"candidates_{number}")
        fresh = save(_fresh(given, pairs, asked if number == 1 else None, signatures), f"pairs_{number}")
        fresh_rows = fresh.count()
        compared = verify(fresh, fresh_rows, signatures, normalized, config)
        measured = save(VERIFIED.conform(compared), f"verified_{number}")
        waiting = _waiting(given, losers)
        new_edges = apply_verdicts(measured, verdicts if number == 1 else _later(verdicts))
        edges = new_edges if edges is None else edges.union(new_edges).distinct()
        compared_rows += fresh_rows
        result = resolve(edges, compared_rows, waiting, save, f"round_{number}", limits.max_rounds)
        found.append(given), pairs.append(fresh), verified.append(measured), losers.append(result.losers)
        edges = result.edges
        left = save(_waiting(given, losers), f"waiting_{number}")
        open_rows = left.count()
        say(f"round {number}: {fresh_rows:,} pairs, {open_rows:,} rows wait in hot buckets")
        if not open_rows:
            every = _together(verified)
            fallen = _together(losers)
            if number > 1:
                fallen = save(first_survivors(apply_verdicts(every, verdicts), fallen), "losers")
            return Settled(every, fallen, _together(found), number)
        if number == 1:  # only rows that wait are looked at from now on
            waits = save(signatures.join(small(left, open_rows), "rank", "left_semi"), "signatures_waiting")
            texts = normalized.select("doc_id", "text", "heading").join(small(waits.select("doc_id"), open_rows), "doc_id")
            normalized = save(texts, "texts_waiting")
            facts = save(fact_digests(waits.select("doc_id", "profile").join(normalized, "doc_id"), config), "facts_waiting")
            signatures = save(waits.join(small(facts, open_rows), "doc_id"), "signatures_narrowed")
        entries = buckets(signatures.join(left, "rank", "left_semi"), meetings, number + 1)
    raise DedupError(f"candidates: rows still wait after {limits.max_rounds} rounds; raise candidates.max_rounds")


def _later(verdicts: Verdicts | None) -> Verdicts | None:
    """Verdicts for the rounds after the first, which has brought in the wanted edges already."""
    return verdicts and verdicts._replace(pairs=verdicts.pairs.where(F.col("verdict") == "not_duplicate"))


def _fresh(given: DataFrame, before: list[DataFrame], asked: DataFrame | None, signatures: DataFrame) -> DataFrame:
    """Candidate pairs not seen in an earlier round, each once, and the pairs that a verdict asks for."""
    pairs = given.where(F.col("kind") == PAIR).select("a", "b", F.col("value").cast("int").alias("hamming"))
    pairs = pairs.withColumn("asked", F.lit(False))
    if asked is not None:
        bits = signatures.select("rank", "simhash")
        first = bits.select(F.col("rank").alias("a"), F.col("simhash").alias("simhash_a"))
        second = bits.select(F.col("rank").alias("b"), F.col("simhash").alias("simhash_b"))
        distance = F.bit_count(F.col("simhash_a").bitwiseXOR(F.col("simhash_b"))).cast("int")
        joined = asked.distinct().join(first, "a").join(second, "b")
        pairs = pairs.union(joined.select("a", "b", distance.alias("hamming"), F.lit(True).alias("asked")))
    pairs = pairs.groupBy("a", "b").agg(F.min("hamming").alias("hamming"), F.max("asked").alias("asked"))
    for seen in before:
        pairs = pairs.join(seen.select("a", "b"), ["a", "b"], "left_anti")
    return pairs


def _waiting(given: DataFrame, losers: list[DataFrame]) -> DataFrame:
    """The rows of this round that have not met all of a bucket and have not fallen."""
    rows = given.where(F.col("kind") == WAITING).select(F.col("a").alias("rank")).distinct()
    for fallen in losers:
        rows = rows.join(fallen.select(F.col("b").alias("rank")), "rank", "left_anti")
    return rows


def _together(frames: list[DataFrame]) -> DataFrame:
    total = frames[0]
    for frame in frames[1:]:
        total = total.union(frame)
    return total


def hot_buckets(candidates: DataFrame) -> DataFrame:
    """``group``, ``rank`` of the first row, ``rows`` and ``pairs`` of the buckets that ran out of budget."""
    return candidates.where(F.col("kind") == HOT).select(
        "group", F.col("a").alias("rank"), F.col("b").alias("rows"), F.col("value").alias("pairs")
    )


def bucket_totals(candidates: DataFrame) -> DataFrame:
    """One row: ``buckets`` with two rows or more, ``naive_pairs`` of a self-join, ``pairs`` that were given."""
    return candidates.where(F.col("kind") == TOTAL).agg(
        F.coalesce(F.sum("a"), F.lit(0)).alias("buckets"),
        F.coalesce(F.sum("b"), F.lit(0)).alias("naive_pairs"),
        F.coalesce(F.sum("value"), F.lit(0)).alias("pairs"),
    )
