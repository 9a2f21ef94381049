"""What a caller can say about reading a server, and the driver that does it."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import available_timezones

from dedup_lib.errors import ConfigError

OFF, ON, VERIFY = "off", "on", "verify"
# Where packages of distributions put drivers: Debian's libmariadb-java, Connector/J by Oracle's packages.
JARS = (
    "/usr/share/java/mariadb-java-client.jar",
    "/usr/share/java/mysql-connector-j.jar",
    "/usr/share/java/mysql-connector-java.jar",
)
_SERVICE = "META-INF/services/java.sql.Driver"


@dataclass(frozen=True)
class Options:
    """How to read a table of a server.

    ``partition``: whole-number column by which it is read in parts, default: the first of the primary key. ``parts``: how many,
    default: one for every 64 MB. ``fetch``: rows that the driver holds at a time. ``tls``: off, on (encrypted, any certificate),
    or verify (signed by ``ssl-ca`` of the options file). ``timezone``: whose wall clock TIMESTAMP columns show; UTC as in dumps.
    """

    partition: str | None = None
    parts: int | None = None
    fetch: int = 500
    tls: str = OFF
    timezone: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """From strings. Raises ``ConfigError`` naming every option at fault."""
        problems, found = [], {}
        for name, value in given.items():
            if name not in cls.__dataclass_fields__:
                problems.append(f"--server-option {name}: unknown; there are {', '.join(cls.__dataclass_fields__)}")
            elif name in ("parts", "fetch") and not (value.isascii() and value.isdigit() and 0 < int(value) <= 100_000):
                problems.append(f"--server-option {name}: {value!r}; use a whole number from 1 to 100000")
            elif name == "tls" and value not in (OFF, ON, VERIFY):
                problems.append(f"--server-option tls: {value!r}; use {OFF}, {ON} or {VERIFY}")
            elif name == "timezone" and value not in available_timezones():
                problems.append(f"--server-option timezone: {value!r} is unknown; write one like Asia/Shanghai")
            else:
                found[name] = int(value) if name in ("parts", "fetch") else value
        if problems:
            raise ConfigError(problems)
        return cls(**found)


@dataclass(frozen=True)
class Driver:
    """A JDBC driver: the archive, and its class."""

    jar: str
    name: str


def driver(path: str | None) -> Driver:
    """The driver of a path, or of the distribution's package. Raises ``ConfigError`` if there is none."""
    jar = path or next((jar for jar in JARS if os.path.isfile(jar)), None)
    if jar is None:
        raise ConfigError(
            "--driver: no JDBC driver on this machine; install one (Debian: apt-get install libmariadb-java) or name the .jar of "
            "MariaDB's or MySQL's"
        )
    try:
        with zipfile.ZipFile(os.path.expanduser(jar)) as archive:
            names = archive.read(_SERVICE).decode("utf-8", "replace").split()
    except OSError as error:
        raise ConfigError(f"--driver {jar}: {error.strerror or 'cannot be read'}") from None
    except (zipfile.BadZipFile, KeyError):
        raise ConfigError(f"--driver {jar}: is no JDBC driver (a .jar with {_SERVICE})") from None
    fitting = [name for name in names if name.startswith(("org.mariadb.", "com.mysql."))]
    if not fitting:
        raise ConfigError(f"--driver {jar}: is a driver of {', '.join(names) or 'nothing'}; use MariaDB's or MySQL's")
    return Driver(os.path.abspath(os.path.expanduser(jar)), fitting[0])
