"""The compiled tokenizer against a plain one: equal on every dump, right or damaged."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.dump import files, lexis
from dedup_lib.dump.client import Client
from dedup_lib.dump.scan import DEFAULT, EXPRESSION, KIND
from dedup_lib.dump.values import gather
from dedup_lib.dump.walker import Rows, Walker
from tests.dump import oracle
from tests.dump.oracle import Broken, Oracle

HEAD = b"INSERT INTO `t` VALUES "
PIECES = [
    "'", '"', "\\", "\\'", "''", '""', "\\\\", "\\n", "\\0", "\\Z", "\\%", "\\_", "),(", "(", ")", ",", ";", ";\n", "\n",
    "--", "-- ", "#",
    "/*", "*/", "/*!40101 ", "`", "誠", "許功蓋", "中文", "é", "a", "0", " ", "NULL", "INSERT INTO `t` VALUES (", "\x00",
    "\x1a", "\r\n", "\t",
]  # fmt: skip
LITERALS = [
    "NULL", "null", "1", "-1.5", "+3", ".5", "1e-10", "0x4142", "0X41", "0x", "x'4142'", "X'0a'", "b'101'", "0b11", "TRUE",
    "false",
    "DEFAULT", "N'x'", "_binary 'a\\'b'", "_utf8mb4'é'", "_gbk 0xD55C", "_utf8 x'41'", "now()", "CURRENT_TIMESTAMP",
    "'a' 'b'", "'a'\n\"b\"",
    "'x' COLLATE utf8_bin", "f('),(', g(1))", "\\N", "DATE '2014-01-02'", "-", ".", "1.2.3", "abc", "''", '""', "/* c */ 1",
    "1 -- x\n",
]  # fmt: skip


def texts() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def quoted(text: str, style: int) -> str:
    """A literal: escaped with backslashes, with doubled quotes, or in the other quotes."""
    if style == 0:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\0", "\\0") + "'"
    if style == 1:
        return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


values = st.one_of(st.sampled_from(LITERALS), st.builds(quoted, texts(), st.integers(0, 2)))
gaps = st.sampled_from(["", "", "", " ", "\n", "/* ),( */", "-- it's\n", '# "\n', "/*!40101 ", "*/"])
tuples = st.lists(st.tuples(gaps, values, gaps).map("".join), max_size=4).map(lambda parts: "(" + ",".join(parts) + ")")
statements = st.tuples(
    st.sampled_from(["INSERT INTO `t` VALUES", "insert ignore into t (`a`, b) values", "REPLACE INTO `d`.`t` VALUE ",
    "INSERT `t`VALUES"]),
    st.lists(st.tuples(gaps, tuples, gaps).map("".join), min_size=1, max_size=4).map(",".join),
).map(lambda parts: parts[0] + parts[1] + ";")  # fmt: skip
dumps = st.lists(st.tuples(gaps, statements).map("".join), max_size=4).map("\n".join)


class File:
    """Bytes that arrive a few at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self.data, self.step, self.at = data, step, 0

    def readinto(self, space) -> int:
        part = self.data[self.at : self.at + min(self.step, len(space))]
        space[: len(part)] = part
        self.at += len(part)
        return len(part)


def kernel_rows(data: bytes, encoding: str, chunk: int, backslash: bool = True) -> list[tuple[int, int, list]]:
    """What the compiled scanner makes of a text, with a window of ``chunk`` bytes; raises ``Broken`` at damage."""
    found = []
    client = Client(b"", None if encoding == "utf8" else encoding, backslash)
    walker = Walker(files.Window(File(data, chunk), chunk=chunk), client, lambda head: np.arange(0, dtype=np.int32), recount)
    walker.make_room(8, 8)
    rules = lexis.rules(encoding, backslash)
    for event in walker.events():
        if not isinstance(event, Rows):  # damage, or what damage made of an INSERT
            raise Broken(event)
        for row in range(event.count):
            width = len(walker._slots)
            bounds, kinds = event.bounds[row, :width].copy(), event.kinds[row, :width].copy()
            out, offsets, valid = np.empty(len(data) + 8, np.uint8), np.empty(width + 1, np.int64), np.empty(width, np.bool_)
            gather(event.data, bounds, kinds, rules, out, offsets, valid)
            values = [bytes(out[offsets[k] : offsets[k + 1]]) if valid[k] else NAMES.get(kinds[k] & KIND) for k in range(width)]
            found.append((int(event.spans[row, 0]) + event.base, int(event.spans[row, 1]) + event.base, values))
    return found


NAMES = {DEFAULT: oracle.DEFAULT, EXPRESSION: oracle.EXPRESSION}


def recount(head, count: int) -> np.ndarray | None:
    """Rows may have any number of values here."""
    return np.arange(count, dtype=np.int32) if count <= 8 else None


def outcome(read, *arguments):
    try:
        return read(*arguments)
    except Broken:
        return Broken


def same(data: bytes, encoding: str, chunk: int, backslash: bool = True):
    expected = outcome(lambda: Oracle(data, encoding, backslash).rows())
    assert outcome(kernel_rows, data, encoding, chunk, backslash) == expected
    return expected


@given(dumps, st.sampled_from(["utf8", "gbk", "big5"]), st.sampled_from([16, 61, 4096]), st.booleans())
def test_the_kernel_reads_what_the_oracle_reads(text, encoding, chunk, backslash):
    same(text.encode("utf-8" if encoding == "utf8" else encoding, "ignore"), encoding, chunk, backslash)


@given(dumps, st.sampled_from(["utf8", "gbk", "big5"]), st.randoms(use_true_random=False), st.sampled_from([16, 4096]))
def test_damage_is_damage_to_both(text, encoding, chance: random.Random, chunk):
    data = bytearray(text.encode("utf-8" if encoding == "utf8" else encoding, "ignore"))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        action = chance.randrange(4)
        if action == 0:
            del data[at : at + chance.randint(1, 9)]
        elif action == 1:
            data[at:at] = chance.choice(PIECES).encode()
        elif action == 2 and at < len(data):
            data[at] = chance.randrange(256)
        else:
            del data[at:]
    same(bytes(data), encoding, chunk)


def test_every_byte_of_a_text_may_be_cut_off():
    text = HEAD + "(1,'誠\\'),(','x'),(2,\"a\"\"b\",0x41) , (3,NULL,-1);".encode("gbk")
    for end in range(1, len(text)):
        assert same(text[:end], "gbk", 16) is Broken
    assert len(same(text, "gbk", 16)) == 3


@pytest.mark.parametrize("literal", LITERALS)
def test_literals(literal):
    same(HEAD + f"({literal}),(7,{literal});".encode(), "utf8", 4096)


def test_a_row_longer_than_any_window():
    text = HEAD + b"(1,'" + b"x),('" * 0 + b"\\')," * 100_000 + b"'),(2,'y');"
    rows = kernel_rows(text, "utf8", 1000)
    assert [row[2][0] for row in rows] == [b"1", b"2"] and len(rows[0][2][1]) == 300_000
