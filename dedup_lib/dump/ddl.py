"""CREATE TABLE -> columns with the Arrow types that hold every value of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pyarrow as pa

from dedup_lib.dump import charsets
from dedup_lib.dump.names import MARK, NAME, TEXT, WORD, Token, qualified, tokens

_NO_COLUMN = ("PRIMARY", "KEY", "INDEX", "UNIQUE", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK", "PERIOD", "VECTOR")
_WHOLE = {
    "TINYINT": (pa.int8(), pa.int16()), "BOOL": (pa.int8(), pa.int8()), "BOOLEAN": (pa.int8(), pa.int8()),
    "SMALLINT": (pa.int16(), pa.int32()), "MEDIUMINT": (pa.int32(), pa.int32()), "INT": (pa.int32(), pa.int64()),
    "INTEGER": (pa.int32(), pa.int64()), "BIGINT": (pa.int64(), pa.decimal128(20, 0)),
    "INT1": (pa.int8(), pa.int16()), "INT2": (pa.int16(), pa.int32()), "INT3": (pa.int32(), pa.int32()),
    "INT4": (pa.int32(), pa.int64()), "INT8": (pa.int64(), pa.decimal128(20, 0)), "MIDDLEINT": (pa.int32(), pa.int32()),
    "SERIAL": (pa.decimal128(20, 0), pa.decimal128(20, 0)),
}  # fmt: skip
_BYTES = {"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "GEOMETRY", "POINT", "LINESTRING", "POLYGON",
          "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "GEOMCOLLECTION", "VECTOR"}  # fmt: skip
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC", "FIXED")
_MAX_PRECISION = 38
_STAMP = pa.timestamp("us")


class Column(NamedTuple):
    """A column: its name, the server's type as written, the Arrow type, its character set (None: of the table).

    ``implicit``: whether an INSERT without a column list gives it a value. ``default``: the literal that a row gets which does
    not name it, None for NULL or something computed. ``instant``: a TIMESTAMP, which is written in the dump's time zone.
    """

    name: str
    declared: str
    type: pa.DataType
    charset: str | None = None
    implicit: bool = True
    default: str | None = None
    instant: bool = False


class Table(NamedTuple):
    """A table as its CREATE TABLE says; ``database`` is '' if neither that nor USE names one. ``key``: of its primary key."""

    database: str
    name: str
    columns: tuple[Column, ...]
    charset: str | None
    key: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name with its database."""
        return f"{self.database}.{self.name}" if self.database else self.name


def create_table(text: str, database: str) -> Table | None:
    """Read a CREATE TABLE; None if the statement is another one, or copies the columns of some other table."""
    parts = list(tokens(text))
    words = [part.value.upper() for part in parts[:8]]
    if words[:1] != ["CREATE"] or "TABLE" not in words[:4]:
        return None
    parts = parts[words.index("TABLE") + 1 :]
    if len(parts) > 3 and parts[0].says("IF"):
        parts = parts[3:]
    opening = next((i for i, part in enumerate(parts) if part == (MARK, "(")), None)
    if opening is None or parts[opening + 1 : opening + 2] == [Token(WORD, "LIKE")]:
        return None
    own, name = qualified(parts)
    inside, rest = _inside(parts[opening + 1 :])
    charset = _charset(rest)
    columns = [_column(item, charset) for item in inside if len(item) > 1 and not _is_key(item)]
    return Table(own or database, name, tuple(columns), charset, _primary(inside)) if columns else None


