"""The settings of a profile: how texts of one kind are normalised, signed and judged. Explained in ``conf/profiles/*.yaml``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from dedup_lib.kernels.bands import Bands, choose_bands, widened
from dedup_lib.kernels.folding import LONGEST_UNIT
from dedup_lib.kernels.normalize import STEP_NAMES
from dedup_lib.kernels.units import SAMPLE
from dedup_lib.sections import Contain, Positive, Section, Share


class Fold(Section):
    """When a repeated unit is folded to one copy; see ``kernels/folding.py``."""

    min_unit: Annotated[int, Field(ge=2, le=100)] = 2
    min_repeats: Annotated[int, Field(ge=2, le=100)] = 3
    max_unit: Annotated[int, Field(ge=2, le=LONGEST_UNIT)] = 200

    @model_validator(mode="after")
    def _in_order(self) -> Fold:
        if self.min_unit > self.max_unit:
            raise ValueError(f"min_unit ({self.min_unit}) <= max_unit ({self.max_unit}) must hold")
        return self


class MinHashSettings(Section):
    """The MinHash signature and its bands; see ``kernels/minhash.py`` and ``kernels/bands.py``."""

    num_perm: Annotated[int, Field(ge=16, le=1024)] = 128
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    max_miss: Annotated[float, Field(gt=0, lt=1)] = 0.001
    max_review_miss: Annotated[float, Field(gt=0, lt=1)] = 0.15
    bands: Positive | None = None
    rows: Positive | None = None


class SimHashSettings(Section):
    """The tokens of the SimHash; see ``kernels/simhash.py``."""

    tokens: Literal["chars", "jieba", "rjieba"] = "chars"
    ngram: Annotated[int, Field(ge=1, le=8)] = 4


class HammingLimit(Section):
    """Texts of up to ``up_to`` feature characters (null: any length) count as near within ``limit`` bits."""

    up_to: Positive | None = None
    limit: Annotated[int, Field(ge=0, le=7)]


class Templates(Section):
    """How a site's own sentences are learned; see ``stages/templates.py``."""

    units: Annotated[int, Field(ge=1, le=50)] = 16
    min_documents: Annotated[int, Field(ge=2, le=SAMPLE)] = 10
    min_share: Share = 0.01
    enough: Positive = 100
    unrelated_below: Share = 0.1


class Guard(Section):
    """Which differences keep two alike texts apart; see ``kernels/guard.py``."""

    letters_up_to: Annotated[int, Field(ge=0)] = 200
    words_up_to: Annotated[int, Field(ge=0)] = 400
    correction_from: Positive = 400
    correction_jaccard: Share = 0.95
    remarks: bool = True


class Near(Section):
    """The near-duplicate rule; see ``kernels/decide.py``."""

    min_features: Positive = 20
    drop_jaccard: Annotated[float, Field(gt=0, le=1)] = 0.8
    review_jaccard: Annotated[float, Field(gt=0, le=1)] = 0.60
    hamming: list[HammingLimit] = [HammingLimit(up_to=100, limit=1), HammingLimit(limit=3)]
    hamming_jaccard: Annotated[float, Field(gt=0, le=1)] = 0.75
    guard: Guard | None = Guard()

    @property
    def max_hamming(self) -> int:
        """The widest limit of any length: what the SimHash blocks must be able to find."""
        return max(limit.limit for limit in self.hamming)

    @model_validator(mode="after")
    def _in_order(self) -> Near:
        if not self.review_jaccard <= self.hamming_jaccard <= self.drop_jaccard:
            raise ValueError(
                f"review_jaccard ({self.review_jaccard}) <= hamming_jaccard ({self.hamming_jaccard}) <= drop_jaccard "
                f"({self.drop_jaccard}) must hold"
            )
        bounds = [limit.up_to for limit in self.hamming]
        ends_open = bool(bounds) and bounds[-1] is None
        if not ends_open or None in bounds[:-1] or bounds[:-1] != sorted(set(bounds[:-1])):
            raise ValueError("hamming needs rising up_to values and a last entry without up_to")
        return self


