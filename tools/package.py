"""Pack what a cluster needs into one archive: interpreter, packages, code, conf/, compiled kernels.

python tools/package.py dist [--plain]

Run it with the environment's Python (make package does). ``dist`` gets ``environment.tar.gz`` for ``spark-submit --archives``,
the jobs, and the library as a wheel for other environments (there kernels are compiled where they first run). Spark itself is
not in it: a cluster brings its own. Everything lies in the archive, and nothing in a --py-files zip, because compiled kernels
cannot travel inside a zip: every worker of every run would compile for a minute or two. venv-pack was no help: it packs links to
the interpreter of this machine, at a path that workers need not have.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
# Spark is the cluster's, the embedded engine needs no cluster, and charts are drawn by evaluate.py and clean_dump.py alone.
LEFT_OUT = {"pyspark", "pysail", "altair", "vl-convert-python"}
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
# Of the standard library: what no job imports, and other people's packages.
_UNUSED_LIBRARY = {
    "site-packages",
    "dist-packages",
    "test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "__pycache__",
    "lib2to3",
}
_UNUSED = {"tests", "test", "__pycache__"}  # of packages, a quarter of their files
_COMPILED = ("kernels", "dump", "stages")  # where functions that numba compiles stand
# Kernels are compiled for a kind of processor and not for the one of this machine: numba takes compiled code only where the
# name is the same. A processor without these instructions gets its own, compiled when they are first called.
_CPU = "x86-64-v3"
_PYTHON = f"""#!/bin/sh
# The interpreter beside this file, wherever the archive was unpacked.
home=$(cd "$(dirname "$0")/.." && pwd)
export LD_LIBRARY_PATH="$home/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}$home/lib/{VERSION}/site-packages" PYTHONNOUSERSITE=1
# Kernels compiled when the archive was made lie beside their sources; elsewhere only if that folder cannot be written.
export NUMBA_CACHE_LOCATOR_CLASSES=InTreeCacheLocator,UserProvidedCacheLocator
flags=$(grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null)
common=yes
for flag in avx2 bmi1 bmi2 f16c fma movbe abm; do
    case " $flags " in *" $flag "*) ;; *) common=no ;; esac
done
[ $common = yes ] && export NUMBA_CPU_NAME={_CPU} NUMBA_CPU_FEATURES=
exec "$home/bin/{VERSION}" "$@"
"""
_HELP = """
{dist}/environment.tar.gz holds Python {version}, the packages, the code, conf/ and the compiled kernels. Workers need Spark 4.2
and a glibc as new as this machine's, nothing else. After a change to the code or to conf/, make it again.

standalone (the driver runs here and needs its own copy, at the path that the workers have):
  rm -rf environment && mkdir environment && tar -xzf {dist}/environment.tar.gz -C environment
  spark-submit --master spark://HOST:7077 {common} \\
    {dist}/rebuild.py --input /shared/crawl --output /shared/dedup

YARN:
  spark-submit --master yarn --deploy-mode cluster {common} \\
    {dist}/rebuild.py --input /shared/crawl --output /shared/dedup

Kubernetes, with the image of ./Dockerfile, which holds all this (docker build -t IMAGE . && docker push IMAGE), and the volume
that all pods mount:
  spark-submit --master k8s://https://HOST:6443 --deploy-mode cluster --properties-file conf/spark-cluster.conf \\
    --conf spark.kubernetes.container.image=IMAGE {volumes} \\
    --conf spark.pyspark.python=/opt/dedup/environment/bin/python \\
    local:///opt/dedup/rebuild.py --input /shared/crawl --output /shared/dedup

Kubernetes, with any image of Spark 4.2, and a folder for uploads that the pods can read:
  spark-submit --master k8s://https://HOST:6443 --deploy-mode cluster {common} \\
    --conf spark.kubernetes.container.image=IMAGE --conf spark.kubernetes.file.upload.path=s3a://BUCKET/uploads {volumes} \\
    {dist}/rebuild.py --input /shared/crawl --output /shared/dedup

A Spark Connect server whose workers have the packages, and the job as its client (in an environment with the wheel; one folder
for input and output, seen by all):
  start-connect-server.sh --archives {dist}/environment.tar.gz#environment \\
    --conf spark.pyspark.python=./environment/bin/python
  python {dist}/rebuild.py --engine connect=sc://HOST:15002 --input /shared/crawl --output /shared/dedup

{wheel} is the library for another environment (Python 3.11 or later): pip install {wheel}

Input and output must be folders that the driver and all workers see at one path. What to set for how many rows:
conf/spark-cluster.conf and ARCHITECTURE.md, "How it grows".
"""
_COMMON = (
    "--properties-file conf/spark-cluster.conf \\\n    --archives {dist}/environment.tar.gz#environment "
    "--conf spark.pyspark.python=./environment/bin/python"
)

_VOLUMES = "".join(
    f" \\\n    --conf spark.kubernetes.{side}.volumes.persistentVolumeClaim.shared.{what}"
    for side in ("driver", "executor")
    for what in ("options.claimName=CLAIM", "mount.path=/shared")
).lstrip(" ")


def required() -> list[Distribution]:
    """The distributions that the job needs, and what these need. Raises ``PackageNotFoundError`` if one is not installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [Requirement(line) for line in project["dependencies"]]
    found: dict[str, Distribution] = {}
    while waiting:
        wanted = waiting.pop()
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in LEFT_OUT:
            continue
        if new := name not in found:
            found[name] = distribution(name)
        for requirement in map(Requirement, found[name].requires or ()):
            chosen = [{"extra": extra} for extra in (*[""] * new, *wanted.extras)]
            if any(requirement.marker is None or requirement.marker.evaluate(extra) for extra in chosen):
                waiting.append(requirement)
    return [found[name] for name in sorted(found)]


