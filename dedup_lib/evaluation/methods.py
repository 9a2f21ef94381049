"""The methods that are compared: how each scores a pair, and the settings at which it is reported."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dedup_lib.evaluation.baselines import (
    character_statistics,
    digest_codes,
    frequency_simhash,
    gram_hashes,
    raw_minhash,
    strip_markup,
    word_hashes,
    words_only,
)
from dedup_lib.evaluation.measures import (
    PERCENT,
    Measure,
    Overlap,
    agreement,
    closeness,
    edit_ratio,
    equality,
    linked,
    shingle_sets,
)
from dedup_lib.kernels.simhash import BITS
from dedup_lib.kernels.tokens import segmenter

NGRAMS = (3, 4, 5)
SIMHASH_LIMITS = (2, 3, 6)
DIFFLIB_RATIO = 0.85
MINHASH_NGRAM, MINHASH_PERMUTATIONS, MINHASH_PERCENT = 5, 128, 80
STATISTICS_PERCENT = 50  # of the smaller page's fingerprints: the paper gives no number that could be taken over
YES_NO, SHARE, DISTANCE = "yes/no", "share", "distance"


class Documents(NamedTuple):
    """The labelled rows in the order of their ids, and what the product decided for them."""

    ids: list[str]
    title: list[str | None]
    content: list[str]  # raw
    text: pa.Array  # normalised, as the product compares it
    features: np.ndarray  # int: feature characters of the text
    simhash: np.ndarray  # uint64, of the product
    cluster: np.ndarray  # int64: rows of one code are in one cluster of the product
    review: list[tuple[int, int]]  # cluster codes between which a pair waits for a person
    profile: list[str]


class Method(NamedTuple):
    """A way to score pairs. ``reported``: setting and the lowest step at which it proposes a pair."""

    name: str
    about: str
    scale: str  # YES_NO, SHARE or DISTANCE
    measure: Measure
    reported: tuple[tuple[str, int], ...]

    @property
    def steps(self) -> int:
        """How many steps the scores have."""
        return {YES_NO: 2, SHARE: PERCENT + 1, DISTANCE: BITS + 1}[self.scale]

    def threshold(self, step: int) -> float:
        """The threshold that a step stands for: a share of 0 to 1, or bits of distance."""
        return {YES_NO: step, SHARE: step / PERCENT, DISTANCE: BITS - step}[self.scale]

    def setting(self, step: int) -> str:
        """The threshold of a step, to read."""
        return f"<= {BITS - step} bits" if self.scale == DISTANCE else f">= {step / PERCENT:.2f}"


class Thresholds(NamedTuple):
    """The profile's own numbers: where its measures are reported."""

    ngram: int
    drop_percent: int
    hamming: int


def methods(documents: Documents, thresholds: Thresholds) -> list[Method]:
    """All methods on these documents, the product's decision first, then its measures, then the others."""
    return [
        *product(documents),
        *_measures(documents, thresholds),
        *_exact(documents),
        *_simhashes(documents),
        *_others(documents),
    ]


def product(documents: Documents) -> list[Method]:
    """What the run decided."""
    dropped = equality(documents.cluster)
    asked = linked(documents.cluster, documents.review)
    return [
        Method("product", "both rows in one cluster of the run", YES_NO, dropped, (("dropped", 1),)),
        Method(
            "product", "in one cluster, or a pair of the two clusters is in review", YES_NO, asked, (("dropped or review", 1),)
        ),
    ]


def _measures(documents: Documents, thresholds: Thresholds) -> list[Method]:
    sets = {n: shingle_sets(documents.text, n) for n in {*NGRAMS, thresholds.ngram}}
    drop, bits = thresholds.drop_percent, BITS - thresholds.hamming
    found = [_share(f"jaccard_{n}", f"character {n}-grams of the normalised text", Overlap(sets[n]), drop) for n in sorted(sets)]
    about = f"{thresholds.ngram}-grams of the normalised text, of the smaller set"
    found.append(_share("containment", about, Overlap(sets[thresholds.ngram], of_smaller=True), drop))
    return [*found, _distance("simhash_product", "the product's, on the normalised text", documents.simhash, (bits,))]


def _exact(documents: Documents) -> list[Method]:
    cleaned = [strip_markup(text) for text in documents.content]
    found = {
        "md5_title": ("title as it is; a missing one equals nothing", documents.title),
        "md5_text": ("raw text less tags and white space", cleaned),
    }
    return [Method(name, about, YES_NO, equality(digest_codes(texts)), (("equal", 1),)) for name, (about, texts) in found.items()]


def _simhashes(documents: Documents) -> list[Method]:
    cleaned = [words_only(strip_markup(text)) for text in documents.content]
    words = word_hashes([strip_markup(text).lower() for text in documents.content], segmenter("jieba"))
    tokens = {
        "simhash_chars": ("single characters", gram_hashes(cleaned, 1)),
        "simhash_4grams": ("character 4-grams", gram_hashes(cleaned, 4)),
        "simhash_jieba": ("jieba words", words),
    }
    limits = tuple(BITS - limit for limit in SIMHASH_LIMITS)
    return [
        _distance(name, f"{about} of the raw text less tags, weight = frequency", frequency_simhash(*hashed), limits)
        for name, (about, hashed) in tokens.items()
    ]


def _others(documents: Documents) -> list[Method]:
    cleaned = [strip_markup(text) for text in documents.content]
    ratio = edit_ratio(cleaned, DIFFLIB_RATIO)
    signatures = raw_minhash(documents.content, MINHASH_NGRAM, MINHASH_PERMUTATIONS)
    about = f"{MINHASH_PERMUTATIONS} permutations, {MINHASH_NGRAM}-grams of the raw text, estimate"
    statistics = Overlap(character_statistics(cleaned), of_smaller=True)
    return [
        Method("difflib", "2M/T of the text less tags and white space", YES_NO, ratio, ((f">= {DIFFLIB_RATIO}", 1),)),
        _share("minhash", about, agreement(signatures), MINHASH_PERCENT),
        _share("char_statistics", "Jiang, Guo, He: 4-grams of representative characters", statistics, STATISTICS_PERCENT),
    ]


def _share(name: str, about: str, measure: Measure, percent: int) -> Method:
    return Method(name, about, SHARE, measure, ((f">= {percent / PERCENT:.2f}", percent),))


def _distance(name: str, about: str, fingerprints: np.ndarray, steps: tuple[int, ...]) -> Method:
    reported = tuple((f"<= {BITS - step} bits", step) for step in steps)
    return Method(name, about, DISTANCE, closeness(fingerprints), reported)
