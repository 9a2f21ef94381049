"""What a run leaves for machines: metrics for Prometheus, lineage, structured logs; and never a text of a document."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dedup_lib.errors import redacted
from dedup_lib.exposition import exposition
from dedup_lib.fingerprints import STAGES
from dedup_lib.gates import FAIL, PASS, SILENT, WARN, Judgement
from dedup_lib.pipeline import rebuild
from dedup_lib.settings import load_settings
from tests.conftest import embedded_only
from tests.pipeline.cases import LIBRARY, REWORDED
from tests.pipeline.helpers import LENIENT, UNREPORTED, write_rows

TEXTS = {"a": LIBRARY, "b": REWORDED, "c": "", "d": "好评如潮，下次还来买。" * 9}


# ---- Prometheus ----


def test_what_is_exposed_is_read_back():
    hostile = 'out"\n\\{x="1"}'
    metrics = {
        "rows": {"input": 3, "documents": 2}, "dropped": {"near": 1}, "quarantine": {'a"b\n': 1}, "flags": {},
        "pairs": {"drop/near": 1}, "seconds": {"read": 0.5, "total": 1.5}, "candidates": {"pairs_given": 7},
    }  # fmt: skip
    verdicts = {"evidence": (0.0, PASS), "drop_rate": (None, SILENT), "review_load": (0.2, WARN), "conservation": (1.0, FAIL)}
    gates = [Judgement(name, value, None, None, verdict, "", []) for name, (value, verdict) in verdicts.items()]
    text = exposition(hostile, metrics, gates, datetime(2031, 5, 1, tzinfo=UTC), False)
    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = {
        name: {tuple(value for label, value in s.labels.items() if label != "output"): s.value for s in family.samples}
        for name, family in families.items()
    }
    assert all(family.documentation and family.type == "gauge" for family in families.values())
    assert {s.labels["output"] for family in families.values() for s in family.samples} == {hostile}
    assert samples["dedup_rows"] == {("input",): 3, ("documents",): 2}
    assert samples["dedup_quarantined_rows"] == {('a"b\n',): 1}
    assert samples["dedup_stage_duration_seconds"] == {("read",): 0.5, ("total",): 1.5}
    assert samples["dedup_gate_state"] == {("evidence",): 0, ("drop_rate",): 0, ("review_load",): 1, ("conservation",): 2}
    assert samples["dedup_gate_value"] == {("evidence",): 0, ("review_load",): 0.2, ("conservation",): 1}
    assert samples["dedup_last_run_passed"] == {(): 0} and samples["dedup_candidate_pairs"] == {(): 7}
    assert samples["dedup_last_run_timestamp_seconds"] == {(): datetime(2031, 5, 1, tzinfo=UTC).timestamp()}


# ---- a run ----


@pytest.fixture(scope="module")
def told(session, tmp_path_factory):
    """A run's folder and everything it said."""
    folder = tmp_path_factory.mktemp("told")
    write_rows([{"doc_id": name, "content": text, "title": text[:9]} for name, text in TEXTS.items()], folder / "input")
    (folder / "v.csv").write_text("doc_id,other_id,verdict\na,b,duplicate\n")
    given = [f"input.path={folder / 'input'}", f"output.path={folder / 'out'}", f"input.verdicts={folder / 'v.csv'}"]
    given += [LENIENT, UNREPORTED]
    said: list[str] = []
    rebuild(session, load_settings(None, [*given, f"output.textfile={folder / 'node' / 'x.prom'}"]).config, "r", said.append)
    return folder, said


@embedded_only
def test_lineage_has_what_the_specification_requires(told):
    folder, _ = told
    lines = (folder / "out" / "runs" / "r" / "lineage.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        assert event["eventType"] in ("START", "COMPLETE") and datetime.fromisoformat(event["eventTime"]).tzinfo
        assert uuid.UUID(event["run"]["runId"]) and event["job"]["namespace"] and event["job"]["name"].startswith("dedup")
        assert re.match(r"[a-z]+:", event["producer"]) and event["schemaURL"].startswith("https://openlineage.io/spec/")
        for dataset in event["inputs"] + event["outputs"]:
            assert dataset["namespace"] and dataset["name"]
    kinds = [(event["job"]["name"].removeprefix("dedup."), event["eventType"]) for event in events]
    stages = [(stage, kind) for stage in STAGES for kind in ("START", "COMPLETE")]
    assert kinds == [("dedup", "START"), *stages, ("dedup", "COMPLETE")]
    begun, ended = ([e["run"]["runId"] for e in events if e["eventType"] == kind] for kind in ("START", "COMPLETE"))
    assert sorted(begun) == sorted(ended) and len(set(begun)) == len(begun)
    rows = {o["name"]: o["outputFacets"]["outputStatistics"]["rowCount"] for event in events for o in event["outputs"]}
    assert (rows["r.normalized"], rows["r.documents"], rows["r.dropped"], rows["r.quarantine"]) == (4, 2, 1, 1)


@embedded_only
def test_the_textfile_is_the_run_s_own(told):
    folder, _ = told
    assert (folder / "node" / "x.prom").read_text() == (folder / "out" / "runs" / "r" / "metrics.prom").read_text()


@embedded_only
def test_no_text_of_a_document_is_told(told):
    folder, said = told
    run = folder / "out" / "runs" / "r"
    names = ("lineage.jsonl", "metrics.prom", "gates.json", "run.json", "metrics.json")
    everything = "\n".join([*said, *(json.dumps(getattr(line, "facts", {}), ensure_ascii=False) for line in said)])
    everything += "".join((run / name).read_text() for name in names)
    pieces = [text[at : at + 6] for text in TEXTS.values() for at in range(0, max(0, len(text) - 6), 3)]
    assert pieces and not [piece for piece in pieces if piece in everything]


@embedded_only
def test_every_line_of_a_stage_has_its_figures(told):
    _, said = told
    facts = {line.facts["stage"]: line.facts for line in said if getattr(line, "facts", {}).get("event") == "stage"}
    assert facts["normalize"]["counts"] == {"rows": 3, "empty": 1} and facts["publish"]["counts"]["documents"] == 2
    assert said[-1].facts == {"event": "published", "run_id": "r"}


@pytest.mark.parametrize(
    "text",
    [f"Malformed records are detected in record parsing: [a,{LIBRARY}].", f"could not convert '{LIBRARY}' to int",
     f'Failed to parse string: "{"plain English text of a document " * 4}" as int', f"x {LIBRARY[:9]} y"],
)  # fmt: skip
def test_what_an_engine_quotes_is_left_out(text):
    assert "…" in redacted(text) and not re.search(r"[\u4e00-\u9fff]{4}|plain English", redacted(text))


def test_what_an_engine_says_of_files_is_kept():
    text = "Parquet error: '/data/news/part-0.parquet' is not a Parquet file at line 3"
    assert redacted(text) == text
