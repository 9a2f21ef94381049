"""Masking of log lines: values go, words stay."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.masking import mask, maskable
from tests.conftest import ROOT
from tools.log_accuracy import accuracy, read

LOGS = Path(os.environ.get("DEDUP_EVALUATION_DATA", ROOT.parent / "shared" / "data")) / "logs"
PARTS = ["12", "-3.5", "ms", " ", "/", "a.b", "10.0.0.1", ":", "8080", "2024-01-02", "08:30:01", "error", "0xff", "@", "x", "\\"]
part = st.sampled_from([*PARTS, "deadbeef01"])
lines = st.one_of(st.lists(part, max_size=12).map("".join), st.text(max_size=40))
words = st.text(st.sampled_from("abc xyz错误启动ERROR_.,()"), max_size=30)


@given(lines)
def test_masking_twice_changes_nothing(line):
    assert mask(mask(line)) == mask(line)


@given(lines)
def test_what_changes_is_found_by_the_trigger(line):
    assert mask(line) == line or maskable(pa.array([line]))[0].as_py()


@given(words)
def test_words_stay(line):
    assert mask(line) == line


@given(words, st.integers(0, 10**12), st.integers(0, 10**12))
def test_lines_that_differ_in_a_number_become_one(line, first, second):
    assert mask(f"{line} id={first} done") == mask(f"{line} id={second} done")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2031-05-01 08:00:01 ERROR order 88120 payment refused", "<time> ERROR order <num> payment refused"),
        ("Jun 14 15:16:01 combo sshd[19939]: failed", "<time> combo sshd[<num>]: failed"),
        ('[10/Oct/2000:13:55:36 -0700] "GET /a/b.gif HTTP/1.0" 200', '[<time>] "GET <path> HTTP/<num>" <num>'),
        ("20171223-22:15:29:606|Step|onStand 3579", "<time>|Step|onStand <num>"),
        ("2005-06-03-15.42.50.675872 node up", "<time> node up"),
        ("订单12345于2024年3月1日 08:30:01完成，耗时12ms", "订单<num>于<time>完成，耗时<num>"),
        ("from /10.251.43.1:50010 to 10.0.0.2", "from <ip> to <ip>"),
        ("block blk_-1608999687919862906 of size 91178", "block blk_<num> of size <num>"),
        ("req-9bc36dd9-91c5-4314-898a-47625eb93b09 ok", "req-<id> ok"),
        ("user bob@example.com read C:\\a\\b.txt and/or http://x.y/z?q=1", "user <email> read <path> and/or <url>"),
        ("sizes 1,2, 3; 4 free 1.5 KB", "sizes <num> free <num>"),
        ("mac 00:1a:2b:3c:4d:5e at 0xdeadbeef", "mac <mac> at <id>"),
        ("vm instance started", "vm instance started"),
    ],
)
def test_examples(line, expected):
    assert mask(line) == expected


RECALL = {"Android": 0.94, "BGL": 0.41, "HDFS": 0.99, "Hadoop": 0.79, "HealthApp": 0.99, "Linux": 0.47, "OpenSSH": 0.88}
RECALL |= {"OpenStack": 0.64, "Spark": 0.98, "Zookeeper": 0.99}


@pytest.mark.skipif(not LOGS.is_dir(), reason="the labelled log lines are not here")
@pytest.mark.parametrize("system", RECALL)
def test_lines_of_different_events_are_never_joined(system):
    precision, recall, _ = accuracy(*read(LOGS / f"{system}_2k.log_structured.csv", None))
    assert precision == 1.0
    assert recall >= RECALL[system]
