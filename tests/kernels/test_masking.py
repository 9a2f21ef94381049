"""Masking of log lines: values go, words stay."""

import os
import re
import unicodedata
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.masking import LEVELS, MASKS, RULES, mask, mask_below
from dedup_lib.kernels.normalize import Normalizer
from dedup_lib.settings import load_settings
from tests.conftest import ROOT
from tests.kernels.helpers import one, read_cases
from tests.strategies import string_arrays
from tools.log_accuracy import accuracy, read

LOGS = Path(os.environ.get("DEDUP_EVALUATION_DATA", ROOT.parent / "shared" / "data")) / "logs"
PARTS = """
    12 -3.5 ms MB % 个 秒 a.b 10.0.0.1 8080 2024-01-02 20240102 08:30:01 .123 Z Jan June 年 月 日 时 分 UTC +08:00 R02 -M1 _m_
    0xff deadbeef01 fe80:: x Xy7 a1b com C:\\ \\\\ // :// /a ~/ ../ http user@ @h.org <num> <time> <path> < E W error ERROR INFO
    level= [ 【错误】""".split()
SIGNS = [*"/:.,-_@\\+=(|'\" ", "  ", "\t", "\n"]
part = st.one_of(st.sampled_from(PARTS), st.sampled_from(SIGNS), st.sampled_from(SIGNS))
plain = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(lambda text: unicodedata.normalize("NFKC", text))
lines = st.lists(st.one_of(part, part, part, plain), max_size=14).map("".join)
words = st.text(st.sampled_from("abcxyzTZ 错误启动年分_.,:()[]<>=-|"), max_size=30)
normalize = Normalizer(load_settings().config.profiles["log"].normalize)


def by_re(line: str) -> str:
    """The rules as Python reads them."""
    for pattern, replacement in RULES:
        line = re.sub(pattern, replacement, line, flags=re.ASCII)
    return line


@given(lines)
def test_both_readers_of_the_rules_agree(line):
    assert one(mask, line) == by_re(line)


@given(lines)
def test_masking_twice_changes_nothing(line):
    assert one(mask, one(mask, line)) == one(mask, line)


@given(lines)
def test_the_profile_is_idempotent(line):
    assert one(normalize, one(normalize, line)) == one(normalize, line)


@given(lines)
def test_no_digit_is_left(line):
    assert not set(one(mask, line)) & set("0123456789")


@given(words)
def test_words_stay(line):
    assert one(mask, line) == line


@given(words, st.integers(0, 10**12), st.integers(0, 10**12))
def test_lines_that_differ_in_a_number_become_one(line, first, second):
    assert one(mask, f"{line} id={first} done") == one(mask, f"{line} id={second} done")


@given(string_arrays(lines))
def test_rows_do_not_influence_each_other(texts):
    assert normalize(texts).to_pylist() == [one(normalize, text or "") for text in texts.to_pylist()]


@pytest.mark.parametrize("case", read_cases("masking.tsv"), ids=lambda case: case["raw"])
def test_kinds_of_values(case):
    assert case["kind"] in MASKS
    assert one(mask, f"got {case['raw']} here") == f"got {case['kind']} here"
    assert one(mask, f"值为{case['raw']}，好") == f"值为{case['kind']}，好"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2031-05-01 08:00:01 ERROR order 88120 payment refused", "<time> ERROR order <num> payment refused"),
        ("Jun 14 15:16:01 combo sshd[19939]: failed", "<time> combo sshd[<num>]: failed"),
        ('[10/Oct/2000:13:55:36 -0700] "GET /a/b.gif HTTP/1.0" 200', '[<time>] "GET <path> HTTP/<num>" <num>'),
        ("订单12345于2024年3月1日 08:30:01完成，耗时12ms，重试3次", "订单<num>于<time>完成，耗时<num>，重试<num>次"),
        ("from /10.251.43.1:50010 to 10.0.0.2", "from <host> to <host>"),
        ("block blk_-1608999687919862906 of size 91178", "block blk_<num> of size <num>"),
        ("attempt_1445144423722_0020_m_000003_0 is : 0.23068264", "attempt_<num> is : <num>"),
        ("req-9bc36dd9-91c5-4314-898a-47625eb93b09 ok", "req-<num> ok"),
        ("user bob@example.com read C:\\a\\b.txt and/or http://x.y/z", "user <email> read <path> and/or <url>"),
        ("03-17 16:15:08.066  1702  2644 D Tag: x", "<time> <num> D Tag: x"),
        ("ssh2 utf-8 sha256 org.apache.v2.App", "ssh<num> utf-<num> sha<num> org.apache.v<num>.App"),
        ("编号：A-12，时间：08:30:01", "编号：A-<num>，时间：<time>"),
    ],
)
def test_lines(line, expected):
    assert one(mask, line) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [("vm instance started", "vm instance paused"), ("12 INFO x", "12 WARN x"), ("session of root 1", "session of bob 1"),
     ("retry 3次", "retry 3个"), ("开机1", "关机1"), ("task_12_1 done", "job_12_1 done"), ("a.example.com", "b.example.com"),
     ("Monitor 2024-01-02 08:30:01 up", "Satellite 2024-01-02 08:30:01 up"), ("marker 5 12:30:01", "decoder 5 12:30:01"),
     ("删除/data/a.txt失败", "删除/data/a.txt成功"), ("打开http://a.cn/b失败", "打开http://a.cn/b成功"),
     ("访问http://a.cn/失败", "访问http://a.cn/成功"), ("删除/data/失败 1", "删除/data/成功 1"),
     ("用户a@b.cn登录", "游客a@b.cn登录"),
     ("启动/stop 1", "启动/start 1"), ("错误/警告5", "错误/注意5"), ("GET /a", "POST /a"), ("8080/tcp open", "8080/udp open")],
)  # fmt: skip
def test_lines_that_differ_in_a_word_stay_apart(first, second):
    assert one(mask, first) != one(mask, second)


