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
from tests.kernels.helpers import one
from tests.strategies import string_arrays
from tools.log_accuracy import accuracy, read

LOGS = Path(os.environ.get("DEDUP_EVALUATION_DATA", ROOT.parent / "shared" / "data")) / "logs"
PARTS = """12 -3.5 ms MB % 个 秒 a.b 10.0.0.1 8080 2024-01-02 20240102 08:30:01 .123 Z Jan June error ERROR INFO 0xff deadbeef01 fe80:: x Xy7
 a1b com C:\\ \\\\ // :// /a ~/ ../ http user@ @h.org 年 月 日 时 分 <num> <time> <path> UTC +08:00 R02 -M1 _m_ E W level= [ 【错误】 <""".split()
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


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("<time>", ["2031-05-01 08:00:01", "2031/5/1 8:00:01", "2031-05-01T08:00:01.123Z", "2031-05-01T08:00:01+08:00",
                    "2031-05-01 08:00:01,123", "2005-06-03-15.42.50.675872", "20171223-22:31:59:618", "01/May/2031:08:00:01 +0800",
                    "Jun 14 15:16:01", "Jun  9 06:06:01", "Sat Jul  9 12:16:49 2005", "Thu, 1 May 2031 08:00:01 GMT", "17/06/09 20:10:40",
                    "03-17 16:13:38.811", "15:16:01", "2031年5月1日", "2031年5月1日 8时30分", "2031年05月01日 08:30:00", "1.5.2031",
                    "May 1, 2031", "JAN 2 10:00:00", "8:00:01 PM"]),
        ("<num>", ["5", "-5", "1,234.5", "12ms", "3.5MB", "1.5 KB", "100%", "3秒", "20分钟", "0x1f", "0xDEADBEEF", "a64f992", "1e-5",
                   "9bc36dd9-91c5-4314-898a-47625eb93b09", "54fadb412c4e40cdbaed9335e4c35a9e", "1445144423722_0020_m_000003_0",
                   "R02-M1-NE-C:J12-U11", "Xy7Kq2Lm9", "1h30m", "ffffffff", "1, 2,3; 4", "20310501"]),
        ("<host>", ["10.0.0.1", "10.0.0.1:8080", "/10.0.0.1:8080", "fe80::1ff:fe23:4567:890a", "2001:db8::1",
                    "1:2:3:4:5:6:7:8", "00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "host8.example.net", "ip-10-0-0-1.a.example.de:22"]),
        ("<path>", ["/var/log/a.log", "/a/10.0.0.1/b", "~/x", "./run", "../a/b", "C:\\a\\b.txt", "D:/www/x.php", "\\\\host\\share", "/中文/1"]),
        ("<url>", ["http://x.y/z?q=1&a=[", "hdfs://10.0.0.1:9000/a", "https://例子.cn/1"]),
        ("<email>", ["bob@example.com", "a.b+c@mail.example.org"]),
    ],
)  # fmt: skip
def test_kinds_of_values(kind, values):
    assert kind in MASKS
    for value in values:
        assert one(mask, f"got {value.removesuffix('[')} here") == f"got {kind} here", value
        assert one(mask, f"值为{value.removesuffix('[')}，好") == f"值为{kind}，好", value


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
     ("retry 3次", "retry 3个"), ("开机1", "关机1"), ("task_12_1 done", "job_12_1 done"), ("www.a.example.com", "www.b.example.com")],
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
