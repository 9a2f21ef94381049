"""What a run counts and says: progress, ``metrics.json`` and ``manifest.json``."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import version
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib import __version__
from dedup_lib.config import Config
from dedup_lib.kernels.bands import Bands
from dedup_lib.kernels.normalize import NORMALIZER_VERSION
from dedup_lib.stages.candidates import KINDS, Meeting
from dedup_lib.stages.contain import CONTAINS, Contained
from dedup_lib.stages.settle import Settled, bucket_totals, hot_buckets
from dedup_lib.stages.verdicts import Verdicts, effects

WORST_BUCKETS = 20
LENGTH_BANDS = (50, 200, 500, 1000, 5000)  # characters
_PACKAGES = (
    "pyspark", "pysail", "pyarrow", "numpy", "numba", "OpenCC", "selectolax", "ftfy", "jieba", "readability-lxml", "lxml",
    "rapidfuzz", "pypinyin",
)  # fmt: skip


def tell(line: str) -> None:
    """Print a progress line at once; a reader who has gone away does not stop the run."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")


class Line(str):
    """A line to read that also knows its figures, for logs that machines read."""

    facts: dict[str, Any]

    def __new__(cls, text: str, **facts: Any) -> Line:
        """A text and what it says, by name. Never a document's text: logs go where documents may not."""
        line = super().__new__(cls, text)
        line.facts = facts
        return line


def json_line(line: str) -> str:
    """A progress line as a JSON object: time, level, message, figures."""
    facts = getattr(line, "facts", {})
    told = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": "info", "message": str(line).strip()} | facts
    return json.dumps(told, ensure_ascii=False, default=str)


def tell_json(line: str) -> None:
    """Print a progress line as a JSON object, at once."""
    tell(json_line(line))


