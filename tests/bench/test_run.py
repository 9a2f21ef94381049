"""One whole measurement, small; how the job and other tools are started. No figure of time decides anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.corpus import Corpus
from bench.peer import Joined, grams, main, plain, read_rows
from bench.peers import Peer, peers
from bench.run import Failed, corpus_size, job_command, measure_peer
from tests.conftest import ROOT, needs_java


def test_a_measurement_on_the_embedded_engine(tmp_path):
    results = tmp_path / "results.jsonl"
    options = ["--rows", "300", "--results", str(results), "--scratch", str(tmp_path / "scratch")]
    subprocess.run([sys.executable, "-m", "bench.run", *options], cwd=ROOT, check=True)
    (line,) = [json.loads(text) for text in results.read_text("utf-8").splitlines()]
    run = line["run"]
    assert line["corpus"] == {"mode": "mixed", "seed": 1, "rows": 300, "bytes": line["corpus"]["bytes"]}
    assert run["rows"]["input"] == 300
    assert {"normalize", "settle", "publish", "total"} <= set(run["stages"])
    assert run["quality"]["precision"] == 1.0
    assert run["quality"]["joined_by_kind"]["exact"] == 1.0
    assert run["candidate_pairs"] >= run["verified_pairs"] > 0
    assert min(run["wall_seconds"], run["cpu_seconds"], run["peak_memory_bytes"], run["peak_disk_bytes"]) > 0
    assert run["shuffle_bytes"] is None
    assert (line["engine"], line["peers"]) == ("embedded", [])
    assert list((tmp_path / "scratch").iterdir()) == []
    assert str(tmp_path) not in results.read_text("utf-8")


@needs_java
def test_spark_is_submitted_with_its_settings_and_an_event_log(tmp_path):
    command, environment = job_command("spark", "in/*.parquet", tmp_path / "out", tmp_path / "events", ["a.b=1"])
    joined = " ".join(command)
    assert "--properties-file" in command
    assert f"--conf spark.eventLog.dir={(tmp_path / 'events').as_uri()}" in joined
    assert "--run-id bench --set" in joined and joined.endswith("--set a.b=1")
    assert "JAVA_HOME" in environment


def test_the_size_of_a_corpus_is_its_rows_and_bytes_of_content(tmp_path):
    for number, texts in enumerate((["中文", None], ["ab"])):
        pq.write_table(pa.table({"content": pa.array(texts, pa.string()), "doc_id": texts}), tmp_path / f"{number}.parquet")
    assert corpus_size(str(tmp_path)) == corpus_size(str(tmp_path / "*.parquet")) == (3, 8)


def test_a_peer_that_is_missing_or_fails_is_left_out_with_the_reason(tmp_path):
    corpus, size = Corpus("x", None), corpus_size(str(ROOT / "data" / "sample" / "messy.parquet"))
    missing = Peer("rensa", None, [], {}, "rensa is not installed")
    assert measure_peer(missing, corpus, size, tmp_path, 60)["skipped"] == "rensa is not installed"
    failing = Peer("gaoya", "1", [sys.executable, "-c", "raise SystemExit(9)"], {}, None)
    assert measure_peer(failing, corpus, size, tmp_path, 60)["skipped"] == "failed (exit code 9)"
    late = Peer("gaoya", "1", [sys.executable, "-c", "import time; time.sleep(60)"], {}, None)
    assert measure_peer(late, corpus, size, tmp_path, 0.5)["skipped"] == "took longer than 0.5 seconds"
    assert all(peer.missing for peer in peers(tmp_path / "none") if peer.name != "mllib")


def test_datasketch_as_a_peer_joins_equal_texts(tmp_path):
    pytest.importorskip("datasketch")
    same, other = "今天的天气非常好，我们一起去公园散步吧。", "完全不同的另一段文字，讲的是别的事情。"
    corpus, found = tmp_path / "part.parquet", tmp_path / "found.parquet"
    pq.write_table(pa.table({"doc_id": ["a", "b", "c"], "content": [same, other, same + "\n"]}), corpus)
    main(["datasketch", "--input", str(corpus), "--output", str(found)])
    assert pq.read_table(found).to_pydict() == {"doc_id": ["a", "b", "c"], "cluster_id": ["a", "b", "a"]}
    assert read_rows(str(corpus)) == (["a", "b", "c"], [same, other, same + "\n"])


def test_what_peers_share():
    assert plain(" Ａ\u3000b\n") == "Ab"
    assert grams("ababab") == ["abab", "baba"]
    assert grams("ab") == ["ab"]
    rows = Joined(4)
    rows.join(3, 2)
    rows.join(2, 1)
    assert rows.labels() == [0, 1, 1, 1]


def test_what_peers_run_imports_nothing_of_the_product():
    source = (Path(ROOT) / "bench" / "peer.py").read_text("utf-8")
    assert "dedup_lib" not in source
    assert "from bench" not in source


def test_unusable_input_is_told():
    done = subprocess.run(
        [sys.executable, "-m", "bench.run", "--input", "none/*.parquet"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "no such Parquet files" in done.stderr
    assert issubclass(Failed, Exception)
