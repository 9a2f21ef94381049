"""The verdict table: nothing is asked or noted twice, contradictions are named, the latest wins only where that is wanted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.errors import ConfigError, InputError
from dedup_lib.review.table import Judgement, check_target, merge, read_table, write_table
from dedup_lib.store import read_verdicts
from tests.conftest import embedded_only

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = st.sampled_from(["a", "b", "=c", "d\ne", 'f"'])


@st.composite
def judgements(draw) -> Judgement:
    first, second = draw(st.lists(NAMES, min_size=2, max_size=2, unique=True))
    verdict = draw(st.sampled_from(["duplicate", "not_duplicate", "protect"]))
    at = draw(st.none() | st.integers(0, 9).map(lambda hours: NOW + timedelta(hours=hours)))
    return Judgement(first, None if verdict == "protect" else second, verdict, draw(st.none() | NAMES), at)


def contradictory(rows: list[Judgement]) -> bool:
    """By looking at every two of them."""
    protected = {row.doc_id for row in rows if row.verdict == "protect"}
    pairs = [frozenset((row.doc_id, row.other_id)) for row in rows if row.verdict != "protect"]
    return len(pairs) != len(set(pairs)) or any(row.verdict == "duplicate" and row.doc_id in protected for row in rows)


@given(st.lists(judgements()), st.lists(judgements()))
def test_a_merged_table_contradicts_itself_nowhere(before, new):
    table = merge([], before).rows
    merged = merge(table, new)
    assert not contradictory(merged.rows)
    assert merged.added <= len(new) and set(merged.rows) <= set(table) | set(new)
    if not merged.conflicts:
        assert merged.rows[: len(table)] == table and merged.added + merged.known == len(new)
    again = merge(merged.rows, [row for row in new if row in merged.rows])
    assert (again.rows, again.added, again.conflicts) == (merged.rows, 0, [])


def test_a_conflict_names_rows_people_and_times():
    ours, theirs = (
        Judgement("a", "b", "duplicate", "李", NOW),
        Judgement("b", "a", "not_duplicate", "王", NOW + timedelta(days=1)),
    )
    (conflict,) = merge([ours], [theirs]).conflicts
    told = "a / b: duplicate by 李 on 2030-01-01 00:00, but not_duplicate by 王 on 2030-01-02 00:00"
    assert conflict.told() == told and merge([ours], [theirs]).rows == [theirs]
    assert merge([theirs], [ours]).rows == [theirs] and merge([theirs], [ours]).conflicts


def test_protection_contradicts_the_drop_of_the_protected_row():
    dropped, kept = Judgement("a", "b", "duplicate", None, NOW), Judgement("b", "a", "duplicate", None, NOW)
    protect = Judgement("a", None, "protect", None, NOW)
    assert merge([protect], [dropped]).conflicts and merge([dropped], [protect]).conflicts
    assert not merge([protect], [kept]).conflicts


@embedded_only
@pytest.mark.parametrize("name", ["v.parquet", "v.csv"])
def test_a_run_reads_what_was_written(session, tmp_path, name):
    rows = [Judgement("=a", 'b,\n"c', "duplicate", "王", NOW), Judgement("d", None, "protect")]
    write_table(str(tmp_path / name), rows)
    assert read_table(str(tmp_path / name)) == rows
    read = [Judgement(**row.asDict()) for row in read_verdicts(session, str(tmp_path / name)).collect()]
    assert {row[:4] for row in read} == {row[:4] for row in rows} and {bool(row.judged_at) for row in read} == {True, False}


@embedded_only
@pytest.mark.parametrize("name", ["v.parquet", "v.csv"])
def test_tables_of_three_columns_stay_good(session, tmp_path, name):
    table, path = pa.table({"doc_id": ["001"], "other_id": ["2"], "verdict": ["duplicate"]}), tmp_path / name
    pq.write_table(table, path) if name.endswith("parquet") else path.write_text("doc_id,other_id,verdict\n001,2,duplicate\n")
    assert read_table(str(path)) == [Judgement("001", "2", "duplicate")]
    assert read_verdicts(session, str(path)).first().asDict() == Judgement("001", "2", "duplicate")._asdict()


@pytest.mark.parametrize(
    "content", ["a,b\n1,2\n", "doc_id,other_id,verdict\n1,2,maybe\n", "doc_id,other_id,verdict\n1,,duplicate\n"]
)
def test_what_is_no_verdict_table_is_not_appended_to(tmp_path, content):
    (tmp_path / "v.csv").write_text(content)
    with pytest.raises(InputError, match=r"v\.csv"):
        read_table(str(tmp_path / "v.csv"))


@pytest.mark.parametrize("name", ["v.txt", "s3://bucket/v.parquet", "."])
def test_a_table_is_one_local_file(name):
    with pytest.raises(ConfigError, match="--verdicts"):
        check_target(name)
