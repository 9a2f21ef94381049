"""``signatures`` -> ``buckets`` -> ``candidates``: which rows are worth comparing.

Rows meet in a bucket when they share a band of their MinHash signature, the whole blocks of their SimHash (then only within
the Hamming limit), their text with one character less (short texts), their text but for its codes (families of spam), or the
very text, where a verdict keeps one of them out of its exact group. Rows of different profiles never meet. Texts stay behind:
a bucket entry is 28 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.kernels.bands import band_keys, block_keys, block_masks, choose_blocks, masked_keys
from dedup_lib.kernels.features import mix
from dedup_lib.kernels.pairs import ANY_DISTANCE, GROUPS, BucketRows, expand_buckets
from dedup_lib.kernels.utf8 import compiled
from dedup_lib.schemas import BUCKETS, CANDIDATES
from dedup_lib.stages.bridge import map_batches, map_partitions

BAND, BLOCK, SAME_TEXT, DELETION, MASKED = range(5)
KINDS = ("minhash band", "simhash block", "same text", "short text", "text but for codes")
ENTRIES_PER_PARTITION = 4_000_000
FACTS_ALONE = 2  # the last round in which hot keys are narrowed by facts alone
PAIR, WAITING, HOT, TOTAL = 0, 1, 2, 3


class Meeting(NamedTuple):
    """How rows of one profile meet; plain values for the workers."""

    index: int  # place of the profile among all, which keeps its buckets apart
    bands: int
    rows: int
    num_perm: int
    blocks: int
    max_hamming: int
    min_ratio: float
    deletions: int  # most keys of a short text; 0 where they are not compared

    def group(self, kind: int) -> int:
        """The group number of this profile's buckets of one kind."""
        return self.index * len(KINDS) + kind


def meetings(config: Config, rows: int) -> dict[str, Meeting]:
    """How rows meet in each profile, given how many there are (more rows need longer SimHash keys)."""
    found = {}
    for index, (name, profile) in enumerate(sorted(config.profiles.items())):
        near = profile.comparison
        limit = near.max_hamming
        blocks = choose_blocks(rows, limit, config.candidates.rows_per_bucket)
        bands, band_rows = profile.bands
        deletions = near.min_features + 1 if profile.short else 0
        ratio = near.review_jaccard
        num_perm = profile.minhash.num_perm if profile.near else 1
        found[name] = Meeting(index, bands, band_rows, num_perm, blocks, limit, ratio, deletions)
    return found


def buckets(signatures: DataFrame, meetings: Mapping[str, Meeting], number: int = 1) -> DataFrame:
    """The bucket entries of each representative: one for each band and block, none for short texts.

    Takes ``signatures``; representatives that share their text with a pinned one also meet it by ``key``. From round
    ``number`` 2 on it also takes ``facts``, a hash of each text's facts, which joins the keys, and after round ``FACTS_ALONE``
    so do other bands: what still shares a bucket then is a family of one template, in which only rows with the same facts,
    or ever more alike, are worth comparing.
    """
    pinned = signatures.where("pinned").select("profile", "key").distinct().withColumn("shared", F.lit(True))
    marked = signatures.join(F.broadcast(pinned), ["profile", "key"], "left")
    facts = F.col("facts") if number > 1 else F.lit(0).cast("bigint").alias("facts")
    entries = marked.select("rank", "profile", "key", "simhash", "shingles", "minhash", "shared", "deletions", "masked", facts)
    return map_batches(entries, BUCKETS, partial(_bucket_batch, meetings=dict(meetings), number=number))


