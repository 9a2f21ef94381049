"""The table that is wanted: which INSERTs go into it, and which column each of their values is of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dedup_lib.dump.client import Client
from dedup_lib.dump.ddl import Column, Table
from dedup_lib.dump.names import Head
from dedup_lib.errors import InputError


class Wanted:
    """Follows the definitions of one table. ``table``: its columns, once known. ``layout``: their names in the file's order now.
    ``client`` is the one that reads the file.

    Without a definition columns are learned from INSERTs, as text: those of a list by their names, others as c1, c2 …
    """

    def __init__(self, name: str, table: Table | None = None, layout: Sequence[str] = (), database: str = "") -> None:
        self.name, self.table, self.layout, self.database = name, table, tuple(layout), database
        self.learning = table is None
        self.client = Client(b"", None)
        self._qualifier, _, self._bare = name.rpartition(".")
        if table is not None and not layout:
            self.layout = tuple(column.name for column in table.columns)

    def is_it(self, database: str, table: str) -> bool:
        """Whether a table of the dump is the wanted one. Raises ``InputError`` if two databases have one of that name."""
        database = database or self.client.now.database
        if table != self.name and (table != self._bare or (database and database != self._qualifier)):
            return False
        if database and self.database and database != self.database:
            raise InputError(
                f"table {self.name}: is in the databases {self.database} and {database}; ask for {self.database}.{table}"
                f" or {database}.{table}"
            )
        self.database = database or self.database
        return True

    def forget(self) -> None:
        """Learn anew."""
        if self.learning:
            self.table, self.layout = None, ()

    def create(self, table: Table) -> bool:
        """Take over a definition; whether it is of the wanted table. The first one says what the columns are."""
        if not self.is_it(table.database, table.name):
            return False
        if self.learning:
            self.table, self.learning = table, False
        self.layout = tuple(column.name for column in table.columns)
        return True

    def select(self, head: Head) -> np.ndarray | None:
        """Column of each value of an INSERT's rows (int32), None if it is into another table."""
        if not self.is_it(head.database, head.table):
            return None
        names = head.columns
        if names is None:
            return self._slots(self.layout)
        if self.learning:
            old = self.table.columns if self.table else ()
            fresh = [name for name in names if name.lower() not in {column.name.lower() for column in old}]
            columns = (*old, *(Column(name, "text", pa.string()) for name in fresh))
            self.table = Table(head.database or self.client.now.database, head.table, columns, None)
        return self._slots(names)

    def recount(self, head: Head, count: int) -> np.ndarray | None:
        """Columns of a row with another number of values than ``select`` said, None if there is no explanation for it.

        A list leaves out columns that are generated or invisible; a table that was never defined has as many as its first row.
        """
        if head.columns is not None or (self.table is None and not self.learning):
            return None
        if self.learning and not self.layout:
            self.layout = tuple(f"c{i + 1}" for i in range(count))
            columns = tuple(Column(name, "text", pa.string()) for name in self.layout)
            self.table = Table(head.database or self.client.now.database, head.table, columns, None)
            return self._slots(self.layout)
        implicit = {column.name for column in self.table.columns if column.implicit}
        shorter = [name for name in self.layout if name in implicit]
        return self._slots(shorter) if len(shorter) == count and len(shorter) < len(self.layout) else None

    def _slots(self, names: Sequence[str]) -> np.ndarray:
        columns = self.table.columns if self.table else ()
        places = {column.name.lower(): i for i, column in enumerate(columns)}
        if unknown := [name for name in names if name.lower() not in places]:
            raise InputError(
                f"table {self.name}: an INSERT names the columns {', '.join(unknown)}, which its definition lacks;"
                " give the right one with the option ddl"
            )
        return np.array([places[name.lower()] for name in names], np.int32)
