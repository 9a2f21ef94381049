"""``candidates`` (pairs) -> ``verified``: exact measures on the two texts, and what they decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config, Profile
from dedup_lib.kernels.comments import decide_short, decide_spam
from dedup_lib.kernels.decide import DROP, NONE, Rule, decide, guard_headings
from dedup_lib.kernels.guard import Guard, digests
from dedup_lib.kernels.pairs import ANY_DISTANCE
from dedup_lib.kernels.short import couples
from dedup_lib.kernels.similarity import compare_texts
from dedup_lib.schemas import DOC_ID, VERIFIED, Column, Table
from dedup_lib.stages.bridge import by_profile, map_batches, small

SAME_TEXT = "same_text"


def rule(profile: Profile, contrasts: Sequence[str] = ()) -> Rule:
    """A profile's duplicate rule as plain values; ``contrasts`` are those of the lexicon."""
    near = profile.comparison
    anything = 2**31
    limits = tuple((limit.up_to or anything, limit.limit) for limit in near.hamming)
    guard = near.guard and Guard(**near.guard.model_dump())
    return Rule(
        profile.ngram,
        near.drop_jaccard,
        near.review_jaccard,
        near.hamming_jaccard,
        limits,
        guard,
        profile.short and (profile.short.min_features, near.min_features),
        profile.spam and profile.spam.drop_jaccard,
        couples(contrasts),
    )


_FACTS = Table("facts", "a hash of the facts of each text", (DOC_ID, Column("facts", "bigint", "0 for a text without any")))


def fact_digests(texts: DataFrame, config: Config) -> DataFrame:
    """``doc_id`` and ``facts`` of texts (``doc_id``, ``profile``, ``text``); 0 in profiles that have no guard."""
    guards = {name: rule(profile).guard for name, profile in config.profiles.items()}
    return map_batches(texts, _FACTS, partial(_digest_batch, guards=guards))


def _digest_batch(batch: pa.RecordBatch, guards: Mapping[str, Guard | None]) -> dict[str, object]:
    def digest(guard: Guard | None, rows: pa.Array | None) -> tuple[pa.Array]:
        texts = batch.column("text") if rows is None else batch.column("text").take(rows)
        return (pa.array(digests(texts, guard) if guard else np.zeros(len(texts), np.int64)),)

    (facts,) = by_profile(batch.column("profile"), guards, digest, outputs=1)
    return {"doc_id": batch.column("doc_id"), "facts": facts}


def verify(pairs: DataFrame, rows: int, signatures: DataFrame, normalized: DataFrame, config: Config) -> DataFrame:
    """Compare the texts of each pair exactly and decide; pairs that are no duplicates and not worth a look are left out.

    Takes ``a``, ``b``, ``hamming`` and ``asked`` (a verdict names the pair: it stays whatever it measures), each pair once,
    and their number.
    """
    rules = {name: rule(profile, config.lexicon.contrasts) for name, profile in config.profiles.items()}
    sides = signatures.select("rank", "doc_id", "profile", "key", "features", "shingles", "masked")
    joined = with_texts(pairs, rows, sides, normalized)
    compared = map_batches(joined, VERIFIED, partial(_verify_batch, rules=rules))
    return compared.where(F.col("outcome").isNotNull())


def with_texts(pairs: DataFrame, rows: int, sides: DataFrame, normalized: DataFrame) -> DataFrame:
    """Pairs (``a``, ``b``, each once, so many of them) with what ``sides`` knows of both rows, and their texts.

    Takes ``rank``, ``doc_id``, ``profile`` and more of each row; returns the others as ``NAME_a`` and ``NAME_b``, and
    ``text_a``, ``text_b``, ``heading_a``, ``heading_b``. Pairs of which ``sides`` lacks a row are left out.
    """
    wanted = pairs.select(F.col("a").alias("rank")).union(pairs.select(F.col("b").alias("rank"))).distinct()
    named = sides.join(small(wanted, rows), "rank", "left_semi")
    texts = normalized.select("doc_id", "text", "heading").join(small(named, rows), "doc_id").drop("doc_id")
    ours = texts.select([F.col(name).alias(f"{name}_a") for name in texts.columns])
    theirs = texts.select([F.col(name).alias(f"{name}_b") for name in texts.columns])
    joined = ours.join(small(pairs, rows), F.col("a") == F.col("rank_a")).join(theirs, F.col("b") == F.col("rank_b"))
    return joined.drop("rank_a", "rank_b", "profile_b")


def _verify_batch(batch: pa.RecordBatch, rules: Mapping[str, Rule]) -> dict[str, object]:
    jaccard, containment, outcome, threshold, reason = by_profile(
        batch.column("profile_a"), rules, partial(_compare, batch=batch), outputs=5
    )
    dull = pc.and_(pc.equal(outcome, NONE), pc.invert(batch.column("asked")))
    return {
        "a": batch.column("a"),
        "b": batch.column("b"),
        "outcome": pc.if_else(dull, pa.scalar(None, pa.int8()), outcome),
        "hamming": batch.column("hamming").cast(pa.int32()),
        "jaccard": jaccard,
        "containment": containment,
        "threshold": threshold,
        "reason": reason,
    }


def _compare(rule: Rule, rows: pa.Array | None, batch: pa.RecordBatch) -> tuple[pa.Array, ...]:
    if rows is not None:
        batch = batch.take(rows)
    first, second = batch.column("text_a"), batch.column("text_b")
    jaccard, containment = compare_texts(first, second, rule.ngram)
    features = np.minimum(batch.column("features_a").to_numpy(), batch.column("features_b").to_numpy())
    hamming = batch.column("hamming").fill_null(ANY_DISTANCE).to_numpy()  # a verdict can name texts without features
    decided = decide(rule, jaccard, hamming, features, first, second)
    if rule.guard:
        guard_headings(rule.guard, decided, batch.column("heading_a"), batch.column("heading_b"))
    shingles = np.minimum(batch.column("shingles_a").to_numpy(), batch.column("shingles_b").to_numpy())
    decide_short(rule, decided, features, shingles, first, second)
    masked = pc.fill_null(pc.equal(batch.column("masked_a"), batch.column("masked_b")), False)
    decide_spam(rule, decided, jaccard, np.asarray(masked))
    same = pc.equal(batch.column("key_a"), batch.column("key_b"))
    return (
        pc.if_else(same, 1.0, pa.array(jaccard)),
        pc.if_else(same, 1.0, pa.array(containment)),
        pc.if_else(same, pa.scalar(DROP, pa.int8()), pa.array(decided.outcome)),
        pc.if_else(same, 1.0, pa.array(decided.threshold)),
        pc.if_else(same, SAME_TEXT, pa.array(decided.reason)),
    )
