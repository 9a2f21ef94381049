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

from dedup_lib.kernels.anchors import BREAKS, SHORTEST, SLACK, UNCHANGED, anchors, may_contain, meet
from dedup_lib.kernels.sign import sign_texts
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
    within = keys("。".join(part), 1000)
    assert set(keys("。".join(sentences), k)) & set(within) <= set(keys("。".join(part), k))


def test_a_share_p_of_the_sentences_is_missed_with_its_kth_power():
    draw = np.random.default_rng(1)
    missed = 0
    for _ in range(1000):
        whole = ["".join(draw.choice(list(HAN), 15)) + "。" for _ in range(30)]
        missed += not set(keys("".join(whole), 4)) & set(keys("".join(whole[5:14]), 4))
    assert missed / 1000 == pytest.approx(0.7**4, abs=0.05)


def looks_contained(longer: list[int], shorter: list[int], k: int) -> bool:
    """Whether enough of the shorter text's anchors are the longer one's, of those that could be: on whole hashes."""
    within = [key for key in shorter if len(longer) < k or key <= longer[-1]]
    shared = len(set(within) & set(longer))
    return shared >= UNCHANGED * len(within) - SLACK * len(within) ** 0.5


@given(st.lists(st.lists(sentence, max_size=8), min_size=1, max_size=8), st.data(), st.integers(2, 4), st.integers(1, 6))
def test_rows_of_a_bucket_meet_if_one_may_hold_the_other_and_large_buckets_do_not(parts, data, most, k):
    picks = st.lists(st.integers(0, len(parts) - 1), max_size=3)
    texts = ["。".join("。".join(parts[i]) for i in data.draw(picks)) for _ in range(8)]
    found = anchors(pa.array(texts), k, 1)
    features = np.array([len(text) for text in texts])
    limits = np.zeros(256, np.int64)
    limits[1] = most
    rows = {int(key): sorted(found.row[found.key == key].tolist()) for key in set(found.key.tolist())}
    own = [sorted(found.key[found.row == row].view(np.uint64).tolist()) for row in range(len(texts))]
    expected = Counter()
    for members in rows.values():
        for a, b in combinations(members, 2) if len(members) <= most else ():
            longer, shorter = (a, b) if features[a] > features[b] else (b, a)
            expected[a, b] += features[a] != features[b] and looks_contained(own[longer], own[shorter], k)
    shuffled = np.random.default_rng(0).permutation(len(found.row))
    row, key = found.row[shuffled], found.key[shuffled]
    met = meet(key, row, features[row], found.sketch[row], limits)
    assert Counter(map(tuple, met.pairs.tolist())) == +expected
    assert sorted(met.skipped.tolist()) == sorted(len(members) for members in rows.values() if len(members) > most)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_an_excerpt_with_an_edit_in_every_fourth_sentence_meets_the_whole(share):
    draw = np.random.default_rng(4)
    missed = 0
    for _ in range(300):
        whole = ["".join(draw.choice(list(HAN), 30)) + "。" for _ in range(40)]
        part = [sentence.replace(sentence[9], "x") if draw.random() < 0.25 else sentence for sentence in whole[: int(40 * share)]]
        found = anchors(pa.array(["".join(whole), "".join(part)]), 16, 0)
        row = found.row
        common = bool(set(found.key[row == 0]) & set(found.key[row == 1]))
        limits = np.full(256, 50)
        missed += common and not len(meet(found.key, row, np.array([1200, 300])[row], found.sketch[row], limits).pairs)
    assert missed <= 9


def signatures(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    signed = sign_texts(pa.array(texts), 4, 4, 128, 1)
    return signed.minhash, signed.shingles


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7, 1.0])
def test_an_estimate_lets_parts_through(share):
    draw = np.random.default_rng(2)
    for _ in range(30):
        whole = "".join(draw.choice(list(HAN), 800))
        signed, sizes = signatures(whole, whole[: int(800 * share)])
        assert may_contain(signed[:1], signed[1:], sizes[:1], sizes[1:], 0.9).tolist() == [True]


def test_an_estimate_stops_texts_that_share_a_quotation():
    draw = np.random.default_rng(3)
    first, second, quotation = ("".join(draw.choice(list(HAN), size)) for size in (600, 500, 40))
    signed, sizes = signatures(first + quotation, quotation + second)
    assert may_contain(signed[:1], signed[1:], sizes[:1], sizes[1:], 0.9).tolist() == [False]
