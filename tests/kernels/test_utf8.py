"""Arrow buffers in and out: the bytes that every kernel reads."""

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given

from dedup_lib.kernels.utf8 import string_array, string_buffers
from tests.strategies import string_arrays


def read_back(texts: pa.Array) -> list[str]:
    data, offsets = string_buffers(texts)
    return [bytes(data[a:b]).decode() for a, b in pairwise(offsets)]


@given(string_arrays())
def test_buffers_hold_the_texts_with_nulls_as_empty_texts(texts):
    assert read_back(texts) == [text or "" for text in texts.to_pylist()]


@given(string_arrays())
def test_an_array_built_from_buffers_equals_the_original(texts):
    data, offsets = string_buffers(texts)
    assert string_array(data, offsets).to_pylist() == [text or "" for text in texts.to_pylist()]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_every_arrow_type_of_text_is_read(kind):
    assert read_back(pa.array(["甲", None, "a😀"]).cast(kind)) == ["甲", "", "a😀"]


def test_a_null_whose_slot_still_holds_bytes_reads_as_empty():
    _, offsets, data = pa.array(["secret", "b"]).buffers()
    first_is_null = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), offsets, data])
    assert first_is_null.to_pylist() == [None, "b"]
    assert read_back(first_is_null) == ["", "b"]
