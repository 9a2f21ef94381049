"""Signatures: SimHash and MinHash of texts in Arrow batches, and the ``signatures`` table of the representatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config, Profile
from dedup_lib.kernels.anchors import sentence_hashes
from dedup_lib.kernels.codes import masked_keys
from dedup_lib.kernels.deletions import deletion_keys
from dedup_lib.kernels.features import word_hashes
from dedup_lib.kernels.sign import sign_texts, simhash_words
from dedup_lib.kernels.tokens import segmenter
from dedup_lib.schemas import SIGNATURE, SIGNATURES
from dedup_lib.stages.bridge import small


class Signing(NamedTuple):
    """What the workers need to know of a profile."""

    ngram: int
    min_features: int
    num_perm: int
    seed: int
    simhash_tokens: str
    simhash_ngram: int
    short_features: int | None  # from here on short texts get deletion keys
    masked_letters: int | None  # from here on texts with codes get a masked key
    contain_features: int | None  # from here on texts get sentence hashes


def signing(profile: Profile) -> Signing:
    """A profile as plain values."""
    return Signing(
        profile.ngram,
        profile.comparison.min_features,
        profile.minhash.num_perm if profile.near else 1,
        profile.minhash.seed,
        profile.simhash.tokens,
        profile.simhash.ngram if profile.simhash.tokens == "chars" else 0,
        profile.short and profile.short.min_features,
        profile.spam and profile.spam.min_letters,
        profile.contain.min_features if profile.contain and profile.near else None,
    )


def signatures(normalized: DataFrame, ranked: DataFrame, rows: int, config: Config) -> DataFrame:
    """``signatures``: what ``normalized`` knows of each representative, and its rank. ``rows``: how many there are."""
    signed = normalized.select("doc_id", *[column.name for column in SIGNATURE])
    return SIGNATURES.conform(_families_alone(signed.join(small(ranked, rows), "doc_id"), config))


def _families_alone(signed: DataFrame, config: Config) -> DataFrame:
    """Take ``masked`` from texts that are not one of ``spam.min_texts`` different ones with the same."""
    enough = {name: profile.spam.min_texts for name, profile in config.profiles.items() if profile.spam}
    if not enough:
        return signed
    masked = signed.where(F.col("masked").isNotNull()).groupBy("profile", "masked").agg(F.count_distinct("key").alias("texts"))
    least = F.coalesce(*[F.when(F.col("profile") == name, F.lit(texts)) for name, texts in sorted(enough.items())])
    families = masked.where(F.col("texts") >= least).select("profile", "masked", F.lit(True).alias("family"))
    placed = signed.join(families, ["profile", "masked"], "left")
    return placed.withColumn("masked", F.when(F.col("family"), F.col("masked"))).drop("family")


def sign_batch(texts: pa.Array, signing: Signing) -> tuple[pa.Array, ...]:
    """The columns of ``schemas.SIGNATURE``. Texts below ``min_features`` get no MinHash: they are compared exactly only."""
    signed = sign_texts(texts, signing.ngram, signing.simhash_ngram, signing.num_perm, signing.seed)
    fingerprints = signed.simhash
    if not signing.simhash_ngram:
        fingerprints = simhash_words(*word_hashes(texts.to_pylist(), segmenter(signing.simhash_tokens)))
    minhash = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(4 * signing.num_perm), len(texts), [None, pa.py_buffer(signed.minhash.astype("<u4"))]
    ).cast(pa.binary())
    deletions, masked = _comment_keys(texts, signing)
    return (
        pa.array(signed.features),
        pa.array(signed.shingles),
        pa.array(fingerprints.view(np.int64), mask=signed.features == 0),
        _where(signed.features >= signing.min_features, minhash),
        deletions,
        _sentences(texts, signed.features, signing.contain_features),
        masked,
    )


def _comment_keys(texts: pa.Array, signing: Signing) -> tuple[pa.Array, pa.Array]:
    """Deletion keys of short texts, also of those that are one edit longer, and masked keys; nulls where not asked for."""
    deletions, masked = pa.nulls(len(texts), pa.binary()), pa.nulls(len(texts), pa.int64())
    if signing.short_features:
        deletions = deletion_keys(texts, signing.short_features, signing.min_features)
    if signing.masked_letters:
        masked = masked_keys(texts, signing.masked_letters)
    return deletions, masked


def _sentences(texts: pa.Array, features: np.ndarray, least: int | None) -> pa.Array:
    if least is None:
        return pa.nulls(len(texts), pa.binary())
    return _where(features >= least, sentence_hashes(texts))


def _where(wanted: np.ndarray, values: pa.Array) -> pa.Array:
    """The values, null where not wanted."""
    picks = pa.array(np.arange(len(values)), mask=~wanted)
    return values.take(picks)
