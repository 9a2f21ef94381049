"""Exact similarity of two texts: shared and distinct shingles, hence Jaccard similarity and containment."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dedup_lib.kernels.classes import character_classes
from dedup_lib.kernels.features import feature_characters, longest_text, scratch, shingles
from dedup_lib.kernels.urls import url_characters
from dedup_lib.kernels.utf8 import compiled, string_buffers


@compiled
def _shared(first, first_count, second, second_count, table):
    """How many of the distinct hashes of ``second`` are among the distinct hashes of ``first``."""
    size = 16
    while size < 2 * first_count:
        size *= 2
    table[:size] = -1
    for i in range(first_count):
        slot = np.int64(first[i] & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = i
    shared = 0
    for i in range(second_count):
        slot = np.int64(second[i] & np.uint64(size - 1))
        while table[slot] >= 0 and first[table[slot]] != second[i]:
            slot = (slot + 1) & (size - 1)
        shared += table[slot] >= 0
    return shared


@compiled
def _compare(data_a, offsets_a, data_b, offsets_b, classes, in_url, ngram, shared, sizes_a, sizes_b):
    longest = max(longest_text(offsets_a), longest_text(offsets_b))
    chars, hashes, table, first, times = scratch(longest)
    second = np.empty(longest + 1, np.uint64)
    count_a = 0
    for row in range(len(offsets_a) - 1):
        if row == 0 or not _same_text(data_a, offsets_a, row):
            count = feature_characters(data_a, offsets_a[row], offsets_a[row + 1], classes, in_url, chars)
            count_a = shingles(chars, count, ngram, hashes, table, first, times)
        count = feature_characters(data_b, offsets_b[row], offsets_b[row + 1], classes, in_url, chars)
        count_b = shingles(chars, count, ngram, hashes, table, second, times)
        shared[row] = _shared(first, count_a, second, count_b, table)
        sizes_a[row], sizes_b[row] = count_a, count_b


@compiled
def _same_text(data, offsets, row):
    """Whether a text equals the one before it: pairs come grouped by their first row, whose shingles are then at hand."""
    length = offsets[row + 1] - offsets[row]
    if length != offsets[row] - offsets[row - 1]:
        return False
    for i in range(length):
        if data[offsets[row] + i] != data[offsets[row - 1] + i]:
            return False
    return True


def compare_texts(first: pa.Array, second: pa.Array, ngram: int) -> tuple[np.ndarray, np.ndarray]:
    """Jaccard similarity and containment (float64, 0 to 1) of the shingle sets of each pair of texts.

    Containment is the share of the smaller set that lies in the larger one. A text without features is similar to nothing.
    """
    data_a, offsets_a = string_buffers(first)
    data_b, offsets_b = string_buffers(second)
    shared, sizes_a, sizes_b = (np.zeros(len(first), np.int64) for _ in range(3))
    tables = character_classes(), url_characters()
    _compare(data_a, offsets_a, data_b, offsets_b, *tables, ngram, shared, sizes_a, sizes_b)
    union = np.maximum(sizes_a + sizes_b - shared, 1)
    return shared / union, shared / np.maximum(np.minimum(sizes_a, sizes_b), 1)
