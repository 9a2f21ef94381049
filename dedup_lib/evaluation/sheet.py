"""Tables as CSV for people: what strangers wrote runs in no spreadsheet."""

from __future__ import annotations

import csv
import re
from typing import TextIO

import pyarrow as pa

MAX_LINES = 1_000_000  # what a spreadsheet can open
_FORMULA = re.compile(r"[\s\x00-\x1f\u200b\ufeff]*[=+\-@＝＋－＠|%]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")


def harmless(value: object) -> str:
    """A cell that no spreadsheet takes for a formula, without control characters; the quote in front says "text"."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if not isinstance(value, str):
        return str(value)
    text = _CONTROL.sub(" ", value)
    return f"'{text}" if _FORMULA.match(value) or text[:1] in ("\t", "\r", "\n") else text


def write_sheet(lines: pa.Table, file: TextIO) -> None:
    """Write the lines with a header; ``file`` was opened with ``newline=''``."""
    writer = csv.writer(file)
    writer.writerow(lines.column_names)
    for batch in lines.to_batches(max_chunksize=10_000):
        columns = [[harmless(value) for value in column.to_pylist()] for column in batch.columns]
        writer.writerows(zip(*columns, strict=True))