# ---- levels ----


@pytest.mark.parametrize(
    ("line", "least"),
    [
        ("2031-05-01 08:00:01 ERROR order 5", "error"), ("2031-05-01 08:00:01,045 - WARN  [x:1] order 5", "warn"),
        ("03-17 16:15:08.066  1702  2644 E Tag: order 5", "error"), ("03-17 16:15:08.066  1702  2644 W Tag: order 5", "warn"),
        ("ts=1 level=error order 5", "error"), ('{"n":1,"level":"warning","order":5}', "warn"), ("[错误] 订单5", "error"),
        ("【警告】订单5", "warn"), ("1 FATAL 5", "error"), ("CRITICAL: 5", "error"), ("kernel [err] 5", "error"),
        ("1 INFO ERROR IN 5", None), ("1 error 5", None), ("1 D Tag ERROR 5", None), ("ERROR_CODE 5", None), ("order 5", None),
        ("NO ERRORS 5", None), ("DEBUG: [error] 5", None),
    ],
)  # fmt: skip
def test_a_line_at_the_level_keeps_what_stands_behind_it(line, least):
    for level in LEVELS:
        kept = least is not None and LEVELS.index(least) >= LEVELS.index(level)
        assert ("5" in one(lambda texts, level=level: mask_below(texts, level), line)) is kept


def test_what_stands_before_the_level_is_masked():
    rows = pa.array(["2031-05-01 08:00:01 [t-1] ERROR order 88120", "2031-05-01 09:00:01 [t-2] ERROR order 88120"])
    assert mask_below(rows, "error").to_pylist() == ["<time> [t-<num>] ERROR order 88120"] * 2


@pytest.mark.parametrize("level", LEVELS)
@given(line=lines)
def test_masking_below_a_level_twice_changes_nothing(level, line):
    once = one(lambda texts: mask_below(texts, level), line)
    assert one(lambda texts: mask_below(texts, level), once) == once


# ---- labelled lines ----

# Pairs of lines of one event with equal masks: at least so many of the whole lines, of their content alone.
RECALL = {
    "Android": (0.98, 0.98), "BGL": (0.99, 0.99), "HDFS": (0.99, 0.99), "Hadoop": (0.8, 0.99), "HealthApp": (0.99, 0.99),
    "Linux": (0.59, 0.59), "OpenSSH": (0.88, 0.88), "OpenStack": (0.64, 0.66), "Spark": (0.98, 0.98), "Zookeeper": (0.99, 0.99),
}  # fmt: skip


@pytest.mark.skipif(not LOGS.is_dir(), reason="the labelled log lines are not here")
@pytest.mark.parametrize("system", RECALL)
def test_lines_of_different_events_are_never_joined(system):
    for column, least in zip((None, "Content"), RECALL[system], strict=True):
        precision, recall, _ = accuracy(*read(LOGS / f"{system}_2k.log_structured.csv", column))
        assert precision == 1.0
        assert recall >= least
