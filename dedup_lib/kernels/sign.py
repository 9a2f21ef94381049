"""Sign a batch of texts: number of shingles, 64-bit SimHash and MinHash signature, in one compiled pass over Arrow's bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import character_classes
from dedup_lib.kernels.features import distinct, feature_characters, longest_text, mix, scratch, shingles
from dedup_lib.kernels.minhash import minhash, permutations
from dedup_lib.kernels.simhash import BITS, simhash
from dedup_lib.kernels.urls import url_characters
from dedup_lib.kernels.utf8 import compiled, string_buffers


class Signatures(NamedTuple):
    """One row for each text. A text without any feature has 0 shingles; its other values mean nothing."""

    features: np.ndarray  # int32: feature characters of the text
    shingles: np.ndarray  # int32: distinct shingles
    simhash: np.ndarray  # uint64
    minhash: np.ndarray  # uint32, (rows, num_perm)


@compiled
def _sign(data, offsets, classes, in_url, ngram, simhash_ngram, multiplier, addend, lengths, sizes, fingerprints, signatures):
    chars, hashes, table, found, times = scratch(longest_text(offsets))
    votes = np.empty(BITS, np.int32)
    for row in range(len(offsets) - 1):
        count = feature_characters(data, offsets[row], offsets[row + 1], classes, in_url, chars)
        lengths[row] = count
        if simhash_ngram > 0 and simhash_ngram != ngram:
            number = shingles(chars, count, simhash_ngram, hashes, table, found, times)
            fingerprints[row] = simhash(found, times, number, votes)
        number = shingles(chars, count, ngram, hashes, table, found, times)
        sizes[row] = number
        if simhash_ngram == ngram:
            fingerprints[row] = simhash(found, times, number, votes)
        minhash(found, number, multiplier, addend, signatures[row])


@compiled
def _simhash_words(words, offsets, fingerprints):
    longest = longest_text(offsets)
    _, hashes, table, found, times = scratch(longest)
    votes = np.empty(BITS, np.int32)
    for row in range(len(offsets) - 1):
        count = offsets[row + 1] - offsets[row]
        for i in range(count):
            hashes[i] = mix(words[offsets[row] + i])
        number = distinct(hashes, count, table, found, times)
        fingerprints[row] = simhash(found, times, number, votes)


def sign_texts(texts: pa.Array, ngram: int, simhash_ngram: int, num_perm: int, seed: int) -> Signatures:
    """Sign each text of an Arrow string array.

    ``ngram`` and ``simhash_ngram`` are shingle lengths in characters; 0 for the latter leaves the SimHash to
    ``simhash_words``. Time: about 30 ns for each feature character and core at 128 permutations.
    """
    data, offsets = string_buffers(texts)
    rows = len(texts)
    signed = Signatures(
        np.empty(rows, np.int32), np.empty(rows, np.int32), np.zeros(rows, np.uint64), np.empty((rows, num_perm), np.uint32)
    )
    drawn = permutations(num_perm, seed)
    _sign(data, offsets, character_classes(), url_characters(), ngram, simhash_ngram, *drawn, *signed)
    return signed


def simhash_words(words: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """SimHash (uint64) of each group of word hashes, as ``features.word_hashes`` gives them."""
    fingerprints = np.zeros(len(offsets) - 1, np.uint64)
    _simhash_words(words, offsets, fingerprints)
    return fingerprints
