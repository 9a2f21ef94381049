"""A bucket that thousands of rows share must not cost their square, nor hide the true pairs beside it."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from dedup_lib.schemas import SIGNATURES
from dedup_lib.settings import load_settings
from dedup_lib.stages.bridge import arrow_schema
from dedup_lib.stages.candidates import HOT, PAIR, WAITING, buckets, expand, meetings
from tests.conftest import embedded_only

pytestmark = embedded_only

HOT_ROWS, TRUE_PAIRS = 2000, 200
ROWS = HOT_ROWS + 2 * TRUE_PAIRS


def pairs_outside(rng: random.Random) -> list[int]:
    """Fingerprints of which neighbours differ in one to three bits."""
    found = []
    for number in range(TRUE_PAIRS):
        fingerprint = rng.getrandbits(64)
        flipped = sum(1 << bit for bit in rng.sample(range(64), 1 + number % 3))
        found += [fingerprint, fingerprint ^ flipped]
    return found


def signatures(session, hot: list[int], rng: random.Random):
    """Rows with these fingerprints first, then the true pairs; no two rows share a band."""
    fingerprints = hot + pairs_outside(rng)
    columns = {
        "rank": range(ROWS),
        "doc_id": map(str, range(ROWS)),
        "profile": ["news"] * ROWS,
        "raw_sha1": [f"{number:040x}" for number in range(ROWS)],
        "text_sha1": [f"{number:040x}" for number in range(ROWS)],
        "key": [f"{number:040x}" for number in range(ROWS)],
        "pinned": [False] * ROWS,
        "features": [100] * ROWS,
        "shingles": [97] * ROWS,
        "simhash": np.array(fingerprints, np.uint64).view(np.int64),
        "minhash": [rng.randbytes(4 * 128) for _ in range(ROWS)],
        "deletions": [None] * ROWS,
        "sentences": [None] * ROWS,
        "masked": [None] * ROWS,
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return session.createDataFrame(table.select(SIGNATURES.names).cast(arrow_schema(SIGNATURES.columns)))


def candidates(session, hot: list[int]):
    """What the first round gives: pairs with their distance, waiting rows, hot buckets."""
    frame = signatures(session, hot, random.Random(8))
    chosen = meetings(load_settings().config, ROWS)
    found = expand(buckets(frame, chosen), chosen, all_pairs_up_to=8, growth=1, rows=ROWS).toPandas()
    by_kind = {kind: found[found["kind"] == kind] for kind in (PAIR, WAITING, HOT)}
    pairs = {(int(a), int(b)): int(value) for a, b, value in by_kind[PAIR][["a", "b", "value"]].to_numpy()}
    return pairs, set(by_kind[WAITING]["a"]), by_kind[HOT]


@pytest.fixture(scope="module")
def shared_prefix(session):
    rng = random.Random(7)
    return candidates(session, [0xABCD << 48 | rng.getrandbits(48) for _ in range(HOT_ROWS)])


@pytest.fixture(scope="module")
def same_fingerprint(session):
    return candidates(session, [0xABCD << 48] * HOT_ROWS)


EXPECTED = {(HOT_ROWS + 2 * number, HOT_ROWS + 2 * number + 1): 1 + number % 3 for number in range(TRUE_PAIRS)}


def test_every_true_pair_is_found_beside_a_hot_prefix(shared_prefix):
    pairs, _, _ = shared_prefix
    assert {pair: distance for pair, distance in pairs.items() if pair in EXPECTED} == EXPECTED


def test_a_shared_prefix_gives_only_pairs_within_the_limit(shared_prefix):
    pairs, waiting, _ = shared_prefix
    assert max(pairs.values()) <= 3
    assert len(pairs) < 2 * TRUE_PAIRS
    assert not waiting


def test_identical_fingerprints_stay_within_a_budget(same_fingerprint):
    pairs, waiting, hot = same_fingerprint
    assert {pair: distance for pair, distance in pairs.items() if pair in EXPECTED} == EXPECTED
    assert len(pairs) < 10 * ROWS
    assert waiting <= set(range(HOT_ROWS)) and len(waiting) > HOT_ROWS / 2
    assert set(hot["b"]) == {HOT_ROWS}


def test_the_first_row_of_a_hot_bucket_meets_all_others(same_fingerprint):
    pairs, _, _ = same_fingerprint
    assert {b for (a, b), distance in pairs.items() if a == 0 and distance == 0} == set(range(1, HOT_ROWS))


def test_few_identical_fingerprints_all_meet(session):
    rng = random.Random(9)
    hot = [0x76A9000000001234, 0x76A9000000001234, 0x76A9000000001235]
    others = [rng.getrandbits(64) for _ in range(HOT_ROWS - 3)]
    pairs, _, _ = candidates(session, hot + others)
    assert {pair: distance for pair, distance in pairs.items() if pair[1] < 3} == {(0, 1): 0, (0, 2): 1, (1, 2): 1}
