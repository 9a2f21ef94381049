"""How a hand-made row is written down, and how encoding damage is made.

A `Group` is a small family of rows around one clean text. A row says what its text is, what must
happen to it, and why. Title, time, source and address come from the group unless the row names its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

ORIGIN = "handmade"
FIRST_DAY = datetime(2024, 3, 1, 8)
SITES = ("news.example.com", "www.example.org", "blog.example.net")
FROM_GROUP = "(from the group)"

KEPT = "kept"
DROPPED = "dropped"
EMPTY = "quarantine:empty"
DUPLICATE_ID = "quarantine:duplicate_id"


@dataclass(frozen=True)
class Row:
    """One input row and the outcome that is expected for it."""

    doc_id: str
    content: str | None
    why: str
    outcome: str = KEPT
    kept_id: str = ""
    method: str = ""
    title: str | None = FROM_GROUP
    time: str | None = FROM_GROUP
    source: str = FROM_GROUP


@dataclass(frozen=True)
class Group:
    """Rows around one clean text; they share a title, a day and a folder of the address."""

    key: str
    title: str | None
    rows: tuple[Row, ...]


def keep(doc_id: str, content: str, why: str, **columns) -> Row:
    """A row that stays in the documents."""
    return Row(doc_id, content, why, **columns)


def drop(doc_id: str, content: str, kept_id: str, method: str, why: str, **columns) -> Row:
    """A row that is dropped for `kept_id`; `method` may name two methods, `a|b`, where either is right."""
    return Row(doc_id, content, why, DROPPED, kept_id, method, **columns)


def quarantine(doc_id: str, content: str | None, outcome: str, why: str, **columns) -> Row:
    """A row that cannot be processed."""
    return Row(doc_id, content, why, outcome, **columns)


def input_records(groups: tuple[Group, ...]) -> Iterator[dict]:
    """The rows as the job reads them: by default one day for each group, one hour later for each further row."""
    for day, group in enumerate(groups):
        for hour, row in enumerate(group.rows):
            source = SITES[hour % len(SITES)] if row.source == FROM_GROUP else row.source
            yield {
                "doc_id": row.doc_id,
                "url": f"https://{source}/{group.key}/{hour + 1}",
                "title": group.title if row.title == FROM_GROUP else row.title,
                "content": row.content,
                "source": source,
                "publish_time": publish_time(row, FIRST_DAY + timedelta(days=day, hours=hour)),
                "origin": ORIGIN,
            }


def publish_time(row: Row, default: datetime) -> datetime | None:
    """The row's own time, none at all, or the default."""
    if row.time is None:
        return None
    return default if row.time == FROM_GROUP else datetime.fromisoformat(row.time)


def expected_records(groups: tuple[Group, ...]) -> Iterator[dict]:
    """The right outcome of each row, in the order of the input."""
    for group in groups:
        for row in group.rows:
            yield {
                "doc_id": row.doc_id,
                "outcome": row.outcome,
                "kept_id": row.kept_id,
                "method": row.method,
                "why": row.why,
            }


def misread(text: str, written_as: str, read_as: str) -> str:
    """The mojibake that comes from reading bytes in the wrong character set; refuses a pair that loses bytes."""
    damaged = text.encode(written_as).decode(read_as)
    if damaged.encode(read_as).decode(written_as) != text:
        raise ValueError(f"{written_as} read as {read_as} is not loss-free for {text[:20]!r}")
    return damaged
