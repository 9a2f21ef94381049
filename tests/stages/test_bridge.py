"""Batches are cut into pieces of bounded size, without loss."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.stages.bridge import packed, pieces


@settings(deadline=None)
@given(st.lists(st.text(max_size=30), max_size=50), st.integers(1, 400), st.integers(0, 5))
def test_the_pieces_are_the_batch(texts, size, skipped):
    batch = pa.record_batch({"text": pa.array(texts, pa.string())}).slice(skipped)
    found = list(pieces(batch, size))
    assert [text for piece in found for text in piece.column(0).to_pylist()] == texts[skipped:]
    assert all(piece.num_rows for piece in found)


def test_a_piece_has_about_the_given_size_and_a_large_row_is_a_piece_of_its_own():
    small = pa.record_batch({"text": ["x" * 100] * 1000})
    assert {piece.num_rows for piece in pieces(small, 1040)} == {10}
    large = pa.record_batch({"text": ["x" * 10_000] * 3})
    assert [piece.num_rows for piece in pieces(large, 100)] == [1, 1, 1]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3), max_size=9), st.integers(0, 4), st.booleans())
def test_packed_values_are_the_numbers(rows, skipped, large):
    values = pa.array([np.array(row, "<u4").tobytes() for row in rows], pa.large_binary() if large else pa.binary())
    assert packed(values[skipped:], "<u4").tolist() == rows[skipped:]
