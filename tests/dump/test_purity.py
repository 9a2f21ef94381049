"""What these packages may import: an engine in one module only."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import ROOT
from tests.test_architecture import imported_modules

MODULES = [path for name in ("dump", "server") for path in sorted((ROOT / "dedup_lib" / name).glob("*.py"))]
ALLOWED = {"dump": ("kernels", "dump", "errors"), "server": ("dump", "server", "errors")}
ENGINES = ("pyspark", "pysail", "py4j")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_only_the_source_knows_an_engine(path):
    package = path.parent.name
    names = [name.split(".") for name in imported_modules(ast.parse(path.read_text("utf-8")), f"dedup_lib.{package}")]
    engines = [name for name in names if name[0] in ENGINES or name[:2] == ["dedup_lib", "session"]]
    others = [name for name in names if name[0] == "dedup_lib" and name not in engines and name[1] not in ALLOWED[package]]
    assert others == [] and (engines == [] or path.stem == "source")