class Timer:
    """Seconds for each stage: ``with timer("sign"): ...``."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.seconds[stage] = round(time.monotonic() - start, 3)

    def total(self) -> float:
        """Seconds since the timer was made."""
        return time.monotonic() - self.begin


def count_by(frame: DataFrame, *columns: str) -> dict[str, int]:
    """Rows for each value of the columns (joined by a slash), in order."""
    rows = frame.groupBy(*columns).count().collect()
    return dict(sorted(("/".join(map(str, row[:-1])), row[-1]) for row in rows))


def lengths(signatures: DataFrame) -> dict[str, int]:
    """How many representatives there are, how many of them are compared as short texts, and how many are too short for that."""
    unsigned, short = F.col("minhash").isNull(), F.col("deletions").isNotNull()
    counts = F.count("*").alias("all"), F.count_if(unsigned & short).alias("short"), F.count_if(unsigned & ~short).alias("alone")
    row = signatures.agg(*counts).first()
    return {"representatives": row["all"], "compared_as_short": row["short"], "too_short_to_compare": row["alone"]}


def collect(
    rows_read: int,
    comparable: int,
    templates: Mapping[str, int],
    lengths: Mapping[str, int],
    containment: Mapping[str, int],
    signatures: DataFrame,
    settled: Settled,
    meetings: Mapping[str, Meeting],
    published: Mapping[str, int],
    tables: Mapping[str, DataFrame],
    timer: Timer,
) -> dict[str, Any]:
    """The content of ``metrics.json``. ``published``: rows of each table; ``comparable``: those not quarantined."""
    totals = bucket_totals(settled.candidates).first()
    return {
        "rows": {"input": rows_read, **published},
        "dropped": count_by(tables["dropped"], "method"),
        "pairs": count_by(tables["pairs"], "decision", "method"),
        "quarantine": count_by(tables["quarantine"], "reason"),
        "flags": count_by(tables["flags"], "flag"),
        "templates": dict(templates),
        "exact": {"rows": comparable, **lengths},
        "candidates": {
            "buckets": totals["buckets"],
            "pairs_of_a_naive_self_join": totals["naive_pairs"],
            "pairs_given": totals["pairs"],
            "verified": settled.verified.count(),
            "rounds": settled.rounds,
            "worst_buckets": _worst(settled.candidates, signatures, meetings),
        },
        "contain": dict(containment),
        "seconds": timer.seconds | {"total": round(timer.total(), 3)},
    }


def by_length(decided: DataFrame) -> list[dict[str, int]]:
    """Rows and drops by the length of the raw content; each band begins at ``from`` characters."""
    band = reduce(lambda found, edge: F.when(F.col("length") >= edge, edge).otherwise(found), LENGTH_BANDS, F.lit(0))
    counts = F.count("*").alias("rows"), F.count_if(F.col("kept_id").isNotNull()).alias("dropped")
    return [row.asDict() for row in decided.groupBy(band.alias("from")).agg(*counts).orderBy("from").collect()]


def by_verdict(verdicts: Verdicts | None, settled: Settled) -> dict[str, int]:
    """What verdicts did: see ``stages/verdicts.effects``; empty where there are none."""
    if verdicts is None:
        return {}
    return {"restored": 0, "joined": 0, "confirmed": 0} | dict(effects(verdicts, settled.verified).collect())


def containment(found: Contained) -> dict[str, int]:
    """What the search for contained texts gave, and the anchors it left out because too many rows share them."""
    if found.shared is None:
        return {}
    skipped = found.shared.where(F.col("a").isNull()).agg(F.count("*").alias("anchors"), F.max("b").alias("most")).first()
    pairs = found.settled.verified.where(F.col("relation") == CONTAINS).count()
    return {"pairs": pairs, "skipped_anchors": skipped["anchors"], "most_rows_of_an_anchor": skipped["most"] or 0}


def _worst(candidates: DataFrame, signatures: DataFrame, meetings: Mapping[str, Meeting]) -> list[dict[str, Any]]:
    """The largest buckets that ran out of budget."""
    names = {m.group(kind): (name, text) for name, m in meetings.items() for kind, text in enumerate(KINDS)}
    largest = hot_buckets(candidates).orderBy(F.desc("rows"), "rank", "group", "pairs").limit(WORST_BUCKETS)
    found = largest.join(signatures.select("rank", "doc_id"), "rank").collect()
    found.sort(key=lambda row: (-row["rows"], row["rank"], row["group"], row["pairs"]))
    return [
        {
            "profile": names[row["group"]][0],
            "kind": names[row["group"]][1],
            "rows": row["rows"],
            "pairs_of_a_naive_self_join": row["rows"] * (row["rows"] - 1) // 2,
            "pairs_given": row["pairs"],
            "first_doc_id": row["doc_id"],
        }
        for row in found
    ]


def manifest(config: Config, run_id: str, started: datetime, meetings: Mapping[str, Meeting]) -> dict[str, Any]:
    """The content of ``manifest.json``: what decided this result."""
    settings = config.model_dump(mode="json")
    return {
        "run_id": run_id,
        "started": started.isoformat(),
        "engine": settings["engine"],
        "settings_fingerprint": config.fingerprint(),
        "normalizer_version": NORMALIZER_VERSION,
        "versions": {"dedup": __version__} | package_versions(),
        "thresholds": thresholds(config, meetings),
        "settings": settings,
    }


def thresholds(config: Config, meetings: Mapping[str, Meeting]) -> dict[str, dict[str, Any]]:
    """For each profile, the thresholds and how surely pairs at them are found."""
    return {name: _chances(config, name, meeting) for name, meeting in meetings.items()}


def _chances(config: Config, name: str, meeting: Meeting) -> dict[str, Any]:
    """How pairs of a profile are found: bands, blocks, and the probability that a pair at a threshold meets."""
    near = config.profiles[name].near
    if near is None:
        return {"compared": "exactly only"}
    bands = Bands(meeting.bands, meeting.rows)
    return {
        "drop_jaccard": near.drop_jaccard,
        "review_jaccard": near.review_jaccard,
        "bands": meeting.bands,
        "rows_per_band": meeting.rows,
        "unused_permutations": meeting.num_perm - meeting.bands * meeting.rows,
        "found_at_drop_threshold": round(bands.meeting_probability(near.drop_jaccard), 6),
        "found_at_review_threshold": round(bands.meeting_probability(near.review_jaccard), 6),
        "simhash_blocks": meeting.blocks,
        "max_hamming": meeting.max_hamming,
    }


def package_versions() -> dict[str, str | None]:
    """The versions of Python and of the packages that a result rests on."""
    return {"python": platform.python_version()} | {package: _version(package) for package in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except Exception:
        return None
