"""Sentences that too many texts share are left out alike, whether before their entries travel or in the task they come to."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dedup_lib.config import Config
from dedup_lib.settings import load_settings
from dedup_lib.stages.contain import _shared, rules
from tests.conftest import embedded_only
from tests.stages.test_resolve import saver

pytestmark = embedded_only


def settings() -> Config:
    """Two profiles that look for contained texts, with limits of their own."""
    limits = {"news": 3, "notice": 6}
    given = [f"profiles.{name}.contain.{key}" for name in limits for key in ("min_features=1", f"rows_per_anchor={limits[name]}")]
    return load_settings(overrides=given).config.of_profiles(limits)


@pytest.mark.parametrize("seed", range(3))
def test_where_boilerplate_is_left_out_does_not_matter(session, tmp_path, seed):
    draw = random.Random(seed)
    made = []
    for rank in range(0, 60, 2):
        whole = [draw.getrandbits(63) for _ in range(8)]
        boilerplate = draw.sample(range(1 << 40, (1 << 40) + 4), draw.randint(1, 3))
        profile = draw.choice(["news", "notice"])
        for place, own in enumerate((whole, whole[: draw.randint(4, 7)])):
            sentences = np.array([*own, *boilerplate], np.uint64).tobytes()
            made.append((rank + place, profile, 10 * len(own), sentences))
    survivors = session.createDataFrame(made, "rank bigint, profile string, features int, sentences binary")
    results = []
    for rows_of_a_task in (10, 1000):
        frame = _shared(survivors, rules(settings()), 60, saver(session, tmp_path / str(rows_of_a_task)), rows_of_a_task)
        results.append(sorted((row.a is None, row.a or 0, row.b) for row in frame.collect()))
    assert results[0] == results[1]
    assert {alone for alone, _, _ in results[0]} == {True, False}  # pairs met, and sentences were left out
