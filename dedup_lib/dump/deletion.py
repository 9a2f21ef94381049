"""``delete.sql`` and ``undo.sql``: plain SQL for the live table, in which rows may have changed since the dump was made.

A row goes only if its key is there and the SHA-1 of its title and content, computed by the server, is that of the dump's bytes.
The server converts a column to the character set the dump is in, as it did when it was dumped, so nothing is converted here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TextIO

import numpy as np
import pyarrow as pa

from dedup_lib.dump import charsets
from dedup_lib.dump.columns import Cells, content_of
from dedup_lib.dump.ddl import Column, Table
from dedup_lib.dump.scan import BINARY, BITS, DEFAULT, EXPRESSION, HEX, INTRODUCED, KIND, MISSING, NUMBER

BATCH = 500  # rows of a transaction
KEYS = "dedup_keys"
_UNREADABLE = (MISSING, DEFAULT, EXPRESSION)
_MODE = "NO_AUTO_VALUE_ON_ZERO,NO_BACKSLASH_ESCAPES"


class Target(NamedTuple):
    """What is deleted from. ``key``: columns of the primary key; ``hashed``: those whose bytes must be the dump's.

    ``backup``: name of the table that takes the rows; ``zone``: the time zone in which the dump writes TIMESTAMP.
    """

    table: str
    key: tuple[Column, ...]
    hashed: tuple[Column, ...]
    backup: str


def why_not(table: Table, key: Sequence[str]) -> str:
    """Why rows of a table cannot be deleted by key, as a sentence; '' if they can."""
    if not key:
        return f"table {table.title} has no primary key in the dump, so its rows cannot be told apart on a server"
    kinds = {column.name: column.type for column in table.columns}
    if absent := [name for name in key if name not in kinds]:
        return f"the primary key of table {table.title} names {', '.join(absent)}, which is no column of it"
    if rough := [name for name in key if pa.types.is_floating(kinds[name])]:
        return f"the primary key of table {table.title} has floating-point numbers ({', '.join(rough)}), which cannot be compared"
    return ""


def identifier(name: str) -> str:
    """A quoted name."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A literal for a session without backslash escapes."""
    return "'" + value.replace("'", "''") + "'"


def hash_of(column: Column, alias: str, charset: str | None) -> str:
    """The bytes of a column as the dump holds them, in SQL; null is empty."""
    name = f"{alias}.{identifier(column.name)}"
    if not pa.types.is_binary(column.type) and charset not in (None, charsets.BINARY):
        name = f"CONVERT({name} USING {charset})"
    return f"IFNULL(CAST({name} AS BINARY),x'')"


class Deletion:
    """Writes ``delete.sql`` while the rows go by. ``rows``: written; ``unchecked``: left out, see ``_digests``."""

    def __init__(self, file: TextIO, target: Target, note: str) -> None:
        self._file, self._target = file, target
        self._rows: list[str] = []
        self._batch = 0
        self._session: tuple[str | None, str | None] | None = None
        self.rows = self.unchecked = 0
        file.write(_head(target, note) + _PREPARED.format(**_names(target)) + _CASCADES.format(**_names(target)))
        file.write(f"SET @deleted = 0, @changed = 0;\nCREATE TABLE IF NOT EXISTS {identifier(target.backup)} LIKE "
                   f"{identifier(target.table)};\n{_keys_table(target)}{_columns_of(target)}")  # fmt: skip

    def take(self, cells: dict[str, Cells]) -> None:
        """Rows that go: the cells of the key's and the hashed columns, by name."""
        one = next(iter(cells.values()))
        self.session(one.charset, one.zone)
        for entry in entries(self._target, cells):
            self.add(entry)

    def session(self, charset: str | None, zone: str | None) -> None:
        """What the rows that follow are in; ``binary``: the bytes of the columns themselves."""
        if (charset, zone) != self._session:
            self._flush()
            self._session = (charset, zone)
            self._file.write(_statements(self._target, charset, zone))

    def add(self, entry: str | None) -> None:
        """One row, as ``entries`` gives it."""
        if entry is None:
            self.unchecked += 1
            return
        self._rows.append(entry)
        self.rows += 1
        if len(self._rows) == BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        self._batch += 1
        names = ",".join(identifier(column.name) for column in self._target.key)
        values = ",\n".join(self._rows)
        self._rows = []
        self._file.write(
            f"\n-- batch {self._batch}\nDELETE FROM {KEYS};\nINSERT INTO {KEYS} ({names},dedup_hash) VALUES\n{values};\n"
            "START TRANSACTION;\nEXECUTE dedup_refresh;\nEXECUTE dedup_copy;\nEXECUTE dedup_delete;\n"
            "SET @deleted = @deleted + ROW_COUNT();\nEXECUTE dedup_changed;\nCOMMIT;\n"
        )

    def close(self) -> None:
        """Write the last batch and what counts the rows."""
        self._flush()
        self._file.write(
            f"\nDROP TEMPORARY TABLE {KEYS};\n"
            f"SELECT {self.rows} AS rows_in_this_file, @deleted AS deleted_now, @changed AS left_as_changed_since_the_dump,\n"
            f"  {self.rows} - @deleted - @changed AS gone_before,\n"
            f"  (SELECT COUNT(*) FROM {identifier(self._target.backup)}) AS rows_in_the_backup;\n"
        )


