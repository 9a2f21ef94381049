"""The histogram job: a sample against everything, the valley it shows, what other thresholds would do, pairs at the cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.analysis import rows, sweep
from dedup_lib.analysis.borderline import borderline
from dedup_lib.analysis.sample import ALL, BAND_NAMES, compare, draw, histogram
from dedup_lib.analysis.tables import ANALYSIS, BORDERLINE, PROPOSALS, SCORE_HIST, THRESHOLD_SWEEP
from dedup_lib.analysis.valley import find_valley
from dedup_lib.config import Config
from dedup_lib.evaluation.labels import Clusters, Pairs, parse_labels
from dedup_lib.finished import label_frame
from dedup_lib.kernels.against import BAND_EDGES, STEPS
from dedup_lib.kernels.decide import DROP, GUARDED, REVIEW
from dedup_lib.metrics import Timer, tell
from dedup_lib.pipeline import Say
from dedup_lib.stages.bridge import arrow_schema
from dedup_lib.stages.verify import verify
from dedup_lib.store import RunStore, read_verdicts
from dedup_lib.tables import Table, quoted

JUDGED = ("duplicate", "not_duplicate")
OUTCOMES = {DROP: "drop", REVIEW: "review", GUARDED: "guarded"}


@dataclass(frozen=True)
class Request:
    """``labels``: a table of labels or verdicts; None for the run's own verdicts, if it had any."""

    sample: int = 1_000
    seed: int = 1
    borderline: int = 50
    labels: str | None = None
    meanings: Mapping[str, str] | None = None


def analyse(store: RunStore, config: Config, request: Request, say: Say = tell) -> dict[str, pa.Table]:
    """Analyse a finished run and write the tables of ``analysis/tables.py`` into its folder; returns the small ones."""
    timer = Timer()
    try:
        normalized = rows.texts_of_run(store, config)
        exact = store.save(rows.representatives(store.session, normalized, config), f"{rows.SCRATCH}/exact")
        distinct = exact.where(F.col("method").isNull()).select("doc_id")
        texts = normalized.join(distinct, "doc_id", "left_semi")
        stored = store.save(texts.select(*_TEXTS), f"{rows.SCRATCH}/texts")
        say(f"[{timer.total():6.1f} s] texts      {stored.count():,} distinct")
        made = _sampled(stored, config, request, store.table("scores"))
        say(f"[{timer.total():6.1f} s] sample     {request.sample:,} against everything")
        made[THRESHOLD_SWEEP.name] = _sweep(store, stored, exact, config, request)
        say(f"[{timer.total():6.1f} s] sweep      {made[THRESHOLD_SWEEP.name].num_rows:,} thresholds")
        _publish(store, made)
        store.publish(borderline(store, config, request.borderline), BORDERLINE.name)
        say(f"[{timer.total():6.1f} s] written    {store.folder}")
    finally:
        rows.tidy(store)
    return made


def analyse_input(
    session: SparkSession, config: Config, request: Request, store: RunStore, say: Say = tell
) -> dict[str, pa.Table]:
    """The histogram and the valleys of raw input, without a run."""
    timer = Timer()
    try:
        normalized = store.save(rows.texts_of_input(session, config), f"{rows.SCRATCH}/normalized")
        exact = rows.representatives(session, normalized, config)
        distinct = exact.where(F.col("method").isNull()).select("doc_id")
        texts = normalized.join(distinct, "doc_id", "left_semi").select(*_TEXTS)
        made = _sampled(texts, config, request, None)
        _publish(store, made)
        say(f"[{timer.total():6.1f} s] written    {store.folder}")
    finally:
        rows.tidy(store)
    return made


_TEXTS = ("doc_id", "profile", "text", "heading", "features", "shingles", "simhash", "key")


def _publish(store: RunStore, made: Mapping[str, pa.Table]) -> None:
    for table in ANALYSIS:
        if table.name in made:
            rows = made[table.name]
            frame = store.session.createDataFrame(rows) if rows.num_rows else table.empty(store.session)
            store.publish(table.conform(frame), table.name)


def _table(rows: list[dict[str, Any]], table: Table) -> pa.Table:
    return pa.Table.from_pylist(rows, arrow_schema(table.columns))


