"""``normalized`` -> ``templates`` -> ``normalized`` without them: what a site puts around its articles, learned from the corpus.

A sentence or line at the head or tail of many documents of one source is a template if these documents are otherwise
unrelated. Reposts of one article share their outer sentences too, and so do notices from one form; both agree in most
components of their MinHash signatures, in which unrelated documents differ. Among a few components there is always one whose
minimum does not lie in the shared sentence itself, and there unrelated documents have nearly as many values as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.kernels.units import HEAD, TAIL, outer_units, strip_units
from dedup_lib.schemas import DOC_ID, NORMALIZED, PROFILE, SIGNATURE, SOURCE, TEMPLATES, Column, Table
from dedup_lib.stages.bridge import map_batches
from dedup_lib.stages.normalize import headed
from dedup_lib.stages.sign import Signing, sign_batch, signing

COMPONENTS = 8  # of the signature, in which documents are compared
_UNIT = (
    PROFILE,
    SOURCE,
    Column("position", "tinyint", "0 head, 1 tail"),
    Column("unit", "bigint", "hash of the unit's letters and numbers"),
)
_UNITS = Table("units", "one row for each document and outer unit", _UNIT)
_VALUES = tuple(Column(f"value_{c}", "bigint", "a component of the document's signature") for c in range(COMPONENTS))
_EVIDENCE = Table(
    "evidence",
    "one row for each document and outer unit that many have",
    (*_UNIT, DOC_ID, Column("key", "string", "as in normalized"), Column("text", "string", "the unit"), *_VALUES),
)
_STRIPPED = Table(
    "stripped",
    "normalized texts without templates, not hashed yet",
    (*NORMALIZED.columns, Column("stripped", "boolean", "whether a template went")),
)
_MADE_ANEW = ("text", *[column.name for column in SIGNATURE])
_NONE = np.empty(0, np.int64)


class Rule(NamedTuple):
    """What the workers need to know of a profile: how it signs, and the keys of its templates."""

    signing: Signing
    heads: np.ndarray
    tails: np.ndarray


class Learned(NamedTuple):
    """Keys of the templates of each profile, sorted, at the head and at the tail of texts (int64)."""

    heads: Mapping[str, np.ndarray]
    tails: Mapping[str, np.ndarray]


def learners(config: Config) -> dict[str, int]:
    """The profiles that learn, and how many outer units of a text they look at."""
    return {name: profile.templates.units for name, profile in config.profiles.items() if profile.templates}


def recurring(normalized: DataFrame, config: Config) -> DataFrame:
    """Units (``profile``, ``source``, ``position``, ``unit``) that enough documents of a source have, related or not."""
    chosen = learners(config)
    named = normalized.where(F.col("profile").isin(list(chosen)))
    narrow = named.select("profile", F.coalesce("source", F.lit("")).alias("source"), "text")
    units = map_batches(narrow, _UNITS, partial(_units_batch, most=chosen))
    sizes = narrow.groupBy("profile", "source").agg(F.count("*").alias("all"))
    counted = units.groupBy("profile", "source", "position", "unit").agg(F.count("*").alias("rows"))
    return counted.join(sizes, ["profile", "source"]).where(F.col("rows") >= _enough(config, F.col("all"))).drop("rows", "all")


def evidence(normalized: DataFrame, units: DataFrame, config: Config) -> DataFrame:
    """``templates``: of the recurring units those that unrelated documents have in common."""
    chosen = learners(config)
    named = normalized.where(F.col("profile").isin(list(chosen)) & F.col("minhash").isNotNull())
    narrow = named.select("doc_id", "profile", F.coalesce("source", F.lit("")).alias("source"), "key", "text", "minhash")
    rows = map_batches(narrow, _EVIDENCE, partial(_evidence_batch, most=chosen))
    rows = rows.join(F.broadcast(units), ["profile", "source", "position", "unit"], "left_semi")
    values = [F.count_distinct(column.name).alias(column.name) for column in _VALUES]
    grouped = rows.groupBy("profile", "source", "position", "unit").agg(
        F.count_distinct("key").alias("documents"),
        F.min("text").alias("text"),
        F.array_sort(F.collect_set("doc_id")).alias("ids"),
        *values,
    )
    unrelated = F.greatest(*[column.name for column in _VALUES])
    share = _setting(config, "unrelated")
    least = _setting(config, "min_documents")
    found = grouped.where((unrelated >= least) & (unrelated >= share * F.col("documents")))
    kept = [F.col("text").contains(phrase) for phrase in config.lexicon.keep]
    vetoed = reduce(or_, kept) if kept else F.lit(False)
    return TEMPLATES.conform(
        found.withColumns(
            {
                "position": F.when(F.col("position") == HEAD, "head").otherwise("tail"),
                "example_ids": F.slice("ids", 1, 3),
                "vetoed": vetoed,
            }
        )
    )


def _setting(config: Config, name: str) -> F.Column:
    """A setting of the profile's learner."""
    chosen = {profile: getattr(config.profiles[profile].templates, name) for profile in learners(config)}
    return F.coalesce(*[F.when(F.col("profile") == profile, F.lit(value)) for profile, value in sorted(chosen.items())])


