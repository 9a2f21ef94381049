"""A few kills on a small corpus; ``make test-faults`` does thirty on 20,000 rows."""

from __future__ import annotations

import os

import pytest

from tests.faults.killing import Killing
from tests.pipeline.helpers import UNREPORTED

FULL = os.environ.get("FAULTS") == "yes"
SEEDS, ROWS, SETTINGS = (30, 20_000, []) if FULL else (2, 300, [UNREPORTED])


@pytest.fixture(scope="module")
def killing(tmp_path_factory):
    """The corpus and its undisturbed result."""
    return Killing(tmp_path_factory.mktemp("killing"), ROWS, *SETTINGS)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_killed_run_leaves_the_published_result_and_is_made_good_by_the_next(killing, seed):
    outcome = killing.one(seed)
    assert outcome.valid and outcome.equal, outcome
