"""Spark's JDBC, with which a server is asked and read. The only module here that knows an engine.

Credentials go to Spark as connection properties, which it shows nowhere; addresses and queries hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from dedup_lib.dump.deletion import Target
from dedup_lib.dump.listing import Found, Listing
from dedup_lib.errors import ConfigError, DedupError, InputError
from dedup_lib.server import catalog
from dedup_lib.server.address import Login, Server
from dedup_lib.server.options import ON, VERIFY, Driver, Options
from dedup_lib.server.rows import ZONE, schema, typed
from dedup_lib.session import cores

_PIECE = 8 << 20  # bytes of a batch that are typed at a time
# Both drivers take what they know. A server could ask a client for its files, and a slow reader is no lost one.
_PARAMETERS = "permitMysqlScheme=true&allowLocalInfile=false&useCursorFetch=true&connectTimeout=15000&tcpKeepAlive=true"
_SESSION = f"SET SESSION time_zone = '{ZONE}', SESSION sql_mode = '', SESSION net_write_timeout = 3600"
_SAID = re.compile(r"(?:java\.sql\.\w+|com\.mysql\.[\w.]+|org\.mariadb\.[\w.]+)Exception: (?P<words>[^\n]+)")
_SHORT = 3  # a password of so few characters would be found in every message
_CAUSES = 20
_CONNECTION = re.compile(r"^\(conn[=:]\d+\) ")
_HINTS = (
    ("Access denied", "check user and password (--options-file, or MYSQL_USER and MYSQL_PWD), and what the user may see"),
    ("command denied", "the user needs the privilege SELECT"),
    ("RSA public key", "the server wants an encrypted connection: --server-option tls=on"),
    ("has closed|reset|Broken pipe|EOF", "the connection was lost while rows were read; run it again"),
    (
        "connect|Communications link|unknown host|UnknownHost|refused",
        "check the address, and that the server runs and lets you in",
    ),
)


class Connection:
    """A server that can be asked. Making it connects to nothing."""

    def __init__(self, session: SparkSession, server: Server, login: Login, options: Options, driver: Driver) -> None:
        self.server, self._session, self._options = server, session, options
        self._login, self._url = login, _url(server, login, options)
        self._properties = {
            "user": login.user, "password": login.password, "driver": driver.name, "fetchsize": str(options.fetch),
            "sessionInitStatement": _SESSION,
        }  # fmt: skip
        session.sql("ADD JAR '" + driver.jar.replace("\\", "\\\\").replace("'", "\\'") + "'").collect()

    def tables(self) -> tuple[Listing, dict[str, int]]:
        """The tables of the database, and the bytes of each. Raises ``InputError``."""
        database = self.server.database
        return catalog.listing(database, self._ask(catalog.columns_query(database)), self._ask(catalog.keys_query(database)))

    def parts(self, table: Found, size: int) -> tuple[str | None, list[str], str]:
        """The column by which the table is read in parts, the condition of each, and if there is but one, why, as a sentence.

        Raises ``ConfigError`` for a column that cannot be it.
        """
        column, why = self._partition(table)
        if column is None:
            return None, ["1 = 1"], why
        (row,) = self._ask(catalog.bounds_query(table, column))
        low, high = (None if row[name] is None else int(row[name]) for name in ("low", "high"))
        wanted = self._options.parts or catalog.parts_for(size, cores(self._session))
        return column, catalog.predicates(low, high, wanted), ""

    def _partition(self, table: Found) -> tuple[str | None, str]:
        columns = {column.name: column for column in table.columns}
        column = self._options.partition
        if column is not None and (column not in columns or not catalog.is_whole(columns[column])):
            whole = ", ".join(name for name in columns if catalog.is_whole(columns[name]))
            raise ConfigError(f"--server-option partition: {column!r} is no column of whole numbers; there are {whole or 'none'}")
        if column is None and table.key and catalog.is_whole(columns[table.key[0]]):
            column = table.key[0]
        if column is None:
            why = "the primary key begins with no whole number" if table.key else "the table has no primary key"
            return None, f"{why}, so one task reads all rows; --server-option partition=COLUMN names an indexed column for more"
        (row,) = self._ask("SELECT VERSION() AS version")
        if not catalog.merges(row["version"]):
            return None, f"a server of version {row['version']} would copy the table for every part, so one task reads all rows"
        return column, ""

    def rows(self, table: Found, target: Target | None, partition: str | None, conditions: list[str]) -> DataFrame:
        """The rows of a table; nothing is read yet. Raises ``InputError``."""
        shape = schema(table.name, table.columns)
        query = f"({catalog.rows_query(table, partition)}) q"
        with self.telling():
            raw = self._session.read.jdbc(self._url, query, predicates=conditions, properties=self._properties)
        own, zone = tuple(table.columns), self._options.timezone

        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                rows = max(batch.num_rows * _PIECE // max(batch.nbytes, 1), 1)
                for start in range(0, batch.num_rows, rows):
                    yield typed(batch.slice(start, rows), own, target, zone, shape)

        chosen = raw.select(*[f"c{place}" for place in range(len(own))])
        return chosen.mapInArrow(run, from_arrow_schema(shape, prefer_timestamp_ntz=True))

    def _ask(self, query: str) -> list[dict[str, str | None]]:
        with self.telling():
            options = {**self._properties, "url": self._url, "query": query}
            return [row.asDict() for row in self._session.read.format("jdbc").options(**options).load().collect()]

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn what the driver says into an ``InputError`` of one line, without its cause: engines' errors are pages."""
        try:
            yield
        except (Py4JError, PySparkException) as error:
            raise self._error(_words(error)) from None

    def _error(self, text: str) -> DedupError:
        said = [found["words"] for found in _SAID.finditer(text)]
        if not said:
            return DedupError(f"server {self.server}: {text.strip().splitlines()[0][:300]}")
        words = _CONNECTION.sub("", said[0]).strip()[:300]
        if len(self._login.password) > _SHORT:
            words = words.replace(self._login.password, "…")
        hint = next((hint for pattern, hint in _HINTS if re.search(pattern, text)), "")
        return InputError(f"server {self.server}: {words.rstrip('.')}" + (f"; {hint}" if hint else ""))


def _words(error: Exception) -> str:
    """What an engine's error and all that caused it say, a line each."""
    lines, cause = [str(error)], getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None and len(lines) < _CAUSES:
        lines.append(str(cause.toString()))
        cause = cause.getCause()
    return "\n".join(lines)


def _url(server: Server, login: Login, options: Options) -> str:
    """The address as the drivers want it, MariaDB's and MySQL's, without database and credentials."""
    tls = "useSSL=false&sslMode=DISABLED"
    if options.tls == ON:
        tls = "useSSL=true&trustServerCertificate=true&sslMode=REQUIRED"
    elif options.tls == VERIFY:
        if login.authority is None or not re.fullmatch(r"[\w./+-]+", login.authority):
            raise ConfigError("--server-option tls=verify: needs ssl-ca=FILE in [client] of the options file, a plain path")
        tls = f"useSSL=true&sslMode=VERIFY_IDENTITY&serverSslCert={login.authority}"
    return f"jdbc:mysql://{server.host}:{server.port}/?{_PARAMETERS}&{tls}"
