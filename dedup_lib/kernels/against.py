"""A few texts against very many: how often each similarity occurs, without a comparison of sets for each pair.

The shingles of the few texts stand in one hash table that names the texts which have them. A text of the many costs one look-up
for each of its shingles, and a few instructions for each of the few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import character_classes
from dedup_lib.kernels.features import feature_characters, longest_text, scratch, shingles
from dedup_lib.kernels.simhash import BITS, popcount
from dedup_lib.kernels.urls import url_characters
from dedup_lib.kernels.utf8 import compiled, string_buffers

PERCENT = 100
STEPS = PERCENT + 1  # of a share: whole percents, rounded down
MEASURES = {"jaccard": STEPS, "containment": STEPS, "hamming": BITS + 1}
WIDTH = 2 * STEPS + BITS + 1  # the steps of all three measures, one after the other
BAND_EDGES = (20, 50, 100, 300, 1000)  # feature characters of the shorter text
BANDS = len(BAND_EDGES) + 1


class Few(NamedTuple):
    """The few texts of one profile, as plain arrays that travel to the workers."""

    ids: tuple[str, ...]
    ngram: int
    table: np.ndarray  # int64: places in keys, -1 for none
    keys: np.ndarray  # uint64: every shingle that a text has
    starts: np.ndarray  # int64: where the owners of each begin
    owners: np.ndarray  # int32
    sizes: np.ndarray  # int64: distinct shingles of each text
    features: np.ndarray  # int64
    simhash: np.ndarray  # int64


@compiled
def _shingle_lists(data, offsets, classes, in_url, ngram, values, bounds):
    chars, hashes, table, found, times = scratch(longest_text(offsets))
    at = 0
    for row in range(len(offsets) - 1):
        count = feature_characters(data, offsets[row], offsets[row + 1], classes, in_url, chars)
        number = shingles(chars, count, ngram, hashes, table, found, times)
        values[at : at + number] = found[:number]
        at += number
        bounds[row + 1] = at


def shingle_lists(texts: pa.Array, ngram: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct shingles (uint64) of each normalised text, one text after the other, and rows + 1 offsets."""
    data, offsets = string_buffers(texts)
    values, bounds = np.empty(int(offsets[-1] - offsets[0]), np.uint64), np.zeros(len(texts) + 1, np.int64)
    _shingle_lists(data, offsets, character_classes(), url_characters(), ngram, values, bounds)
    return values[: bounds[-1]].copy(), bounds


@compiled
def _fill(table, keys):
    mask = np.uint64(len(table) - 1)
    for place in range(len(keys)):
        slot = np.int64(keys[place] & mask)
        while table[slot] >= 0:
            slot = (slot + 1) & np.int64(mask)
        table[slot] = place


def few(ids: list[str], texts: pa.Array, features: np.ndarray, simhash: np.ndarray, ngram: int) -> Few:
    """The few texts, ready to be compared. ``simhash``: int64, 0 where a text has no features."""
    values, bounds = shingle_lists(texts, ngram)
    owners = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(bounds))
    order = np.argsort(values, kind="stable")
    keys, starts = np.unique(values[order], return_index=True)
    table = np.full(1 << max(4, (2 * len(keys)).bit_length()), -1, np.int64)
    _fill(table, keys)
    starts = np.append(starts, len(order)).astype(np.int64)
    wide = np.asarray(features, np.int64), np.asarray(simhash, np.int64)
    return Few(tuple(ids), ngram, table, keys, starts, owners[order], np.diff(bounds), *wide)


@compiled
def _band(features, edges):
    band = 0
    while band < len(edges) and features >= edges[band]:
        band += 1
    return band


@compiled
def _tally(data, offsets, tables, ngram, index, own, simhash, edges, tally):
    """``tally`` (the few, drawn or not, band, step of a measure) counts the pairs of each of the few with each text."""
    (classes, in_url), (table, keys, starts, owners, sizes, features, prints) = tables, index
    chars, hashes, scrap, found, times = scratch(longest_text(offsets))
    shared = np.zeros(len(sizes), np.int64)
    mask = len(table) - 1
    for row in range(len(offsets) - 1):
        length = feature_characters(data, offsets[row], offsets[row + 1], classes, in_url, chars)
        number = shingles(chars, length, ngram, hashes, scrap, found, times)
        shared[:] = 0
        for i in range(number):
            slot = np.int64(found[i] & np.uint64(mask))
            while table[slot] >= 0 and keys[table[slot]] != found[i]:
                slot = (slot + 1) & mask
            if table[slot] >= 0:
                for at in range(starts[table[slot]], starts[table[slot] + 1]):
                    shared[owners[at]] += 1
        drawn = 1 if own[row] >= 0 else 0
        ours = _band(length, edges)
        for few in range(len(sizes)):
            if few == own[row]:
                continue
            cell = tally[few, drawn, min(ours, _band(features[few], edges))]
            both, small = sizes[few] + number - shared[few], min(sizes[few], number)
            cell[100 * shared[few] // max(both, 1)] += 1
            cell[101 + 100 * shared[few] // max(small, 1)] += 1
            cell[202 + popcount(np.uint64(prints[few]) ^ np.uint64(simhash[row]))] += 1


def empty_tally(index: Few) -> np.ndarray:
    """Zeros (int64) with the axes text of the few, other text is one of them or not, length band, step."""
    return np.zeros((len(index.ids), 2, BANDS, WIDTH), np.int64)


def add_pairs(index: Few, texts: pa.Array, own: np.ndarray, simhash: np.ndarray, tally: np.ndarray) -> None:
    """Count every pair of the few and these texts. ``own`` (int64): which of the few a text is, -1 for none of them."""
    data, offsets = string_buffers(texts)
    tables = character_classes(), url_characters()
    edges = np.array(BAND_EDGES, np.int64)
    _tally(data, offsets, tables, index.ngram, tuple(index[2:]), own, simhash, edges, tally)