def _enough(config: Config, documents: F.Column) -> F.Column:
    """How many documents of a source with so many must have a unit."""
    return F.greatest(_setting(config, "min_documents").cast("double"), _setting(config, "min_share") * documents)


def _units_batch(batch: pa.RecordBatch, most: Mapping[str, int]) -> dict[str, object]:
    units = outer_units(batch.column("text"), max(most.values()))
    rows = pa.array(units.row)
    return {
        "profile": batch.column("profile").take(rows),
        "source": batch.column("source").take(rows),
        "position": units.position,
        "unit": units.key,
    }


def _evidence_batch(batch: pa.RecordBatch, most: Mapping[str, int]) -> dict[str, object]:
    units = outer_units(batch.column("text"), max(most.values()))
    rows = pa.array(units.row)
    texts = [text.encode() for text in batch.column("text").to_pylist()]
    pieces = zip(units.row.tolist(), units.start.tolist(), units.end.tolist(), strict=True)
    signature = b"".join(binary[: 4 * COMPONENTS] for binary in batch.column("minhash").to_pylist())
    values = np.frombuffer(signature, "<u4").reshape(-1, COMPONENTS).astype(np.int64)[units.row]
    return {
        **{name: batch.column(name).take(rows) for name in ("doc_id", "profile", "source", "key")},
        "position": units.position,
        "unit": units.key,
        "text": [texts[row][start:end].decode().strip() for row, start, end in pieces],
        **{column.name: values[:, c] for c, column in enumerate(_VALUES)},
    }


def learned(templates: list[tuple[str, str, int]]) -> Learned:
    """The keys to remove, from rows of (``profile``, ``position``, ``unit``)."""
    sides: tuple[dict[str, set[int]], dict[str, set[int]]] = ({}, {})
    for profile, position, unit in templates:
        sides[HEAD if position == "head" else TAIL].setdefault(profile, set()).add(unit)
    return Learned(*({name: np.array(sorted(keys), np.int64) for name, keys in side.items()} for side in sides))


def without_templates(normalized: DataFrame, found: Learned, config: Config) -> DataFrame:
    """``normalized`` with the templates taken off its texts, which are hashed and signed anew; other rows as they were.

    The same templates go from texts of every source, so equal texts stay equal. Where one went, ``text_sha1`` is that of what
    is left after folding.
    """
    rules = {
        name: Rule(signing(profile), found.heads.get(name, _NONE), found.tails.get(name, _NONE))
        for name, profile in config.profiles.items()
        if name in found.heads or name in found.tails
    }
    done = map_batches(normalized, _STRIPPED, partial(_strip_batch, rules=rules))
    hashed = F.sha1(headed(F.col("text")))
    anew = {name: F.when(F.col("stripped"), hashed).otherwise(F.col(name)) for name in ("text_sha1", "key")}
    return NORMALIZED.conform(done.withColumns(anew))


def _strip_batch(batch: pa.RecordBatch, rules: Mapping[str, Rule]) -> dict[str, object]:
    columns = {name: batch.column(name) for name in NORMALIZED.names}
    stripped = np.zeros(batch.num_rows, bool)
    for name, rule in rules.items():
        rows = np.flatnonzero(pc.equal(batch.column("profile"), name))
        texts = columns["text"].take(pa.array(rows))
        left = strip_units(texts, rule.heads, rule.tails, rule.signing.min_features)
        changed = np.asarray(pc.not_equal(texts, left))
        if not changed.any():
            continue
        left = left.filter(pa.array(changed))
        here = np.zeros(batch.num_rows, bool)
        here[rows[changed]] = True
        new = dict(zip(_MADE_ANEW, (left, *sign_batch(left, rule.signing)), strict=True))
        columns |= {column: _replaced(columns[column], here, values) for column, values in new.items()}
        stripped |= here
    return columns | {"stripped": stripped}


def _replaced(values: pa.Array, rows: np.ndarray, new: pa.Array) -> pa.Array:
    """``values`` with those of the marked rows replaced, in order."""
    picks = np.arange(len(values))
    picks[rows] = len(values) + np.arange(len(new))
    return pa.concat_arrays([values, new.cast(values.type)]).take(pa.array(picks))
