"""The corpora of the benchmark as streams of rows: each mode stresses another part of the job.

A mode is a function from the number of rows and a seed to rows, original first in its cluster. Streams hold a few thousand
rows and, in modes with copies, the cluster sizes (4 bytes a row).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench.clauses import Writer, vocabulary
from bench.copies import KINDS
from dedup_lib.kernels.sign import sign_texts

ORIGINAL = "original"
CHUNK = 2048  # originals written at once
PREFIX_BITS = 26  # whole leading blocks of a SimHash for 4 and 5 blocks: 16 and 26 bits
_NGRAM = 4  # characters in a SimHash feature, as in conf/profiles/news.yaml
_COPY_SHARE, _LARGEST_SHARE, _MOST_COPIES = 0.3, 0.02, 200
_EPOCH, _SPAN, _DAY = 1_700_000_000, 600 * 86_400, 86_400  # seconds: first publication, range of originals, a day
_FOOTER_CHARACTERS = 400
_FORM = (
    "【用电通知】尊敬的客户，您的户号{number}本期抄表已经完成。抄表日期为{month}月{day}日，上期示数{last}，本期示数{now}，本期电量{used}千瓦时，"
    "电费合计{fee}元，其中居民阶梯一档{first}元。请您在{month}月{until}日之前通过营业厅、手机客户端或者银行代扣的方式缴纳，逾期未缴的，"
    "我们将按照供用电合同的约定计收违约金，并可能影响您的正常用电。如对本期电量有疑问，请保留电表照片并拨打服务热线，工作人员核实之后会在三个工作日内回复。"
    "节约用电，人人有责，夏季空调温度请调至二十六度以上，感谢您一直以来对我们工作的理解和支持。"
)


class Row(NamedTuple):
    """One document and the truth about it."""

    title: str
    content: str
    cluster: int
    kind: str
    published: int  # seconds since 1970


Rows = Iterator[Row]


def mixed(rows: int, seed: int) -> Rows:
    """70 % originals of about 860 characters, 30 % copies of all kinds, one cluster of 2 % of the rows."""
    return _with_copies(rows, seed, (860, 150, 4000), tuple(k for k in KINDS if k != "retouched"), _zipf_sizes(rows, seed))


def short(rows: int, seed: int) -> Rows:
    """As mixed, but of about 300 characters: ten million rows fit a laptop's disk."""
    return _with_copies(rows, seed, (300, 80, 1200), tuple(k for k in KINDS if k != "retouched"), _zipf_sizes(rows, seed))