def added_key(text: str, database: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Database, table and columns of a primary key that an ALTER TABLE adds, as some programs define all keys."""
    parts = list(tokens(text))
    if [part.value.upper() for part in parts[:2]] != ["ALTER", "TABLE"]:
        return None
    own, name = qualified(parts[2:])
    key = _key_columns(parts)
    return (own or database, name, key) if key else None


def _primary(items: list[list[Token]]) -> tuple[str, ...]:
    """Columns of the primary key: of an item of its own, or the column that says so."""
    for item in items:
        words = [part.value.upper() if part.kind == WORD else "" for part in item]
        if item and _is_key(item):
            if key := _key_columns(item):
                return key
        elif any(word == "KEY" and before != "UNIQUE" for before, word in pairwise(words)):
            return (item[0].value,)
    return ()


def _key_columns(parts: list[Token]) -> tuple[str, ...]:
    """The columns behind PRIMARY KEY, without the lengths of prefixes; () if there is none."""
    for i, part in enumerate(parts[:-1]):
        if part.kind == WORD and part.says("PRIMARY") and parts[i + 1].says("KEY"):
            opening = next((j for j in range(i, len(parts)) if parts[j] == (MARK, "(")), len(parts))
            return tuple(item[0].value for item in _inside(parts[opening + 1 :])[0] if item)
    return ()


def _is_key(item: list[Token]) -> bool:
    return item[0].kind == WORD and item[0].says(*_NO_COLUMN)


def _inside(parts: list[Token]) -> tuple[list[list[Token]], list[Token]]:
    """The items between the brackets, split at their commas, and what follows."""
    items: list[list[Token]] = [[]]
    depth = 0
    for i, part in enumerate(parts):
        if part == (MARK, "(") or part == (MARK, ")"):
            depth += 1 if part.value == "(" else -1
            if depth < 0:
                return items, parts[i + 1 :]
        if part == (MARK, ",") and depth == 0:
            items.append([])
        else:
            items[-1].append(part)
    return items, []


def _charset(parts: list[Token]) -> str | None:
    """The character set that words say, by itself or by a collation."""
    values = [part for part in parts if part != (MARK, "=")]
    for i, part in enumerate(values[:-1]):
        if part.says("CHARSET") or (part.says("SET") and i and values[i - 1].says("CHARACTER")):
            return values[i + 1].value.lower()
    for i, part in enumerate(values[:-1]):
        if part.says("COLLATE") and values[i + 1].kind != MARK:
            return charsets.of_collation(values[i + 1].value)
    return None


def _column(item: list[Token], table: str | None) -> Column:
    name, kind = item[0].value, item[1].value.upper()
    given = [part for part in _arguments(item) if part.kind in (WORD, TEXT)]
    words = [part.value.upper() for part in item[2:] if part.kind == WORD]
    charset = _charset(item) or table
    arrow = _type(kind, [part.value for part in given], "UNSIGNED" in words or "ZEROFILL" in words)
    if charset == charsets.BINARY and arrow == pa.string() and kind not in ("ENUM", "SET", "JSON", "TIME", "YEAR"):
        arrow = pa.binary()
    computed = "GENERATED" in words or ("AS" in words and "DEFAULT" not in words)
    implicit = not computed and "INVISIBLE" not in words
    arguments = ",".join(f"'{part.value}'" if part.kind == TEXT else part.value for part in given)
    declared = kind.lower() + (f"({arguments})" if arguments else "") + (" unsigned" if "UNSIGNED" in words else "")
    return Column(name, declared, arrow, charset, implicit, None if computed else _default(item), kind == "TIMESTAMP")


def _arguments(item: list[Token]) -> Iterator[Token]:
    if len(item) > 2 and item[2] == (MARK, "("):
        for part in item[3:]:
            if part == (MARK, ")"):
                return
            yield part


def _default(item: list[Token]) -> str | None:
    """A literal default. Of bits and functions there is none."""
    for i, part in enumerate(item[:-1]):
        if part.says("DEFAULT"):
            value = item[i + 1]
            if value.kind == TEXT or (value.kind == NAME and len(item) > i):
                return value.value
            number = value.kind == WORD and value.value.lstrip("+-")[:1].isdigit()
            return value.value if number else None
    return None


def _type(kind: str, arguments: list[str], unsigned: bool) -> pa.DataType:
    numbers = [int(value) for value in arguments if value.isdigit()]
    if kind in _WHOLE:
        return _WHOLE[kind][unsigned]
    if kind in _DECIMALS:
        precision, scale = [*numbers, *(10, 0)[len(numbers) :]][:2]
        return pa.decimal128(precision, scale) if precision <= _MAX_PRECISION and scale <= precision else pa.string()
    if kind == "FLOAT":
        return pa.float64() if len(numbers) == 1 and numbers[0] > 24 else pa.float32()
    if kind in ("DOUBLE", "REAL"):
        return pa.float64()
    if kind == "BIT":
        return pa.int64() if (numbers or [1])[0] < 64 else pa.decimal128(20, 0)
    if kind == "DATE":
        return pa.date32()
    if kind in ("DATETIME", "TIMESTAMP"):
        return _STAMP
    return pa.binary() if kind in _BYTES else pa.string()
