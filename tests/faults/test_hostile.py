"""A few hostile inputs of each kind; ``make test-hostile`` does thousands, in processes of their own."""

from __future__ import annotations

import os

import pytest

from tests.conftest import embedded_only
from tests.faults.hostile import KINDS, tally, through_a_reader, through_the_job

FULL = os.environ.get("HOSTILE") == "yes"
READERS = [kind for kind in KINDS if kind != "job"]


@embedded_only
def test_hostile_texts_come_out_as_they_went_in(session, tmp_path):
    assert through_the_job(session, 1, tmp_path / "1", 20) == "equal"


@embedded_only
@pytest.mark.parametrize("kind", READERS)
def test_mutated_files_are_read_whole_or_refused(session, tmp_path, kind):
    told = {through_a_reader(session, kind, seed, tmp_path / str(seed)) for seed in range(1000, 1020)}
    assert {"equal", "refused"} <= told


@pytest.mark.skipif(not FULL, reason="thousands of inputs take minutes: make test-hostile")
@pytest.mark.parametrize(("kind", "count"), [("job", 8), *((kind, 500) for kind in READERS)])
def test_thousands_of_them(kind, count):
    counted, failures = tally(kind, count)
    print(kind, dict(counted))
    assert failures == [] and counted.total() == count