def _names(target: Target) -> dict[str, str]:
    return {"table": identifier(target.table), "said": text(target.table), "backup": identifier(target.backup),
            "backup_said": text(target.backup)}  # fmt: skip


def _head(target: Target, note: str) -> str:
    shown = target.table.encode("unicode_escape").decode()
    return (
        f"-- {note}\n-- Takes rows out of the table {shown} after copying them into {target.backup}; undo.sql brings them back.\n"
        "-- Run it in the database of the table: mysql DATABASE < delete.sql; it may be stopped and run again at any time.\n"
        f"SET NAMES utf8;\nSET SESSION sql_mode = {text(_MODE)};\n"
    )


_PREPARED = "SET SESSION group_concat_max_len = 1000000;\n"
# A foreign key that deletes rows of other tables would take what no backup holds; the client stops at an unknown column.
_CASCADES = """SET @danger = (SELECT COUNT(*) FROM information_schema.referential_constraints
  WHERE constraint_schema = DATABASE() AND referenced_table_name = {said} AND delete_rule NOT IN ('RESTRICT', 'NO ACTION'));
SET @check = IF(@danger > 0, 'SELECT `STOP: a foreign key of another table deletes or changes its rows with these`', 'DO 0');
PREPARE dedup_check FROM @check;
EXECUTE dedup_check;
"""


def _columns_of(target: Target) -> str:
    """The columns that both tables have and that are not computed, as the server knows them now."""
    quoted = "`', REPLACE(column_name, '`', '``'), '`') ORDER BY ordinal_position"
    computed = " AND ".join(f"extra NOT LIKE '%{word}%'" for word in ("VIRTUAL", "STORED", "PERSISTENT"))
    return "".join(
        f"SET {variable} = (SELECT GROUP_CONCAT(CONCAT('{prefix}{quoted}) FROM information_schema.columns\n"
        f"  WHERE table_schema = DATABASE() AND table_name = {text(target.backup)} AND {computed});\n"
        for variable, prefix in (("@columns", ""), ("@selected", "t."))
    )


def _keys_table(target: Target) -> str:
    names = ",".join(identifier(column.name) for column in target.key)
    return (
        f"DROP TEMPORARY TABLE IF EXISTS {KEYS};\nCREATE TEMPORARY TABLE {KEYS} (dedup_hash BINARY(20))\n"
        f"  SELECT {names} FROM {identifier(target.table)} LIMIT 0;\n"
    )


def _same(target: Target, one: str, other: str) -> str:
    names = [identifier(column.name) for column in target.key]
    return " AND ".join(f"{one}.{name} = {other}.{name}" for name in names)


def _statements(target: Target, charset: str | None, zone: str | None) -> str:
    """Prepare what each batch does: renew the copies of rows that are about to go, delete what was copied, count what stays."""
    hashed = ",x'00',".join(hash_of(column, "t", charset) for column in target.hashed)
    table, backup = identifier(target.table), identifier(target.backup)
    live = f"{KEYS} k STRAIGHT_JOIN {table} t ON {_same(target, 't', 'k')} AND UNHEX(SHA1(CONCAT({hashed}))) = k.dedup_hash"
    kept = f"STRAIGHT_JOIN {backup} b ON {_same(target, 'b', 't')}"
    prepared = {
        "dedup_refresh": text(f"DELETE b FROM {live} {kept}"),
        "dedup_copy": f"CONCAT('INSERT INTO ', {text(backup)}, ' (', @columns, ') SELECT ', @selected, {text(' FROM ' + live)})",
        "dedup_delete": text(f"DELETE t FROM {live} {kept}"),
        "dedup_changed": text(
            f"SELECT @changed + COUNT(*) INTO @changed FROM {KEYS} k STRAIGHT_JOIN {table} t ON {_same(target, 't', 'k')}"
        ),
    }
    zone = f"SET SESSION time_zone = {text(zone)};\n" if zone else ""
    return zone + "".join(f"SET @sql = {sql};\nPREPARE {name} FROM @sql;\n" for name, sql in prepared.items())


