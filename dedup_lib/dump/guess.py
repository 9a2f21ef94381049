"""Which table of a dump holds the texts, and which of its columns are what: guessed only where one answer is plainly right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from dedup_lib.dump.ddl import Column
from dedup_lib.dump.listing import Found, Listing
from dedup_lib.errors import ConfigError, InputError

ROLES = ("id", "title", "content", "publish_time", "source", "url")
_NAMES = {
    "content": ("content", "contents", "body", "text", "article", "article_content", "post_content", "newscontent",
                "news_content", "message", "description", "正文", "内容", "文章内容", "內容"),
    "title": ("title", "subject", "headline", "post_title", "article_title", "news_title", "newstitle", "name", "标题", "題目",
              "標題", "题目"),
    "publish_time": ("publish_time", "published_at", "published", "publishtime", "pubdate", "pub_date", "pubtime", "post_date",
                     "posted", "post_time", "posttime", "posted_at", "inputtime", "addtime", "add_time", "created_at",
                     "create_time", "created", "createtime", "ctime", "dateline", "date", "datetime", "time", "发布时间",
                     "发表时间", "日期", "时间"),
    "source": ("source", "site", "copyfrom", "origin", "media", "来源", "來源"),
    "url": ("url", "link", "source_url", "链接", "网址"),
}  # fmt: skip
_LONG = ("text", "mediumtext", "longtext", "mediumblob", "longblob", "blob", "clob")
_DETAILED, _NAMED = 8, 60  # of a long list of tables
_TIMES = ("datetime", "timestamp", "date")


@dataclass
class Choice:
    """The table, the column of each role, and what was guessed, as sentences."""

    table: Found
    columns: dict[str, str]
    guessed: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The table's name as the reader wants it."""
        return _title(self.table)


def choose(listing: Listing, where: str, table: str | None = None, columns: Mapping[str, str] | None = None) -> Choice:
    """The table and its columns; ``where`` says in messages what was listed.

    Raises ``InputError`` with the candidates if either is unknown or not plain, ``ConfigError`` for a role that does not exist.
    """
    given = dict(columns or {})
    if unknown := [role for role in given if role not in ROLES]:
        raise ConfigError(f"--columns: {', '.join(unknown)}: unknown; there are {', '.join(ROLES)}")
    guessed: list[str] = []
    tables = _joined(listing.tables)
    if not tables:
        raise InputError(f"{where}: holds no table; is it of MySQL?")
    found = _named(tables, where, table) if table else _likely(tables, where, given, guessed)
    if not found.columns:
        raise InputError(f"{where}: has no CREATE TABLE {_title(found)}; give one with --dump-option ddl=FILE")
    return Choice(found, _columns(found, where, given, guessed), guessed)


def parsed(given: str | None) -> dict[str, str]:
    """``id=aid,title=subject`` as a mapping. Raises ``ConfigError`` for anything else."""
    found: dict[str, str] = {}
    for part in (given or "").split(","):
        role, equals, name = part.partition("=")
        if part.strip() and not (equals and role.strip() and name.strip()):
            raise ConfigError(f"--columns {part!r}: write ROLE=COLUMN, for example id=aid,title=subject,content=body")
        if part.strip():
            found[role.strip()] = name.strip()
    return found


def _joined(tables: Sequence[Found]) -> list[Found]:
    """One entry for each table, whose definition and rows may stand in several files."""
    found: dict[tuple[str, str], Found] = {}
    for table in tables:
        known = found.setdefault((table.database, table.name), table)
        if known is not table:
            known.rows += table.rows
            known.columns, known.key = known.columns or table.columns, known.key or table.key
    return list(found.values())


def _title(table: Found) -> str:
    return f"{table.database}.{table.name}" if table.database else table.name


def _shown(table: Found) -> str:
    columns = ", ".join(f"{column.name} {column.declared}" for column in table.columns[:12])
    return f"{_title(table)} ({table.rows:,} rows: {columns or 'no definition'}{', …' if len(table.columns) > 12 else ''})"


