"""The settings of the gates: ``conf/gates.yaml`` explains each."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from dedup_lib.sections import Positive, Section, Share

Amount = Annotated[float, Field(ge=0)]


class Level(Section):
    """A value above ``warn`` is told, above ``fail`` it keeps the result from being published; null: never."""

    warn: Amount | None = None
    fail: Amount | None = None

    @model_validator(mode="after")
    def _warns_first(self) -> Level:
        if self.warn is not None and self.fail is not None and self.warn > self.fail:
            raise ValueError(f"warn ({self.warn:g}) <= fail ({self.fail:g}) must hold")
        return self


class ShareLevel(Level):
    """A level of a share, 0 to 1."""

    warn: Share | None = None
    fail: Share | None = None


class History(Section):
    """Which earlier runs a run is compared with."""

    runs: Positive = 7
    at_least: Positive = 3
    min_source_rows: Positive = 200


class Gates(Section):
    """What a result must satisfy to be published."""

    history: History = History()
    min_rows: Annotated[int, Field(ge=0)] = 1000
    empty_input: Level = Level(fail=0)
    conservation: Level = Level(fail=0)
    evidence: Level = Level(fail=0)
    changed_files: Level = Level(fail=0)
    quarantine_share: ShareLevel = ShareLevel(warn=0.01, fail=0.05)
    undecodable_share: ShareLevel = ShareLevel(warn=0.005, fail=0.05)
    drop_rate: ShareLevel = ShareLevel(warn=0.05, fail=0.15)
    source_drop_rate: ShareLevel = ShareLevel(warn=0.1, fail=0.3)
    source_new_drop_rate: ShareLevel = ShareLevel(warn=0.3, fail=0.7)
    source_rows_lost: ShareLevel = ShareLevel(warn=0.1, fail=0.5)
    largest_cluster: ShareLevel = ShareLevel(warn=0.05, fail=0.2)
    hot_bucket: ShareLevel = ShareLevel(warn=0.2, fail=0.6)
    review_load: ShareLevel = ShareLevel(warn=0.1, fail=0.5)
    file_age_hours: Level = Level()
    publish_age_hours: Level = Level()

    def of_any_corpus(self) -> Gates:
        """The same without levels on what a corpus is like: one that was labelled or made may be anything."""
        return self.model_copy(update={name: Level() for name in ("largest_cluster", "hot_bucket", "review_load")})
