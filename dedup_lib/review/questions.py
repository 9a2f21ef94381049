"""The questions of a run, as a sheet for a spreadsheet and as a page to answer by keyboard."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.errors import ConfigError
from dedup_lib.evaluation.sheet import write_sheet
from dedup_lib.html import pieces, seen
from dedup_lib.review.page import page
from dedup_lib.review.queue import drops_to_ask, in_order, once, unanswered
from dedup_lib.store import Reading, RunStore, current_run, read_verdicts

SHEET, PAGE = "review.csv", "review.html"
_DIFFERENCE = 1_500  # characters of a difference
_TEXT = 3_000  # characters of a text; a cell of a spreadsheet holds 32,767
_KEY = 15  # hexadecimal digits: a collision among a million questions has a probability below 1e-6
_SEPARATOR = "\x1f"
_NOTHING = Reading("", None, None)


class Request(NamedTuple):
    """What to export: of which run, where to, how many questions and drops; ``verdicts``: what is answered already."""

    output: str
    run_id: str | None
    folder: str
    verdicts: str | None
    limit: int
    drops: int
    language: str


def question_key(doc_id: str, kept_id: str) -> str:
    """The name of a question: a hash of the two ids, so that it also tells whether a spreadsheet changed them."""
    text = f"{doc_id}{_SEPARATOR}{kept_id}".encode("utf-8", "surrogatepass")
    return "q" + hashlib.sha1(text).hexdigest()[:_KEY]


def pairs_of(store: RunStore, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The ids behind questions of a run, from its audit."""
    hashed = F.sha1(F.concat("doc_id", F.lit(_SEPARATOR), "kept_id").cast("binary"))
    named = store.table("pairs").withColumn("key", F.concat(F.lit("q"), F.substring(hashed, 1, _KEY)))
    rows = named.where(F.col("key").isin(list(keys))).select("key", "doc_id", "kept_id").collect()
    return {row["key"]: (row["doc_id"], row["kept_id"]) for row in rows}


def export(session: SparkSession, request: Request) -> tuple[int, int, list[str]]:
    """Write sheet and page; how many questions, how many of them are about drops, and the files."""
    store = RunStore(session, request.output, request.run_id or current_run(request.output))
    manifest = store.read_json("manifest.json")
    asked = _questions(store, manifest["settings"]["input"], request)
    names = [os.path.join(request.folder, name) for name in (SHEET, PAGE)]
    try:
        os.makedirs(request.folder, exist_ok=True)
        with open(names[0], "w", encoding="utf-8-sig", newline="") as file:
            write_sheet(_lines(asked, store.run_id), file)
        with open(names[1], "w", encoding="utf-8") as file:
            file.write(page(asked, store.run_id, manifest["started"], request.language))
    except OSError as error:
        raise ConfigError(f"--to {request.folder}: cannot be written: {error.strerror}; choose another folder") from None
    return len(asked), sum(question["decision"] == "drop" for question in asked), names


def _questions(store: RunStore, settings: dict[str, Any], request: Request) -> list[dict[str, Any]]:
    answered = read_verdicts(store.session, request.verdicts) if request.verdicts else None
    documents, column = store.table("documents"), settings["columns"]["doc_id"]
    ids = F.col(f"`{column}`" if column in documents.columns else "doc_id").cast("string").alias("doc_id")
    sizes = documents.select(ids, "cluster_size")
    queue = in_order(once(unanswered(store.table("review"), answered)), sizes).limit(request.limit)
    found = [row.asDict() | {"decision": "review"} for row in queue.collect()] if request.limit else []
    if request.drops:
        found += _drops(store, settings, drops_to_ask(unanswered(store.table("pairs"), answered)).limit(request.drops))
    return [_shown(row, request.language) for row in found]


def _drops(store: RunStore, settings: dict[str, Any], chosen: DataFrame) -> list[dict[str, Any]]:
    """Drops with titles and texts, as rows of ``review`` have them."""
    rows = [row.asDict() for row in chosen.collect()]
    readings = store.readings(sorted({row[side] for row in rows for side in ("doc_id", "kept_id")}), settings) if rows else {}
    for row in rows:
        ours, theirs = (readings.get(row[side], _NOTHING) for side in ("doc_id", "kept_id"))
        row |= {"title": ours.title, "text": ours.text, "kept_title": theirs.title, "kept_text": theirs.text, "rows": 2}
    return rows


def _shown(row: dict[str, Any], language: str) -> dict[str, Any]:
    ours, theirs = row["text"] or "", row["kept_text"] or ""
    key = question_key(row["doc_id"], row["kept_id"])
    difference = pieces(ours, theirs, _DIFFERENCE, language)
    return row | {"question": key, "pieces": difference, "text": ours[:_TEXT], "kept_text": theirs[:_TEXT]}


def _lines(asked: Sequence[dict[str, Any]], run_id: str) -> pa.Table:
    """The sheet: a person fills the column ``verdict``."""
    names = {
        "verdict": lambda row: "",
        "doc_id": lambda row: row["doc_id"],
        "title": lambda row: seen(row["title"]),
        "kept_id": lambda row: row["kept_id"],
        "kept_title": lambda row: seen(row["kept_title"]),
        "outcome": lambda row: row["decision"],
        "jaccard": lambda row: row["jaccard"],
        "threshold": lambda row: row["threshold"],
        "reason": lambda row: row["reason"],
        "rows": lambda row: row["rows"],
        "difference": lambda row: "".join(text for _, text in row["pieces"]),
        "text": lambda row: row["text"],
        "kept_text": lambda row: row["kept_text"],
        "question": lambda row: row["question"],
        "run_id": lambda row: run_id,
    }
    return pa.table({name: pa.array([_storable(of(row)) for row in asked]) for name, of in names.items()})


def _storable(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
