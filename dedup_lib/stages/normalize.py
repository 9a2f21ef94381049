"""Rows -> ``normalized``: the text that is compared, its hashes and signatures, and what orders rows by priority.

Normalising, folding and signing are one pass over Arrow batches: a text enters Python once and its signature leaves with it.
Signing exact copies too costs less than sending the distinct texts through a second pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.config import Config, Profile
from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.characters import blank_texts
from dedup_lib.kernels.folding import fold_repeats
from dedup_lib.kernels.normalize import Normalizer
from dedup_lib.kernels.pages import Pages, readable
from dedup_lib.kernels.times import to_micros
from dedup_lib.kernels.triggers import dense
from dedup_lib.kernels.units import HEAD, TAIL, outermost
from dedup_lib.schemas import NORMALIZED, SIGNATURE, Column, Table
from dedup_lib.stages.bridge import by_profile, map_batches
from dedup_lib.stages.contents import pages_of, raw_contents
from dedup_lib.stages.sign import Signing, sign_batch, signing

GARBLED = 0.25  # share of replacement characters among those beyond ASCII from which on a text was read in the wrong encoding

_TEXTS = Table(
    "texts",
    "what the kernels make of a row, before the engine hashes it",
    (
        *NORMALIZED.columns[:6],
        *SIGNATURE,
        Column("text", "string", "normalised; the trimmed raw text where nothing is left"),
        Column("folded", "string", "folded, null where equal to text"),
        Column("heading", "string", "as in normalized"),
        Column("emptied", "boolean", "nothing was left"),
        Column("unusable", "string", "why the row cannot be compared: empty or undecodable"),
        Column("flags", "string", "lines of a flag, a tab and its detail"),
        *NORMALIZED.columns[-2:],
    ),
)


class Recipe(NamedTuple):
    """What the workers need to know of a profile."""

    steps: tuple[str, ...]
    with_title: bool  # title and content are one text
    apart: bool  # the title is a text of its own
    fold: tuple[int, int, int] | None
    signing: Signing
    units: int  # outer units at either end that templates are learned from


def recipe(profile: Profile) -> Recipe:
    """A profile as plain values."""
    fold = profile.fold and (profile.fold.min_unit, profile.fold.min_repeats, profile.fold.max_unit)
    compare, units = profile.compare, profile.templates.units if profile.templates else 0
    with_title, apart = compare == "title_and_content", compare == "apart"
    return Recipe(tuple(profile.normalize), with_title, apart, fold, signing(profile), units)


def normalize(rows: DataFrame, config: Config) -> DataFrame:
    """Normalise, hash and sign each row; ``unusable`` says why a row cannot be compared, if so, ``flags`` how it was read.

    Takes ``raw``, ``doc_id``, ``profile`` of rows with an id of their own; returns ``normalized``, ``unusable`` and ``flags``.
    """
    columns = config.input.columns
    raw = F.col("raw")
    present = set(rows.schema["raw"].dataType.fieldNames())
    given = {
        "title": raw.getField(columns.title) if columns.title in present else F.lit(None).cast("string"),
        "time": raw.getField(columns.publish_time) if columns.publish_time in present else F.lit(None).cast("string"),
    }
    narrow = rows.select(
        "doc_id",
        "profile",
        *raw_contents(rows, columns),
        given["title"].cast("string").alias("title"),
        given["time"].alias("time"),
    )
    hashed = narrow.withColumn("raw_sha1", _raw_sha1(config, narrow.schema["content"].dataType.simpleString()))
    recipes = {name: recipe(profile) for name, profile in config.profiles.items()}
    batch = partial(_normalize_batch, recipes=recipes, lexicon=config.lexicon, pages=pages_of(config))
    texts = map_batches(hashed, _TEXTS, batch)
    folded = F.coalesce("folded", "text")
    return texts.select(
        "doc_id", "profile", "source", "published", "length", "raw_sha1",
        text_sha1(F.col("text")).alias("text_sha1"),
        F.when(F.col("emptied"), text_key(F.col("text"), "raw")).otherwise(text_key(folded)).alias("key"),
        F.when(F.col("emptied"), F.lit("")).otherwise(folded).alias("text"), "heading",
        *[column.name for column in SIGNATURE],
        F.when(F.col("folded").isNotNull(), F.col("text")).alias("unfolded"), "head", "tail",
        "unusable", "flags",
    )  # fmt: skip


def text_sha1(text: F.Column) -> F.Column:
    """The hash of a normalised text, and of the heading it has apart, if any."""
    return F.sha1(F.when(F.col("heading") == "", text).otherwise(F.concat(_sized_heading(), text)))


def text_key(text: F.Column, kind: str = "text") -> F.Column:
    """The exact key of a folded text, or of a raw one of which nothing is left, with its heading.

    Kind and heading stand before the text, the heading with its length: whatever strangers write, no two read alike.
    """
    return F.sha1(F.concat(F.lit(f"{kind}:"), _sized_heading(), text))


def _sized_heading() -> F.Column:
    return F.concat(F.length("heading").cast("string"), F.lit(":"), "heading")


def _raw_sha1(config: Config, kind: str) -> F.Column:
    """SHA-1 of the columns that are compared; content is a string or binary, as ``kind`` says.

    With a title its length stands before it: no two pairs read alike.
    """
    with_title = [name for name, profile in config.profiles.items() if profile.compare != "content"]
    size = F.coalesce(F.length("title").cast("string"), F.lit("none"))
    title = F.concat(size, F.lit(":"), F.coalesce("title", F.lit(""))).cast(kind)
    both = F.concat(title, F.coalesce("content", F.lit("").cast(kind)))
    return F.sha1(F.when(F.col("profile").isin(with_title), both).otherwise(F.col("content")))


@lru_cache(maxsize=32)
def _normalizer(steps: tuple[str, ...], lexicon: Lexicon) -> Normalizer:
    return Normalizer(steps, lexicon)


def _normalize_batch(batch: pa.RecordBatch, recipes: Mapping[str, Recipe], lexicon: Lexicon, pages: Pages) -> dict[str, object]:
    content, flags = readable(batch.column("content"), batch.column("charset"), batch.column("source"), pages)
    unread = pc.and_(content.is_null(), batch.column("content").is_valid())
    content = pc.fill_null(content, "")
    blank = blank_texts(content)
    garbled = dense("\ufffd", GARBLED)(content)
    trimmed = pc.utf8_trim_whitespace(content)
    title = pc.fill_null(batch.column("title"), "")
    text, folded, heading, head, tail, *signature = by_profile(
        batch.column("profile"), recipes, partial(_texts, title=title, content=content, lexicon=lexicon), 5 + len(SIGNATURE)
    )
    emptied = pc.equal(pc.utf8_length(text), 0)
    return {
        "doc_id": batch.column("doc_id"),
        "profile": batch.column("profile"),
        "source": pc.fill_null(batch.column("source"), ""),
        "published": to_micros(batch.column("time")),
        "length": pc.fill_null(pc.utf8_length(content), 0),
        "raw_sha1": batch.column("raw_sha1"),
        "text": pc.if_else(emptied, trimmed, text),
        "folded": pc.if_else(pc.equal(text, folded), pa.scalar(None, pa.string()), folded),
        "heading": heading,
        "emptied": emptied,
        "unusable": pc.case_when(pc.make_struct(unread, blank, garbled), "undecodable", "empty", "undecodable"),
        "flags": flags,
        "head": head,
        "tail": tail,
    } | dict(zip([column.name for column in SIGNATURE], signature, strict=True))


def _texts(recipe: Recipe, rows: pa.Array | None, title: pa.Array, content: pa.Array, lexicon: Lexicon) -> tuple:
    """Normalised text, folded text, heading, outermost units and signature columns of the chosen rows."""
    if rows is not None:
        title, content = title.take(rows), content.take(rows)
    normalizer = _normalizer(recipe.steps, lexicon)
    text = normalizer(content)
    if recipe.with_title:
        heading = pc.replace_substring(normalizer(title), "\n", " ")  # so that the line break between the two is one
        text = pc.binary_join_element_wise(heading, text, "\n")
    folded = fold_repeats(text, *recipe.fold) if recipe.fold else text
    heading = normalizer(title) if recipe.apart else pa.array([""] * len(text), pa.string())
    ends = [pa.nulls(len(text), pa.int64())] * 2
    if recipe.units:
        ends = [outermost(text, position, recipe.with_title) for position in (HEAD, TAIL)]
    return text, folded, heading, *ends, *sign_batch(folded, recipe.signing)
