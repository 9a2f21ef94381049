"""Hostile texts and mutated files through the job and through each reader; what came of them, counted.

    python -m tests.faults.hostile --texts 2000 --files 500

Texts go through whole runs in batches: every row must come out once, with the bytes it went in with. Mutated files go through the
readers of Parquet, JSON, CSV and MySQL dumps: the rows must be those of a second, plain reader, or the file must be refused with
an error of its own. All this happens in child processes: one that dies or says nothing for a minute is told with its seed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from dedup_lib.errors import InputError
from dedup_lib.pipeline import rebuild
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.unreadable import damaged, load
from tests.dump.server import read_all
from tests.dump.test_damage import damaged as damaged_dump
from tests.dump.test_reader import news

ROOT = Path(__file__).resolve().parents[2]
SILENCE, FIRST = 60, 400  # seconds for one input; for the first, before which kernels may be compiled
_HEAD = b"INSERT INTO `news` VALUES ("
BATCH = 250  # texts of one run
SNIPPETS = (
    "<script>", "</p>", "<div " + "a=b " * 500, "&amp;amp;lt;", "&#x110000;", "&#xD800;", "<!--", "]]>", "<![CDATA[",
    "\x00", "\u202e", "\ufffe", "\ufeff", "\u0301" * 400, "\ufdfa" * 50, "Ã¤Â¸Â­", "锟斤拷", "烫烫烫", "\\ud83d", "%E4%B8",
    "'; DROP TABLE news; --", "=cmd()", "{{7*7}}", "${x}", "../../etc/passwd", "\x1b[2J", "(" * 300, "。" * 500,
    "第1条" * 200, "http://" * 50, "a@" * 200, "1," * 400,
)  # fmt: skip


def mutated(data: bytes, chance: random.Random, most: int = 4) -> bytes:
    """Bytes with some of them flipped, cut, doubled, put in or moved."""
    content = bytearray(data)
    for _ in range(chance.randint(1, most)):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(7):
            case 0 if at < len(content):
                content[at] ^= 1 << chance.randrange(8)
            case 1:
                content[at : at + chance.choice([1, 3, 40])] = b""
            case 2:
                content[at:at] = chance.choice(SNIPPETS).encode()
            case 3:
                content[at:at] = chance.randbytes(chance.choice([1, 2, 30]))
            case 4:
                content[at:at] = content[at : at + 50] * chance.choice([2, 200])
            case 5:
                content[at : at + 4] = b"\xff\xff\xff\xff"
            case 6 if chance.random() < 0.3:
                del content[at:]
    return bytes(content)


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some bits of them flipped."""
    content = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 20])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def texts(seed: int, count: int) -> list[bytes]:
    """Hostile contents: articles and pages with damage in them."""
    chance = random.Random(seed)
    plain = [f"{row['title']}\n{row['content']}" for row in _articles()]
    found = []
    for _ in range(count):
        text = chance.choice(plain)
        if chance.random() < 0.3:
            text = f"<!DOCTYPE html><html><body><div><p>{text}</p></div><script>{chance.choice(SNIPPETS)}</script></body></html>"
        if chance.random() < 0.03:
            text = chance.choice(["好", "a", "<b>", "&amp;", " ", "\n", "1", "\u0301", "(", "转载自"]) * 20_000
        data = text.encode(chance.choice(["utf-8"] * 6 + ["gb18030", "utf-16"]), "replace")
        found.append(mutated(data, chance))
    return found


def _articles() -> list[dict]:
    return pq.read_table(ROOT / "data" / "sample" / "articles.parquet").slice(0, 60).to_pylist()


