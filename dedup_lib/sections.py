"""What all groups of settings have in common, and groups that stand alone; ``config.py`` puts them together."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A group of settings: no unknown names, no changes after validation."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Contain(Section):
    """When a text counts as part of a longer one, and what becomes of it; see ``stages/contain.py``."""

    min_containment: Annotated[float, Field(gt=0.5, le=1)] = 0.9
    min_features: Positive = 50
    action: Literal["review", "drop"] = "review"
    anchors: Annotated[int, Field(ge=1, le=64)] = 16
    rows_per_anchor: Annotated[int, Field(ge=2, le=1000)] = 50
