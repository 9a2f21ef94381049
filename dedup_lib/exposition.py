"""The counters of a run for Prometheus: ``metrics.prom``, and the same where node_exporter's textfile collector looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from dedup_lib.gates import FAIL, WARN, Judgement

# Metric, meaning, what its label is called, and where the figures stand in metrics.json.
_COUNTS = (
    ("dedup_rows", "Rows of the last run, by table; input: rows read.", "table", "rows"),
    ("dedup_dropped_rows", "Dropped rows, by method.", "method", "dropped"),
    ("dedup_quarantined_rows", "Rows that could not be processed, by reason.", "reason", "quarantine"),
    ("dedup_flagged_rows", "Rows whose content was read doubtfully, by flag.", "flag", "flags"),
    ("dedup_decided_pairs", "Lines of the audit, by decision and method.", "decision", "pairs"),
    ("dedup_stage_duration_seconds", "What each stage took.", "stage", "seconds"),
)


def exposition(output: str, metrics: Mapping[str, Any], judgements: Sequence[Judgement], ended: datetime, published: bool) -> str:
    """The text. ``output`` is a label of every sample, so that files of several corpora may lie side by side.

    Of a run that died there is no new file: alert on the age of ``dedup_last_run_timestamp_seconds``.
    """
    registry = CollectorRegistry()

    def gauge(name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(name, meaning, ["output", *labels], registry=registry)

    for name, meaning, label, key in _COUNTS:
        samples = gauge(name, meaning, label)
        for value, number in metrics[key].items():
            samples.labels(output, value).set(number)
    pairs = gauge("dedup_candidate_pairs", "Pairs that shared a bucket.")
    pairs.labels(output).set(metrics["candidates"]["pairs_given"])
    values = gauge("dedup_gate_value", "What each gate measured.", "gate")
    states = gauge("dedup_gate_state", "0 passed or silent, 1 warned, 2 refused.", "gate")
    for judgement in judgements:
        states.labels(output, judgement.gate).set({WARN: 1, FAIL: 2}.get(judgement.verdict, 0))
        if judgement.value is not None:
            values.labels(output, judgement.gate).set(judgement.value)
    gauge("dedup_last_run_timestamp_seconds", "When the last run ended.").labels(output).set(ended.timestamp())
    gauge("dedup_last_run_passed", "1 if the last run passed its gates.").labels(output).set(int(published))
    return generate_latest(registry).decode("utf-8")
