"""Read settings: ``conf/rebuild.yaml``, gates, profiles and lexicon beside it, then ``--set key=value``.

A problem names the setting, the file it stands in, the value and what is allowed; an unknown name comes with the nearest known
one. All problems are reported at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from dedup_lib.config import Config, Profile
from dedup_lib.errors import ConfigError
from dedup_lib.kernels.boilerplate import Lexicon

_HERE = Path(__file__).resolve().parent
# Beside the package in a checkout, inside it where it is installed or packed.
DEFAULT_CONFIG = next((c for c in [_HERE / "conf" / "rebuild.yaml"] if c.is_file()), _HERE.parent / "conf" / "rebuild.yaml")
GATES = "gates.yaml"  # beside it

_ELSEWHERE = {
    "profiles": "profiles are files of their own, profiles/NAME.yaml beside this file",
    "lexicon": "phrases stand in files of their own, lexicon/*.yaml beside this file",
    "gates": "gates stand in a file of their own, gates.yaml beside this file",
}


class _OnceOnlySafeLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # the compiled one is many times as fast
    """Safe YAML in which a name may stand once only."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(
                None, None, f"{', '.join(sorted(twice))} stands more than once", node.start_mark
            )
        return super().construct_mapping(node, deep)


class Settings:
    """The settings of a run and where each came from."""

    def __init__(self, config: Config, origins: dict[str, str]) -> None:
        self.config = config
        self.origins = origins

    def lines(self) -> list[str]:
        """One line for each setting: name, value, origin."""
        flat = _flatten(self.config.model_dump(mode="json", exclude={"lexicon"}))
        width = max(map(len, flat))
        return [f"{name:<{width}}  {value!r:<24}  # {self._origin(name)}" for name, value in flat.items()]

    def _origin(self, name: str) -> str:
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            if (origin := self.origins.get(".".join(parts[:end]))) is not None:
                return origin
        return "default"


def load_settings(path: Path | str | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Read a configuration file with its profiles and lexicon, apply ``key=value`` overrides, validate all of it.

    Raises ``ConfigError`` with every problem found.
    """
    path = Path(path or DEFAULT_CONFIG)
    problems: list[str] = []
    values = _read_mapping(path, problems)
    for name in _ELSEWHERE.keys() & values.keys():
        problems.append(f"{name} ({path}): {_ELSEWHERE[name]}")
    origins = dict.fromkeys(_flatten(values), str(path))
    values["profiles"] = {}
    for file in sorted((path.parent / "profiles").glob("*.yaml")):
        values["profiles"][file.stem] = _read_mapping(file, problems)
        origins |= dict.fromkeys(_flatten(values["profiles"][file.stem], f"profiles.{file.stem}"), str(file))
    if (gates := path.parent / GATES).exists():
        values["gates"] = _read_mapping(gates, problems)
        origins |= dict.fromkeys(_flatten(values["gates"], "gates"), str(gates))
    for override in overrides:
        _apply_override(values, override, origins, problems)
    lexicon = _read_lexicon(sorted((path.parent / "lexicon").glob("*.yaml")), problems)
    config = _validated(values | {"lexicon": lexicon}, origins, problems)
    if problems or config is None:
        raise ConfigError(problems)
    return Settings(config, origins)


def _read_mapping(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=_OnceOnlySafeLoader)
    except FileNotFoundError:
        problems.append(f"{path}: no such file")
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problems.append(f"{path}: cannot be read: {' '.join(str(error).split())}")
        return {}
    if values is None or isinstance(values, dict):
        return values or {}
    problems.append(f"{path}: must hold names and values, not {type(values).__name__}")
    return {}


def _read_lexicon(files: Iterable[Path], problems: list[str]) -> Lexicon:
    phrases: dict[str, list[str]] = {name: [] for name in Lexicon._fields}
    for file in files:
        for name, entries in _read_mapping(file, problems).items():
            shortest = 1 if name == "title_tags" else 2
            if name not in phrases:
                problems.append(f"{file}: {name}: unknown list{_nearest(name, phrases)}")
            elif not isinstance(entries, list) or not all(isinstance(e, str) and len(e.strip()) >= shortest for e in entries):
                problems.append(f"{file}: {name}: must be a list of phrases of {shortest} characters or more")
            else:
                phrases[name] += entries
    return Lexicon(**{name: tuple(dict.fromkeys(entries)) for name, entries in phrases.items()})


def _apply_override(values: dict[str, Any], override: str, origins: dict[str, str], problems: list[str]) -> None:
    name, equals, text = override.partition("=")
    if not equals or not name:
        problems.append(f"--set {override}: write it as name=value")
        return
    try:
        value = yaml.safe_load(text) if text else None
    except yaml.YAMLError:
        value = text
    *parents, leaf = name.split(".")
    if name.split(".")[0] == "lexicon":
        problems.append(f"--set {override}: {_ELSEWHERE['lexicon']}")
        return
    target = values
    for parent in parents:
        child = target.setdefault(parent, {})
        if not isinstance(child, dict):
            problems.append(f"--set {override}: {parent} holds a value, not a group of settings")
            return
        target = child
    target[leaf] = value
    origins[name] = "--set"


def _validated(values: dict[str, Any], origins: dict[str, str], problems: list[str]) -> Config | None:
    name, profiles = values.get("profile", "news"), values["profiles"]
    if isinstance(name, str) and name not in profiles:
        problems.append(
            f"profile: no profile is called {name!r}; known: {', '.join(profiles) or 'none'}{_nearest(name, profiles)}"
        )
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        problems += [_describe(detail, origins) for detail in error.errors()]
        return None


def _describe(detail: Any, origins: dict[str, str]) -> str:
    name = ".".join(map(str, detail["loc"])) or "settings"
    place = f" ({where})" if (where := _where(name, origins)) else ""
    if detail["type"] == "extra_forbidden":
        return f"{name}{place}: unknown setting{_nearest(name, _known_names(detail['loc']))}"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] in ("model_type", "dict_type", "model_attributes_type"):
        message = "must be a group of names and values"
    given = "" if isinstance(detail["input"], (dict, BaseModel)) else f", not {detail['input']!r}"
    return f"{name}{place}: {message}{given}"


def _where(name: str, origins: dict[str, str]) -> str | None:
    """Where a setting, its group or one of its parts was set; the command line first, since it came last."""
    parts = name.split(".")
    parents = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    found = [origin for key, origin in origins.items() if key in parents or key.startswith(name + ".")]
    return next((origin for origin in found if origin == "--set"), found[0] if found else None)


def _known_names(location: Sequence[Any]) -> list[str]:
    """The names that could stand where the unknown one stands, with the groups before them."""
    model: type[BaseModel] = Config
    parents = list(map(str, location[:-1]))
    for part in parents:
        annotation = Profile if model is Config and part == "profiles" else None
        field = model.model_fields.get(part)
        nested = annotation or (field and _model_in(field.annotation))
        model = nested or model
    return [".".join([*parents, name]) for name in model.model_fields]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    options = [annotation, *getattr(annotation, "__args__", ())]
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)


def _nearest(name: str, known: Iterable[str]) -> str:
    if name in Profile.model_fields:
        return f"; did you mean profiles.NAME.{name}?"
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {match[0]}?" if match else ""


def _flatten(values: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(values, dict) or not values:
        return {prefix: values} if prefix else {}
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return flat
