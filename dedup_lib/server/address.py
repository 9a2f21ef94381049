"""Which server, and who asks: an address of the command line, and credentials that never stand there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dedup_lib.errors import ConfigError

USER, PASSWORD = "MYSQL_USER", "MYSQL_PWD"
_ADDRESS = re.compile(
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?/(?P<database>[^/\x00-\x1f\x7f]{1,64})"
)
_COMMENT = re.compile(r"\s#.*$")
_ESCAPE = re.compile(r"\\([btnrs\\])")
_MEANING = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\"}


@dataclass(frozen=True)
class Server:
    """Where a database is."""

    host: str
    port: int
    database: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}/{self.database}"


@dataclass(frozen=True)
class Login:
    """Who asks, and the file of the authority that signed the server's certificate, if one is known."""

    user: str
    password: str = field(default="", repr=False)
    authority: str | None = None


def parsed(text: str) -> Server:
    """``HOST[:PORT]/DATABASE``. Raises ``ConfigError`` for anything else; says nothing of what may be a password."""
    if "@" in text.partition("/")[0]:
        raise ConfigError(
            f"--server: has credentials in it, which others on this machine can see; use --options-file or {USER}, {PASSWORD}"
        )
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"] or 3306) < 65536:
        raise ConfigError(
            f"--server {text!r}: write HOST/DATABASE or HOST:PORT/DATABASE, for example db.example.org:3306/oldsite"
        )
    return Server(found["host"], int(found["port"] or 3306), found["database"])


def login(options_file: str | None, environment: Mapping[str, str]) -> Login:
    """Credentials of the group ``[client]`` of an options file, or of the environment where the file has none.

    Raises ``ConfigError`` if nobody is named, or the file cannot be read.
    """
    given = _client(options_file) if options_file else {}
    user, password = given.get("user", environment.get(USER, "")), given.get("password", environment.get(PASSWORD, ""))
    if not user:
        raise ConfigError(
            f"--server: no user; give --options-file FILE with [client] user=… password=…, or set {USER} and {PASSWORD}"
        )
    return Login(user, password, given.get("ssl_ca"))


def _client(path: str) -> dict[str, str]:
    """The group ``[client]`` of an options file, as MySQL's own programs read it; names with ``_``."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise ConfigError(f"--options-file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"--options-file {path}: is not UTF-8 text") from None
    return dict(_settings(lines))


def _settings(lines: list[str]) -> Iterator[tuple[str, str]]:
    group = ""
    for line in map(str.strip, lines):
        if line.startswith("[") and "]" in line:
            group = line[1 : line.index("]")].strip()
        elif group == "client" and line and line[0] not in "#;!":
            name, _, value = line.partition("=")
            yield name.strip().replace("-", "_"), _value(value.strip())


def _value(written: str) -> str:
    """A value without quotes, escapes and a comment behind it."""
    quote = written[:1]
    if quote in ("'", '"') and written.rfind(quote) > 0:
        written = written[1 : written.rfind(quote)]
    else:
        written = _COMMENT.sub("", written).rstrip()
    return _ESCAPE.sub(lambda found: _MEANING[found[1]], written)
