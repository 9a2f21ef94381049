"""What several kernel tests share: case files, and single texts through array functions."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.conftest import ROOT

CASES = Path(__file__).parent / "cases"
EVALUATION_DATA = Path(os.environ.get("DEDUP_EVALUATION_DATA", ROOT.parent / "shared" / "data"))


def evaluation_data(name: str) -> Callable[[Callable], Callable]:
    """Call a test with a ``folder`` of the real data that is not part of the repository; skip it where there is none."""
    folder = EVALUATION_DATA / name

    def mark(test: Callable) -> Callable:
        here = pytest.mark.parametrize("folder", [folder], ids=[name])(test)
        return pytest.mark.skipif(not folder.is_dir(), reason=f"no {folder}")(here)

    return mark


def unescape(text: str) -> str:
    r"""``\n``, ``\t``, ``\xXX`` and ``\uXXXX`` of a case file as the characters they stand for."""
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")


def read_cases(name: str) -> list[dict[str, str]]:
    """Rows of a tab-separated case file as dictionaries. Lines that begin with # are comments."""
    with open(CASES / name, encoding="utf-8", newline="") as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [{key: unescape(value or "") for key, value in row.items()} for row in rows]


def one(function: Callable[[pa.Array], pa.Array], text: str) -> str:
    """A function on string arrays, applied to a single text."""
    return function(pa.array([text], pa.string()))[0].as_py()
