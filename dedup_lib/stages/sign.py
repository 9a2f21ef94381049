"""``normalized`` and ranked representatives -> ``signatures``: SimHash and MinHash of each distinct text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from dedup_lib.config import Config, Profile
from dedup_lib.kernels.features import word_hashes
from dedup_lib.kernels.sign import sign_texts, simhash_words
from dedup_lib.kernels.tokens import segmenter
from dedup_lib.schemas import SIGNATURES
from dedup_lib.stages.bridge import map_batches
from dedup_lib.stages.normalize import by_profile


class Signing(NamedTuple):
    """What the workers need to know of a profile."""

    ngram: int
    min_features: int
    num_perm: int
    seed: int
    simhash_tokens: str
    simhash_ngram: int


def signing(profile: Profile) -> Signing:
    """A profile as plain values."""
    return Signing(
        profile.ngram,
        profile.near.min_features,
        profile.minhash.num_perm,
        profile.minhash.seed,
        profile.simhash.tokens,
        profile.simhash.ngram if profile.simhash.tokens == "chars" else 0,
    )


def sign(normalized: DataFrame, ranked: DataFrame, config: Config) -> DataFrame:
    """Sign the text of each representative. Texts below ``min_features`` get no MinHash: they are compared exactly only."""
    texts = ranked.select("doc_id", "rank", "pinned").join(
        normalized.select("doc_id", "profile", "text_sha1", "key", "text"), "doc_id"
    )
    signings = {name: signing(profile) for name, profile in config.profiles.items()}
    return map_batches(texts, SIGNATURES, partial(_sign_batch, signings=signings))


def _sign_batch(batch: pa.RecordBatch, signings: Mapping[str, Signing]) -> dict[str, object]:
    columns = by_profile(batch.column("profile"), signings, partial(_signed, texts=batch.column("text")), outputs=4)
    passed = ("rank", "doc_id", "profile", "text_sha1", "key", "pinned")
    signed = zip(("features", "shingles", "simhash", "minhash"), columns)
    return {name: batch.column(name) for name in passed} | dict(signed)


def _signed(signing: Signing, rows: pa.Array | None, texts: pa.Array) -> tuple[pa.Array, ...]:
    texts = texts if rows is None else texts.take(rows)
    signed = sign_texts(texts, signing.ngram, signing.simhash_ngram, signing.num_perm, signing.seed)
    fingerprints = signed.simhash
    if not signing.simhash_ngram:
        fingerprints = simhash_words(*word_hashes(texts.to_pylist(), segmenter(signing.simhash_tokens)))
    signatures = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(4 * signing.num_perm), len(texts), [None, pa.py_buffer(signed.minhash.astype("<u4"))]
    ).cast(pa.binary())
    return (
        pa.array(signed.features),
        pa.array(signed.shingles),
        pa.array(fingerprints.view(np.int64), mask=signed.features == 0),
        _where(signed.features >= signing.min_features, signatures),
    )


def _where(wanted: np.ndarray, values: pa.Array) -> pa.Array:
    """The values, null where not wanted."""
    picks = pa.array(np.arange(len(values)), mask=~wanted)
    return values.take(picks)