def through_the_job(session, seed: int, folder: Path, size: int = BATCH) -> str:
    """One run over a batch; raises ``AssertionError`` unless every row came out once as it went in."""
    chance, content = random.Random(seed), texts(seed, size)
    if as_text := seed % 2 == 0:
        content = [data.decode("utf-8", "replace") for data in content]
    names = [chance.choice(["s", "../../x", "a\x00b", "'; --", "<b>", "\u202e", "=1+1", "x" * 5000]) for _ in content]
    ids = [f"{chance.choice(['', '../', '/etc/', chr(10), '<i>', chr(0)])}{number}" for number in range(len(content))]
    times = [chance.choice([None, "2024-01-01", "soon", "99999999999999999999", "-1", "0000-00-00", "1" * 400]) for _ in content]
    kind = pa.string() if as_text else pa.binary()
    table = pa.table({"doc_id": ids, "content": pa.array(content, kind), "source": names, "title": names, "publish_time": times})
    folder.mkdir()
    pq.write_table(table, folder / "in.parquet")
    given = [f"input.path={folder / 'in.parquet'}", f"output.path={folder / 'out'}", "gates.undecodable_share.fail=1"]
    more = [f"gates.{name}.fail=1" for name in ("quarantine_share", "largest_cluster", "hot_bucket", "review_load")]
    store = rebuild(session, load_settings(None, [*given, *more]).config, say=lambda line: None).store
    parts = [
        ds.dataset(f"{store.folder}/{name}", format="parquet").to_table(columns=table.schema.names)
        for name in ("documents", "dropped", "quarantine")
    ]
    back = pa.concat_tables([part.cast(table.schema) for part in parts])
    assert back.sort_by("doc_id").equals(table.sort_by("doc_id")), f"{back.num_rows} of {table.num_rows} rows, or changed ones"
    outside = [path for path in folder.iterdir() if path.name not in ("in.parquet", "out")]
    assert not outside, f"written outside the output: {outside}"
    return "equal"


def through_a_reader(session, kind: str, seed: int, folder: Path) -> str:
    """One mutated file; ``equal``, ``refused`` (or ``quarantined``), or ``AssertionError`` if rows are gone or others."""
    chance = random.Random(f"{kind} {seed}")
    folder.mkdir()
    if kind == "dump":
        return _dump(chance, folder / "dump.sql")
    rows = [
        {"doc_id": str(n), "content": row["content"][:300], "n": n} for n, row in enumerate(_articles()[: chance.choice([3, 30])])
    ]
    data = _FORMS[kind](rows, chance)
    in_place = kind == "parquet" and chance.random() < 0.7  # else hardly any file keeps its footer in its place
    data = flipped(data, chance) if in_place else mutated(data, chance, 2)
    path = folder / f"in.{kind}"
    path.write_bytes(data)
    try:
        loaded = load(session, [str(path)], kind)
        found = loaded.frame.toArrow().to_pylist()
    except Exception as error:
        if isinstance(error, InputError) or type(error).__module__.startswith(("pyspark.errors", "pyarrow")):
            return (
                "refused" if kind != "parquet" or _plain_parquet(path) is None or damaged([str(path)], kind) else "refused, whole"
            )
        raise
    expected = _PLAIN[kind](path)
    if expected is None:
        return "read, the plain reader refuses"
    assert len(found) >= len(expected), f"{len(found)} rows of {len(expected)}"
    return "equal" if found == expected else "read otherwise"


def _dump(chance: random.Random, path: Path) -> str:
    whole = news(120, chance.choice([1, 10]))
    content, at, swallowed = damaged_dump(whole, chance)
    path.write_bytes(content)
    rows = read_all(path, "news", mode="quarantine", metadata="_row").to_pylist()
    good = [row for row in rows if row["_error"] is None]
    before = [row["id"] for row in good if row["_end"] <= at]
    assert before == list(range(len(before))), "rows before the damage are missing"
    if len(good) >= 119 or swallowed:
        return "equal"
    if len(good) == len(rows):  # nothing is said
        if whole.startswith(content):
            assert b"INSERT INTO" not in content.rpartition(b";\n")[2], "a cut row is not told"
            return "cut between statements"
        assert content.count(_HEAD) < whole.count(_HEAD), "rows are missing and nothing is said"
        return "another table's name"
    try:
        read_all(path, "news")
    except InputError:
        return "refused"
    raise AssertionError("damage is not refused")


