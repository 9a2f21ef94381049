"""Inputs of every shape: ids, times, columns and file formats as users have them, and bytes that are no text."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.errors import InputError
from tests.conftest import embedded_only
from tests.pipeline.helpers import digest, drops, run_on, survivors, write_rows

pytestmark = embedded_only

CONTENT = ["好评", "差评", "好评"]


def on_table(session, columns: dict | pa.Table, folder: Path, *overrides: str):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / "input.parquet")
    return run_on(session, str(folder / "input.parquet"), folder / "output", *overrides)


def on_file(session, folder: Path, name: str, content: str | bytes, *overrides: str):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    kind = {".csv": "csv", ".jsonl": "json"}[path.suffix]
    return run_on(session, str(path), folder / "output", f"input.format={kind}", *overrides)


def all_ids(tables) -> list:
    return sorted(row["doc_id"] for name in ("documents", "dropped", "quarantine") for row in tables[name])


# ---- ids ----


def test_numbers_as_ids_stay_numbers(session, tmp_path):
    tables = on_table(session, {"doc_id": [30, 4, 5], "content": CONTENT}, tmp_path)
    assert drops(tables) == {"5": ("30", "exact_raw")}  # ids are compared as text
    assert all_ids(tables) == [4, 5, 30]


def test_hostile_ids_come_out_as_they_came_in(session, tmp_path):
    ids = ["", " ", "a'b", "a\nb", "../../x", "\x00", '`"$(x)', "😀", "中" * 500, "%s{0}", "NULL", "\u202e", "a,b", "1", "01"]
    tables = on_table(session, {"doc_id": ids, "content": ["好评"] * len(ids)}, tmp_path)
    assert all_ids(tables) == sorted(ids)
    assert survivors(tables) == {""} and set(drops(tables)) == set(ids) - {""}


def test_rows_that_share_an_id_are_quarantined_but_the_earliest(session, tmp_path):
    columns = {
        "doc_id": ["x", "x", "x", "y"],
        "content": [*CONTENT, "中评"],
        "publish_time": ["2024-01-02", "2024-01-01", None, None],
    }
    tables = on_table(session, columns, tmp_path)
    assert [(row["doc_id"], row["content"]) for row in tables["documents"] if row["doc_id"] == "x"] == [("x", "差评")]
    assert [(row["content"], row["reason"]) for row in tables["quarantine"]] == [("好评", "duplicate_id")] * 2


def rows_without_ids() -> list[dict]:
    return [{"url": f"https://a.example/{number % 150}", "content": f"第{number % 150}条消息"} for number in range(300)]


def test_made_ids_are_the_same_however_the_rows_lie(session, tmp_path):
    results = []
    for files, rows in ((2, rows_without_ids()), (9, rows_without_ids()[::-1])):
        source = write_rows(rows, tmp_path / str(files), files)
        results.append(run_on(session, str(source), tmp_path / f"output-{files}"))
    ids = all_ids(results[0])
    assert len(set(ids)) == 300 and len(results[0]["documents"]) == 150
    assert digest(results[0]) == digest(results[1])


def test_ids_are_made_where_the_column_is_absent(session, tmp_path):
    columns = {"content": CONTENT, "n": [1, 2, 1]}
    first, again = (on_table(session, columns, tmp_path / name) for name in ("first", "again"))
    assert digest(first) == digest(again)
    ((dropped, (kept, method)),) = drops(first).items()
    assert dropped == f"{kept}-2" and method == "exact_raw"
    assert {row["doc_id"] for row in first["dropped"]} == {dropped}


def test_ids_are_made_where_some_are_missing(session, tmp_path):
    tables = on_table(session, {"doc_id": ["x", None, None], "content": CONTENT}, tmp_path)
    assert survivors(tables) | drops(tables).keys() == set(all_ids(tables))
    assert "x" in all_ids(tables) and None not in all_ids(tables)


def test_a_row_without_an_id_among_numbers_is_quarantined(session, tmp_path):
    tables = on_table(session, {"doc_id": [1, None], "content": ["好评", "好评"]}, tmp_path)
    assert [(row["doc_id"], row["reason"]) for row in tables["quarantine"]] == [(None, "missing_id")]
    assert survivors(tables) == {1}


# ---- columns ----


def test_columns_of_other_names_are_mapped(session, tmp_path):
    columns = {"编 号": ["a", "b", "c"], "正文.`x`": CONTENT, "time": ["2024-01-02", None, "2024-01-01"]}
    names = {"doc_id": "编 号", "content": "正文.`x`", "publish_time": "time"}
    tables = on_table(session, columns, tmp_path, *(f"input.columns.{k}={json.dumps(v)}" for k, v in names.items()))
    assert drops(tables) == {"a": ("c", "exact_raw")}
    assert [{name: row[name] for name in columns} for row in tables["dropped"]] == [
        {"编 号": "a", "正文.`x`": "好评", "time": "2024-01-02"}
    ]


def test_columns_named_like_internal_ones_ride_along(session, tmp_path):
    names = "raw copy rank key text digest published length a b _id _content because blank Content rep_id shared slot x.y".split()
    tables = on_table(session, {"doc_id": ["a", "b", "c"], "content": CONTENT} | {name: [1, 2, 3] for name in names}, tmp_path)
    assert drops(tables) == {"c": ("a", "exact_raw")}
    assert [[row[name] for name in names] for row in tables["dropped"]] == [[3] * len(names)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None], pa.int8()),
        pa.array([1.1, float("-inf")], pa.float32()),
        pa.array([Decimal("1.10"), None]),
        pa.array([True, None]),
        pa.array([date(2024, 1, 1), None]),
        pa.array([datetime(2024, 1, 1), None], pa.timestamp("us", "Asia/Shanghai")),
        pa.array([b"\xff\x00", None]),
        pa.array([["a", None], None]),
        pa.array([{"x": 1, "y": ["a"]}, None]),
        pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array(["a", None], pa.large_string()),
    ],
    ids=lambda values: str(values.type),
)
def test_values_of_other_columns_ride_along(session, tmp_path, values):
    tables = on_table(session, {"doc_id": ["a", "b"], "content": CONTENT[:2], "extra": values}, tmp_path)
    found = {row["doc_id"]: row["extra"] for row in tables["documents"]}
    assert [found["a"], found["b"]] == values.to_pylist()


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**32 - 1, None], pa.uint32()),
        pa.array(["a", None]).dictionary_encode(),
        pa.array([1, None], pa.timestamp("ns")),
    ],
    ids=lambda values: str(values.type),
)
def test_types_that_the_engine_cannot_read_are_refused_at_the_start(session, tmp_path, values):
    with pytest.raises(InputError, match=r"input\.parquet: cannot be read"):
        on_table(session, {"doc_id": ["a", "b"], "content": CONTENT[:2], "extra": values}, tmp_path)


# ---- times ----

TIMES = [datetime(2030, 3, 1, 8), datetime(1899, 12, 31, 23, 59, 59), datetime(1970, 1, 1)]


@pytest.mark.parametrize(
    "times",
    [
        *(pa.array(TIMES, pa.timestamp(unit)) for unit in ("s", "ms", "us")),
        pa.array(TIMES, pa.timestamp("us", "Asia/Shanghai")),
        pa.array([time.date() for time in TIMES]),
        pa.array([datetime(2030, 3, 1), datetime(1, 1, 1), datetime(9999, 12, 31)], pa.timestamp("us")),
        pa.array([1_700_000_000, 1_600_000_000, None]),
        pa.array([1_700_000_000_000, 1_600_000_000, 1_650_000_000_000_000]),
        pa.array(["2030-03-01 08:00:00", "2024年2月1日", "soon"]),
        pa.array(["2024-03-01T08:00:00Z", "2024-03-01T08:00:00+09:00", "2024/3/1 07:59:59.5"]),
    ],
    ids=lambda times: f"{times.type} {times[0]}",
)
def test_the_earliest_stays(session, tmp_path, times):
    tables = on_table(session, {"doc_id": ["a", "b", "c"], "content": ["好评"] * 3, "publish_time": times}, tmp_path)
    assert survivors(tables) == {"b"}


# ---- files ----


def test_partition_folders_become_columns(session, tmp_path):
    for day, doc_id in (("2024-01-01", "a"), ("2024-01-02", "b")):
        write_rows([{"doc_id": doc_id, "content": "好评"}], tmp_path / "table" / f"day={day}")
    tables = run_on(session, str(tmp_path / "table"), tmp_path / "output")
    assert [str(row["day"]) for row in tables["dropped"]] == ["2024-01-02"]


@pytest.mark.parametrize("pattern", ["*.parquet", "part-00[01].parquet"])
def test_a_glob_names_files(session, tmp_path, pattern):
    write_rows([{"doc_id": str(number), "content": "好评"} for number in range(3)], tmp_path / "input", files=2)
    tables = run_on(session, str(tmp_path / "input" / pattern), tmp_path / "output")
    assert all_ids(tables) == ["0", "1", "2"]


def test_a_glob_names_folders(session, tmp_path):
    for day in "ab":
        write_rows([{"doc_id": day, "content": "好评"}], tmp_path / "input" / f"{day}-day")
    tables = run_on(session, str(tmp_path / "input" / "*-day"), tmp_path / "output")
    assert all_ids(tables) == ["a", "b"]


def test_marker_files_beside_the_data_are_passed_over(session, tmp_path):
    folder = write_rows([{"doc_id": "a", "content": "好评"}], tmp_path / "input")
    for name in ("_SUCCESS", "_metadata.txt", ".part-000.parquet.crc"):
        (folder / name).write_text("x")
    assert all_ids(run_on(session, str(folder), tmp_path / "output")) == ["a"]


def test_csv_with_quotes_commas_and_line_breaks_in_texts(session, tmp_path):
    text = 'doc_id,content,title\n001,"他说""好"",\n第二行, 完了",t\n002,"他说""好"",\n第二行, 完了",\n003,C:\\new\\,"a,b"\n'
    tables = on_file(session, tmp_path, "input.csv", text)
    assert drops(tables) == {"002": ("001", "exact_raw")}
    assert {row["doc_id"]: row["content"] for row in tables["documents"]} == {
        "001": '他说"好",\n第二行, 完了',
        "003": "C:\\new\\",
    }


def test_csv_with_a_byte_order_mark_and_windows_line_ends(session, tmp_path):
    tables = on_file(session, tmp_path, "input.csv", "\ufeffdoc_id,content\r\n001,好评\r\n002,好评\r\n")
    assert drops(tables) == {"002": ("001", "exact_raw")}


def test_json_lines(session, tmp_path):
    lines = [
        {"doc_id": 1, "content": "好\n评"},
        {"doc_id": 2, "content": "好\n评", "tags": ["x"]},
        {"doc_id": 3, "content": None},
    ]
    text = "\n".join(map(json.dumps, lines)) + "\n\n"
    tables = on_file(session, tmp_path, "input.jsonl", text)
    assert drops(tables) == {"2": ("1", "exact_raw")}
    assert [row["tags"] for row in tables["dropped"]] == [["x"]]
    assert [(row["doc_id"], row["reason"]) for row in tables["quarantine"]] == [(3, "empty")]


# ---- bytes that are no text ----


def test_half_an_emoji_in_json_is_refused_by_name(session, tmp_path):
    """What the engine cannot decode stops the run rather than change a text."""
    lines = [json.dumps({"doc_id": f"s{number}", "content": text}) for number, text in enumerate(["半个\ud83d", "整个😀"])]
    with pytest.raises(InputError, match=r"input\.jsonl: cannot be read as json"):
        on_file(session, tmp_path, "input.jsonl", "\n".join(lines))


def test_lines_in_another_encoding_are_refused_with_what_to_do(session, tmp_path):
    with pytest.raises(InputError, match=r"input\.csv: cannot be read as csv: byte 17 .*iconv -f GB18030"):
        on_file(session, tmp_path, "input.csv", "doc_id,content\n1,好评\n2,差评\n".encode("gbk"))


def test_broken_utf8_in_parquet_is_refused_by_name(session, tmp_path):
    data = b"\xff\xfeA" + "好评".encode()
    broken = pa.StringArray.from_buffers(2, pa.array([0, 3, 9], pa.int32()).buffers()[1], pa.py_buffer(data))
    with pytest.raises(InputError, match=r"input\.parquet: cannot be read as parquet"):
        on_table(session, pa.table({"doc_id": ["a", "b"], "content": broken}), tmp_path)


def test_numbers_as_content_are_refused_by_name(session, tmp_path):
    with pytest.raises(InputError, match="column 'content' is bigint, neither text nor bytes"):
        on_table(session, {"doc_id": ["a"], "content": [1]}, tmp_path)