def expand(entries: DataFrame, meetings: Mapping[str, Meeting], all_pairs_up_to: int, growth: int, rows: int) -> DataFrame:
    """The candidate pairs of all buckets, within each bucket's budget (see ``kernels/pairs.py``).

    ``rows`` is the number of representatives: it decides how many partitions the entries need.
    """
    per_row = max(m.bands + block_keys(m.blocks, m.max_hamming) + m.deletions for m in meetings.values())
    partitions = max(8, -(-rows * per_row // ENTRIES_PER_PARTITION))
    limits = np.full(GROUPS, ANY_DISTANCE, np.int64)
    ratios = np.zeros(GROUPS, np.float64)
    for meeting in meetings.values():
        limits[meeting.group(BLOCK)] = meeting.max_hamming
        ratios[[meeting.group(BAND), meeting.group(BLOCK)]] = meeting.min_ratio
    spread = entries.repartition(partitions, "key")
    function = partial(_expand_partition, limits=limits, ratios=ratios, all_pairs_up_to=all_pairs_up_to, growth=growth)
    return map_partitions(spread, CANDIDATES, function)


@compiled
def _grouped(keys, group):
    """Put the group into the low eight bits of each key."""
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            keys[i, j] = (keys[i, j] & ~np.int64(255)) | group


@compiled
def _all_band_keys(signatures, bands, rows, salt, out):
    for i in range(len(signatures)):
        band_keys(signatures[i], bands, rows, salt, out[i])


@compiled
def _all_block_keys(fingerprints, masks, salt, out):
    for i in range(len(fingerprints)):
        masked_keys(fingerprints[i], masks, salt, out[i])


@compiled
def _narrow(keys, facts, bands, more):
    """Make the facts of a row and ``more`` of its other bands part of its keys."""
    count = bands.shape[1]
    for i in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            key = mix(np.uint64(keys[i, j]) ^ mix(np.uint64(facts[i])))
            for k in range(1, min(more, count - 1) + 1):
                key = mix(key ^ np.uint64(bands[i, (j + k) % count])) + np.uint64(k)
            keys[i, j] = np.int64(key)


def _bucket_batch(batch: pa.RecordBatch, meetings: Mapping[str, Meeting], number: int) -> dict[str, object]:
    profiles = batch.column("profile")
    signed = np.asarray(batch.column("minhash").is_valid())
    shared = np.asarray(batch.column("shared").is_valid())
    columns: list[tuple[np.ndarray, np.ndarray]] = []  # (row numbers, keys)
    for name, meeting in meetings.items():
        ours = np.asarray(pc.equal(profiles, name))
        columns += _near_keys(batch, np.flatnonzero(ours & signed), meeting, number)
        columns += _text_keys(batch, np.flatnonzero(ours & shared), meeting)
        columns += _comment_keys(batch, ours, meeting)
    rows = np.concatenate([np.repeat(rows, keys.shape[1]) for rows, keys in columns])
    picks = pa.array(rows)
    return {
        "key": np.concatenate([keys.ravel() for _, keys in columns]),
        "rank": batch.column("rank").take(picks),
        "simhash": pc.fill_null(batch.column("simhash"), 0).take(picks),
        "shingles": batch.column("shingles").take(picks),
    }


def _near_keys(batch: pa.RecordBatch, rows: np.ndarray, meeting: Meeting, number: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Keys of bands and blocks of the rows that are long enough."""
    chosen = batch.take(pa.array(rows))
    joined = b"".join(chosen.column("minhash").to_pylist())
    signatures = np.frombuffer(joined, "<u4").reshape(len(rows), meeting.num_perm)
    fingerprints = chosen.column("simhash").to_numpy(zero_copy_only=False).astype(np.int64)
    band = np.empty((len(rows), meeting.bands), np.int64)
    _all_band_keys(signatures, meeting.bands, meeting.rows, np.uint64(meeting.group(BAND)), band)
    masks = block_masks(meeting.blocks, meeting.max_hamming)
    block = np.empty((len(rows), len(masks)), np.int64)
    _all_block_keys(fingerprints, masks, np.uint64(meeting.group(BLOCK)), block)
    if number > 1:
        more = 0 if number <= FACTS_ALONE else 4 ** (number - FACTS_ALONE)  # other bands that must agree as well
        facts, plain = chosen.column("facts").to_numpy(), band.copy()
        _narrow(band, facts, plain, more)
        _narrow(block, facts, plain, more)
    _grouped(band, meeting.group(BAND))
    _grouped(block, meeting.group(BLOCK))
    return [(rows, band), (rows, block)]


def _text_keys(batch: pa.RecordBatch, rows: np.ndarray, meeting: Meeting) -> list[tuple[np.ndarray, np.ndarray]]:
    """The key of the text itself."""
    texts = batch.column("key").take(pa.array(rows)).to_pylist()
    keys = np.array([int(text[:16], 16) for text in texts], np.uint64).view(np.int64).reshape(-1, 1)
    _grouped(keys, meeting.group(SAME_TEXT))
    return [(rows, keys)]


def _comment_keys(batch: pa.RecordBatch, ours: np.ndarray, meeting: Meeting) -> list[tuple[np.ndarray, np.ndarray]]:
    """Deletion keys of short texts, as many as each has, and the masked keys of families."""
    short = np.flatnonzero(ours & np.asarray(batch.column("deletions").is_valid()))
    deletions = batch.column("deletions").take(pa.array(short))
    keys = np.frombuffer(b"".join(deletions.to_pylist()), "<i8").astype(np.int64).reshape(-1, 1)
    _grouped(keys, meeting.group(DELETION))
    owners = np.repeat(short, pc.binary_length(deletions).to_numpy() // 8)
    spam = np.flatnonzero(ours & np.asarray(batch.column("masked").is_valid()))
    masked = batch.column("masked").take(pa.array(spam)).to_numpy().astype(np.int64).reshape(-1, 1)
    _grouped(masked, meeting.group(MASKED))
    return [(owners, keys), (spam, masked)]


def _expand_partition(
    batch: pa.RecordBatch, limits: np.ndarray, ratios: np.ndarray, all_pairs_up_to: int, growth: int
) -> dict[str, object]:
    rows = BucketRows(*(batch.column(name).to_numpy() for name in BUCKETS.names))
    found = expand_buckets(rows, limits, ratios, all_pairs_up_to, growth)
    sizes = (len(found.pairs), len(found.waiting), len(found.hot), 1)
    nothing = [np.zeros(size, np.int64) for size in sizes]
    return {
        "kind": np.repeat(np.array([PAIR, WAITING, HOT, TOTAL], np.int8), sizes),
        "a": np.concatenate([found.pairs[:, 0], found.waiting, found.hot[:, 1], [found.buckets]]),
        "b": np.concatenate([found.pairs[:, 1], nothing[1], found.hot[:, 2], [found.naive_pairs]]),
        "value": np.concatenate([found.pairs[:, 2], nothing[1], found.hot[:, 3], [len(found.pairs)]]),
        "group": np.concatenate([nothing[0], nothing[1], found.hot[:, 0], nothing[3]]),
    }
