"""What this package may import: an engine in one module only."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT
from tests.test_architecture import imported_modules

MODULES = sorted((ROOT / "dedup_lib" / "dump").glob("*.py"))
ALLOWED = ("kernels", "dump", "errors")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_only_the_source_knows_an_engine(path):
    names = [name.split(".") for name in imported_modules(ast.parse(path.read_text("utf-8")), "dedup_lib.dump")]
    engines = [name for name in names if name[0] in ("pyspark", "pysail")]
    others = [name for name in names if name[0] == "dedup_lib" and name[1] not in ALLOWED]
    assert others == [] and (engines == [] or path.stem == "source")
