"""Words and quoted names of statements, and the heads of INSERT: enough SQL to know which table and columns are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""\s+|/\*M?!\d*|\*/|/\*.*?\*/|--\s[^\n]*|\#[^\n]*"""
    r"""|`(?P<back>(?:[^`]|``)*)`|"(?P<double>(?:[^"\\]|""|\\.)*)"|'(?P<text>(?:[^'\\]|''|\\.)*)'"""
    r"""|(?P<word>[\w$@.+\-\u0080-\uffff]+)|(?P<mark>.)""",
    re.DOTALL,
)
NAME, TEXT, WORD, MARK = "name", "text", "word", "mark"
# Words that begin a statement, of the server or of its client.
STATEMENTS = frozenset(
    "ALTER ANALYZE BEGIN CALL CHANGE CHECK COMMIT CREATE DECLARE DELETE DELIMITER DO DROP END EXECUTE FLUSH GRANT HANDLER INSERT "
    "INSTALL KILL LOAD LOCK OPTIMIZE PREPARE DEALLOCATE PURGE RENAME REPAIR REPLACE RESET REVOKE ROLLBACK SAVEPOINT SELECT SET "
    "SHOW START STOP TRUNCATE UNINSTALL UNLOCK UPDATE USE WITH XA SIGNAL SOURCE WARNINGS NOWARNING PROMPT EXPLAIN IMPORT".split()
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANING = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}


class Token(NamedTuple):
    """A piece of a statement: its kind (name, text, word or mark) and its value without quotes and escapes."""

    kind: str
    value: str

    def says(self, *words: str) -> bool:
        """Whether it is one of the words, given in capitals."""
        return self.kind in (WORD, MARK) and self.value.upper() in words


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a statement; comments are left out, conditional ones opened."""
    for found in _TOKEN.finditer(text):
        if found["back"] is not None:
            yield Token(NAME, found["back"].replace("``", "`"))
        elif found["double"] is not None:
            yield Token(NAME, found["double"].replace('""', '"'))
        elif found["text"] is not None:
            yield Token(TEXT, unescaped(found["text"].replace("''", "'")))
        elif found["word"] is not None:
            yield Token(WORD, found["word"])
        elif found["mark"] is not None:
            yield Token(MARK, found["mark"])


def unescaped(text: str) -> str:
    """A string literal of DDL without its backslashes."""
    return _ESCAPE.sub(lambda found: _MEANING.get(found[1], found[1]), text)


class Head(NamedTuple):
    """What an INSERT or REPLACE says before VALUES: database ('' if none), table, and columns, None without a list."""

    database: str
    table: str
    columns: tuple[str, ...] | None


def qualified(parts: list[Token]) -> tuple[str, str]:
    """Database and table of ``db.table``, ``table`` in any quoting, which is what the tokens begin with."""
    name = parts[0].value
    if parts[0].kind == WORD and "." in name.strip("."):
        database, _, table = name.partition(".")
        return database, table
    if len(parts) > 1 and parts[1].value == "." and len(parts) > 2:
        return name, parts[2].value
    if parts[0].kind == NAME and len(parts) > 1 and parts[1].kind == WORD and parts[1].value.startswith("."):
        return name, parts[1].value[1:]
    if parts[0].kind == WORD and name.endswith(".") and len(parts) > 1:
        return name[:-1], parts[1].value
    return "", name


@lru_cache(maxsize=4096)
def head(text: str) -> Head:
    """Read the head of an INSERT or REPLACE, up to VALUES."""
    parts = list(tokens(text))
    while parts and parts[0].says("INSERT", "REPLACE", "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "INTO"):
        parts.pop(0)
    opening = next((i for i, part in enumerate(parts) if part == (MARK, "(")), None)
    database, table = qualified(parts) if parts else ("", "")
    if opening is None:
        return Head(database, table, None)
    if any(part.says("PARTITION") for part in parts[:opening]):
        closing = next(i for i, part in enumerate(parts) if part == (MARK, ")"))
        opening = next((i for i, part in enumerate(parts) if i > closing and part == (MARK, "(")), None)
        if opening is None:
            return Head(database, table, None)
    closing = next((i for i, part in enumerate(parts) if i > opening and part == (MARK, ")")), len(parts))
    columns = tuple(part.value for part in parts[opening + 1 : closing] if part.kind in (NAME, WORD))
    return Head(database, table, columns or None)