def hot(rows: int, seed: int) -> Rows:
    """Half of the rows are near-copies of one document, nearly all of them different texts; the others are alone."""
    sizes = np.zeros(rows - rows // 2, np.int32)
    sizes[:1] = rows // 2
    return _with_copies(rows, seed, (860, 150, 4000), ("retouched", "retouched", "retouched", "framed", "noise"), sizes)


def footer(rows: int, seed: int) -> Rows:
    """All different; each ends with the same footer of 400 characters."""
    rng = np.random.default_rng([seed, 1])
    notice = Writer(rng).documents(np.array([2.0 * _FOOTER_CHARACTERS]))[0].replace("\n", "")[: _FOOTER_CHARACTERS - 1] + "。"
    for row in _with_copies(rows, seed, (860, 150, 4000), (), np.zeros(rows, np.int32)):
        yield row._replace(content=f"{row.content}\n{notice}")


def template(rows: int, seed: int) -> Rows:
    """All rows of one form, with other figures in each: none is a duplicate of another."""
    chance = Random(seed)
    for number in range(rows):
        last, used, day = chance.randrange(100, 20_000), chance.randrange(20, 900), chance.randrange(1, 19)
        month, fee = chance.randrange(1, 13), used * chance.uniform(0.5, 0.9)
        # The account number is a bijection of the row's number, so no two rows are equal.
        content = _FORM.format(
            number=1_000_000_000 + number * 7_368_787 % 8_999_999_993, month=month, day=day, until=day + 10, last=last,
            now=last + used, used=used, fee=f"{fee:.2f}", first=f"{fee * 0.6:.2f}",
        )  # fmt: skip
        yield Row("用电通知", content, number, ORIGINAL, _EPOCH + chance.randrange(_SPAN))


def comments(rows: int, seed: int) -> Rows:
    """Comments of two characters, of which many are equal; equal ones are one cluster."""
    rng = np.random.default_rng(seed)
    words = sorted({clause[:2] for clause in vocabulary()})
    order = rng.permutation(len(words))
    seen = bytearray(len(words))
    for low in range(0, rows, 65_536):
        size = min(65_536, rows - low)
        # A few say what everybody says: the square of a uniform number prefers the front of the order.
        picks = order[(rng.random(size) ** 2 * len(words)).astype(np.int64)].tolist()
        times = rng.integers(_EPOCH, _EPOCH + _SPAN, size).tolist()
        for pick, time in zip(picks, times, strict=True):
            yield Row("", words[pick], pick, "exact" if seen[pick] else ORIGINAL, time)
            seen[pick] = 1


def simhash(rows: int, seed: int) -> Rows:
    """All different, with hardly a shingle in common, yet the first 26 bits of all SimHashes agree.

    A SimHash sums the votes of its features. Documents are therefore written in clauses whose features already vote for the
    wanted bits (one in twenty of the vocabulary), which nearly all of them then have; those that have not are written anew.
    """
    prefix = seed * 0x9E3779B97F4A7C15 % 2**64 >> (64 - PREFIX_BITS)
    rng = np.random.default_rng(seed)
    writer = Writer(rng, _voting_for(prefix))
    done, size = 0, min(CHUNK, rows + 16)
    while done < rows:
        texts = writer.documents(writer.lengths(size, 860, 600, 4000))
        fits = simhashes(texts) >> np.uint64(64 - PREFIX_BITS) == prefix
        times = rng.integers(_EPOCH, _EPOCH + _SPAN, size).tolist()
        for number in np.flatnonzero(fits)[: rows - done].tolist():
            yield Row(_title(texts[number]), texts[number], done, ORIGINAL, times[number])
            done += 1


def simhashes(texts: list[str]) -> np.ndarray:
    """The product's SimHash (uint64) of each text, character 4-grams."""
    return sign_texts(pa.array(texts, pa.string()), _NGRAM, _NGRAM, 1, 1).simhash


@cache
def _voting_for(prefix: int) -> tuple[str, ...]:
    """The twentieth of all clauses whose own SimHash features vote most clearly for the leading bits ``prefix``."""
    wanted = np.array([prefix >> (PREFIX_BITS - 1 - bit) & 1 for bit in range(PREFIX_BITS)]) * 2 - 1
    clauses = vocabulary()
    grams = [clause[i : i + _NGRAM] for clause in clauses for i in range(len(clause) - _NGRAM + 1)]
    owner = np.repeat(np.arange(len(clauses)), [len(clause) - _NGRAM + 1 for clause in clauses])
    hashes = simhashes(grams)  # of a single feature the SimHash is its hash
    votes = np.zeros(len(clauses))
    for bit in range(PREFIX_BITS):
        one = (hashes >> np.uint64(63 - bit) & np.uint64(1)).astype(np.int64) * 2 - 1
        votes += np.bincount(owner, one * wanted[bit], len(clauses))
    density = votes / np.array([len(clause) for clause in clauses])
    best = np.argsort(-density, kind="stable")[: len(clauses) // 20]
    return tuple(clauses[k] for k in np.sort(best))


def _zipf_sizes(rows: int, seed: int) -> np.ndarray:
    """Copies of each original (int32): the first original has 2 % of all rows, the others follow Zipf's law."""
    rng = np.random.default_rng([seed, 2])
    copies = round(rows * _COPY_SHARE)
    sizes = np.zeros(rows - copies, np.int32)
    largest = min(copies, max(0, round(rows * _LARGEST_SHARE) - 1)) if len(sizes) > 1 else copies
    sizes[0] = largest
    drawn = np.minimum(rng.zipf(2.0, len(sizes)), max(1, min(_MOST_COPIES, largest)))[: len(sizes) - 1]
    left = copies - largest
    used = int(np.searchsorted(np.cumsum(drawn), left))  # so many whole clusters fit
    clusters = drawn[:used]
    rest = left - int(clusters.sum())
    places = 1 + rng.permutation(len(sizes) - 1)[: used + (rest > 0)]
    sizes[places] = np.append(clusters, [rest] if rest else [])
    return sizes


def _with_copies(rows: int, seed: int, size: tuple[int, int, int], kinds: tuple[str, ...], copies: np.ndarray) -> Rows:
    """Originals of ``size`` (mean, least, most characters), each followed by its ``copies`` of the ``kinds``."""
    rng, chance = np.random.default_rng(seed), Random(seed)
    writer = Writer(rng)
    for low in range(0, len(copies), CHUNK):
        counts = copies[low : low + CHUNK].tolist()
        lengths = writer.lengths(len(counts), *size)
        if low == 0:
            lengths[0] = max(lengths[0], size[0])  # a text too short would decide how the largest cluster fares
        times = rng.integers(_EPOCH, _EPOCH + _SPAN, len(counts)).tolist()
        for number, (text, time, count) in enumerate(zip(writer.documents(lengths), times, counts, strict=True), low):
            title = _title(text)
            yield Row(title, text, number, ORIGINAL, time)
            for _ in range(count):
                kind = chance.choice(kinds)
                copied = KINDS[kind](text, chance, writer.characters)
                yield Row(title, copied, number, kind, time + chance.randrange(60, 30 * _DAY))


def _title(text: str) -> str:
    return text[: text.find("，")]


MODES: dict[str, Callable[[int, int], Rows]] = {
    mode.__name__: mode for mode in (mixed, hot, footer, template, comments, simhash, short)
}
