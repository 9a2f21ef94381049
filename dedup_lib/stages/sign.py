"""Signatures: SimHash and MinHash of texts in Arrow batches, and the ``signatures`` table of the representatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from dedup_lib.config import Profile
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


def signatures(normalized: DataFrame, ranked: DataFrame, rows: int) -> DataFrame:
    """``signatures``: what ``normalized`` knows of each representative, and its rank. ``rows``: how many there are."""
    signed = normalized.select("doc_id", *[column.name for column in SIGNATURE])
    return SIGNATURES.conform(signed.join(small(ranked, rows), "doc_id"))


def sign_batch(texts: pa.Array, signing: Signing) -> tuple[pa.Array, ...]:
    """The columns of ``schemas.SIGNATURE``. Texts below ``min_features`` get no MinHash: they are compared exactly only."""
    signed = sign_texts(texts, signing.ngram, signing.simhash_ngram, signing.num_perm, signing.seed)
    fingerprints = signed.simhash
    if not signing.simhash_ngram:
        fingerprints = simhash_words(*word_hashes(texts.to_pylist(), segmenter(signing.simhash_tokens)))
    minhash = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(4 * signing.num_perm), len(texts), [None, pa.py_buffer(signed.minhash.astype("<u4"))]
    ).cast(pa.binary())
    return (
        pa.array(signed.features),
        pa.array(signed.shingles),
        pa.array(fingerprints.view(np.int64), mask=signed.features == 0),
        _where(signed.features >= signing.min_features, minhash),
    )


def _where(wanted: np.ndarray, values: pa.Array) -> pa.Array:
    """The values, null where not wanted."""
    picks = pa.array(np.arange(len(values)), mask=~wanted)
    return values.take(picks)
