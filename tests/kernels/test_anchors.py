"""Anchors: the smallest sentence hashes, against plain Python, and what containment makes of them."""

import re
import unicodedata
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.anchors import (
    BREAKS,
    SHORTEST,
    SKETCH,
    SLACK,
    UNCHANGED,
    Entries,
    entries,
    meet,
    sentence_hashes,
    sketches,
)
from dedup_lib.kernels.urls import URL
from tests.kernels.oracles import MASK, mix
from tests.strategies import HAN, hostile_text

sentence = st.text(st.sampled_from(HAN + "0ab“ ”、"), max_size=30)
ends = st.sampled_from([*BREAKS, "", "http://a.cn/1;2!", " "])
articles = st.lists(st.tuples(sentence, ends).map("".join), max_size=12).map("".join)


def sentence_hash(chars: str) -> int:
    key = 0
    for char in chars:
        key = (key + ord(char)) * 0x9E3779B97F4A7C15 & MASK
        key ^= key >> 32
    return mix(key + len(chars) & MASK)


def naive(text: str, k: int, profile: int) -> list[int]:
    """The k smallest hashes of the distinct sentences, ascending."""
    parts = re.split(f"[{BREAKS}]", URL.sub("", text))
    kept = ("".join(char for char in part if unicodedata.category(char)[0] in "LN") for part in parts)
    smallest = sorted({sentence_hash(part) for part in kept if len(part) >= SHORTEST})[:k]
    return [value & ~255 | profile for value in smallest]


def anchors(texts: pa.Array, k: int, profile: int) -> Entries:
    return entries(sentence_hashes(texts), k, profile)


def keys(text: str, k: int = 8, profile: int = 3) -> list[int]:
    return anchors(pa.array([text]), k, profile).key.view(np.uint64).tolist()


@given(st.one_of(articles, hostile_text), st.integers(1, 9), st.integers(0, 255))
def test_equals_plain_python(text, k, profile):
    assert keys(text, k, profile) == naive(text, k, profile)


@given(st.lists(st.one_of(articles, st.none()), max_size=6), st.integers(1, 5))
def test_rows_do_not_influence_each_other(texts, k):
    given = anchors(pa.array(["甲" * 20, *texts], pa.string())[1:], k, 0)
    for row, text in enumerate(texts):
        assert given.key[given.row == row].view(np.uint64).tolist() == naive(text or "", k, 0)


@given(st.lists(sentence, max_size=15), st.data(), st.integers(1, 6))
def test_an_anchor_that_a_part_holds_is_an_anchor_of_the_part(sentences, data, k):
    """What makes a bottom-k sketch work: of the whole's anchors none is lost to the part's other sentences."""
    start = data.draw(st.integers(0, len(sentences)))
    part = sentences[start : data.draw(st.integers(start, len(sentences)))]
    within = keys("。".join(part), SKETCH)
    assert set(keys("。".join(sentences), k)) & set(within) <= set(keys("。".join(part), k))


def test_a_share_p_of_the_sentences_is_missed_with_its_kth_power():
    draw = np.random.default_rng(1)
    missed = 0
    for _ in range(1000):
        whole = ["".join(draw.choice(list(HAN), 15)) + "。" for _ in range(30)]
        missed += not set(keys("".join(whole), 4)) & set(keys("".join(whole[5:14]), 4))
    assert missed / 1000 == pytest.approx(0.7**4, abs=0.05)


def looks_contained(longer: list[int], shorter: list[int]) -> bool:
    """Whether enough of the shorter text's sentences are the longer one's, of those that could be: on whole hashes."""
    within = [key for key in shorter if len(longer) < SKETCH or key <= longer[-1]]
    shared = len(set(within) & set(longer))
    return shared >= UNCHANGED * len(within) - SLACK * len(within) ** 0.5


def hashes(values: pa.Array) -> list[list[int]]:
    return [np.frombuffer(value, "<u8").tolist() for value in values.to_pylist()]


