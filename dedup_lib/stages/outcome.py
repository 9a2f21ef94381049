"""What was settled -> ``decisions`` -> the published tables."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from dedup_lib.config import Config
from dedup_lib.kernels.decide import DROP
from dedup_lib.schemas import (
    CLUSTERS,
    DECISIONS,
    DOCUMENTS,
    DROPPED,
    FLAGS,
    MEASURES,
    PAIRS,
    QUARANTINE,
    RELATION,
    REVIEW,
    SCORES,
    Table,
)  # fmt: skip
from dedup_lib.stages.bridge import small
from dedup_lib.stages.contain import SAME
from dedup_lib.stages.contents import readable_rows
from dedup_lib.stages.settle import Settled
from dedup_lib.stages.verdicts import Verdicts

REVIEW_TWINS = ("kept_id", "kept_title", "kept_text")
_MEASURES = [column.name for column in (*MEASURES, RELATION)]


def decisions(exact: DataFrame, signatures: DataFrame, settled: Settled, verdicts: Verdicts | None) -> DataFrame:
    """What becomes of each row: a survivor, or dropped for one, with the method and the measures of exactly these two.

    A row behind a representative that fell is dropped for the representative's survivor: it has the same text, hence the
    same measures.
    """
    fallen = _fallen(signatures, settled, verdicts)
    reps = signatures.select(F.col("doc_id").alias("rep_id"), "rank", "simhash").join(fallen, F.col("rank") == F.col("b"), "left")
    rows = exact.join(reps, "rep_id")
    rep_fell = F.col("survivor").isNotNull()
    behind = F.col("method").isNotNull()
    kept_id = F.when(rep_fell, F.col("survivor")).when(behind, F.col("rep_id"))
    weaker = F.when(F.col("rep_method").startswith("exact"), F.least("method", "rep_method"))
    method = F.when(rep_fell, F.coalesce(weaker, "rep_method")).otherwise(F.col("method"))
    exactly = {"hamming": 0, "jaccard": 1.0, "containment": 1.0, "threshold": 1.0, "reason": "same_text", "relation": SAME}
    measures = [F.when(rep_fell, F.col(m)).when(behind, F.lit(exactly[m])).alias(m) for m in _MEASURES]
    picked = rows.select(
        "doc_id",
        kept_id.alias("kept_id"),
        method.alias("method"),
        *measures,
        F.col("text_sha1").alias("content_sha1"),
        "simhash",
        "profile",
        "length",
    )
    return DECISIONS.conform(picked)


def _fallen(signatures: DataFrame, settled: Settled, verdicts: Verdicts | None) -> DataFrame:
    """For each representative that fell (``b``): ``survivor``, ``rep_method`` and the measures."""
    sides = signatures.select("rank", "doc_id", "key", "text_sha1", "raw_sha1")
    ours = sides.select([F.col(name).alias(f"{name}_a") for name in sides.columns])
    theirs = sides.select([F.col(name).alias(f"{name}_b") for name in sides.columns])
    pairs = settled.losers.join(settled.verified, ["a", "b"], "left")
    pairs = pairs.join(ours, F.col("a") == F.col("rank_a")).join(theirs, F.col("b") == F.col("rank_b"))
    by_person = F.coalesce(F.col("outcome") != DROP, F.lit(True)) if verdicts else F.lit(False)
    method = (
        F.when(by_person, "verdict")
        .when(F.col("raw_sha1_a") == F.col("raw_sha1_b"), "exact_raw")
        .when(F.col("text_sha1_a") == F.col("text_sha1_b"), "exact_normalized")
        .when(F.col("key_a") == F.col("key_b"), "exact_folded")
        .otherwise("near")
    )
    same = F.col("key_a") == F.col("key_b")
    hamming = F.when(same, 0).otherwise(F.col("hamming")).alias("hamming")
    reason = F.when(by_person, "verdict").otherwise(F.col("reason")).alias("reason")
    measures = [hamming, "jaccard", "containment", "threshold", reason, F.coalesce("relation", F.lit(SAME)).alias("relation")]
    return pairs.select("b", F.col("doc_id_a").alias("survivor"), method.alias("rep_method"), *measures)


def audit(decided: DataFrame, questions: DataFrame, run_id: str, decided_at: datetime) -> DataFrame:
    """``pairs``: one row for each drop, review pair and verdict applied."""
    drops = decided.where(F.col("kept_id").isNotNull()).withColumn("decision", F.lit("drop"))
    method = F.when(F.col("decision") == "keep", "verdict").otherwise("near")
    asked = questions.withColumn("method", method)
    columns = ["doc_id", "kept_id", "decision", "method", *_MEASURES, "profile"]
    rows = drops.select(*columns).unionByName(asked.select(*columns))
    stamp = F.lit(decided_at.strftime("%Y-%m-%d %H:%M:%S")).cast("timestamp")
    return PAIRS.conform(rows.withColumns({"run_id": F.lit(run_id), "decided_at": stamp}))


def clusters(decided: DataFrame) -> DataFrame:
    """``clusters``: dropped rows and the survivors they stand behind."""
    members = decided.where(F.col("kept_id").isNotNull()).select(
        F.col("kept_id").alias("cluster_id"), "doc_id", F.lit(False).alias("is_survivor")
    )
    survivors = members.select("cluster_id", F.col("cluster_id").alias("doc_id"), F.lit(True).alias("is_survivor")).distinct()
    return CLUSTERS.conform(members.union(survivors))


def documents(rows: DataFrame, decided: DataFrame, count: int, id_column: str | None) -> DataFrame:
    """``documents``: the raw rows of the survivors.

    Takes ``raw``, ``doc_id`` of rows with an id of their own, ``decisions`` and the number of rows in it.
    """
    sizes = (
        decided.where(F.col("kept_id").isNotNull()).groupBy(F.col("kept_id").alias("doc_id")).agg(F.count("*").alias("behind"))
    )
    survivors = decided.where(F.col("kept_id").isNull()).select("doc_id", "content_sha1", "simhash", "profile")
    sized = survivors.join(sizes, "doc_id", "left").withColumn("cluster_size", F.coalesce("behind", F.lit(0)) + 1)
    return _with_raw(rows.select("raw", "doc_id").join(small(sized, count), "doc_id"), DOCUMENTS, id_column)


def dropped(rows: DataFrame, decided: DataFrame, count: int, id_column: str | None) -> DataFrame:
    """``dropped``: the raw rows of what was dropped."""
    gone = decided.where(F.col("kept_id").isNotNull()).select("doc_id", "kept_id", "method")
    return _with_raw(rows.select("raw", "doc_id").join(small(gone, count), "doc_id"), DROPPED, id_column)


def quarantine(
    rows: DataFrame,
    unusable: DataFrame,
    refused: int,
    known_profiles: list[str],
    id_column: str | None,
    unreadable: DataFrame | None,
) -> DataFrame:
    """``quarantine``: rows without a usable text, without an id of their own, or of a profile that does not exist.

    Each file of ``unreadable``, if any, is a line of nulls. ``unusable`` holds ``doc_id`` and ``unusable``, the reason, of the
    ``refused`` rows whose text cannot be compared.
    """
    owner, known = F.col("copy") == 1, F.col("profile").isin(known_profiles)
    reason = F.when(F.col("copy") == 0, "missing_id").when(~owner, "duplicate_id").otherwise("unknown_profile")
    misfits = rows.where(~owner | ~known).withColumn("reason", reason)
    if refused:
        reasons = unusable.select("doc_id", F.col("unusable").alias("reason"))
        texts = rows.where(owner & known).join(small(reasons, refused), "doc_id")
        misfits = misfits.unionByName(texts.select(*misfits.columns))
    bad = _with_raw(misfits.withColumn("file", F.lit(None).cast("string")), QUARANTINE, id_column)
    if unreadable is None:
        return bad
    named = unreadable.select(F.lit("unreadable_file").alias("reason"), F.concat("file", F.lit(": "), "reason").alias("file"))
    return bad.unionByName(named.select(*[F.col(c) if c in QUARANTINE.names else F.lit(None).alias(c) for c in bad.columns]))


def _with_raw(frame: DataFrame, table: Table, id_column: str | None) -> DataFrame:
    """The raw columns and the table's own ones.

    Made ids must be seen to be joined with: they stand in a column of their own where the input has none, and fill the
    gaps of a text column of ids.
    """
    fields = frame.schema["raw"].dataType.fields
    raw = {field.name: F.col("raw").getField(field.name).alias(field.name) for field in fields}
    if id_column is None:
        raw = {"doc_id": F.col("doc_id")} | raw
    elif isinstance(frame.schema["raw"].dataType[id_column].dataType, StringType):
        raw[id_column] = F.coalesce(F.col("raw").getField(id_column), "doc_id").alias(id_column)
    own = [F.col(column.name).cast(column.type).alias(column.name) for column in table.columns if column.name not in raw]
    if "profile" in table.names and "profile" in raw:  # the column that names the profile of each row, gaps filled
        raw["profile"] = F.col("profile")
    return frame.select(*raw.values(), *own)


def review_table(rows: DataFrame, questions: DataFrame, count: int, config: Config) -> DataFrame:
    """``review``: the pairs for a person, with both titles and texts. ``count``: how many questions there are."""
    asked = questions.where(F.col("decision") == "review")
    named = asked.select("doc_id").union(asked.select(F.col("kept_id").alias("doc_id"))).distinct()
    texts = readable_rows(rows.join(small(named, 2 * count), "doc_id"), config)
    kept = texts.select(*[F.col(name).alias(other) for name, other in zip(texts.columns, REVIEW_TWINS, strict=True)])
    return REVIEW.conform(kept.join(small(texts.join(small(asked, count), "doc_id"), 100 * count), "kept_id"))


def flags(flagged: DataFrame) -> DataFrame:
    """``flags``: from ``doc_id`` and ``flags``, lines of a flag, a tab and its detail."""
    lines = flagged.select("doc_id", F.explode(F.split("flags", "\n")).alias("line"))
    parts = F.split("line", "\t")
    return FLAGS.conform(lines.select("doc_id", parts.getItem(0).alias("flag"), parts.getItem(1).alias("detail")))


def scores(signatures: DataFrame, settled: Settled, count: int) -> DataFrame:
    """``scores``: the verified pairs by their ids; ``count`` rows have signatures."""
    later = signatures.select("rank", "doc_id", "profile", F.col("features").alias("later_features"))
    earlier = signatures.select(
        F.col("rank").alias("other_rank"), F.col("doc_id").alias("other_id"), F.col("features").alias("other_features")
    )
    pairs = settled.verified.withColumns({"rank": F.greatest("a", "b"), "other_rank": F.least("a", "b")})
    named = pairs.join(small(later, count), "rank").join(small(earlier, count), "other_rank")
    shorter = F.least("later_features", "other_features")
    return SCORES.conform(named.withColumns({"features": shorter, "relation": F.coalesce("relation", F.lit(SAME))}))
