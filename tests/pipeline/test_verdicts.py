"""What people decided always wins, and leaves one line for each verdict applied."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.errors import InputError
from dedup_lib.schemas import NEEDED_OF_A_VERDICT
from tests.conftest import embedded_only
from tests.pipeline.cases import CLINIC, LIBRARY, REWORDED
from tests.pipeline.helpers import drops, evidence_is_direct, run, survivors

pytestmark = embedded_only

REVISED = CLINIC.replace("手机上预约，尽量避开晚间", "公众号预约，避开夜间")  # Jaccard 0.70
MARKET = "社区菜市场本周起延长营业到晚上九点，摊位管理办公室提醒商户做好防火检查。"
LEFT, BOTH, RIGHT = LIBRARY[8:], LIBRARY, LIBRARY[:-8]  # Jaccard: neighbours 0.89, the outer two 0.79
NEAR, EXACT, UNRELATED, DOUBTFUL = (LIBRARY, REWORDED), (LIBRARY, LIBRARY), (LIBRARY, MARKET), (CLINIC, REVISED)

Verdict = tuple[str | None, str | None, str | None]
SCHEMA = pa.schema([(name, pa.string()) for name in NEEDED_OF_A_VERDICT])


def judge(session, folder, texts: Sequence[str | None], *verdicts: Verdict | str):
    """Deduplicate texts called a, b, c, … in the order of priority. Verdicts are rows, or the lines of a CSV file."""
    rows = [
        {"doc_id": chr(ord("a") + number), "content": text, "publish_time": datetime(2030, 1, 1 + number)}
        for number, text in enumerate(texts)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    if verdicts and isinstance(verdicts[0], str):
        path = folder / "verdicts.csv"
        path.write_text("\n".join(verdicts) + "\n")
    else:
        path = folder / "verdicts.parquet"
        pq.write_table(pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in verdicts], SCHEMA), path)
    return run(session, rows, folder, f"input.verdicts={path}")


def lines(tables) -> list[tuple]:
    """The audit, without measures."""
    return sorted((row["doc_id"], row["kept_id"], row["decision"], row["method"]) for row in tables["pairs"])


@pytest.mark.parametrize("order", [("b", "a")])
@pytest.mark.parametrize("texts", [NEAR, EXACT, UNRELATED, DOUBTFUL, ("好评", "好评"), ("👍", "👍")])
def test_not_duplicate_keeps_both(session, tmp_path, texts, order):
    tables = judge(session, tmp_path, texts, (*order, "not_duplicate"))
    assert survivors(tables) == {"a", "b"}
    assert lines(tables) == [("b", "a", "keep", "verdict")]
    assert tables["review"] == [] and tables["clusters"] == []


@pytest.mark.parametrize("order", [("a", "b")])
@pytest.mark.parametrize("texts", [UNRELATED, DOUBTFUL, ("好评", "差评"), ("👍", "😡"), ("好评", "👍")])
def test_duplicate_drops_whatever_the_measures_say(session, tmp_path, texts, order):
    tables = judge(session, tmp_path, texts, (*order, "duplicate"))
    assert lines(tables) == [("b", "a", "drop", "verdict")]
    assert survivors(tables) == {"a"} and tables["review"] == []


@pytest.mark.parametrize(
    ("texts", "method"), [(NEAR, "near"), (EXACT, "exact_raw"), ((LIBRARY, f"{LIBRARY} "), "exact_normalized")]
)
def test_duplicate_changes_nothing_where_the_measures_agree(session, tmp_path, texts, method):
    assert lines(judge(session, tmp_path, texts, ("a", "b", "duplicate"))) == [("b", "a", "drop", method)]


def test_a_drop_by_verdict_says_that_a_person_decided(session, tmp_path):
    (row,) = judge(session, tmp_path, UNRELATED, ("a", "b", "duplicate"))["pairs"]
    assert row["jaccard"] < 0.1 and "jaccard" not in row["reason"]


@pytest.mark.parametrize("texts", [NEAR, EXACT])
def test_protect_keeps_a_row_that_would_fall(session, tmp_path, texts):
    tables = judge(session, tmp_path, texts, ("b", None, "protect"))
    assert survivors(tables) == {"a", "b"}
    assert lines(tables) == [("b", "a", "keep", "verdict")]


def test_protect_does_not_shield_others(session, tmp_path):
    tables = judge(session, tmp_path, NEAR, ("a", None, "protect"))
    assert lines(tables) == [("b", "a", "drop", "near")]


def test_protect_wins_over_duplicate(session, tmp_path):
    tables = judge(session, tmp_path, UNRELATED, ("a", "b", "duplicate"), ("b", None, "protect"))
    assert survivors(tables) == {"a", "b"}


def test_one_protected_row_has_one_line(session, tmp_path):
    tables = judge(session, tmp_path, [LEFT, RIGHT, BOTH], ("c", None, "protect"))
    assert survivors(tables) == {"a", "b", "c"}
    assert [line[0] for line in lines(tables) if line[2] == "keep"] == ["c"]


def test_a_verdict_on_two_of_many_equal_rows_leaves_the_others_together(session, tmp_path):
    tables = judge(session, tmp_path, [LIBRARY] * 4 + [REWORDED], ("a", "c", "not_duplicate"))
    assert survivors(tables) == {"a", "c"}
    assert {doc_id: kept for doc_id, (kept, _) in drops(tables).items()} == dict.fromkeys("bde", "a")
    assert evidence_is_direct(tables)


def test_duplicates_by_verdict_do_not_chain(session, tmp_path):
    tables = judge(session, tmp_path, [LIBRARY, MARKET, CLINIC], ("a", "b", "duplicate"), ("b", "c", "duplicate"))
    assert lines(tables) == [("b", "a", "drop", "verdict")]
    assert survivors(tables) == {"a", "c"}


def test_an_equal_row_that_nobody_judged_stays(session, tmp_path):
    tables = judge(session, tmp_path, [LIBRARY, MARKET, MARKET], ("a", "b", "duplicate"))
    assert drops(tables) == {"b": ("a", "verdict")}
    assert evidence_is_direct(tables)


def test_not_duplicate_lets_a_row_fall_for_another(session, tmp_path):
    tables = judge(session, tmp_path, [LIBRARY, REWORDED, LIBRARY], ("a", "c", "not_duplicate"))
    assert {doc_id: kept for doc_id, (kept, _) in drops(tables).items()} == {"b": "a"}
    assert survivors(tables) == {"a", "c"}


def test_a_verdict_given_twice_and_both_ways_counts_once(session, tmp_path):
    verdicts = [("a", "b", "not_duplicate"), ("b", "a", "not_duplicate"), ("a", "b", "not_duplicate")]
    assert lines(judge(session, tmp_path, NEAR, *verdicts)) == [("b", "a", "keep", "verdict")]


def test_every_verdict_applied_has_one_line(session, tmp_path):
    texts = [*NEAR, "好评", "差评", CLINIC, CLINIC, MARKET]
    verdicts = [("a", "b", "not_duplicate"), ("c", "d", "duplicate"), ("f", None, "protect")]
    tables = judge(session, tmp_path, texts, *verdicts)
    assert lines(tables) == [("b", "a", "keep", "verdict"), ("d", "c", "drop", "verdict"), ("f", "e", "keep", "verdict")]
    assert evidence_is_direct(tables)


def test_verdicts_on_unknown_rows_change_nothing(session, tmp_path):
    texts = [LIBRARY, LIBRARY, REWORDED, None]
    verdicts = [("y", "z", "duplicate"), ("y", None, "protect"), ("b", "z", "not_duplicate"), ("a", "d", "duplicate")]
    told, plain = (judge(session, tmp_path / str(len(given)), texts, *given) for given in (verdicts, []))
    assert lines(told) == lines(plain)
    assert survivors(told) == {"a"}


def test_verdicts_come_as_csv_too(session, tmp_path):
    tables = judge(
        session, tmp_path, [*NEAR, CLINIC, CLINIC], "note,verdict,other_id,doc_id", '"sure, yes",not_duplicate,a,b', ",protect,,d"
    )
    assert survivors(tables) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("verdict", "complaint"),
    [
        (("a", "b", "same"), "'a', 'b', 'same': the verdict must be duplicate, not_duplicate or protect"),
        (("a", "b", None), "'a', 'b', None: the verdict must be"),
        (("a", None, "duplicate"), "'a', None, 'duplicate': other_id is missing"),
        ((None, "b", "not_duplicate"), "None, 'b', 'not_duplicate': doc_id is missing"),
        (("a", "a", "duplicate"), "'a', 'a', 'duplicate': a row is judged against itself"),
    ],
)
def test_a_malformed_verdict_is_refused(session, tmp_path, verdict, complaint):
    with pytest.raises(InputError) as raised:
        judge(session, tmp_path, NEAR, ("a", "b", "duplicate"), verdict)
    assert str(raised.value).startswith(f"verdicts {tmp_path}/verdicts.parquet: {complaint}")
    assert raised.value.exit_code == 4


def test_contradicting_verdicts_are_refused(session, tmp_path):
    with pytest.raises(InputError, match=r"'a', 'b', .*judged both duplicate and not_duplicate"):
        judge(session, tmp_path, NEAR, ("a", "b", "not_duplicate"), ("b", "a", "duplicate"))


def test_a_verdict_table_without_a_column_is_refused(session, tmp_path):
    with pytest.raises(InputError, match=r"verdicts\.csv: lacks the column other_id; it needs doc_id, other_id, verdict"):
        judge(session, tmp_path, NEAR, "doc_id,verdict", "a,protect")


def test_a_missing_verdict_table_is_refused(session, tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.csv: no such file"):
        run(session, [{"doc_id": "a", "content": "好评"}], tmp_path, f"input.verdicts={tmp_path}/nowhere.csv")
