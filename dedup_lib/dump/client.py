"""What a client knows while it reads a dump: character set, escapes, delimiter, database, time zone, as statements set them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dedup_lib.dump import charsets, lexis

_NAMES = re.compile(r"\b(?:NAMES|CHARACTER\s+SET|CHARSET)\s+['\"]?(\w+)", re.IGNORECASE)
_TOGGLE = re.compile(r"(?<!\w)character_set_client\s*=\s*(@?)@?['\"]?(\w+)", re.IGNORECASE)
_MODE = re.compile(r"(?<!\w)sql_mode\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
_ZONE = re.compile(r"(?<!\w)time_zone\s*=\s*(?:['\"]([^'\"]*)|@)", re.IGNORECASE)
_USE = re.compile(r"USE\s+(?:`((?:[^`]|``)+)`|\"([^\"]+)\"|(\S+?))\s*(?:\*/)?\s*$", re.IGNORECASE)


class Setting(NamedTuple):
    """What statements have set so far. ``names``: of SET NAMES; ``toggled``: the client's character set of the moment."""

    names: str | None = None
    toggled: str | None = None
    backslash: bool = True
    delimiter: str = ";"
    database: str = ""
    zone: str | None = None
    hint: str | None = None  # character set of the latest table, for dumps that declare none


class Client:
    """Follows the statements of one file. ``sample``: its first bytes; ``option``: a character set that overrides them all."""

    def __init__(self, sample: bytes, option: str | None, backslash: bool | None = None, setting: Setting | None = None) -> None:
        self._sample, self._option, self._backslash = sample, option, backslash
        self._detected: dict[tuple, tuple[str | None, str]] = {}
        self.now = setting or Setting()

    @property
    def charset(self) -> str | None:
        """The character set that the bytes are in, at this place of the file; None if nothing tells."""
        names = self._option or self._really()[0]
        if self.now.toggled is None:
            return names
        # mysqldump writes definitions in UTF-8 between two toggles; in a file that was converted as a whole it does not
        as_written = self.now.names is None or charsets.codec(names) == charsets.codec(self.now.names)
        return self.now.toggled if as_written else names

    @property
    def rules(self) -> np.ndarray:
        """The lexical rules of this place."""
        backslash = self.now.backslash if self._backslash is None else self._backslash
        return _rules(charsets.family(self.charset), backslash)

    @property
    def remark(self) -> str:
        """What there is to say about the declared character set, '' if nothing."""
        return "" if self._option else self._really()[1]

    def _really(self) -> tuple[str | None, str]:
        said = (self.now.names, self.now.hint)
        if said not in self._detected:
            self._detected[said] = charsets.detect(self._sample, *said)
        return self._detected[said]

    def text(self, data: bytes) -> str:
        """A statement as text; bytes that are none become characters of Latin-1."""
        for name in ("utf8", self.charset, self.now.hint):
            try:
                if name not in (None, charsets.BINARY, charsets.LATIN):
                    return data.decode(charsets.codec(name))
            except UnicodeDecodeError:
                continue
        return data.decode("latin-1")

    def obey(self, text: str) -> None:
        """Take over what a SET, USE or DELIMITER statement says; others say nothing."""
        word = text[:9].upper()
        if word.startswith("SET"):
            self._set(text)
        elif word.startswith("USE") and (found := _USE.match(text.rstrip("; \r\n"))):
            self.now = self.now._replace(database=(found[1] or found[2] or found[3]).replace("``", "`"))
        elif word == "DELIMITER":
            self.now = self.now._replace(delimiter=text[9:].strip() or ";")

    def _set(self, text: str) -> None:
        if found := _NAMES.search(text):
            name = found[1].lower()
            self.now = self.now._replace(names=None if name == "default" else name, toggled=None)
        if found := _TOGGLE.search(text):
            self.now = self.now._replace(toggled=None if found[1] else found[2].lower())
        if found := _MODE.search(text):
            self.now = self.now._replace(backslash="NO_BACKSLASH_ESCAPES" not in found[1].upper())
        if found := _ZONE.search(text):
            self.now = self.now._replace(zone=found[1])


@lru_cache(maxsize=16)
def _rules(family: str, backslash: bool) -> np.ndarray:
    return lexis.rules(family, backslash)
