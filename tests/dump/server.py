"""Ask a MariaDB server what it made of a dump, and bring its answers and the reader's rows into one form."""

from __future__ import annotations

import subprocess
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from dedup_lib.dump.options import Options
from dedup_lib.dump.plan import make_plan
from dedup_lib.dump.reader import read, schema

ZERO = "0000-00-00"


class Server:
    """A running server, through its command line client."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.socket, self.port = str(folder / "s"), port

    def _client(self, *arguments: str) -> list[str]:
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", *arguments]

    def answers(self) -> bool:
        """Whether it takes statements."""
        return subprocess.run(self._client("-e", "SELECT 1"), capture_output=True).returncode == 0

    def load(self, path: Path | str, database: str, charset: str = "utf8mb4") -> str:
        """Load a file into a fresh database, whatever fails; the errors."""
        self.execute(f"DROP DATABASE IF EXISTS `{database}`; CREATE DATABASE `{database}` CHARACTER SET utf8mb4;")
        with open(path, "rb") as file:
            arguments = ("--force", "--max-allowed-packet=64M", f"--default-character-set={charset}", database)
            done = subprocess.run(self._client(*arguments), stdin=file, capture_output=True)
        return done.stderr.decode("utf-8", "replace")

    def execute(self, sql: str | bytes, charset: str = "utf8mb4") -> None:
        """Run statements; fails with the server's words."""
        given = sql.encode() if isinstance(sql, str) else sql
        done = subprocess.run(self._client(f"--default-character-set={charset}"), input=given, capture_output=True)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")

    def ask(self, sql: str) -> list[list[str]]:
        """The rows of a query whose values hold neither tabs nor line breaks."""
        arguments = ("--batch", "--skip-column-names", "--default-character-set=utf8mb4")
        done = subprocess.run(self._client(*arguments), input=sql.encode(), capture_output=True)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return [line.split("\t") for line in done.stdout.decode().splitlines()]

    def tables(self, database: str) -> list[str]:
        """Names of its tables."""
        sql = f"SELECT table_name FROM information_schema.tables WHERE table_schema='{database}' AND table_type='BASE TABLE'"
        return [row[0] for row in self.ask(sql)]

    def rows(self, database: str, table: str) -> tuple[list[str], list[tuple[str | None, ...]]]:
        """Names of the columns, and all rows as the text of each value, blobs in hexadecimal."""
        where = f"table_schema='{database}' AND table_name='{table}' ORDER BY ordinal_position"
        columns = self.ask(f"SELECT column_name, data_type FROM information_schema.columns WHERE {where}")
        asked = ",".join(f"IFNULL({_in_hex(name, kind)},'-')" for name, kind in columns)
        found = self.ask(f"SET time_zone='+00:00'; SELECT {asked} FROM `{database}`.`{table}`")
        kinds = [kind for _, kind in columns]
        return [name for name, _ in columns], [
            tuple(_plain(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in found
        ]

    def dump(self, *arguments: str) -> bytes:
        """What mysqldump writes."""
        command = ["mysqldump", "--no-defaults", f"--socket={self.socket}", "--user=root", *arguments]
        done = subprocess.run(command, capture_output=True)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout


def _in_hex(name: str, kind: str) -> str:
    quoted = "`" + name.replace("`", "``") + "`"
    if kind == "bit":
        return f"HEX(CONVERT({quoted}+0 USING utf8mb4))"
    if "blob" in kind or "binary" in kind or kind in ("geometry", "point"):
        return f"HEX({quoted})"
    return f"HEX(CONVERT(CAST({quoted} AS CHAR) USING utf8mb4))"


def _plain(value: str, kind: str) -> str | None:
    if value == "-":
        return None
    if "blob" in kind or "binary" in kind or kind in ("geometry", "point"):
        return value.lower()
    text = bytes.fromhex(value).decode("utf-8", "replace")
    if kind.endswith("int"):  # without the zeros of ZEROFILL
        return str(int(text))
    if kind in ("float", "double"):
        return f"{float(text):.5g}"
    if kind in ("date", "datetime", "timestamp"):
        return None if ZERO in text or "-00" in text else text.rstrip("0").rstrip(".") if "." in text else text
    return text


def read_all(path: Path | str, table: str, **options: str) -> pa.Table:
    """A table of a dump as the reader gives it."""
    asked = Options.of({"path": str(path), "table": table, **options})
    plan = make_plan(asked)
    batches = [batch for split in plan.splits for batch in read(split, plan.table, asked)]
    for batch in batches:
        batch.validate(full=True)
    return pa.Table.from_batches(batches, schema(plan.table, asked))


def column(path: Path | str, place: int = 1, table: str = "t", **options: str) -> list:
    """The values of one column."""
    return read_all(path, table, **options).columns[place].to_pylist()


def written(value: object) -> str | None:
    """A value of the reader in the server's form."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, datetime):
        text = value.strftime("%Y-%m-%d %H:%M:%S.%f") if value.year > 999 else value.isoformat(" ")[:26]
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, (date, Decimal)):
        return str(value)
    return str(value)


def plain_rows(table: pa.Table) -> Counter:
    """The rows of the reader in the server's form, in no order."""
    columns = [column.to_pylist() for column in table.columns]
    return Counter(tuple(map(written, row)) for row in zip(*columns, strict=True))