def build(home: Path) -> None:
    """Fill an empty folder: interpreter, standard library, packages, code and settings."""
    packages = home / "lib" / VERSION / "site-packages"
    _interpreter(home)
    for package in required():
        _copy_package(package, packages)
    shutil.copytree(ROOT / "dedup_lib", packages / "dedup_lib", ignore=shutil.ignore_patterns("__pycache__"))
    settings = shutil.ignore_patterns("*.conf", "*.properties")  # those are for spark-submit
    shutil.copytree(ROOT / "conf", packages / "dedup_lib" / "conf", ignore=settings)


def _interpreter(home: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, home / "lib" / VERSION, ignore=lambda folder, names: {
        name for name in names if name in _UNUSED_LIBRARY or name.startswith("config-") or name.endswith(".a")
    })  # fmt: skip
    (home / "bin").mkdir()
    shutil.copy2(os.path.realpath(sys.executable), home / "bin" / VERSION)
    shared = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "none")
    if shared.suffix != ".a" and shared.is_file():  # an interpreter of which most is a shared library
        shutil.copy2(shared, home / "lib" / shared.name)
    for name in ("python", "python3"):
        (home / "bin" / name).write_text(_PYTHON, "utf-8")
        (home / "bin" / name).chmod(0o755)


def _copy_package(package: Distribution, target: Path) -> None:
    for file in package.files or ():
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or _UNUSED & set(path.parts[:-1]):
            continue  # scripts, and what a job does not import
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file.locate(), target / path)


def compile_kernels(home: Path, cache: Path) -> None:
    """Put compiled kernels beside their sources: those compiled for an earlier archive with the same sources, or new ones."""
    code = home / "lib" / VERSION / "site-packages" / "dedup_lib"
    kept = cache / _state(code)
    if not kept.is_dir():
        # The engine that runs the sample is not in the archive: this environment's stands behind the packages of the archive.
        run = "import runpy, sys; sys.path.append(sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__')"
        here = sysconfig.get_path("purelib")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
        command = [str(home / "bin" / "python"), "-c", run, here, str(ROOT / "tools" / "warm.py")]
        subprocess.run(command, check=True, env=environment, cwd=home)  # not here, where the code lies too
        new = kept.with_name(kept.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        for file in code.rglob("*.nb[ic]"):
            (new / file.relative_to(code)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, new / file.relative_to(code))
        new.rename(kept)
    shutil.copytree(kept, code, dirs_exist_ok=True)


def _state(code: Path) -> str:
    """A name for the sources, the packages and the processor that compiled kernels depend on."""
    state = hashlib.sha1(_PYTHON.encode() + sys.version.encode())
    for file in sorted(file for name in _COMPILED for file in (code / name).glob("*.py")):
        state.update(str(file.relative_to(code)).encode() + file.read_bytes())
    for name in ("numba", "llvmlite", "numpy"):
        state.update(distribution(name).version.encode())
    return f"packed-{state.hexdigest()[:12]}"


def pack(home: Path, archive: Path, level: int) -> None:
    """Write the folder's content as an archive, compressed up to ``level`` of 9; a reader never sees half of it.

    Always ``.tar.gz``: what Spark unpacks of a ``.tar`` may not be executed.
    """
    new = archive.with_name(archive.name + ".new")
    with tarfile.open(new, "w:gz", compresslevel=level) as file:
        for path in sorted(home.iterdir()):
            file.add(path, path.name, filter=_nobody)
    new.replace(archive)


def wheel(dist: Path) -> Path:
    """Build the wheel, from a copy so that nothing is left in the checkout. Raises ``CalledProcessError``."""
    for old in dist.glob("dedup_lib-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as copy:
        for name in ("pyproject.toml", "README.md"):
            shutil.copy2(ROOT / name, copy)
        for name in ("dedup_lib", "conf"):
            shutil.copytree(ROOT / name, Path(copy, name), ignore=shutil.ignore_patterns("__pycache__"))
        pip = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-build-isolation",
        ]
        subprocess.run([*pip, "--wheel-dir", dist.resolve(), copy], check=True)
    return next(dist.glob("dedup_lib-*.whl"))


def _nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def main(arguments: Sequence[str]) -> int:
    """Make the archive and print how to use it; with ``--plain`` it is not compressed, which is four times as fast."""
    plain = "--plain" in arguments
    dist = Path(next((a for a in arguments if not a.startswith("-")), "dist"))
    home = dist / "environment"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    build(home.resolve())
    compile_kernels(home.resolve(), ROOT / ".cache")
    pack(home, dist / "environment.tar.gz", 0 if plain else 3)
    shutil.rmtree(home)
    for job in (ROOT / "jobs").glob("*.py"):
        shutil.copy2(job, dist / job.name)
    told = {"dist": dist, "version": sys.version.split()[0], "wheel": wheel(dist), "volumes": _VOLUMES}
    print(_HELP.format(common=_COMMON.format(dist=dist), **told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
