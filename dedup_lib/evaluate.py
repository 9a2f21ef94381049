"""Measure decisions against labels: a run of the product, its measures at every threshold, and other methods beside it.

The rows of the corpus are read from the tables of a run, so ids, column map, profile steps and lexicon are those of the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

from dedup_lib.config import Config
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.evaluation import tables
from dedup_lib.evaluation.labels import CLUSTER_ROWS, SEED, Clusters, Pairs, check_known, parse_labels
from dedup_lib.evaluation.methods import Documents, Thresholds, methods
from dedup_lib.evaluation.profiles import by_profile, of_rows
from dedup_lib.evaluation.report import report, shown
from dedup_lib.evaluation.universe import AllPairs, LabelledPairs, tally
from dedup_lib.finished import finished_run, label_frame, rows_of_run
from dedup_lib.kernels.normalize import NORMALIZER_VERSION
from dedup_lib.metrics import Timer, tell
from dedup_lib.pipeline import Say, rebuild
from dedup_lib.stages.bridge import small
from dedup_lib.stages.normalize import normalize
from dedup_lib.store import RunStore

REBUILD = "rebuild"  # folder of the run that the job makes for itself


@dataclass(frozen=True)
class Request:
    """What to measure. ``run``: folder of a finished run, or of runs; None to make one with the settings."""

    labels: str
    output: str
    run: str | None = None
    meanings: Mapping[str, str] | None = None
    original: str = "orig"


def evaluate(session: SparkSession, config: Config, request: Request, say: Say = tell) -> pa.Table:
    """Measure a run against labels, write all tables and the report, return the summary.

    Raises ``ConfigError`` for an output folder that is not empty, ``InputError`` for labels, a corpus or a run that cannot be
    used, and whatever ``rebuild`` raises.
    """
    timer = Timer()

    def progress(text: str) -> None:
        say(f"[{timer.total():6.1f} s] {text}")

    _check_output(request.output)
    named = label_frame(session, request.labels)
    labels = parse_labels(named.toArrow(), request.labels, request.meanings)
    if request.run:
        store, config = finished_run(session, request.run)
    else:
        own = config.output.model_copy(update={"path": os.path.join(request.output, REBUILD)})
        measured = config.model_copy(update={"output": own, "gates": config.gates.of_any_corpus()})
        store = rebuild(session, measured, say=say).store
    if "verdict" in named.columns:
        labels = _still_here(store, config, labels, request.labels)
    documents = collect(session, store, config, labels, request.labels)
    progress(f"{len(documents.ids):,} labelled rows")
    profile = config.profiles[config.profile]
    drop = round(100 * min(1.0, profile.comparison.drop_jaccard))
    compared = methods(documents, Thresholds(profile.ngram, drop, profile.comparison.max_hamming))
    progress(f"{len(compared)} methods prepared")
    if isinstance(labels, Pairs):
        universe: LabelledPairs | AllPairs = LabelledPairs(labels, documents.features)
    else:
        universe = AllPairs(labels, documents.features, request.original)
    judge = [method.name for method in compared].index(f"jaccard_{profile.ngram}")
    measures, steps = [method.measure for method in compared], [method.steps for method in compared]
    tallies, suspects = tally(universe, measures, steps, judge)
    progress(f"{tallies[0].sum():,} pairs scored by each")
    summary = tables.summary(compared, universe.shape, tallies)
    sweep = tables.sweep(compared, universe.shape, tallies)
    folder = Path(request.output)
    folder.mkdir(parents=True, exist_ok=True)
    tables.write(summary, folder, "summary")
    tables.write(sweep, folder, "sweep", as_csv=False)
    tables.write(by_profile(documents, labels, request.original), folder, "profiles")
    tables.write(tables.wrong(suspects, documents, profile.ngram, drop), folder, "wrong")
    notes = _notes(store, config, request, labels, documents)
    (folder / "evaluation.json").write_text(json.dumps(notes, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    (folder / "report.html").write_text(report(summary, sweep, compared, notes), encoding="utf-8")
    progress(f"written: {folder}")
    return summary


def _check_output(output: str) -> None:
    if os.path.exists(output) and (not os.path.isdir(output) or os.listdir(output)):
        raise ConfigError(f"output {output}: exists and is not an empty folder; choose another")


def collect(session: SparkSession, store: RunStore, config: Config, labels: Pairs | Clusters, where: str) -> Documents:
    """The labelled rows with their raw and normalised texts and the run's decisions, ordered by id.

    Rows in quarantine take part with an empty text: they are in no cluster. Raises ``InputError`` for unknown ids.
    """
    wanted = session.createDataFrame(pa.table({"doc_id": labels.ids}))
    raw = rows_of_run(store, config).join(small(wanted, len(labels.ids)), "doc_id")
    columns, present = config.input.columns, raw.schema["raw"].dataType.fieldNames()
    title = F.col("raw").getField(columns.title).cast("string") if columns.title in present else F.lit(None).cast("string")
    texts = raw.select("doc_id", title.alias("title"), F.col("raw").getField(columns.content).alias("content"))
    compared = normalize(raw, config).select("doc_id", "profile", "text", "features", "simhash", "unusable")
    found = texts.join(compared, "doc_id").orderBy("doc_id").toArrow().sort_by("doc_id").combine_chunks()
    check_known(labels, set(found["doc_id"].to_pylist()), where)
    clusters = store.table("clusters").join(small(wanted, len(labels.ids)), "doc_id").select("doc_id", "cluster_id").toArrow()
    asked = store.table("pairs").where("decision = 'review'").select("doc_id", "kept_id").toArrow()
    usable = np.array([reason is None for reason in found["unusable"].to_pylist()])
    return Documents(
        labels.ids,
        found["title"].to_pylist(),
        [text or "" for text in found["content"].to_pylist()],
        pa.array([text if ok else "" for text, ok in zip(found["text"].to_pylist(), usable, strict=True)], pa.string()),
        np.where(usable, found["features"].to_numpy(), 0),
        found["simhash"].fill_null(0).to_numpy().view(np.uint64),
        *_decided(labels.ids, clusters, asked),
        found["profile"].to_pylist(),
    )


def _still_here(store: RunStore, config: Config, labels: Pairs | Clusters, where: str) -> Pairs | Clusters:
    """Verdicts on rows that this run has: like a run, an evaluation passes over the others."""
    wanted = store.session.createDataFrame(pa.table({"doc_id": labels.ids}))
    known = rows_of_run(store, config).select("doc_id").join(small(wanted, len(labels.ids)), "doc_id").toArrow()
    kept = of_rows(labels, set(known["doc_id"].to_pylist()))
    if not kept.ids:
        raise InputError(f"verdicts {where}: none of their pairs has both rows in this run")
    return kept


def _decided(ids: list[str], clusters: pa.Table, asked: pa.Table) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """The cluster code of each row, and the codes between which a pair is in review."""
    survivor = dict(zip(clusters["doc_id"].to_pylist(), clusters["cluster_id"].to_pylist(), strict=True))
    code: dict[str, int] = {}
    codes = np.array([code.setdefault(survivor.get(doc_id, doc_id), len(code)) for doc_id in ids], np.int64)
    pairs = zip(asked["doc_id"].to_pylist(), asked["kept_id"].to_pylist(), strict=True)
    return codes, sorted((code[a], code[b]) for a, b in pairs if a in code and b in code)


def _notes(store: RunStore, config: Config, request: Request, labels: Pairs | Clusters, documents: Documents) -> dict[str, Any]:
    """What the figures rest on, by heading."""
    if isinstance(labels, Pairs):
        universe = (
            f"labelled pairs: exactly the {len(labels.first):,} pairs of the labels, {sum(labels.duplicate):,} of them "
            "duplicates. Precision is that of this mix of labels, not of a corpus: proposing every pair would have "
            f"precision {sum(labels.duplicate) / len(labels.first):.4f}."
        )
    else:
        universe = (
            f"all pairs: every pair of the {len(labels.ids):,} labelled rows, none sampled. Precision is over all pairs that a "
            f"method proposes among them, recall over all pairs within true clusters. Clusters of more than {CLUSTER_ROWS:,} "
            f"rows, of which a sample drawn with seed {SEED} takes part: {labels.sampled}. 'expect = drop': pairs of rows whose "
            "wording shows what they copy. By kind, a pair is of the copy's kind where the other row is the original "
            f"({request.original!r})."
        )
    return {
        "universe": universe,
        "intervals": "95 % Wilson, as if pairs were independent; pairs of one cluster are not, so the truth is less certain.",
        "best": "A setting marked (best) was chosen on these labels: it flatters its method.",
        "corpus": f"{', '.join(config.input.path)}; labels {request.labels}; {len(documents.ids):,} labelled rows",
        "run": f"{store.run_id}, settings {config.fingerprint()}, normaliser {NORMALIZER_VERSION}, profile {config.profile}",
    }


def print_comparison(summary: pa.Table, output: str, console: Console | None = None) -> None:
    """The whole universes of a summary as a table for each, and where the rest is."""
    console = console or Console(highlight=False)
    whole = [row for row in summary.to_pylist() if row["kind"] == row["length_band"] == tables.ALL]
    for universe in dict.fromkeys(row["universe"] for row in whole):
        table = Table(title=universe, title_justify="left", box=None, padding=(0, 1, 0, 0))
        for name in ("method", "setting"):
            table.add_column(name, no_wrap=True)
        for name in ("precision", "recall", "F1", "right", "wrong"):
            table.add_column(name, justify="right")
        for row in whole:
            if row["universe"] == universe:
                figures = [shown(row[name]) for name in ("precision", "recall", "f1")]
                table.add_row(row["method"], row["setting"], *figures, *(f"{row[name]:,}" for name in ("tp", "fp")))
        console.print()
        console.print(table)
    console.print(f"\nreport: {os.path.join(output, 'report.html')}", soft_wrap=True, markup=False)
