"""What a server says of its tables, as a listing like a dump's; and the queries that read one table in parts.

Values from outside stand in queries as hexadecimal literals or quoted names only, which mean the same in every SQL mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import pyarrow as pa

from dedup_lib.dump.ddl import Column, create_table
from dedup_lib.dump.deletion import identifier
from dedup_lib.dump.listing import Found, Listing

Row = Mapping[str, str | None]
PART_BYTES, MOST_PARTS = 64 << 20, 10_000
_VERSION = re.compile(r"(\d+)\.(\d+)")


def columns_query(database: str) -> str:
    """All columns of all tables of a database."""
    return (
        "SELECT c.table_schema AS a, c.table_name AS b, c.column_name AS name, c.column_type AS kind, "
        "c.character_set_name AS charset, CAST(c.ordinal_position AS CHAR) AS place, CAST(t.table_rows AS CHAR) AS number, "
        "CAST(t.data_length AS CHAR) AS size FROM information_schema.columns c JOIN information_schema.tables t "
        "ON t.table_schema = c.table_schema AND t.table_name = c.table_name "
        f"WHERE c.table_schema = {_literal(database)} AND t.table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')"
    )


def keys_query(database: str) -> str:
    """The columns of all primary keys of a database."""
    return (
        "SELECT table_schema AS a, table_name AS b, column_name AS name, CAST(seq_in_index AS CHAR) AS place "
        f"FROM information_schema.statistics WHERE table_schema = {_literal(database)} AND index_name = 'PRIMARY'"
    )


def _literal(value: str) -> str:
    return f"_utf8 x'{value.encode().hex()}'"


def listing(database: str, columns: Iterable[Row], keys: Iterable[Row]) -> tuple[Listing, dict[str, int]]:
    """The tables of a database from the answers to the two queries, and the bytes of each.

    A server may compare names without regard to case; exactly the database that was asked for is taken, where it is there.
    Numbers of rows are the server's estimates, at least one: it knows 0 of tables that it has not counted yet.
    """
    keyed, tables = _by_table(keys), _by_table(columns)
    named = {schema for schema, _ in tables}
    found, sizes = Listing(), {}
    for (schema, name), rows in sorted(tables.items()):
        if schema != database and database in named:
            continue
        key = tuple(row["name"] for row in keyed.get((schema, name), ()))
        entry = Found("", schema, name, _columns(schema, name, rows), key=key, rows=max(int(rows[0]["number"] or 0), 1))
        found.tables.append(entry)
        sizes[entry.name] = int(rows[0]["size"] or 0)
    return found, sizes


def _by_table(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row["a"], row["b"]), []).append(row)
    return {table: sorted(parts, key=lambda row: int(row["place"])) for table, parts in found.items()}


def _columns(schema: str, table: str, rows: Sequence[Row]) -> tuple[Column, ...]:
    """As the reader of dumps knows them: through the definition that a dump would have."""
    items = (
        f"{identifier(row['name'])} {row['kind']}" + (f" CHARACTER SET {row['charset']}" if row["charset"] else "")
        for row in rows
    )
    return create_table(f"CREATE TABLE {identifier(table)} ({', '.join(items)})", schema).columns


def bounds_query(table: Found, column: str) -> str:
    """The least and the greatest value of a column of whole numbers."""
    name = identifier(column)
    return f"SELECT CAST(MIN({name}) AS CHAR) AS low, CAST(MAX({name}) AS CHAR) AS high FROM {_place(table)}"


def rows_query(table: Found, partition: str | None) -> str:
    """All columns as bytes, named c0, c1 …: text in the column's own character set, anything else as the server writes it.

    ``part`` is the column for the predicates of ``predicates``. Stays a query that servers merge into the one around it.
    """
    chosen = [f"{_bytes(column)} AS c{place}" for place, column in enumerate(table.columns)]
    if partition is not None:
        chosen.append(f"{identifier(partition)} AS part")
    return f"SELECT {', '.join(chosen)} FROM {_place(table)}"


def _place(table: Found) -> str:
    return f"{identifier(table.database)}.{identifier(table.name)}"


def _bytes(column: Column) -> str:
    name = identifier(column.name)
    if column.declared.startswith("bit"):
        name = f"{name} + 0"
    elif column.charset is not None or pa.types.is_binary(column.type):
        return f"CAST({name} AS BINARY)"
    return f"CAST(CAST({name} AS CHAR) AS BINARY)"


def is_whole(column: Column) -> bool:
    """Whether a column holds whole numbers, by which a table can be read in parts."""
    return pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale == 0)


def predicates(low: int | None, high: int | None, parts: int) -> list[str]:
    """Conditions on ``part`` that every row fulfils exactly one of, also rows that came after the bounds were asked for."""
    if low is None or parts < 2 or low == high:
        return ["1 = 1"]
    parts = min(parts, high - low)
    inner = sorted({low + (high - low) * i // parts for i in range(1, parts)} - {low})
    if not inner:
        return ["1 = 1"]
    middle = [f"part >= {start} AND part < {end}" for start, end in pairwise(inner)]
    return [f"part < {inner[0]} OR part IS NULL", *middle, f"part >= {inner[-1]}"]


def merges(version: str) -> bool:
    """Whether a server merges a query into the one around it, so that a condition on a part is a range of its index."""
    found = _VERSION.match(version)
    return found is not None and tuple(map(int, found.groups())) >= ((5, 3) if "mariadb" in version.lower() else (5, 7))


def parts_for(size: int, cores: int) -> int:
    """In how many parts a table of so many bytes is read."""
    return min(max(-(-size // PART_BYTES), cores), MOST_PARTS)