class Short(Section):
    """When texts below ``near.min_features`` are compared by edits; see ``kernels/short.py``."""

    min_features: Annotated[int, Field(ge=4)] = 8


class Spam(Section):
    """When texts that are equal but for their codes are one; see ``kernels/codes.py``."""

    min_texts: Annotated[int, Field(ge=2)] = 6
    min_letters: Positive = 12
    drop_jaccard: Annotated[float, Field(gt=0, le=1)] = 0.2


# What a profile without ``near`` does with pairs that a verdict asks about: no measure makes them duplicates.
EXACT_ONLY = Near.model_construct(
    min_features=2**31 - 1,
    drop_jaccard=2.0,
    review_jaccard=2.0,
    hamming_jaccard=2.0,
    hamming=[HammingLimit(limit=0)],
    guard=None,
)


class Profile(Section):
    """How texts of one kind are normalised, signed and judged."""

    normalize: Annotated[list[str], Field(min_length=1)] = [
        "mojibake", "html", "invisible", "nfkc", "spaces", "case", "punctuation", "pinyin", "simplify",
        "title_tags", "noise", "join_lines",
    ]  # fmt: skip
    compare: Literal["content", "title_and_content", "apart"] = "content"
    ngram: Annotated[int, Field(ge=1, le=8)] = 4
    fold: Fold | None = Fold()
    minhash: MinHashSettings = MinHashSettings()
    simhash: SimHashSettings = SimHashSettings()
    near: Near | None = Near()
    events: bool = False
    templates: Templates | None = Templates()
    short: Short | None = None
    spam: Spam | None = None
    contain: Contain | None = Contain()

    @field_validator("normalize")
    @classmethod
    def _known_steps(cls, steps: list[str]) -> list[str]:
        unknown = [step for step in steps if step not in STEP_NAMES]
        if unknown:
            raise ValueError(f"no step is called {', '.join(unknown)}; the steps are {', '.join(STEP_NAMES)}")
        if any(step.startswith("mask") for step in steps) and {"html", "punctuation"} & set(steps):
            raise ValueError("html and punctuation would take masks for tags: leave them out where lines are masked")
        return steps

    @property
    def comparison(self) -> Near:
        """``near``, or what stands for it in a profile that compares exactly only."""
        return self.near or EXACT_ONLY

    @property
    def bands(self) -> tuple[int, int]:
        """(bands, rows): as configured, or chosen from the drop threshold."""
        if self.near is None:
            return 1, 1
        if self.minhash.bands and self.minhash.rows:
            return self.minhash.bands, self.minhash.rows
        settings = self.minhash
        chosen = choose_bands(self.near.drop_jaccard, settings.num_perm, settings.max_miss) or Bands(settings.num_perm, 1)
        return widened(chosen, self.near.review_jaccard, settings.num_perm, settings.max_review_miss)

    @model_validator(mode="after")
    def _short_is_below_near(self) -> Profile:
        if (self.short or self.spam) and self.near is None:
            raise ValueError("short and spam need near; with near: null a profile compares exactly only")
        if self.short and self.short.min_features >= self.near.min_features:
            raise ValueError(
                f"short.min_features ({self.short.min_features}) < near.min_features ({self.near.min_features}) must hold"
            )
        return self

    @model_validator(mode="after")
    def _bands_reach_the_threshold(self) -> Profile:
        settings = self.minhash
        if bool(settings.bands) != bool(settings.rows):
            raise ValueError("minhash.bands and minhash.rows are set together or not at all")
        bands, rows = self.bands
        if bands * rows > settings.num_perm:
            raise ValueError(f"minhash.bands x minhash.rows = {bands * rows}, more than num_perm = {settings.num_perm}")
        if self.near is None:
            return self
        found = 1 - (1 - self.near.drop_jaccard**rows) ** bands
        if 1 - found > settings.max_miss:
            raise ValueError(
                f"{bands} bands of {rows} rows find a pair at Jaccard {self.near.drop_jaccard} with probability {found:.4f}; "
                f"max_miss = {settings.max_miss} asks for {1 - settings.max_miss}: use more bands, fewer rows or more num_perm"
            )
        return self