def _list(tables: Sequence[Found]) -> str:
    """The largest tables, the others by name."""
    ordered = sorted(tables, key=lambda table: -table.rows)
    return "; ".join([*map(_shown, ordered[:_DETAILED]), *map(_title, ordered[_DETAILED:_NAMED])]) + (
        f" and {len(ordered) - _NAMED:,} more" if len(ordered) > _NAMED else ""
    )


def _named(tables: Sequence[Found], where: str, name: str) -> Found:
    fitting = [table for table in tables if name in (_title(table), table.name)]
    if len(fitting) != 1:
        what = "is in several databases" if fitting else "is not there"
        raise InputError(f"{where}: table {name} {what}; choose one of {_list(fitting or tables)}")
    return fitting[0]


def _likely(tables: Sequence[Found], where: str, given: Mapping[str, str], guessed: list[str]) -> Found:
    """The only table with rows that has a column for the content."""
    wanted = set(given.values())
    fitting = [table for table in tables if table.rows and wanted <= {column.name for column in table.columns}]
    fitting = [table for table in fitting if "content" in given or _contents(table)]
    if len(fitting) != 1:
        lacking = f"the columns {', '.join(sorted(wanted))}" if wanted else "a column of long texts"
        many = "several tables hold texts" if fitting else f"no table with rows has {lacking}"
        raise InputError(f"{where}: {many}; choose with --table: {_list(fitting or tables)}")
    guessed.append(f"table {_title(fitting[0])}: the only one with rows that has a column of long texts")
    return fitting[0]


def _kind(column: Column) -> str:
    return column.declared.split("(")[0]


def _contents(table: Found) -> list[Column]:
    """Columns that may be the content, the likeliest first; only the first where its name says it."""
    long = [column for column in table.columns if _kind(column) in _LONG]
    textual = [c for c in table.columns if pa.types.is_string(c.type) and _kind(c) in (*_LONG, "varchar", "char")]
    for name in _NAMES["content"]:
        if match := [c for c in [*long, *textual] if c.name.lower() == name and _size(c) >= 200]:
            return match[:1]
    return long


def _size(column: Column) -> int:
    """Characters that a column holds."""
    digits = column.declared.partition("(")[2].rstrip(")")
    return int(digits) if digits.isdigit() else (1 << 16)


def _columns(table: Found, where: str, given: dict[str, str], guessed: list[str]) -> dict[str, str]:
    names = {column.name for column in table.columns}
    if absent := [f"{role}={name}" for role, name in given.items() if name not in names]:
        raise InputError(f"{where}: table {_title(table)} has no such column: {', '.join(absent)}; it is {_shown(table)}")
    found = dict(given)
    if "content" not in found:
        likely = _contents(table)
        if len(likely) != 1:
            several = ", ".join(column.name for column in likely)
            why = f"several columns may be the content: {several}" if likely else "no column holds long texts"
            raise InputError(f"{where}: table {_title(table)}: {why}; choose with --columns content=NAME: {_shown(table)}")
        found["content"] = likely[0].name
        guessed.append(f"content is {likely[0].name}")
    if "id" not in found and len(table.key) == 1:
        found["id"] = table.key[0]
        guessed.append(f"id is {table.key[0]}, the primary key")
    for role in ("title", "publish_time", "source", "url"):
        if role not in found and (name := _by_name(table, role, set(found.values()))):
            found[role] = name
            guessed.append(f"{role} is {name}")
    return found


def _by_name(table: Found, role: str, taken: set[str]) -> str | None:
    columns = {column.name.lower(): column for column in table.columns if column.name not in taken}
    times = [column.name for column in columns.values() if _kind(column) in _TIMES]
    for name in _NAMES[role]:
        column = columns.get(name)
        if column is None:
            continue
        if role == "publish_time":
            fits = column.name in times or pa.types.is_integer(column.type) or pa.types.is_string(column.type)
        else:
            fits = pa.types.is_string(column.type)
        if fits:
            return column.name
    return times[0] if role == "publish_time" and len(times) == 1 else None
