"""What the growth table makes of an event log."""

from __future__ import annotations

import json

from bench.growth import Cost, costs, input_rows, stages

SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"


def log() -> list[str]:
    write = {"nodeName": "x", "simpleString": "Execute InsertIntoHadoopFsRelationCommand file:/out/_work/pairs_2, false, Parquet"}
    scope = json.dumps({"id": "1", "name": "Window"})
    events = [
        {"Event": SQL, "executionId": 7, "sparkPlanInfo": {"children": [write]}},
        {"Event": "SparkListenerJobStart", "Stage IDs": [0, 1, 9], "Properties": {"spark.sql.execution.id": "7"}},
        {"Event": "SparkListenerStageSubmitted", "Stage Info": {"Stage ID": 1, "RDD Info": [{"Scope": scope}, {}]}},
        task(0, {"Input Metrics": {"Records Read": 60}, "Shuffle Write Metrics": {"Shuffle Bytes Written": 500}}),
        task(0, {"Input Metrics": {"Records Read": 40}, "Peak Execution Memory": 3}),
        task(1, {"Shuffle Read Metrics": {"Total Records Read": 30, "Local Bytes Read": 500}, "Peak Execution Memory": 9}),
        {"Event": "SparkListenerTaskEnd", "Stage ID": 2},
    ]
    return [*(json.dumps(event) for event in events), json.dumps(events[-1])[:-5]]


def task(stage: int, metrics: dict) -> dict:
    return {"Event": "SparkListenerTaskEnd", "Stage ID": stage, "Task Metrics": metrics}


def test_costs_belong_to_the_table_that_is_written():
    assert costs(stages(log())) == {"pairs": Cost(rows=30, shuffled=500, peak=9), "-": Cost()}


def test_a_stage_that_ran_in_one_task_is_seen_and_one_that_was_skipped_is_not():
    found = stages(log())
    assert [(stage.table, stage.tasks, stage.rows, stage.operators) for stage in found] == [
        ("pairs_2", 2, 0, set()), ("pairs_2", 1, 30, {"Window"}), ("-", 1, 0, set()),
    ]  # fmt: skip


def test_the_size_of_the_corpus_is_what_the_first_stages_read():
    assert input_rows(log()) == 100
