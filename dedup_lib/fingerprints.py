"""What a stage's result rests on: files, settings, verdicts, code. Two runs that agree in it have the same tables.

Each stage has a fingerprint of everything that it and the stages before it depend on. A setting belongs to the first stage unless
``_LATER`` says that only later ones look at it; so a setting that somebody adds makes everything be done again until somebody
knows better.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dedup_lib.config import Config
from dedup_lib.errors import ConfigError, InputError
from dedup_lib.files import Entry, Folder, is_data
from dedup_lib.kernels.normalize import NORMALIZER_VERSION
from dedup_lib.metrics import package_versions
from dedup_lib.store import existing

STAGES = ("read", "normalize", "templates", "verdicts", "exact", "rank", "settle", "contain", "decide", "publish")
# Groups and settings, with * for the name of a profile, and the first stage that looks at them.
_LATER = {
    "candidates": "settle",
    "profiles.*.near.drop_jaccard": "settle",
    "profiles.*.near.review_jaccard": "settle",
    "profiles.*.near.hamming_jaccard": "settle",
    "profiles.*.near.hamming": "settle",
    "profiles.*.near.guard": "settle",
    "profiles.*.contain.min_containment": "contain",
    "profiles.*.contain.rows_per_anchor": "contain",
    "profiles.*.contain.action": "contain",
    "review": "publish",
}
MOST_LISTED = 2000  # input files whose changes can be named; of more it is only known that some changed


class Facts(NamedTuple):
    """``parts``: for each stage what is new to it, by name. ``until``: for each stage the hash of all parts up to it."""

    parts: Mapping[str, Mapping[str, Any]]
    until: Mapping[str, str]
    files: tuple[tuple[str, Entry], ...]

    @property
    def whole(self) -> str:
        """The fingerprint of the result."""
        return self.until[STAGES[-1]]


def facts(config: Config) -> Facts:
    """Look at files, settings and code. Raises ``InputError`` for an input or verdict file that is not there."""
    files = tuple(listed(config.input.path))
    parts: dict[str, dict[str, Any]] = {stage: {} for stage in STAGES}
    for name, value in _settings(config).items():
        parts[_stage_of(name)][f"setting {name}"] = value
    parts["read"] |= _files("input file", files) | {"engine": config.engine.partition("=")[0], "code": code_version()}
    parts["verdicts"] |= _files("verdict file", listed([config.input.verdicts]) if config.input.verdicts else ())
    until, before = {}, ""
    for stage in STAGES:
        text = json.dumps([before, parts[stage]], sort_keys=True, ensure_ascii=False, default=str)
        until[stage] = before = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Facts(parts, until, files)


def _settings(config: Config) -> dict[str, Any]:
    """Every setting that may decide the result, by its dotted name."""
    dumped = config.model_dump(
        mode="json", exclude={"engine": True, "output": True, "gates": True, "input": {"path", "verdicts"}}
    )
    return dict(_flat(dumped))


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _stage_of(name: str) -> str:
    parents = [name[:place] for place, char in enumerate(name) if char == "."] + [name]
    return next((stage for rule, stage in _LATER.items() for parent in parents if fnmatch.fnmatchcase(parent, rule)), STAGES[0])


def _files(kind: str, files: Iterable[tuple[str, Entry]]) -> dict[str, Any]:
    known = {f"{kind} {place}": [entry.size, entry.written] for place, entry in files}
    if len(known) <= MOST_LISTED:
        return known
    digest = hashlib.sha256(json.dumps(sorted(known.items())).encode()).hexdigest()[:16]
    return {f"{kind}s ({len(known):,} of them)": digest}


def listed(paths: Iterable[str]) -> list[tuple[str, Entry]]:
    """The data files that paths and globs name, each with its place, in order. Raises ``InputError`` if a path names none."""
    found: dict[str, Entry] = {}
    for path in paths:
        own = _remote(path) if "://" in path else _local(path)
        if not own:
            raise InputError(f"input {path}: no such file or folder, or no file in it")
        found |= own
    return sorted(found.items())


def _local(path: str) -> dict[str, Entry]:
    found = {}
    for place in existing(path):
        if os.path.isdir(place):
            entries = Folder(place).entries("", recursive=True)
            found |= {os.path.join(place, entry.name): entry for entry in entries if is_data(entry.name)}
        elif os.path.exists(place):  # a link may lead nowhere
            status = os.stat(place)
            found[place] = Entry(place, status.st_size, status.st_mtime_ns)
    return found


def _remote(path: str) -> dict[str, Entry]:
    """Files in another storage: the part before the first * is listed, and what matches is taken."""
    fixed = path[: min((path.find(sign) for sign in "*?[" if sign in path), default=len(path))]
    is_glob = fixed != path
    base = fixed.rpartition("/")[0] if is_glob else path
    folder = Folder(base)
    if not is_glob and folder.is_file(""):
        info = folder.system.get_file_info(folder.base)
        return {path: Entry(path, info.size or 0, info.mtime_ns or 0)}
    found = {f"{base.rstrip('/')}/{entry.name}": entry for entry in folder.entries("", recursive=True) if is_data(entry.name)}
    return {place: e for place, e in found.items() if not is_glob or fnmatch.fnmatchcase(place, path + "*")}


def changed(files: Iterable[tuple[str, Entry]], paths: Iterable[str]) -> list[str]:
    """Which of the files, as they were, are different now or gone."""
    try:
        present = dict(listed(paths))
    except (InputError, OSError):
        present = {}
    return [place for place, entry in files if present.get(place, entry._replace(size=-1))[1:] != entry[1:]]


@cache
def code_version() -> str:
    """A hash of the package's source, the normaliser's version and the versions of the packages it rests on."""
    digest = hashlib.sha256(json.dumps([NORMALIZER_VERSION, package_versions()], sort_keys=True).encode())
    root = Path(__file__).resolve().parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between the parts of a stage then and now, as words."""
    told = []
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            told.append(f"{name} is gone")
        elif name not in before:
            told.append(f"{name} is new")
        elif before[name] != after[name]:
            value = after[name]
            plain = isinstance(value, (int, float, str, bool)) and name.startswith("setting")
            told.append(f"{name} was {before[name]!r}, is {value!r}" if plain else f"{name} changed")
    return told


def stage_number(name: str, option: str) -> int:
    """The place of a stage. Raises ``ConfigError`` for a name that is none."""
    if name not in STAGES:
        raise ConfigError(f"{option} {name!r}: no such stage; the stages are {', '.join(STAGES)}")
    return STAGES.index(name)
