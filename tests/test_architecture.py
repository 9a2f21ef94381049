"""Rules of the code base that a reader may rely on, proved on the syntax trees of all modules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = sorted((ROOT / "dedup_lib").rglob("*.py"))
BENCH = sorted((ROOT / "bench").rglob("*.py"))
PROGRAM = LIBRARY + BENCH + sorted((ROOT / "jobs").rglob("*.py"))
SESSION = ROOT / "dedup_lib" / "session.py"
KERNELS = sorted((ROOT / "dedup_lib" / "kernels").rglob("*.py"))
EVALUATION = sorted((ROOT / "dedup_lib" / "evaluation").rglob("*.py"))
MAX_FILE_LINES, MAX_FUNCTION_LINES = 300, 50

FORBIDDEN_CALLS = {"hash", "eval", "exec", "compile", "__import__"}  # hash() of a string differs from process to process
FORBIDDEN_MODULES = {"pickle", "cPickle", "cloudpickle", "dill", "shelve", "marshal"}
# What Spark Connect has not: contexts, RDDs, the JVM behind py4j. session.py alone knows the context of a classic session.
BACK_DOORS = {"sparkContext", "SparkContext", "rdd", "mapPartitions", "foreachPartition", "foreach"}
BACK_DOORS |= {"_jvm", "_jsc", "_jdf", "_jsparkSession", "_gateway", "_sc"}
FORBIDDEN_ATTRIBUTES = {
    "read_pickle",
    "to_pickle",
    "read_hdf",
    "os.system",
    "os.popen",
    "builtins.eval",
    "builtins.exec",
    "mktemp",
}
PROCESSES = {"subprocess", "pty", "commands", "os.exec", "os.spawn", "asyncio.create_subprocess"}
SAFE_LOADERS = {"SafeLoader", "CSafeLoader"}
UNSAFE_YAML = {"load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all", "UnsafeLoader", "FullLoader"}

Rule = Callable[[str], Iterator[str]]


def imported_modules(tree: ast.AST, package: str = "dedup_lib.kernels") -> Iterator[str]:
    """Dotted names of everything that a module imports, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*parents, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def impure_imports(source: str) -> Iterator[str]:
    """What a kernel must not import: Spark, and the product's other layers."""
    for name in imported_modules(ast.parse(source)):
        parts = name.split(".")
        if parts[0] in ("pyspark", "pysail") or (parts[0] == "dedup_lib" and parts[1:2] != ["kernels"]):
            yield name


def engine_imports(source: str) -> Iterator[str]:
    """What needs an engine: Spark, and the layers that import it."""
    for name in imported_modules(ast.parse(source), "dedup_lib.evaluation"):
        parts = name.split(".")
        if parts[0] in ("pyspark", "pysail") or (parts[0] == "dedup_lib" and parts[1] not in ("kernels", "evaluation", "errors")):
            yield name


def unsafe_code(source: str) -> Iterator[str]:
    """Calls and imports that make results irreproducible or run foreign code."""
    tree = ast.parse(source)
    yield from (name for name in imported_modules(tree) if name.split(".")[0] in FORBIDDEN_MODULES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_CALLS:
            yield node.id
        elif isinstance(node, ast.Attribute) and node.attr in UNSAFE_YAML:
            yield node.attr
        elif isinstance(node, ast.Attribute) and {node.attr, ast.unparse(node)} & FORBIDDEN_ATTRIBUTES:
            yield ast.unparse(node)
        elif isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle"):
            if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                yield node.arg
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "yaml.load" and not _has_safe_loader(node):
            yield "yaml.load"


def _has_safe_loader(call: ast.Call) -> bool:
    given = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "Loader")]
    return any(ast.unparse(loader).split(".")[-1].endswith("SafeLoader") for loader in given)


def back_doors(source: str) -> Iterator[str]:
    """Attributes and imports that a session on a Spark Connect server has not."""
    tree = ast.parse(source)
    yield from (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in BACK_DOORS)
    yield from (name for name in imported_modules(tree) if BACK_DOORS & set(name.split(".")))


def other_programs(source: str) -> Iterator[str]:
    """Imports and calls that start another program: the product itself has no need of one."""
    tree = ast.parse(source)
    names = [*imported_modules(tree), *(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))]
    yield from (name for name in names if name.startswith(tuple(PROCESSES)))


