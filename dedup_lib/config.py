"""The settings of a run: frozen, validated, documented. Where they come from is ``settings.py``'s business.

Every field is explained in ``conf/rebuild.yaml`` and ``conf/profiles/*.yaml``; ranges and types stand here. Nothing in this
module knows an engine, and executors never see it: stages hand plain values to the kernels.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field, field_serializer, field_validator, model_validator

from dedup_lib.kernels.boilerplate import Lexicon
from dedup_lib.kernels.normalize import NORMALIZER_VERSION
from dedup_lib.levels import Gates
from dedup_lib.profile import Profile
from dedup_lib.sections import Positive, Section


class Columns(Section):
    """Names of the input's columns for what the job needs. Only ``content`` must exist in the input."""

    doc_id: str | None = "doc_id"
    url: str | None = "url"
    title: str | None = "title"
    content: str = "content"
    source: str | None = "source"
    publish_time: str | None = "publish_time"
    charset: str | None = "charset"


class PageSettings(Section):
    """Which rows are whole web pages, of which the body alone is compared; see ``kernels/pages.py``."""

    mode: Literal["never", "detect", "always"] = "detect"
    always: list[str] = []
    never: list[str] = []

    @model_validator(mode="after")
    def _one_way(self) -> PageSettings:
        both = sorted(set(self.always) & set(self.never))
        if both:
            raise ValueError(f"{', '.join(both)} stands in always and in never")
        return self


class Input(Section):
    """Where the corpus is and what its columns are called."""

    path: list[str] = []
    format: Literal["parquet", "json", "csv", "mysql"] = "parquet"
    columns: Columns = Columns()
    pages: PageSettings = PageSettings()
    profile_column: str | None = None
    verdicts: str | None = None

    @field_validator("path", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class Output(Section):
    """Where the result goes."""

    path: str | None = None
    keep_work: bool = False
    check_room: bool = True
    textfile: str | None = None
    lock_stale_after: Positive = 900
    report: bool = True
    language: Literal["en", "zh"] = "en"


class Candidates(Section):
    """Bounds on the work that candidate pairs may cause."""

    rows_per_bucket: Annotated[float, Field(gt=0)] = 4.0
    all_pairs_up_to: Annotated[int, Field(ge=2, le=1000)] = 8
    max_rounds: Positive = 40


class Review(Section):
    """Bounds on what people are asked."""

    max_pairs_per_row: Positive = 5
    max_pairs_per_original: Positive = 100
    family_from: Annotated[int, Field(ge=2)] = 10


class Config(Section):
    """Everything a run needs. ``profiles`` holds the profiles that rows may name, by name."""

    engine: str = "embedded"
    input: Input = Input()
    output: Output = Output()
    profile: str = "news"
    candidates: Candidates = Candidates()
    review: Review = Review()
    gates: Gates = Gates()
    profiles: dict[str, Profile] = {}
    lexicon: Lexicon = Lexicon()

    @field_serializer("engine")
    def _without_token(self, value: str) -> str:
        """What is written down of a server: a token may stand behind its address."""
        return value.partition("/;")[0]

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, value: str) -> str:
        if value not in ("embedded", "spark") and not value.startswith("connect=sc://"):
            raise ValueError("the engine is embedded, spark or connect=sc://HOST:PORT")
        return value

    def of_profiles(self, names: Collection[str]) -> Config:
        """The same with these profiles only, so that no stage plans for rows that are not there; with all if none is named."""
        chosen = {name: profile for name, profile in self.profiles.items() if name in names}
        return self.model_copy(update={"profiles": chosen or self.profiles})

    def fingerprint(self) -> str:
        """A short hash of the settings that decide the result (not of where it is computed or stored)."""
        decisive = self.model_dump(
            mode="json", exclude={"engine": True, "output": True, "gates": True, "input": {"path", "verdicts"}}
        )
        text = json.dumps([NORMALIZER_VERSION, decisive], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]
