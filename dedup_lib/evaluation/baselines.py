"""What other methods make of a text: keys, fingerprints, sets. All see the raw row, not the product's normalised text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from dedup_lib.evaluation.measures import Sets
from dedup_lib.kernels.features import mix, shingle_hash
from dedup_lib.kernels.minhash import minhash, permutations
from dedup_lib.kernels.simhash import BITS
from dedup_lib.kernels.utf8 import compiled

_TAG = re.compile(r"<[^<>]*>")
_WHITE = re.compile(r"\s+")
_NO_WORD = re.compile(r"\W+")

# Characters so frequent in any Chinese text that they tell nothing of this one: particles, pronouns, numerals, prepositions.
STOP_CHARACTERS = frozenset(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同也能下过子说产种面而方后多"
    "之与及其或但并被把从等所由此该将已还又都很最更没着得里去前间内外月日第每各两二三四五六七八九十百千万亿"
)
REPRESENTATIVES = 30  # most frequent characters of a page that represent it
GRAM = 4


def strip_markup(text: str) -> str:
    """A text without tags and white space: the cleaning that a quick script does."""
    return _WHITE.sub("", _TAG.sub("", text))


def digest_codes(texts: Sequence[str | None]) -> np.ndarray:
    """A code (int64) for each MD5 of a text, the same for equal ones; -1 for a missing or blank text, which equals nothing."""
    codes: dict[bytes, int] = {}
    return np.array(
        [codes.setdefault(hashlib.md5(t.encode()).digest(), len(codes)) if t and t.strip() else -1 for t in texts], np.int64
    )


def code_points(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The code points of all texts (int32) and rows + 1 offsets."""
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])
    return np.frombuffer("".join(texts).encode("utf-32-le"), np.int32), offsets


@compiled
def _gram_hashes(chars, offsets, n, values, bounds):
    at = 0
    for row in range(len(offsets) - 1):
        count = offsets[row + 1] - offsets[row]
        width = min(n, count)
        for i in range(count - width + 1 if count else 0):
            values[at] = shingle_hash(chars, offsets[row] + i, width)
            at += 1
        bounds[row + 1] = at


def gram_hashes(texts: Sequence[str], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Hashes (uint64) of the ``n`` characters at every place of each text, repeats included, and rows + 1 offsets.

    A shorter text has one gram, the whole of it; an empty one none.
    """
    chars, offsets = code_points(texts)
    values, bounds = np.empty(len(chars), np.uint64), np.zeros(len(texts) + 1, np.int64)
    _gram_hashes(chars, offsets, n, values, bounds)
    return values[: bounds[-1]], bounds


def word_hashes(texts: Iterable[str], cut: Callable[[str], Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Hashes (uint64, the tail of MD5) of the words of each text, repeats included, and rows + 1 offsets.

    Words without a letter or digit are left out; web addresses are not, unlike in the product's own words.
    """
    known: dict[str, int] = {}
    hashes, offsets = [], [0]
    for text in texts:
        for word in cut(text):
            if word not in known:
                kept = any(map(str.isalnum, word))
                known[word] = int.from_bytes(hashlib.md5(word.encode()).digest()[-8:]) if kept else -1
            if known[word] >= 0:
                hashes.append(known[word])
        offsets.append(len(hashes))
    return np.array(hashes, np.uint64), np.array(offsets, np.int64)


@compiled
def _frequency_simhash(tokens, offsets, out):
    for row in range(len(offsets) - 1):
        votes = np.zeros(BITS, np.int64)
        for at in range(offsets[row], offsets[row + 1]):
            token = mix(tokens[at])
            for bit in range(BITS):
                votes[bit] += np.int64((token >> np.uint64(bit)) & np.uint64(1)) * 2 - 1
        for bit in range(BITS):
            if votes[bit] > 0:
                out[row] |= np.uint64(1) << np.uint64(bit)


def frequency_simhash(tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The SimHash (uint64) of each row's token hashes, a token weighing as often as it occurs.

    This is what the widely used Python packages compute, but for the hash: theirs is MD5, and any even one will do.
    """
    out = np.zeros(len(offsets) - 1, np.uint64)
    _frequency_simhash(tokens, offsets, out)
    return out


def words_only(text: str) -> str:
    """The letters, digits and underscores of a text in lower case: what those packages take features from."""
    return _NO_WORD.sub("", text.lower())


@compiled
def _minhash_rows(hashes, offsets, multiplier, addend, out):
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        minhash(hashes[start:end], end - start, multiplier, addend, out[row])


def raw_minhash(texts: Sequence[str], n: int, num_perm: int, seed: int = 1) -> np.ndarray:
    """MinHash signatures (uint32, (rows, num_perm)) of the character n-grams of texts as they are, as datasketch has them."""
    out = np.empty((len(texts), num_perm), np.uint32)
    _minhash_rows(*gram_hashes(texts, n), *permutations(num_perm, seed), out)
    return out


def representative(text: str) -> str:
    """The representative characters of a page, in order.

    Jiang, Guo, He, 《基于字符统计的新闻网页去重方法研究》, published no code; assumed here: characters are letters; stop
    characters are ``STOP_CHARACTERS``; representative are the ``REPRESENTATIVES`` most frequent of the others that occur at
    least twice (ties by code point), at all their places; a page in which nothing occurs twice is represented by all of them.
    """
    letters = [char for char in text if char.isalpha() and char not in STOP_CHARACTERS]
    if not letters:
        return ""
    kinds, times = np.unique(np.array(letters), return_counts=True)
    common = np.flatnonzero(times > 1)
    order = common[np.argsort(-times[common], kind="stable")][:REPRESENTATIVES]
    chosen = set(kinds[order].tolist()) or set(letters)
    return "".join(char for char in letters if char in chosen)


def character_statistics(texts: Sequence[str]) -> Sets:
    """The fingerprints of each page after Jiang, Guo and He: the distinct 4-grams of its representative characters."""
    values, offsets = gram_hashes([representative(text) for text in texts], GRAM)
    rows = [np.unique(values[start:end]) for start, end in pairwise(offsets)]
    bounds = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return Sets(np.concatenate(rows) if rows else np.empty(0, np.uint64), bounds)
