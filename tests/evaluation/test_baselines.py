"""Other methods on small texts whose outcome is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.evaluation.baselines import (
    character_statistics,
    digest_codes,
    frequency_simhash,
    gram_hashes,
    representative,
    strip_markup,
    word_hashes,
    words_only,
)
from dedup_lib.evaluation.measures import Overlap
from tests.kernels.oracles import mix
from tests.kernels.oracles import shingle_hash as shingle_of

NEWS = "示范区启动示范工程，示范区居民参加工程，工程由示范区负责。"


def test_cleaning_takes_tags_and_white_space_only():
    assert strip_markup("<p class='a'>甲 乙\u3000，</p>\n<br/>丙 &nbsp; 1<2") == "甲乙，丙&nbsp;1<2"
    assert words_only("甲，A 1_b!") == "甲a1_b"


def test_equal_texts_have_one_code_and_blank_ones_none():
    codes = digest_codes(["甲", "乙", "甲", None, "", " \n", "甲 "]).tolist()
    assert codes[0] == codes[2] and len({codes[0], codes[1], codes[6]}) == 3 and codes[3:6] == [-1, -1, -1]


def test_grams_are_taken_at_every_place():
    values, offsets = gram_hashes(["甲乙丙甲乙", "", "甲乙"], 2)
    words = ["甲乙", "乙丙", "丙甲", "甲乙", "甲乙"]
    assert values.tolist() == [shingle_of(word) for word in words] and offsets.tolist() == [0, 4, 4, 5]
    assert gram_hashes(["甲乙"], 4)[0].tolist() == [shingle_of("甲乙")]


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=9), min_size=1, max_size=4))
def test_frequency_simhash_equals_votes_in_python(rows):
    def plain(tokens: list[int]) -> int:
        votes = [sum(1 if mix(token) >> bit & 1 else -1 for token in tokens) for bit in range(64)]
        return sum(1 << bit for bit, vote in enumerate(votes) if vote > 0)

    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    found = frequency_simhash(np.array([token for row in rows for token in row], np.uint64), offsets)
    assert found.tolist() == [plain(row) for row in rows]


def test_a_token_weighs_as_often_as_it_occurs():
    tokens = gram_hashes(["甲甲甲乙丙", "甲"], 1)
    often, alone = frequency_simhash(*tokens).tolist()
    assert often == alone


def test_words_are_hashed_without_marks():
    values, offsets = word_hashes(["中国，人民", "人民"], lambda text: [text[:2], text[2:-2] or "。", text[-2:]])
    assert offsets.tolist() == [0, 2, 4] and values[1] == values[2] == values[3] != values[0]


def test_representative_characters_are_frequent_and_no_stop_characters():
    assert representative(NEWS) == "示范区示范工程示范区工程工程示范区"
    assert representative("的的的一一") == ""
    assert representative("，甲1乙的") == "甲乙"  # nothing occurs twice


def test_character_statistics_ignore_rare_characters_marks_and_figures():
    same = NEWS.replace("启动", "推出").replace("，", "；") + "1200"
    other = "市民公园举办市民音乐节，音乐节在公园举办，市民观看音乐节。"
    sets = character_statistics([NEWS, same, other, ""])
    assert Overlap(sets, of_smaller=True)(0, np.array([1, 2, 3])).tolist() == [100, 0, 0]
