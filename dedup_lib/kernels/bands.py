"""Which rows meet: MinHash bands chosen from the threshold, SimHash blocks chosen by the pigeonhole principle.

Sources: Leskovec, Rajaraman, Ullman, 'Mining of Massive Datasets', section 3.4 (banding); Manku, Jain, Das Sarma,
'Detecting near-duplicates for web crawling', WWW 2007, section 3 (permuted blocks).
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

import numpy as np

from dedup_lib.kernels.features import mix
from dedup_lib.kernels.utf8 import compiled

BITS = 64


class Bands(NamedTuple):
    """``bands`` groups of ``rows`` signature positions each; two rows meet when one whole group agrees."""

    bands: int
    rows: int

    def meeting_probability(self, jaccard: float) -> float:
        """Probability that two texts of this Jaccard similarity share at least one band."""
        return 1 - (1 - jaccard**self.rows) ** self.bands


def choose_bands(threshold: float, num_perm: int, max_miss: float) -> Bands | None:
    """The most selective banding that misses a pair at the threshold with a probability of at most ``max_miss``.

    More rows to a band mean fewer unrelated pairs; then no more bands than needed. None if ``num_perm`` positions are not
    enough for any.
    """
    for rows in range(num_perm, 0, -1):
        for bands in range(1, num_perm // rows + 1):
            choice = Bands(bands, rows)
            if 1 - choice.meeting_probability(threshold) <= max_miss:
                return choice
    return None


def widened(chosen: Bands, jaccard: float, num_perm: int, max_miss: float) -> Bands:
    """``chosen`` with more bands, as many as a miss at ``jaccard`` of at most ``max_miss`` takes and ``num_perm`` allows."""
    bands = chosen.bands
    while (bands + 1) * chosen.rows <= num_perm and 1 - Bands(bands, chosen.rows).meeting_probability(jaccard) > max_miss:
        bands += 1
    return Bands(bands, chosen.rows)


def choose_blocks(rows: int, max_hamming: int, rows_per_bucket: int) -> int:
    """The smallest number of blocks whose buckets hold at most ``rows_per_bucket`` unrelated rows on average.

    With ``blocks`` blocks of which ``max_hamming`` may be damaged, a key is made of the other ``blocks - max_hamming``.
    """
    for blocks in range(max_hamming + 1, 2 * max_hamming + 5):
        key_bits = BITS * (blocks - max_hamming) // blocks
        if rows / 2**key_bits <= rows_per_bucket:
            return blocks
    return 2 * max_hamming + 4


def block_keys(blocks: int, max_hamming: int) -> int:
    """How many keys each row gets."""
    return comb(blocks, max_hamming)


def block_masks(blocks: int, max_hamming: int) -> np.ndarray:
    """One mask (uint64) for each choice of blocks that stay whole, most significant block first.

    Two SimHashes that differ in at most ``max_hamming`` bits differ in at most so many blocks, hence agree under at least
    one mask.
    """
    edges = [round(i * BITS / blocks) for i in range(blocks + 1)]
    pieces = [((1 << (high - low)) - 1) << (BITS - high) for low, high in pairwise(edges)]
    chosen = combinations(pieces, blocks - max_hamming)
    return np.array([sum(whole) for whole in chosen], dtype=np.uint64)


@compiled
def band_keys(signature, bands, rows, salt, out):
    """One 64-bit key for each band of a signature; ``salt`` (uint64) keeps unrelated groups of rows apart."""
    for band in range(bands):
        key = mix(salt + np.uint64(band))
        for i in range(band * rows, (band + 1) * rows):
            key = mix(key ^ np.uint64(signature[i])) + np.uint64(band)
        out[band] = np.int64(key)


@compiled
def masked_keys(fingerprint, masks, salt, out):
    """One 64-bit key for each block mask of a SimHash."""
    for i in range(len(masks)):
        out[i] = np.int64(mix(mix(salt + np.uint64(i)) ^ (np.uint64(fingerprint) & masks[i])))
