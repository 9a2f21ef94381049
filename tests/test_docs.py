"""Documentation that is made from the code is current."""

from __future__ import annotations

import re
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


def readme(name: str) -> tuple[list[str], list[str], list[str]]:
    """Commands without their comments, levels of the headings, and what the text links to or quotes as code."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
    commands = [re.sub(r"\s*# .*", "", line) for block in blocks for line in block.splitlines()]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = [line.split()[0] for line in prose.splitlines() if line.startswith("#")]
    named = re.findall(r"`[^`]+`", prose) + re.findall(r"\]\((?!README)([^)]+)\)", prose)
    return [command for command in commands if command.strip()], headings, sorted(named)


def test_the_two_readmes_say_the_same():
    english, chinese = readme("README.md"), readme("README.zh-CN.md")
    assert chinese[0] == english[0] and len(english[0]) > 20
    assert chinese[1] == english[1]
    assert {name.replace("<输出目录>", "<output>") for name in chinese[2]} == set(english[2])
