"""Write a corpus as mysqldump would: one table in UTF-8, extended inserts of about a megabyte; same corpus, same bytes.

python -m bench.dump --input 'DIR/corpus/*.parquet' --output news.sql
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import typer

from bench.run import paths

_COLUMNS = ("title", "content", "source", "publish_time")
_STATEMENT = 1_000_000  # bytes from which on a statement ends; mysqldump's net_buffer_length by default
_ROWS = 8192  # held at once
_HEAD = """-- MySQL dump 10.13

/*!40101 SET NAMES utf8mb4 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

DROP TABLE IF EXISTS `news`;
CREATE TABLE `news` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `title` varchar(200) DEFAULT NULL,
  `content` mediumtext DEFAULT NULL,
  `source` varchar(60) DEFAULT NULL,
  `posted` datetime DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

LOCK TABLES `news` WRITE;
/*!40000 ALTER TABLE `news` DISABLE KEYS */;
"""
_TAIL = """/*!40000 ALTER TABLE `news` ENABLE KEYS */;
UNLOCK TABLES;
/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;

-- Dump completed
"""
_ESCAPES = (("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\0", "\\0"), ("\x1a", "\\Z"))


def literals(column: pa.Array) -> pa.Array:
    """Texts and times as mysqldump writes them."""
    if pa.types.is_timestamp(column.type):
        column = pc.strftime(column.cast(pa.timestamp("s"), safe=False), "%Y-%m-%d %H:%M:%S")
    for char, written in _ESCAPES:
        column = pc.replace_substring(column, char, written)
    return pc.fill_null(pc.binary_join_element_wise("'", column, "'", ""), "NULL")


def tuples(files: str) -> Iterator[bytes]:
    """The rows as tuples of an insert, numbered from 1."""
    first = 1
    for batch in ds.dataset(paths(files), format="parquet").to_batches(columns=list(_COLUMNS), batch_size=_ROWS):
        ids = pa.array(range(first, first + len(batch))).cast(pa.string())
        cells = [ids, *map(literals, batch.columns)]
        first += len(batch)
        for row in pc.binary_join_element_wise(*cells, ",").to_pylist():
            yield f"({row})".encode()


def write(files: str, output: Path) -> int:
    """Write the dump; how many bytes it has."""
    with output.open("wb") as out:
        out.write(_HEAD.encode())
        open_bytes = 0  # of the statement that is being written
        for row in tuples(files):
            if open_bytes and open_bytes + len(row) > _STATEMENT:
                out.write(b";\n")
                open_bytes = 0
            out.write(b"," if open_bytes else b"INSERT INTO `news` VALUES ")
            open_bytes += out.write(row)
        out.write((";\n" if open_bytes else "").encode() + _TAIL.encode())
        return out.tell()


def main(
    input: Annotated[str, typer.Option(metavar="GLOB", help="Parquet files with title, content, source, publish_time.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="The dump.")],
) -> None:
    """Write a corpus as a MySQL dump."""
    print(f"{output}: {write(input, output):,} bytes")


if __name__ == "__main__":
    typer.run(main)
