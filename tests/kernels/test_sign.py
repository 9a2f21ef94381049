"""Signatures of whole batches: against plain definitions, pinned values, and independence of everything but the text."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from datasketch import MinHash
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.kernels.features import word_hashes
from dedup_lib.kernels.sign import sign_texts, simhash_words
from dedup_lib.kernels.simhash import hamming
from tests.kernels import oracles
from tests.kernels.helpers import read_cases
from tests.strategies import HAN, chinese_text, hostile_text, repeats, string_arrays

texts_of_any_kind = st.one_of(chinese_text, hostile_text, repeats())
ROOT = Path(__file__).parents[2]


def sign(texts, ngram: int = 4, simhash_ngram: int = 3, num_perm: int = 16, seed: int = 1):
    return sign_texts(pa.array(texts, pa.string()), ngram, simhash_ngram, num_perm, seed)


def plain_simhash(text: str, n: int) -> int:
    return oracles.simhash({oracles.shingle_hash(gram): times for gram, times in oracles.grams(text, n).items()})


def plain_minhash(text: str, n: int, num_perm: int, seed: int) -> MinHash:
    result = MinHash(num_perm, seed, scheme="affine32", hashfunc=lambda low: low)
    for gram in oracles.grams(text, n):
        result.update(oracles.shingle_hash(gram) & 0xFFFFFFFF)
    return result


@given(texts_of_any_kind, st.integers(1, 8), st.integers(1, 8), st.integers(0, 9))
def test_equals_the_plain_definitions(text, ngram, simhash_ngram, seed):
    signed = sign([text], ngram, simhash_ngram, 16, seed)
    assert signed.features[0] == sum(map(str.isalnum, text))
    assert signed.shingles[0] == len(oracles.grams(text, ngram))
    assert signed.simhash[0] == plain_simhash(text, simhash_ngram)
    assert signed.minhash[0].tolist() == plain_minhash(text, ngram, 16, seed).hashvalues.tolist()


@given(string_arrays(texts_of_any_kind))
def test_rows_do_not_influence_each_other(texts):
    together = sign_texts(texts, 4, 3, 16, 1)
    for row, text in enumerate(texts.to_pylist()):
        alone = sign([text or ""])
        assert [together.features[row], together.shingles[row], together.simhash[row]] == [
            alone.features[0], alone.shingles[0], alone.simhash[0]
        ]  # fmt: skip
        assert together.minhash[row].tolist() == alone.minhash[0].tolist()


@given(chinese_text)
def test_punctuation_and_space_do_not_count(text):
    first, second = sign([text, " ".join(text).replace("，", "！")]).simhash
    assert first == second


@pytest.mark.parametrize("case", read_cases("golden.tsv"), ids=lambda case: case["text"][:8])
def test_pinned_signatures(case):
    """A change here makes every stored fingerprint worthless: raise the version, then the values."""
    signed = sign([case["text"]])
    assert f"{signed.simhash[0]:016x}" == case["simhash"]
    assert " ".join(f"{value:08x}" for value in signed.minhash[0][:3]) == case["minhash"]


def test_two_shingles_of_equal_weight_tie_to_zero():
    (signed,) = sign(["甲乙丙丁"], simhash_ngram=3).simhash
    assert signed == oracles.shingle_hash("甲乙丙") & oracles.shingle_hash("乙丙丁")


@given(st.lists(st.sampled_from(["新品", "上市", "今天", "优惠", "a1"]), max_size=12), st.randoms(use_true_random=False))
def test_order_of_words_is_irrelevant(words, random):
    shuffled = random.sample(words, len(words))
    first, second = simhash_words(*word_hashes([" ".join(words), " ".join(shuffled)], str.split))
    assert first == second


def test_words_and_shingles_share_one_vote():
    hashes, offsets = word_hashes(["新品 上市 新品", "新品", ""], str.split)
    mixed = [oracles.mix(int(value)) for value in hashes[:2]]
    expected = [oracles.simhash({mixed[0]: 2, mixed[1]: 1}), mixed[0], 0]
    assert simhash_words(hashes, offsets).tolist() == expected


@pytest.mark.parametrize("text", ["", "   ", "\u3000\n\t", None, "，。！", "👍👍👍", "……"])
def test_texts_without_features_say_so(text):
    signed = sign([text, "今天上架了三款新茶"])
    assert signed.shingles.tolist() == [0, 6] and signed.features.tolist() == [0, 9]


@pytest.mark.parametrize(
    ("first", "second"),
    [("-" * 400 + " 磁盘空间不足", "-" * 400 + " 用户登录成功"), ("周末去爬山看日出", "请把发票寄到公司"), ("好评", "差评")],
    ids=["B05 ruler before a message", "B06 Chinese without spaces", "B02 shorter than a shingle"],
)
def test_different_texts_are_far_apart(first, second):
    assert hamming(*sign([first, second], 5).simhash) > 15


def test_a_repeated_phrase_does_not_decide_the_fingerprint():
    """A phrase that fills nine tenths of two texts must not make them one (practitioners' case B05)."""
    first, second = ("重要通知重要通知" * 30 + message for message in (HAN[:24], HAN[24:48]))
    assert hamming(*sign([first, second]).simhash) > 7


@pytest.mark.parametrize("seed", range(20))
def test_function_words_do_not_decide_the_fingerprint(seed):
    """Two unrelated articles of which 30 % are the same twelve function words (practitioners' case B09)."""
    draw = np.random.default_rng(seed)
    words, characters = list("的了在是和对将也与等为及"), [chr(c) for c in range(0x4E00, 0x5600)]
    first, second = (
        "".join(draw.choice(words) if draw.random() < 0.3 else draw.choice(characters) for _ in range(600)) for _ in range(2)
    )
    assert hamming(*sign([first, second]).simhash) > 7


def test_signatures_do_not_depend_on_pythons_hash_seed():
    """Practitioners' case B38."""
    program = (
        "import pyarrow as pa; from dedup_lib.kernels.sign import sign_texts;"
        "s = sign_texts(pa.array(['市图书馆新馆正式对外开放', 'abc']), 4, 3, 16, 1); print([a.tolist() for a in s])"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(results) == 1 and results != {b""}
