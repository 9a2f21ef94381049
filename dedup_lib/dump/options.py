"""What a caller can say about reading a dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dedup_lib.dump import charsets
from dedup_lib.errors import ConfigError

FILE, OFFSET, END, STATEMENT, ROW, FLAGS, ERROR = "_file", "_offset", "_end", "_statement", "_row", "_flags", "_error"
METADATA = (FILE, OFFSET, END, STATEMENT, ROW, FLAGS, ERROR)
FAIL, QUARANTINE = "fail", "quarantine"
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


@dataclass(frozen=True)
class Options:
    """How to read one table of a dump.

    ``path``: file, folder or glob. ``table``: ``news`` or ``db.news``. ``charset``: what the file is in, whatever it says
    (``binary``: bytes were escaped, not characters; the columns' own sets count). ``mode``: fail at damage, or quarantine (a row
    of nulls with ``_error``). ``backslash``: whether a backslash escapes, None for what the dump says. ``ddl``: a CREATE TABLE,
    or a file that holds it, for dumps without. ``timezone``: whose wall clock TIMESTAMP columns show, where the dump states
    its own (mysqldump: UTC); as written without. ``metadata``: columns beside the table's own, of ``METADATA``.
    """

    path: str
    table: str
    charset: str | None = None
    mode: str = FAIL
    backslash: bool | None = None
    ddl: str | None = None
    timezone: str | None = None
    metadata: tuple[str, ...] = ()
    split_bytes: int = 32 << 20
    batch_rows: int = 8192
    batch_bytes: int = 8 << 20

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """From strings, names in any case. Raises ``ConfigError`` naming every option at fault."""
        options = {key.lower().replace("_", ""): value for key, value in given.items()}
        problems = []
        known = {name.replace("_", ""): name for name in cls.__dataclass_fields__}
        if unknown := sorted(set(options) - set(known)):
            problems.append(f"dump options {', '.join(unknown)}: unknown; there are {', '.join(known)}")
        problems += [f"dump option {name}: is missing" for name in ("path", "table") if not options.get(name)]
        found: dict = {}
        for key, value in options.items():
            try:
                found[known.get(key, key)] = _read(key, str(value))
            except (ConfigError, ValueError) as error:
                problems.append(str(error))
        if problems:
            raise ConfigError(problems)
        if found.get("mode") == QUARANTINE:
            asked = found.get("metadata", ())
            found["metadata"] = tuple(name for name in METADATA if name in (*asked, OFFSET, END, ERROR))
        return cls(**found)


def _read(key: str, value: str) -> object:
    if key == "charset":
        return charsets.known(value)
    if key == "mode":
        if value.lower() not in (FAIL, QUARANTINE):
            raise ConfigError(f"dump option mode: {value!r}; use {FAIL} or {QUARANTINE}")
        return value.lower()
    if key == "backslash":
        if value.lower() not in _TRUE + _FALSE:
            raise ConfigError(f"dump option backslash: {value!r}; use true or false")
        return value.lower() in _TRUE
    if key == "metadata":
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        if wrong := [name for name in names if name not in METADATA]:
            raise ConfigError(f"dump option metadata: {', '.join(wrong)}; there are {', '.join(METADATA)}")
        return names
    if key in ("splitbytes", "batchrows", "batchbytes"):
        if not value.isdigit() or int(value) < 1:
            raise ConfigError(f"dump option {key}: {value!r}; use a whole number above 0")
        return int(value)
    return value