def _sampled(texts: DataFrame, config: Config, request: Request, scores: DataFrame | None) -> dict[str, pa.Table]:
    """``score_hist`` and ``proposals``."""
    drawn = draw(texts, config, request.seed, request.sample)
    sample = compare(texts, drawn)
    counted, proposed = [], []
    for name, tally in sample.tallies.items():
        counted += histogram(name, tally)
        proposed += _proposals(name, tally, config, request.seed)
    counted += _outcomes(scores) if scores is not None else []
    return {SCORE_HIST.name: _table(counted, SCORE_HIST), PROPOSALS.name: _table(proposed, PROPOSALS)}


def _proposals(profile: str, tally: np.ndarray, config: Config, seed: int) -> list[dict[str, Any]]:
    near = config.profiles[profile].near
    jaccard = tally[..., :STEPS]
    found = []
    for at, band in enumerate((ALL, *BAND_NAMES)):
        mine = jaccard.sum(axis=2) if band == ALL else jaccard[:, :, at - 1]
        whole = mine.sum(axis=1)
        some = whole if band == ALL else whole[whole.any(axis=1)]
        if not len(some):
            continue
        valley = find_valley(some, mine[:, 1].sum(axis=0) // 2, seed)
        plain = valley.plain or (None, None)
        found.append({
            "profile": profile, "length_band": band, "sampled": valley.sampled, "unrelated": valley.unrelated,
            "valley": valley.valley, "valley_lo": valley.low, "valley_hi": valley.high, "plain_lo": plain[0],
            "plain_hi": plain[1], "support": valley.support, "peak": valley.peak,
            "drop_jaccard": near and near.drop_jaccard, "review_jaccard": near and near.review_jaccard,
        })  # fmt: skip
    return found


def _outcomes(scores: DataFrame) -> list[dict[str, Any]]:
    """The rows of ``score_hist`` that the run's own pairs give."""
    band = F.lit(0)
    for edge in BAND_EDGES:
        band = band + (F.col("features") >= edge).cast("int")
    counted = scores.where(F.col("outcome").isin(*OUTCOMES)).withColumn("band", band)
    found: list[dict[str, Any]] = []
    for measure in ("jaccard", "containment", "hamming"):
        value = F.col(measure) if measure == "hamming" else F.floor(F.col(measure) * 100 + 1e-9)
        by_bin = counted.groupBy("profile", "band", "outcome", value.cast("int").alias("bin")).count().collect()
        total: dict[tuple, int] = {}
        for row in by_bin:
            if row["bin"] is not None:
                for name in (ALL, BAND_NAMES[row["band"]]):
                    key = row["profile"], name, OUTCOMES[row["outcome"]], measure, row["bin"]
                    total[key] = total.get(key, 0) + row["count"]
        names = ("profile", "length_band", "kind", "measure", "bin")
        found += [dict(zip(names, key, strict=True)) | {"count": count} for key, count in sorted(total.items())]
    return found


def _sweep(store: RunStore, texts: DataFrame, exact: DataFrame, config: Config, request: Request) -> pa.Table:
    scores = _strictly_guarded(store.table("scores"), texts, config)
    compared = scores.select("doc_id").union(scores.select("other_id")).distinct()
    weights = sweep.exact_weights(exact, compared)
    stored = scores.toArrow()
    verdicts = _verdicts(store.session, config)
    labels = _labels(store.session, config, request)
    representative = _representatives(exact, labels)
    found = []
    for name, (dropped, clusters, largest) in sorted(_standing(_documents(store, config), compared).items()):
        profile = config.profiles[name]
        mine = stored.filter(pc.equal(stored["profile"], name))
        graph = sweep.graph(mine, weights, verdicts, profile)
        unjudged = sweep.graph(mine, weights, None, profile)
        ours = {row: rep for row, (rep, of) in representative.items() if of == name}
        known = sweep.placed(labels, ours, unjudged) if labels else None
        per_row, near = config.review.max_pairs_per_row, profile.comparison
        base = sweep.stand(graph, near.drop_jaccard, per_row)
        for threshold in sweep.thresholds(profile) if profile.near else [near.drop_jaccard]:
            standing = sweep.stand(graph, threshold, per_row)
            counts = sweep.labelled(known, sweep.stand(unjudged, threshold, per_row)) if known else None
            found.append({
                "profile": name, "threshold": threshold, "current": threshold == near.drop_jaccard,
                "dropped": dropped + standing.fallen - base.fallen, "clusters": clusters + standing.clusters - base.clusters,
                "largest": max(standing.largest, largest),
                "review_pairs": standing.review_pairs, "guarded_pairs": standing.guarded_pairs,
                "found": sweep.found_at(profile, threshold), **sweep.rated(counts),
            })  # fmt: skip
    return _table(found, THRESHOLD_SWEEP)


def _strictly_guarded(scores: DataFrame, texts: DataFrame, config: Config) -> DataFrame:
    """``scores`` with ``held``: review pairs that the guard would keep apart at a lower threshold, as it is stricter there."""
    loose = {}
    for name, profile in config.profiles.items():
        low = profile.near and {"drop_jaccard": profile.near.review_jaccard, "hamming_jaccard": profile.near.review_jaccard}
        near = profile.near and profile.near.model_copy(update=low)
        loose[name] = profile.model_copy(update={"near": near})
    asked = scores.where((F.col("outcome") == REVIEW) & F.col("reason").isin(*sweep.MEASURED))
    pairs = asked.select(F.col("other_rank").alias("a"), F.col("rank").alias("b"), "hamming", F.lit(False).alias("asked"))
    sides = asked.select("rank", "doc_id").union(asked.select("other_rank", "other_id")).distinct()
    known = texts.select("doc_id", "profile", "key", "features", "shingles", F.lit(None).cast("bigint").alias("masked"))
    judged = verify(pairs, pairs.count(), known.join(sides, "doc_id"), texts, config.model_copy(update={"profiles": loose}))
    held = judged.where(F.col("outcome") == GUARDED).select(
        F.col("a").alias("other_rank"), F.col("b").alias("rank"), F.lit(True).alias("held")
    )
    return scores.join(held, ["rank", "other_rank"], "left")


def _verdicts(session: SparkSession, config: Config) -> pa.Table | None:
    path = config.input.verdicts
    return read_verdicts(session, path).toArrow() if path and rows.exists(path) else None


def _labels(session: SparkSession, config: Config, request: Request) -> Pairs | Clusters | None:
    path = request.labels or config.input.verdicts
    if path is None or (not request.labels and not rows.exists(path)):
        return None
    table = label_frame(session, path).toArrow()
    if not request.labels and not pc.any(pc.is_in(table["verdict"], value_set=pa.array(JUDGED))).as_py():
        return None  # the run's verdicts protect rows, and judge no pair
    return parse_labels(table, path, request.meanings)


def _representatives(exact: DataFrame, labels: Pairs | Clusters | None) -> dict[str, tuple[str, str]]:
    """The text whose exact copy each labelled row is, and its profile."""
    if labels is None:
        return {}
    wanted = exact.sparkSession.createDataFrame(pa.table({"doc_id": pa.array(labels.ids, pa.string())}))
    found = exact.join(wanted, "doc_id", "left_semi").select("doc_id", "rep_id", "profile").toArrow()
    pairs = zip(found["rep_id"].to_pylist(), found["profile"].to_pylist(), strict=True)
    return dict(zip(found["doc_id"].to_pylist(), pairs, strict=True))


def _standing(documents: DataFrame, compared: DataFrame) -> dict[str, tuple[int, int, int]]:
    """By profile: rows dropped, clusters, and rows of the largest cluster whose survivor has no stored pair."""
    alone = documents.join(compared, "doc_id", "left_anti").groupBy("profile").agg(F.max("cluster_size").alias("largest"))
    sizes = documents.groupBy("profile").agg(
        F.sum(F.col("cluster_size") - 1).alias("dropped"), F.count_if(F.col("cluster_size") > 1).alias("clusters")
    )
    rows = sizes.join(alone, "profile", "left").collect()
    return {row["profile"]: (row["dropped"], row["clusters"], row["largest"] or 0) for row in rows}


def _documents(store: RunStore, config: Config) -> DataFrame:
    """``doc_id``, ``profile`` and ``cluster_size`` of the survivors, whatever the input calls its ids."""
    table = store.table("documents")
    name = config.input.columns.doc_id if config.input.columns.doc_id in table.columns else "doc_id"
    return table.select(F.col(quoted(name)).cast("string").alias("doc_id"), "profile", "cluster_size")
