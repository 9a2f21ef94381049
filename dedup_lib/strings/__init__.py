"""What readers of reports and pages are told, in their language: one YAML file for each place, every entry in all languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from dedup_lib.errors import ConfigError

LANGUAGES = ("en", "zh")
_HERE = Path(__file__).resolve().parent


@cache
def strings(place: str, language: str) -> Mapping[str, str]:
    """The entries of ``<place>.yaml`` in a language of ``LANGUAGES``; ``{name}`` in them is for ``str.format``."""
    entries = yaml.safe_load((_HERE / f"{place}.yaml").read_text(encoding="utf-8"))
    return MappingProxyType({name: texts[language] for name, texts in entries.items()})


def checked_language(language: str) -> str:
    """The language, if it is one that there are strings in. Raises ``ConfigError``."""
    if language not in LANGUAGES:
        raise ConfigError(f"language {language!r}: use {' or '.join(LANGUAGES)}")
    return language


def places() -> list[str]:
    """The places that have strings."""
    return sorted(file.stem for file in _HERE.glob("*.yaml"))
