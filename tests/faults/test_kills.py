"""A kill on a small corpus; ``make test-faults`` does thirty on 20,000 rows."""

from __future__ import annotations

import os

import pytest

from tests.faults.killing import PLACES, Killing
from tests.pipeline.helpers import UNREPORTED

FULL = os.environ.get("FAULTS") == "yes"
SEEDS, ROWS, SETTINGS = (30, 20_000, []) if FULL else (1, 300, [UNREPORTED])


@pytest.fixture(scope="module")
def killing(tmp_path_factory):
    """The corpus and its undisturbed result."""
    return Killing(tmp_path_factory.mktemp("killing"), ROWS, *SETTINGS)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_killed_run_leaves_the_published_result_and_is_made_good_by_the_next(killing, seed):
    outcome = killing.one(seed)
    assert outcome.valid and outcome.equal, outcome


@pytest.mark.skipif(not FULL, reason="a run for each stage: make test-faults")
@pytest.mark.parametrize("stage", PLACES)
def test_a_kill_in_any_stage_leaves_the_published_result_and_the_next_run_goes_on(small, stage):
    outcome = small.in_stage(stage)
    assert outcome.valid and outcome.equal and (outcome.went_on or stage == "read"), outcome


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A corpus of which a stage takes a moment, with a verdict so that every stage has something to do."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "verdicts.csv").write_text("doc_id,other_id,verdict\n1,2,not_duplicate\n")
    return Killing(folder, 1_000, f"input.verdicts={folder / 'verdicts.csv'}")
