"""``normalized`` -> ``templates`` -> ``normalized`` without them: what a site puts around its articles, learned from the corpus.

A sentence or line at the head or tail of many documents of one source is a template if enough of these documents have nothing
else in common. Reposts of one article share their outer sentences too, and so do notices from one form; what they say beside
these sentences is alike (``kernels/units.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dedup_lib.config import Config
from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.folding import fold_repeats
from dedup_lib.kernels.normalize import in_canonical_characters
from dedup_lib.kernels.units import HEAD, SAMPLE, TAIL, outer_units, strip_units, unit_text, unrelated
from dedup_lib.schemas import DOC_ID, NORMALIZED, PROFILE, SIGNATURE, SOURCE, TEMPLATES, Column, Table
from dedup_lib.stages.bridge import BROADCAST_ROWS, by_profile, map_batches, map_partitions, packed, small
from dedup_lib.stages.normalize import Recipe, recipe, text_key, text_sha1
from dedup_lib.stages.resolve import Save
from dedup_lib.stages.sign import sign_batch

EXAMPLES = 3
_DRAWN = 4  # times SAMPLE documents are drawn by their texts' hashes before copies are told from one another
_SAMPLE_ROWS = 20_000  # of a partition, each with its signature
_UNIT = (PROFILE, SOURCE, Column("position", "tinyint", "0 head, 1 tail"), Column("unit", "bigint", "key of the unit"))
_KEY = [column.name for column in _UNIT]
_EVIDENCE = Table("evidence", "how independently a unit recurs", (*_UNIT, *TEMPLATES.columns[4:7]))
_UNITS = Table(
    "units",
    "the outer units of a document",
    (
        DOC_ID,
        Column("heads", "array<bigint>", "keys of its first sentences or lines, see kernels/units.py"),
        Column("tails", "array<bigint>", "keys of its last ones, the last first"),
    ),
)
_HOLDERS = Table("holders", "rows of which a learned unit is the outermost: from others none can be removed", (DOC_ID,))


class Learned(NamedTuple):
    """Keys of a profile's templates at the head and at the tail of texts, each sorted (int64)."""

    heads: np.ndarray
    tails: np.ndarray


def learners(config: Config) -> list[str]:
    """The profiles that learn."""
    return [name for name, profile in config.profiles.items() if profile.templates]


