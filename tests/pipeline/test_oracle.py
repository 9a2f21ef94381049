"""The distributed result equals a plain sequential walk, on real text with made near-copies, and does not depend on layout."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.kernels.bands import block_masks
from dedup_lib.kernels.folding import fold_repeats
from dedup_lib.kernels.normalize import Normalizer
from dedup_lib.kernels.sign import sign_texts
from dedup_lib.settings import load_settings
from dedup_lib.stages.candidates import meetings
from tests.conftest import ROOT, SAMPLE, embedded_only
from tests.oracle import greedy, jaccard, priority, shingle_set
from tests.pipeline.helpers import DECIDED, LENIENT, digest, drops, kept_apart, published, run, survivors, write_rows

CONFIG = load_settings().config
PROFILE = CONFIG.profiles["news"]


def corpus(seed: int, articles: int) -> list[dict]:
    """Real articles, and for each some copies: equal, edited lightly, edited heavily, cut."""
    draw = random.Random(seed)
    table = pq.read_table(SAMPLE / "articles.parquet").to_pylist()
    chosen = draw.sample([row for row in table if 60 < len(row["content"]) < 900], articles)
    rows, start = [], datetime(2024, 1, 1)
    for row in chosen:
        for _ in range(draw.choice([1, 1, 2, 4, 7])):
            text = list(row["content"])
            for _ in range(draw.choice([0, 0, 1, 4, 12, 25])):
                text[draw.randrange(len(text))] = draw.choice("的一是在不了有和人这中大为上个国我以要他")
            if draw.random() < 0.2:
                text = text[: int(len(text) * draw.uniform(0.6, 0.95))]
            when = None if draw.random() < 0.1 else start + timedelta(minutes=draw.randrange(3000))
            content = "".join(text)
            rows.append({"doc_id": f"r{len(rows):04d}", "content": content, "publish_time": when, "title": row["title"]})
    return rows


def sequential(rows: list[dict]) -> dict[str, str]:
    """The greedy rule over all pairs that share a bucket, in one loop: survivor of each dropped row."""
    rows = sorted(rows, key=priority)
    fold = PROFILE.fold
    normal = Normalizer(PROFILE.normalize, CONFIG.lexicon)(pa.array([row["content"] for row in rows]))
    texts = fold_repeats(normal, fold.min_unit, fold.min_repeats, fold.max_unit)
    signed = sign_texts(texts, PROFILE.ngram, PROFILE.simhash.ngram, PROFILE.minhash.num_perm, PROFILE.minhash.seed)
    distinct = len(set(texts.to_pylist()))
    meeting = meetings(CONFIG, distinct)["news"]
    masks = block_masks(meeting.blocks, meeting.max_hamming)
    plain = texts.to_pylist()
    sets = [shingle_set(text, PROFILE.ngram) for text in plain]
    edges = []
    for b in range(len(rows)):
        for a in range(b):
            if plain[a] == plain[b] or (_meet(signed, a, b, meeting, masks) and _duplicates(signed, a, b, sets, plain)):
                edges.append((a, b))
    return {rows[b]["doc_id"]: rows[a]["doc_id"] for b, a in greedy(edges, range(len(rows))).items()}


def _meet(signed, a, b, meeting, masks) -> bool:
    if min(signed.features[a], signed.features[b]) < PROFILE.near.min_features:
        return False
    used = meeting.bands * meeting.rows
    bands = (signed.minhash[a][:used] == signed.minhash[b][:used]).reshape(meeting.bands, meeting.rows).all(axis=1)
    difference = signed.simhash[a] ^ signed.simhash[b]
    close = int(difference).bit_count() <= meeting.max_hamming and bool(((difference & masks) == 0).any())
    return bool(bands.any()) or close


def _duplicates(signed, a, b, sets, plain) -> bool:
    features = min(signed.features[a], signed.features[b])
    limit = next(entry.limit for entry in PROFILE.near.hamming if entry.up_to is None or features <= entry.up_to)
    close = int(signed.simhash[a] ^ signed.simhash[b]).bit_count() <= limit
    threshold = PROFILE.near.hamming_jaccard if close else PROFILE.near.drop_jaccard
    similar = jaccard(sets[a], sets[b])
    return similar >= threshold and not kept_apart(plain[a], plain[b], features, similar)


@embedded_only
def test_the_result_is_that_of_the_sequential_walk(session, tmp_path):
    rows = corpus(1, 80)
    tables = run(session, rows, tmp_path)
    expected = sequential(rows)
    assert len(expected) > 50
    assert {doc_id: survivor for doc_id, (survivor, _) in drops(tables).items()} == expected
    assert survivors(tables) == {row["doc_id"] for row in rows} - set(expected)


@embedded_only
def test_buckets_out_of_budget_do_not_change_the_result(session, tmp_path):
    """One article with many copies fills its buckets; tiny budgets make many rounds of it."""
    draw = random.Random(7)
    rows = corpus(3, 20)
    base = max((row["content"] for row in rows), key=len)
    for number in range(150):
        text = list(base)
        for _ in range(draw.randrange(14)):
            text[draw.randrange(len(text))] = draw.choice("天地玄黄宇宙洪荒日月盈昃")
        rows.append({"doc_id": f"hot{number:03d}", "content": "".join(text), "publish_time": datetime(2024, 2, 1)})
    large = run(session, rows, tmp_path / "large", "candidates.all_pairs_up_to=1000")
    small = run(session, rows, tmp_path / "small", "candidates.all_pairs_up_to=2")
    assert large["metrics"]["candidates"]["rounds"] == 1
    assert small["metrics"]["candidates"]["rounds"] > 1
    assert small["metrics"]["candidates"]["worst_buckets"]
    assert digest(small, DECIDED) == digest(large, DECIDED)
    assert {doc_id: survivor for doc_id, (survivor, _) in drops(small).items()} == sequential(rows)


@embedded_only
def test_order_of_rows_and_number_of_files_do_not_matter(session, tmp_path):
    rows = corpus(4, 60)
    shuffled = random.Random(9).sample(rows, len(rows))
    results = {
        digest(run(session, order, tmp_path / str(files), files=files)) for order, files in ((rows, 1), (shuffled, 3), (rows, 17))
    }
    assert len(results) == 1


def test_pythons_hash_seed_does_not_matter(tmp_path):
    source = write_rows(corpus(5, 15), tmp_path / "input", 3)
    results = set()
    for seed in ("0", "12345"):
        output = tmp_path / f"output{seed}"
        command = [sys.executable, ROOT / "jobs" / "rebuild.py", "--engine", "embedded", "--input", source, "--output", output]
        subprocess.run([*command, "--set", LENIENT], check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed})
        results.add(digest(published(output)))
    assert len(results) == 1


def test_metrics_name_the_thresholds_and_the_worst_buckets(tmp_path):
    """The audit of a run can be read without the code."""
    source = write_rows(corpus(6, 10), tmp_path / "input")
    command = [sys.executable, ROOT / "jobs" / "rebuild.py", "--engine", "embedded", "--input", source]
    subprocess.run([*command, "--output", tmp_path / "out", "--run-id", "one"], check=True, capture_output=True)
    manifest = json.loads((tmp_path / "out" / "runs" / "one" / "manifest.json").read_text())
    news = manifest["thresholds"]["news"]
    assert news["found_at_drop_threshold"] > 0.999
    assert np.isclose(news["found_at_drop_threshold"], 1 - (1 - 0.8 ** news["rows_per_band"]) ** news["bands"], atol=1e-6)
    assert manifest["versions"]["pyspark"].startswith("4.2")