def undo(target: Target, note: str) -> str:
    """``undo.sql``: rows of the backup whose key the table lacks go back into it. The backup stays."""
    table, backup = identifier(target.table), identifier(target.backup)
    absent = f"NOT EXISTS (SELECT 1 FROM {table} l WHERE {_same(target, 'l', 't')})"
    first, rest = text(f"INSERT INTO {table} ("), text(f" FROM {backup} t WHERE {absent}")
    shown = target.table.encode("unicode_escape").decode()
    return (
        f"-- {note}\n-- Puts the rows that delete.sql took out of the table {shown} back from {target.backup}, which stays.\n"
        f"SET NAMES utf8;\nSET SESSION sql_mode = {text(_MODE)};\n{_PREPARED}{_columns_of(target)}"
        f"SET @sql = CONCAT({first}, @columns, ') SELECT ', @selected, {rest});\nPREPARE dedup_undo FROM @sql;\n"
        f"EXECUTE dedup_undo;\nSELECT ROW_COUNT() AS restored_now, (SELECT COUNT(*) FROM {backup}) AS rows_in_the_backup;\n"
    )


def entries(target: Target, cells: Mapping[str, Cells]) -> list[str | None]:
    """For each row its key and the digest of its bytes, as a tuple in SQL; None if a literal does not hold them plainly."""
    keys = [_literals(column, cells[column.name]) for column in target.key]
    digests = _digests([(column, cells[column.name]) for column in target.hashed])
    return [
        None if digest is None or None in key else f"({','.join(key)},x'{digest}')"
        for *key, digest in zip(*keys, digests, strict=True)
    ]


def _literals(column: Column, cells: Cells) -> list[str | None]:
    """Values of a key as literals that mean the same in any session; None for what is none."""
    found: list[str | None] = []
    for row, data in enumerate(content_of(cells).to_pylist()):
        kind = int(cells.kinds[row]) & KIND
        if data is None or kind in _UNREADABLE or int(cells.kinds[row]) & INTRODUCED:
            found.append(None)
        elif kind == NUMBER:
            found.append(data.decode("ascii"))
        elif pa.types.is_integer(column.type) and kind not in (HEX, BITS):
            number = data.decode("ascii", "replace").strip()
            found.append(number if number.lstrip("-").isdigit() else None)
        elif pa.types.is_integer(column.type):
            found.append(str(int.from_bytes(data, "big")))
        else:
            plain = not pa.types.is_binary(column.type) and kind not in (HEX, BITS) and not cells.kinds[row] & BINARY
            charset = cells.charset if cells.charset not in (None, charsets.BINARY) else column.charset
            found.append((f"_{charset} " if plain and charset else "") + f"x'{data.hex()}'")
    return found


def _digests(columns: list[tuple[Column, Cells]]) -> list[str | None]:
    """SHA-1 of each row's bytes, columns apart by a zero; None where a literal does not hold the column's bytes."""
    contents = [content_of(cells).to_pylist() for _, cells in columns]
    good = np.ones(len(columns[0][1].kinds), bool)
    for column, cells in columns:
        kinds = cells.kinds & KIND
        good &= ~np.isin(kinds, _UNREADABLE) & ~(cells.kinds & INTRODUCED > 0)
        if not pa.types.is_binary(column.type) and cells.charset not in (None, charsets.BINARY):
            # digits are bytes of the column's character set, not of the dump's
            good &= ~np.isin(kinds, (HEX, BITS)) & ~(cells.kinds & BINARY > 0)
    return [
        hashlib.sha1(b"\0".join(value or b"" for value in row)).hexdigest() if fine else None
        for fine, row in zip(good.tolist(), zip(*contents, strict=True), strict=True)
    ]
