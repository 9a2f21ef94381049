"""One measurement: make the corpus, run the job in a fresh process, compare with the truth, append a line to the results."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import typer

from bench.corpus import Corpus, make_corpus
from bench.events import SETTINGS, read_events
from bench.machine import ROOT, commit, java_home, machine
from bench.modes import MODES
from bench.peers import Peer, peers, prepare
from bench.quality import quality, read_asked, read_run, read_truth

RESULTS = ROOT / "bench" / "results.jsonl"
ENGINES = ("embedded", "spark")
_RUN = "bench"
_SHOWN_LINES = 20  # of the output of a command that failed


Measured = dict[str, object]


class Failed(Exception):
    """A measured command that did not succeed; says how it ended."""


class Size(NamedTuple):
    """A corpus in numbers. ``bytes``: UTF-8 of the column content."""

    rows: int
    bytes: int


def corpus_size(files: str) -> Size:
    """Rows and bytes of content of a glob, a folder or a file of Parquet, read batch by batch."""
    rows = size = 0
    for batch in ds.dataset(paths(files), format="parquet").to_batches(columns=["content"]):
        rows += len(batch)
        size += pc.sum(pc.binary_length(batch["content"])).as_py() or 0
    return Size(rows, size)


def paths(files: str) -> list[str]:
    """The Parquet files of a glob or a folder. Raises ``typer.BadParameter`` where there are none."""
    found = sorted(glob.glob(os.path.join(files, "**", "*.parquet") if os.path.isdir(files) else files, recursive=True))
    if not found:
        raise typer.BadParameter(f"input {files}: no such Parquet files")
    return found


def metered(command: Sequence[str], work: Path, watch: Path | None, timeout: float, extra: Mapping[str, str]) -> Measured:
    """Run a command in a process tree of its own; what it cost. Raises ``Failed`` if it fails or takes too long."""
    report, log = work / "usage.json", work / "log.txt"
    meter = [sys.executable, "-m", "bench.meter", "--report", str(report), "--timeout", str(timeout)]
    meter += ["--watch", str(watch)] if watch else []
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | dict(extra)
    with log.open("wb") as out:
        subprocess.run([*meter, "--", *command], cwd=ROOT, env=environment, stdout=out, stderr=out, check=False)
    usage = json.loads(report.read_text("utf-8")) if report.exists() else {"exit_code": "no measurement"}
    if usage["exit_code"] != 0:
        tail = log.read_text("utf-8", "replace").splitlines()[-_SHOWN_LINES:]
        print("\n".join(tail), file=sys.stderr)
        code = usage["exit_code"]
        raise Failed(f"took longer than {timeout:g} seconds" if code is None else f"failed (exit code {code})")
    return {name: value for name, value in usage.items() if name != "exit_code"}


# A made corpus may be anything: half of it one cluster, all of it one family.
_ANY_CORPUS = [
    f"gates.{gate}.{level}=null" for gate in ("largest_cluster", "hot_bucket", "review_load") for level in ("warn", "fail")
]


def job_command(engine: str, files: str, output: Path, events: Path, settings: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command that runs the job on an engine, and its environment variables."""
    job = [str(ROOT / "jobs" / "rebuild.py"), "--input", files, "--output", str(output), "--run-id", _RUN]
    job += [word for setting in (*_ANY_CORPUS, *settings) for word in ("--set", setting)]
    if engine == "embedded":
        return [sys.executable, *job, "--engine", engine], {}
    home = java_home(quiet=False)
    if home is None:
        raise Failed("Apache Spark needs a Java 17 or later")
    submit = [str(Path(sys.executable).parent / "spark-submit"), "--properties-file", str(ROOT / "conf" / "spark-local.conf")]
    conf = SETTINGS | {"spark.eventLog.dir": events.as_uri()}
    submit += [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    return submit + job, {"JAVA_HOME": home, "PYSPARK_PYTHON": sys.executable}


def rates(usage: Mapping[str, object], size: Size) -> dict[str, float]:
    """Rows and megabytes (10^6 bytes of UTF-8 content) for each second of wall time, start of the process included."""
    seconds = float(usage["wall_seconds"])
    return {"rows_per_second": round(size.rows / seconds, 1), "mb_per_second": round(size.bytes / 1e6 / seconds, 3)}


def measure_job(engine: str, corpus: Corpus, size: Size, settings: Sequence[str], work: Path, timeout: float) -> Measured:
    """The job on one engine: what it cost, what its metrics say, how right it was."""
    output, events = work / "out", work / "events"
    events.mkdir()
    command, environment = job_command(engine, corpus.files, output, events, settings)
    folder = output / "runs" / _RUN
    usage = metered(command, work, folder, timeout, environment)
    told = json.loads((folder / "metrics.json").read_text("utf-8"))
    spark = read_events(events) if engine == "spark" else {}
    return {
        **usage,
        **rates(usage, size),
        "shuffle_bytes": spark.get("shuffle_write_bytes"),
        "spilled_bytes": spark.get("spilled_disk_bytes"),
        "spark": spark or None,
        "stages": told["seconds"],
        "rows": told["rows"],
        "dropped": told["dropped"],
        "candidate_pairs": told["candidates"]["pairs_given"],
        "naive_pairs": told["candidates"]["pairs_of_a_naive_self_join"],
        "verified_pairs": told["candidates"]["verified"],
        "quality": quality(read_run(folder), read_truth(corpus.truth), read_asked(folder)) if corpus.truth else None,
    }


def measure_peer(peer: Peer, corpus: Corpus, size: Size, work: Path, timeout: float) -> Measured:
    """One other tool on the same files; or the reason why there is no measurement."""
    who = {"name": peer.name, "version": peer.version}
    if peer.missing:
        return who | {"skipped": peer.missing}
    found = work / f"{peer.name}.parquet"
    command = [*peer.command, "--input", corpus.files, "--output", str(found)]
    try:
        usage = metered(command, work, None, timeout, peer.environment)
    except Failed as reason:
        return who | {"skipped": str(reason)}
    good = quality(pq.read_table(found), read_truth(corpus.truth)) if corpus.truth else None
    return who | usage | rates(usage, size) | {"quality": good}


def told(name: str, measured: Mapping[str, object]) -> str:
    """A measurement as a line to read."""
    if reason := measured.get("skipped"):
        return f"{name:<12} left out: {reason}"
    line = f"{name:<12} {measured['wall_seconds']:>8.1f} s  {measured['cpu_seconds']:>8.1f} s CPU  "
    line += f"{measured['rows_per_second']:>9,.0f} rows/s  {measured['peak_memory_bytes'] / 1e9:>6.2f} GB"
    good = measured["quality"]
    rate = {key: "-" if not good or good[key] is None else f"{good[key]:.4f}" for key in ("precision", "recall", "f1")}
    return line + f"  precision {rate['precision']}  recall {rate['recall']}  F1 {rate['f1']}"


def main(
    mode: Annotated[str, typer.Option(help=", ".join(MODES))] = "mixed",
    rows: Annotated[int, typer.Option(min=2, help="Rows of the corpus that is made.")] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the corpus that is made.")] = 1,
    engine: Annotated[str, typer.Option(help=", ".join(ENGINES))] = "embedded",
    input: Annotated[str | None, typer.Option(metavar="GLOB", help="Parquet files to use instead of a made corpus.")] = None,
    truth: Annotated[str | None, typer.Option(metavar="FILE", help="Of --input: doc_id, cluster_id[, kind].")] = None,
    peers_too: Annotated[bool, typer.Option("--peers/--no-peers", help="Run other tools on the same files.")] = False,
    peers_folder: Annotated[Path, typer.Option(metavar="DIR", help="Environment of the other tools.")] = ROOT / ".venv-peers",
    settings: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="Of the job; may be repeated.")] = (),
    timeout: Annotated[float, typer.Option(help="Seconds after which a run is ended.")] = 7200,
    results: Annotated[Path, typer.Option(metavar="FILE", help="JSON lines to append to.")] = RESULTS,
    scratch: Annotated[Path, typer.Option(metavar="DIR", help="Where corpus and runs lie meanwhile.")] = ROOT / "out",
) -> None:
    """Measure the job once, and other tools beside it."""
    if mode not in MODES or engine not in ENGINES:
        raise typer.BadParameter(f"mode: one of {', '.join(MODES)}; engine: one of {', '.join(ENGINES)}")
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="bench-") as folder:
        work = Path(folder)
        corpus = Corpus(input, truth) if input else make_corpus(mode, rows, seed, work / "corpus")
        size = corpus_size(corpus.files)
        about = {"mode": "input" if input else mode, "seed": None if input else seed, "rows": size.rows, "bytes": size.bytes}
        print(f"{about['mode']}: {size.rows:,} rows, {size.bytes / 1e6:,.1f} MB of content", flush=True)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        line = {"made": now, **commit(), "machine": machine(), "corpus": about, "engine": engine, "settings": list(settings)}
        try:
            line["run"] = measure_job(engine, corpus, size, settings, work, timeout)
        except Failed as reason:
            print(f"error: the job {reason}; nothing was recorded", file=sys.stderr)
            raise typer.Exit(1) from None
        print(told(engine, line["run"]), flush=True)
        line["peers"] = []
        if peers_too:
            prepare(peers_folder, print)
            for peer in peers(peers_folder):
                line["peers"].append(measure_peer(peer, corpus, size, work, timeout))
                print(told(peer.name, line["peers"][-1]), flush=True)
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"appended to {results}")


if __name__ == "__main__":
    typer.run(main)
