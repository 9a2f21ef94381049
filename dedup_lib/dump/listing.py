"""What a dump holds: tables, columns, character sets, rows, and whether it is complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dedup_lib.dump import charsets, files, reader
from dedup_lib.dump.client import Client
from dedup_lib.dump.ddl import Column, Table, added_key
from dedup_lib.dump.options import FLAGS, Options
from dedup_lib.dump.plan import damaged, defined, make_plan
from dedup_lib.dump.walker import Damage, Rows, Statement, Walker

# How programs end their dumps; a file that ends otherwise may have been cut between two statements.
_ENDINGS = (
    "DUMP COMPLETED",
    "COLLATION_CONNECTION",
    "FOREIGN_KEY_CHECKS",
    "SQL_NOTES",
    "COMMIT",
    "UNLOCK TABLES",
    "CHARACTER_SET",
)


@dataclass
class Found:
    """A table of a dump. ``charset``: what its rows are in; ``remark``: where that is not what was declared.

    ``key``: columns of the primary key.
    """

    file: str
    database: str
    name: str
    columns: tuple[Column, ...] = ()
    declared: str | None = None
    key: tuple[str, ...] = ()
    charset: str | None = None
    remark: str = ""
    rows: int = 0
    damages: int = 0


@dataclass
class Listing:
    """All tables of a dump in the order of the file, and ``warnings``: damage, and files that may have been cut."""

    tables: list[Found] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def tables(path: str, charset: str | None = None) -> Listing:
    """List a dump (file, folder, glob). Damage is a warning here. Raises ``InputError`` if a file is no dump."""
    listing = Listing()
    for file in files.paths(path):
        _list(file, charset, listing)
    return listing


def counts(options: Options) -> dict[str, int]:
    """Rows of a table, and how many carry each flag (``zero_date``, ``charset_repaired`` …)."""
    wanted = Options(**{**vars(options), "metadata": tuple(dict.fromkeys((*options.metadata, FLAGS)))})
    plan = make_plan(wanted)
    found: Counter[str] = Counter(rows=0)
    for split in plan.splits:
        for batch in reader.read(split, plan.table, wanted):
            found["rows"] += batch.num_rows
            lines: Iterable[str] = (line for text in batch[FLAGS].to_pylist() if text for line in text.split("\n"))
            found.update(line.split("\t")[0] for line in lines)
    return dict(found)


def _list(file: str, charset: str | None, listing: Listing) -> None:
    found: dict[tuple[str, str], Found] = {}
    client = Client(files.sample(file, charsets.SAMPLE), charset)
    last = ""
    with files.window(file) as part:
        walker = Walker(part, client, lambda head: None, lambda head, count: None)
        walker.begin_file()
        for event in walker.events():
            if isinstance(event, Statement):
                last = event.text
                if (table := defined(event, client)) is not None:
                    _entry(found, file, table.database, table.name, table)
                elif key := added_key(event.text, client.now.database) if event.text[:5].upper() == "ALTER" else None:
                    _entry(found, file, key[0], key[1], None).key = key[2]
            elif isinstance(event, Rows):
                last = ""
                entry = _entry(found, file, event.head.database or client.now.database, event.head.table, None)
                entry.rows += event.count
                entry.charset, entry.remark = client.charset, client.remark
            elif isinstance(event, Damage):
                listing.warnings.append(damaged(file, event))
        ending = part.data[max(0, part.stop - 200) : part.stop].tobytes().upper()
    if not (b"DUMP COMPLETED" in ending or any(end in last.upper() for end in _ENDINGS)):
        listing.warnings.append(f"dump {file}: nothing at its end tells that it is complete; compare the row counts")
    if any(entry.columns for entry in found.values()):  # else a dump of rows alone, of mysqldump --no-create-info
        strangers = [entry for entry in found.values() if entry.rows and not entry.columns]
        listing.warnings += [
            f"dump {file}: puts {entry.rows:,} rows into table {entry.name!r}, which it does not define: a damaged name?"
            for entry in strangers
        ]
    listing.tables += found.values()


def _entry(found: dict[tuple[str, str], Found], file: str, database: str, name: str, table: Table | None) -> Found:
    entry = found.setdefault((database, name), Found(file, database, name))
    if table is not None:
        entry.columns, entry.declared, entry.key = table.columns, table.charset, table.key
    return entry