@given(st.lists(articles, max_size=6), st.integers(0, 3))
def test_sentence_hashes_are_the_smallest_and_a_sketch_keeps_their_order(texts, skipped):
    found = sentence_hashes(pa.array(["甲" * 20, *texts], pa.string()))[skipped:]
    assert [[h & ~255 for h in row] for row in hashes(found)] == [naive(t, SKETCH, 0) for t in ["甲" * 20, *texts][skipped:]]
    for row, value in zip(hashes(found), sketches(found).to_pylist(), strict=True):
        coarse = np.frombuffer(value, "<u2").tolist()
        assert len(coarse) == len(row) and coarse == sorted(coarse)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_sketch_tells_hashes_apart_that_differ_in_their_first_eleven_bits(first, second):
    value = pa.array([np.array([first, second], "<u8").tobytes()], pa.binary())
    coarse = np.frombuffer(sketches(value)[0].as_py(), "<u2").tolist()
    alike = first.bit_length() == second.bit_length() and f"{first:b}"[:11] == f"{second:b}"[:11]
    assert (coarse[0] == coarse[1]) == alike and (first > second or coarse[0] <= coarse[1])


@given(st.lists(st.lists(sentence, max_size=8), min_size=1, max_size=8), st.data(), st.integers(2, 4), st.integers(1, 6))
def test_rows_of_a_bucket_meet_if_one_may_hold_the_other_and_large_buckets_do_not(parts, data, most, k):
    picks = st.lists(st.integers(0, len(parts) - 1), max_size=3)
    texts = ["。".join("。".join(parts[i]) for i in data.draw(picks)) for _ in range(8)]
    every = sentence_hashes(pa.array(texts))
    found, own = entries(every, k, 1), hashes(every)
    features = np.array([len(text) for text in texts])
    limits = np.zeros(256, np.int64)
    limits[1] = most
    rows = {int(key): sorted(found.row[found.key == key].tolist()) for key in set(found.key.tolist())}
    expected = Counter()
    for members in rows.values():
        for a, b in combinations(members, 2) if len(members) <= most else ():
            longer, shorter = (a, b) if features[a] > features[b] else (b, a)
            expected[a, b] += features[a] != features[b] and looks_contained(own[longer], own[shorter])
    shuffled = np.random.default_rng(0).permutation(len(found.row))
    row, key = found.row[shuffled], found.key[shuffled]
    met = meet(key, row, features[row], sketches(every).take(pa.array(row)), limits)
    assert Counter(map(tuple, met.pairs.tolist())) == +expected
    assert sorted(met.skipped.tolist()) == sorted(len(members) for members in rows.values() if len(members) > most)


def meetings(*texts: str) -> tuple[bool, int]:
    """Whether two texts share an anchor, and how many pairs that gives."""
    every = sentence_hashes(pa.array(texts))
    found = entries(every, 16, 0)
    common = set(found.key[found.row == 0].tolist()) & set(found.key[found.row == 1].tolist())
    features = np.array([len(text) for text in texts])[found.row]
    met = meet(found.key, found.row, features, sketches(every).take(pa.array(found.row)), np.full(256, 50))
    return bool(common), len(met.pairs)


@pytest.mark.parametrize("sentences", [40, 150])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_an_excerpt_with_an_edit_in_every_fourth_sentence_meets_the_whole(share, sentences):
    draw = np.random.default_rng(4)
    missed = 0
    for _ in range(200):
        whole = ["".join(draw.choice(list(HAN), 30)) + "。" for _ in range(sentences)]
        part = whole[: int(sentences * share)]
        part = [sentence.replace(sentence[9], "x") if draw.random() < 0.25 else sentence for sentence in part]
        shared, pairs = meetings("".join(whole), "".join(part))
        missed += shared and not pairs
    assert missed <= 6


def test_texts_that_share_a_quotation_do_not_meet():
    draw = np.random.default_rng(3)
    first, second = (["".join(draw.choice(list(HAN), 20)) + "。" for _ in range(size)] for size in (12, 9))
    for quoted in first:
        assert meetings("".join(first), "".join([*second, quoted]))[1] == 0
