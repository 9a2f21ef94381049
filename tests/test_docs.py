"""Documentation that is made from the code is current."""

from __future__ import annotations

import runpy

from dedup_lib.analysis.tables import ANALYSIS
from dedup_lib.schemas import ALL_TABLES
from tests.conftest import ROOT


def test_the_reference_of_tables_is_current():
    written = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == runpy.run_path(str(ROOT / "tools" / "tables.py"))["reference"]()


def test_every_column_says_what_it_means():
    assert all(column.meaning.strip() for table in (*ALL_TABLES, *ANALYSIS) for column in table.columns)
    assert len({table.name for table in ALL_TABLES}) == len(ALL_TABLES)