def missing_docstrings(source: str) -> Iterator[str]:
    """The module, and its public classes, functions and methods, as far as they say nothing about themselves."""
    tree = ast.parse(source)
    if not ast.get_docstring(tree):
        yield "module"
    for node in tree.body:
        yield from _undocumented(node)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (f"{node.name}.{name}" for member in node.body for name in _undocumented(member))


def _undocumented(node: ast.AST) -> Iterator[str]:
    definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    if definition and not node.name.startswith("_") and not ast.get_docstring(node):
        yield node.name


def oversized(source: str) -> Iterator[str]:
    """A file of more than 300 lines, functions of more than 50."""
    if (lines := len(source.splitlines())) > MAX_FILE_LINES:
        yield f"{lines} lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if (lines := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES:
                yield f"{node.name}: {lines} lines"


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        (impure_imports, KERNELS), (engine_imports, EVALUATION),
        (unsafe_code, PROGRAM), (back_doors, [file for file in PROGRAM if file != SESSION]), (other_programs, LIBRARY),
        (missing_docstrings, LIBRARY + BENCH), (oversized, PROGRAM),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_all_modules_keep_the_rule(rule: Rule, files: list[Path]):
    assert files, "no module found"
    broken = {str(file.relative_to(ROOT)): list(rule(file.read_text("utf-8"))) for file in files}
    assert {file: what for file, what in broken.items() if what} == {}


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (impure_imports, "import pyspark"), (impure_imports, "from pyspark.sql import functions as F"),
        (impure_imports, "def f():\n    import dedup_lib.config"), (impure_imports, "from dedup_lib import config"),
        (impure_imports, "from dedup_lib.stages.read import read"), (impure_imports, "from .. import config"),
        (engine_imports, "from dedup_lib.store import read_input"), (engine_imports, "from ..stages import sign"),
        (unsafe_code, "key = hash('a')"), (unsafe_code, "keys = map(hash, words)"), (unsafe_code, "eval('1')"),
        (unsafe_code, "exec(code)"), (unsafe_code, "import pickle"), (unsafe_code, "from pickle import loads"),
        (unsafe_code, "yaml.load(f)"), (unsafe_code, "yaml.load(f, Loader=yaml.Loader)"), (unsafe_code, "yaml.unsafe_load(f)"),
        (unsafe_code, "os.system('ls')"), (unsafe_code, "pd.read_pickle(f)"), (unsafe_code, "np.load(f, allow_pickle=True)"),
        (unsafe_code, "subprocess.run(x, shell=True)"), (unsafe_code, "subprocess.run(x, shell=given)"),
        (other_programs, "import subprocess"), (other_programs, "from subprocess import run"), (other_programs, "os.execv(a, b)"),
        (back_doors, "frame.rdd.map(f)"), (back_doors, "session._jvm.x()"), (back_doors, "from pyspark import SparkContext"),
        (back_doors, "session.sparkContext.parallelize(rows)"), (back_doors, "frame.foreachPartition(f)"),
        (missing_docstrings, "x = 1"), (missing_docstrings, "'m'\ndef f(): pass"), (missing_docstrings, "'m'\nclass C: pass"),
        (missing_docstrings, "'m'\nclass C:\n  'c'\n  def f(self): pass"),
        (oversized, "\n" * 301), (oversized, "def f():\n" + "    x = 1\n" * 50),
    ],
)  # fmt: skip
def test_a_rule_sees_its_violation(rule: Rule, source: str):
    assert list(rule(source)) != []


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (impure_imports, "import numpy\nfrom dedup_lib.kernels import utf8\nfrom . import classes\nfrom .utf8 import decode"),
        (engine_imports, "from dedup_lib.errors import InputError\nfrom . import labels\nfrom dedup_lib.kernels import bands"),
        (unsafe_code, "self.hash()\nyaml.safe_load(f)\nyaml.load(f, Loader=yaml.CSafeLoader)\nhash_of = 1"),
        (back_doors, "rdd = 1\nframe.mapInArrow(f, s)\nsession.conf.set('a', 'b')"),
        (missing_docstrings, "'m'\ndef _f(): pass\nclass _C: pass\ndef f():\n  'f'\n  def inner(): pass"),
        (oversized, "x = 1\n" * 300), (oversized, "def f():\n" + "    x = 1\n" * 49),
    ],
)  # fmt: skip
def test_a_rule_accepts_what_is_allowed(rule: Rule, source: str):
    assert list(rule(source)) == []
