"""Inputs that the two engines read each in their own way: the result must be the same, and no row or column may be lost."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.errors import InputError
from tests.pipeline.helpers import run_on


def test_a_column_that_only_some_files_have_is_kept(session, tmp_path):
    (tmp_path / "input").mkdir()
    pq.write_table(pa.table({"doc_id": ["a"], "content": ["好评"]}), tmp_path / "input" / "1.parquet")
    pq.write_table(pa.table({"doc_id": ["b"], "content": ["好评"], "extra": [7]}), tmp_path / "input" / "2.parquet")
    tables = run_on(session, str(tmp_path / "input"), tmp_path / "output")
    assert [row.get("extra") for row in tables["dropped"]] == [7]


def test_a_broken_line_of_json_is_not_lost_in_silence(session, tmp_path):
    lines = [json.dumps({"doc_id": doc_id, "content": "好评"}) for doc_id in "abc"]
    lines[1] = lines[1][:20]
    (tmp_path / "input.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"input\.jsonl: cannot be read as json"):
        run_on(session, str(tmp_path / "input.jsonl"), tmp_path / "output", "input.format=json")
