"""Damaged dumps in quarantine: no crash, no hang, everything before and far behind the damage read, every split the same."""

from __future__ import annotations

import itertools
import random

import pytest

from dedup_lib.dump.listing import tables
from dedup_lib.errors import InputError
from tests.dump.server import read_all
from tests.dump.test_reader import news


def damaged(content: bytes, chance: random.Random) -> tuple[bytes, int, bool]:
    """A content with bytes lost, changed or put in, where that begins, and whether whole rows may be among what was lost."""
    at = chance.randrange(200, len(content) - 4000)
    action = chance.randrange(4)
    if action == 0:
        return content[:at] + content[at + (gone := chance.choice([1, 7, 900])) :], at, gone > 100
    if action == 1:
        return content[:at] + chance.choice([b"'", b"\\", b"\xb5", b"(", b");\n", b"\0" * 50]) + content[at:], at, False
    if action == 2:
        return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :], at, False
    return content[:at], at, content[:at].endswith((b";", b"\n"))  # cut between statements


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost_in_silence(dump, seed):
    chance = random.Random(seed)
    content, at, swallowed = damaged(news(120, chance.choice([1, 10])), chance)
    path = dump(content)
    rows = read_all(path, "news", mode="quarantine", metadata="_row").to_pylist()
    for split in (150, 2000):
        again = read_all(path, "news", mode="quarantine", metadata="_row", splitbytes=str(split)).to_pylist()
        assert sorted(again, key=lambda row: row["_offset"]) == sorted(rows, key=lambda row: row["_offset"])
    spans = sorted((row["_offset"], row["_end"]) for row in rows)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    good = [row for row in rows if row["_error"] is None]
    before = [row["id"] for row in good if row["_end"] <= at]
    assert before == list(range(len(before)))
    whole = content[:at].count(b"),\n(") + content[:at].count(b");\nINSERT INTO `news`")
    assert len(before) >= whole - content[:at].count(b"x\\');\nDROP") - 3
    if len(good) < 119 and not swallowed:  # rows are missing: that is told, and refused where it is not asked for
        assert len(good) < len(rows)
        with pytest.raises(InputError, match=r"byte \d+"):
            read_all(path, "news")


def test_a_dump_cut_inside_a_conditional_comment_is_damaged(dump):
    comment = b"/*!40000 ALTER TABLE `news` DISABLE KEYS */"
    whole = news(3, 1) + b"\n" + comment + b";\n"
    assert read_all(dump(whole + b"-- /*!40000\n"), "news").num_rows == 3
    begins = whole.rindex(comment)
    for end in range(begins + 1, begins + len(comment)):
        with pytest.raises(InputError, match="ends inside a statement"):
            read_all(dump(whole[:end]), "news")


def test_rows_of_a_table_that_is_not_defined_are_told(dump):
    whole = news(3, 1)
    assert not [warning for warning in tables(str(dump(whole))).warnings if "does not define" in warning]
    begins = whole.rindex(b"INSERT INTO `news`")
    cut = whole[:begins] + whole[begins:].replace(b"`news`", b"`new`", 1)
    told = [warning for warning in tables(str(dump(cut))).warnings if "does not define" in warning]
    assert len(told) == 1 and "1 rows into table 'new'" in told[0]
    alone = b"SET NAMES utf8mb4;\n" + whole[whole.index(b"INSERT INTO `news`") :]
    assert not [warning for warning in tables(str(dump(alone))).warnings if "does not define" in warning]