def _parquet(rows: list[dict], chance: random.Random) -> bytes:
    sink = io.BytesIO()
    how = {"compression": chance.choice(["none", "snappy", "zstd"]), "use_dictionary": chance.random() < 0.5}
    pq.write_table(pa.Table.from_pylist(rows), sink, data_page_version=chance.choice(["1.0", "2.0"]), row_group_size=10, **how)
    return sink.getvalue()


def _json(rows: list[dict], chance: random.Random) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=chance.random() < 0.5) + "\n" for row in rows).encode()


def _csv(rows: list[dict], chance: random.Random) -> bytes:
    text = io.StringIO(newline="")
    sheet = csv.DictWriter(text, list(rows[0]), lineterminator=chance.choice(["\n", "\r\n"]))
    sheet.writeheader()
    sheet.writerows(rows)
    return text.getvalue().encode()


def _plain_parquet(path: Path) -> list[dict] | None:
    try:
        table = pq.read_table(path)
        table.validate(full=True)
        return table.to_pylist()
    except Exception:
        return None


def _plain_json(path: Path) -> list[dict] | None:
    try:
        rows = [json.loads(line) for line in path.read_bytes().decode("utf-8").split("\n") if line.strip()]
        names = {name for row in rows for name in row}
        return [{name: row.get(name) for name in names} for row in rows]
    except ValueError:
        return None


def _plain_csv(path: Path) -> list[dict] | None:
    try:
        text = path.read_bytes().decode("utf-8", "replace")  # as the engines do
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (ValueError, csv.Error):
        return None


_FORMS = {"parquet": _parquet, "json": _json, "csv": _csv}
_PLAIN: dict[str, Callable[[Path], list[dict] | None]] = {"parquet": _plain_parquet, "json": _plain_json, "csv": _plain_csv}
KINDS = ("job", *_FORMS, "dump")


def child(kind: str, first: int, last: int) -> None:
    """Work through seeds and print a line for each."""
    with open_session("embedded") as session, tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            place = Path(folder) / str(seed)
            try:
                told = through_the_job(session, seed, place) if kind == "job" else through_a_reader(session, kind, seed, place)
            except Exception as error:
                told = f"FAILED {type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
            print(f"{seed}\t{told}", flush=True)


def outcomes(kind: str, count: int) -> Iterator[tuple[int, str]]:
    """Seed and outcome of each input, whatever becomes of the processes that read them."""
    seed = 0
    while seed < count:
        command = [sys.executable, "-m", "tests.faults.hostile", "--child", kind, str(seed), str(count)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT) as process:
            lines: Queue[str | None] = Queue()
            Thread(target=lambda: [*map(lines.put, process.stdout), lines.put(None)], daemon=True).start()  # noqa: B023
            first = True
            while seed < count:
                try:
                    line = lines.get(timeout=FIRST if first else SILENCE)
                except Empty:
                    line, told = None, "FAILED: hangs"
                else:
                    told = line.rstrip("\n").partition("\t")[2] if line else f"FAILED: died ({process.wait()})"
                first = False
                yield seed, told
                seed += 1
                if line is None:
                    process.kill()
                    break


def tally(kind: str, count: int) -> tuple[Counter[str], list[str]]:
    """How often each outcome was met, and the failures with their seeds. Of the job ``count`` is of batches."""
    counted, failures = Counter(), []
    for seed, told in outcomes(kind, count):
        counted[told.partition(":")[0]] += 1
        if told.startswith("FAILED"):
            failures.append(f"{kind} {seed}: {told}")
    return counted, failures


def main() -> int:
    """Run everything and print the counts; 1 if anything failed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--texts", type=int, default=2000)
    options.add_argument("--files", type=int, default=500, help="for each reader")
    options.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.child:
        child(given.child[0], int(given.child[1]), int(given.child[2]))
        return 0
    bad = []
    for kind in KINDS:
        batches = -(-given.texts // BATCH)
        counted, failures = tally(kind, batches if kind == "job" else given.files)
        what = f"runs of {BATCH} texts" if kind == "job" else "files"
        print(
            f"{kind:<8} {counted.total():>5} {what}: " + ", ".join(f"{told} {n}" for told, n in counted.most_common()), flush=True
        )
        bad += failures
    print("\n".join(bad) or "no crash, no hang, no loss")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