def learn(normalized: DataFrame, config: Config, save: Save) -> DataFrame:
    """``templates`` of a corpus. Rows without a source count as those of one source."""
    texts = normalized.where(F.col("profile").isin(learners(config)) & F.col("minhash").isNotNull())
    sizes = save(texts.groupBy("profile", "source").agg(F.count("*").alias("all")), "source_sizes")
    begun = _begun(texts, sizes, config, save)
    if begun.isEmpty():
        return TEMPLATES.empty(normalized.sparkSession)
    units = save(_reachable(begun, texts, sizes, config, save), "outer_units")
    drawn = save(_drawn(units, _recurring(units, sizes, config)), "outer_units_drawn")
    rows = drawn.count()
    sample = _with_comparables(drawn, rows, texts, config)
    partitions = max(8, -(-rows // _SAMPLE_ROWS))
    limits = {name: config.profiles[name].templates.unrelated_below for name in learners(config)}
    looked_at = map_partitions(sample.repartition(partitions, *_KEY), _EVIDENCE, partial(_evidence_batch, limits=limits))
    found = save(looked_at.where(F.col("unrelated") >= _setting(config, "min_documents")), "evidence")
    if found.isEmpty():
        return TEMPLATES.empty(normalized.sparkSession)
    examples = found.withColumn("doc_id", F.explode(F.slice("example_ids", 1, 1)))
    whole = normalized.select("doc_id", F.coalesce("unfolded", "text").alias("whole"))
    titled = {name: profile.compare == "title_and_content" for name, profile in config.profiles.items()}
    keep = in_canonical_characters(Lexicon(keep=config.lexicon.keep)).keep
    shown = whole.join(small(examples, found.count()), "doc_id")
    return map_batches(shown, TEMPLATES, partial(_show_batch, titled=titled, keep=keep))


def _begun(texts: DataFrame, sizes: DataFrame, config: Config, save: Save) -> DataFrame:
    """Documents and ends (``doc_id``, ``key``, ``profile``, ``source``, ``position``) whose outermost unit recurs."""
    ends = [
        texts.select(
            "doc_id",
            "key",
            "profile",
            "source",
            F.lit(position).cast("tinyint").alias("position"),
            F.col(name).alias("unit"),
        )
        for position, name in ((HEAD, "head"), (TAIL, "tail"))
    ]
    outermost = ends[0].union(ends[1]).where(F.col("unit").isNotNull())
    recurring = save(_recurring(outermost, sizes, config), "outermost_recurring")
    begun = outermost.join(small(recurring.select(*_KEY), recurring.count()), _KEY, "left_semi")
    return save(begun.drop("unit"), "outermost_units")


def _reachable(begun: DataFrame, texts: DataFrame, sizes: DataFrame, config: Config, save: Save) -> DataFrame:
    """Documents and their outer units (``doc_id``, ``key``, ``profile``, ``source``, ``position``, ``unit``).

    Only as far inwards as all units recur: what stands behind another could not be removed. So units are taken only from texts
    whose outermost unit recurs.
    """
    units = _units(small(begun.select("doc_id").distinct(), begun.count()), texts, config)
    end = F.when(F.col("position") == HEAD, F.col("heads")).otherwise(F.col("tails"))
    every = save(begun.join(units, "doc_id").select(*begun.columns, F.posexplode(end).alias("place", "unit")), "all_units")
    recurring = every.join(_recurring(every, sizes, config), _KEY, "left_semi")
    unbroken = F.row_number().over(Window.partitionBy("doc_id", "position").orderBy("place"))
    return (
        recurring.withColumn("unbroken", unbroken)
        .where(F.col("unbroken") == F.col("place") + 1)
        .select(*begun.columns, "unit")
        .distinct()
    )


def _units(ids: DataFrame, texts: DataFrame, config: Config) -> DataFrame:
    """``_UNITS`` of the documents with these ids."""
    whole = texts.select("doc_id", "profile", F.coalesce("unfolded", "text").alias("whole")).join(ids, "doc_id")
    recipes = {name: recipe(config.profiles[name]) for name in learners(config)}
    return map_batches(whole, _UNITS, partial(_units_batch, recipes=recipes))


def _units_batch(batch: pa.RecordBatch, recipes: Mapping[str, Recipe]) -> dict[str, object]:
    def ends(recipe: Recipe, rows: pa.Array | None) -> tuple[pa.Array, ...]:
        texts = batch.column("whole") if rows is None else batch.column("whole").take(rows)
        return tuple(outer_units(texts, position, recipe.units, recipe.with_title) for position in (HEAD, TAIL))

    heads, tails = by_profile(batch.column("profile"), recipes, ends, outputs=2)
    return {"doc_id": batch.column("doc_id"), "heads": heads, "tails": tails}


def _recurring(units: DataFrame, sizes: DataFrame, config: Config) -> DataFrame:
    """Units that enough documents of a source have, related or not, with the number of these ``documents``."""
    counted = units.groupBy(*_KEY).agg(F.count("*").alias("documents"))
    enough = counted.where(F.col("documents") >= _setting(config, "min_documents")).join(sizes, ["profile", "source"])
    share = F.least(_setting(config, "min_share") * F.col("all"), _setting(config, "enough").cast("double"))
    return enough.where(F.col("documents") >= share).drop("all")


def _setting(config: Config, name: str) -> F.Column:
    """A setting of the profile's learner."""
    chosen = {profile: getattr(config.profiles[profile].templates, name) for profile in learners(config)}
    return F.coalesce(*[F.when(F.col("profile") == profile, F.lit(value)) for profile, value in sorted(chosen.items())])


def _drawn(units: DataFrame, recurring: DataFrame) -> DataFrame:
    """Up to ``SAMPLE`` different texts that have a unit, those with the smallest hashes.

    Of a unit that very many have, documents are drawn by their hash before anything is sorted.
    """
    hashed = F.conv(F.substring("key", 1, 8), 16, 10).cast("double") / F.lit(float(2**32))
    drawn = units.join(recurring, _KEY).where(hashed * F.col("documents") <= _DRAWN * SAMPLE)
    different = drawn.groupBy(*_KEY, "documents", "key").agg(F.min("doc_id").alias("doc_id"))
    place = F.row_number().over(Window.partitionBy(*_KEY).orderBy("key"))
    return different.withColumn("place", place).where(F.col("place") <= SAMPLE)


def _with_comparables(drawn: DataFrame, rows: int, texts: DataFrame, config: Config) -> DataFrame:
    """The drawn texts, so many, with what compares them."""
    ids = small(drawn.select("doc_id").distinct(), rows)
    signed = texts.select("doc_id", "shingles", "minhash").join(ids, "doc_id")
    return drawn.join(signed, "doc_id").join(_units(ids, texts, config), "doc_id")


def _evidence_batch(batch: pa.RecordBatch, limits: Mapping[str, float]) -> dict[str, object]:
    """One row for each unit of a partition, which has all rows of its units."""
    order = [(name, "ascending") for name in (*_KEY, "place")]
    rows = pa.Table.from_batches([batch]).sort_by(order).combine_chunks().to_batches()[0]
    places = rows.column("place").to_numpy()
    starts = np.flatnonzero(np.diff(places, prepend=np.iinfo(np.int32).max) <= 0)
    ends = np.append(starts[1:], rows.num_rows)
    found = [_look(rows.slice(start, end - start), limits) for start, end in zip(starts, ends, strict=True)]
    firsts = rows.take(pa.array(starts))
    return {
        **{name: firsts.column(name) for name in (*_KEY, "documents")},
        "unrelated": [len(ids) for ids in found],
        "example_ids": [ids[:EXAMPLES] for ids in found],
    }


def _look(rows: pa.RecordBatch, limits: Mapping[str, float]) -> list[str]:
    """The ids of unrelated documents among those that have a unit."""
    minhash = packed(rows.column("minhash"), "<u4")
    limit = limits[rows.column("profile")[0].as_py()]
    chosen = unrelated(minhash, rows.column("shingles").to_numpy(), rows.column("heads"), rows.column("tails"), limit)
    return rows.column("doc_id").take(pa.array(chosen)).to_pylist()


def _show_batch(batch: pa.RecordBatch, titled: Mapping[str, bool], keep: tuple[str, ...]) -> dict[str, object]:
    sides = zip(*[batch.column(name).to_pylist() for name in ("whole", "unit", "position", "profile")], strict=True)
    texts = [(unit_text(whole, unit, position, titled[profile]) or "").strip() for whole, unit, position, profile in sides]
    return {
        **{name: batch.column(name) for name in ("profile", "source", "documents", "unrelated", "example_ids", "unit")},
        "position": pc.if_else(pc.equal(batch.column("position"), HEAD), "head", "tail"),
        "text": texts,
        "vetoed": [any(_letters(phrase) in _letters(text) for phrase in keep) for text in texts],
    }


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def learned(templates: Iterable[tuple[str, str, int]]) -> dict[str, Learned]:
    """The keys to remove in each profile, from rows of (``profile``, ``position``, ``unit``)."""
    sides: dict[str, dict[str, set[int]]] = {}
    for profile, position, unit in templates:
        sides.setdefault(profile, {"head": set(), "tail": set()})[position].add(unit)
    return {name: Learned(*(np.array(sorted(side[end]), np.int64) for end in ("head", "tail"))) for name, side in sides.items()}


def without_templates(normalized: DataFrame, found: Mapping[str, Learned], config: Config, save: Save) -> tuple[DataFrame, int]:
    """``normalized`` with the templates taken off its texts, which are folded, hashed and signed anew; how many these are.

    The same templates go from texts of every source, so equal texts stay equal, and before folding, so what is equal then is
    equal folded. Other rows are neither read into kernels nor written again, unless nearly all would be.
    """
    narrow = normalized.select("doc_id", "profile", "head", "tail")
    holders = save(map_batches(narrow, _HOLDERS, partial(_holders_batch, found=found)), "template_holders")
    whole = normalized.join(small(holders, holders.count()), "doc_id", "left_semi")
    recipes = {name: recipe(config.profiles[name]) for name in found}
    texts = map_batches(whole, NORMALIZED, partial(_strip_batch, found=found, recipes=recipes))
    hashes = {"text_sha1": text_sha1(F.coalesce("unfolded", "text")), "key": text_key(F.col("text"))}
    stripped = save(NORMALIZED.conform(texts.withColumns(hashes)), "stripped")
    rows = stripped.count()
    others = normalized.join(small(stripped.select("doc_id"), rows), "doc_id", "left_anti")
    merged = NORMALIZED.conform(others).union(stripped)
    return (merged if rows <= BROADCAST_ROWS else save(merged, "normalized_without_templates")), rows


def _holders_batch(batch: pa.RecordBatch, found: Mapping[str, Learned]) -> dict[str, object]:
    wanted = np.zeros(batch.num_rows, bool)
    for name, keys in found.items():
        ends = zip((batch.column("head"), batch.column("tail")), keys, strict=True)
        held = pc.or_(*[pc.is_in(end, value_set=pa.array(learned)) for end, learned in ends])
        wanted |= np.asarray(pc.and_(held, pc.equal(batch.column("profile"), name)))
    return {"doc_id": batch.column("doc_id").filter(pa.array(wanted))}


def _strip_batch(batch: pa.RecordBatch, found: Mapping[str, Learned], recipes: Mapping[str, Recipe]) -> dict[str, object]:
    """The rows that lose a template, without it."""
    parts = []
    for name, keys in found.items():
        rows = batch.filter(pc.equal(batch.column("profile"), name))
        whole = pc.coalesce(rows.column("unfolded"), rows.column("text"))
        left = strip_units(whole, *keys, recipes[name].signing.min_features, recipes[name].with_title)
        changed = pc.not_equal(whole, left)
        rows = pa.Table.from_batches([rows.filter(changed)])
        for column, values in _made_anew(left.filter(changed), recipes[name]).items():
            place = rows.column_names.index(column)
            rows = rows.set_column(place, rows.schema.field(place), values.cast(rows.schema.field(place).type))
        parts.append(rows)
    together = pa.concat_tables(parts)
    return {name: together.column(name) for name in NORMALIZED.names}


def _made_anew(texts: pa.Array, recipe: Recipe) -> dict[str, pa.Array]:
    """What stands in ``normalized`` of these normalised texts, but for the hashes."""
    folded = fold_repeats(texts, *recipe.fold) if recipe.fold else texts
    signature = zip([column.name for column in SIGNATURE], sign_batch(folded, recipe.signing), strict=True)
    unfolded = pc.if_else(pc.equal(texts, folded), pa.scalar(None, pa.string()), texts)
    return {"text": folded, "unfolded": unfolded, **dict(signature)}
