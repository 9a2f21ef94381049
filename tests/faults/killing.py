"""Kill the job at a random moment, look at what readers see, run it again, compare.

    python -m tests.faults.killing --kills 30 --rows 20000

Each seed begins with an output in which another result is published. The job and everything it started get SIGKILL at a moment
drawn from the time that an undisturbed run takes. Then what is published must be whole: the old result, or the new one if the
kill came after the pointer. The job is started again (and killed again, in some seeds) until it ends; its tables must be those of
the undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.corpus import make_corpus
from dedup_lib.fingerprints import STAGES
from dedup_lib.publishing import current_run
from tests.pipeline.helpers import digest, published

PLACES = (*STAGES, "judge")  # where a run can be killed
DELAYS = (0.5, 0.5, 0.2, 0.0, 0.0, 0.0)  # shares of a stage's time, after which it is tried to kill it
Moment = Callable[[float], bool]  # whether, so many seconds after the start, the time has come
ROOT = Path(__file__).resolve().parents[2]


class Outcome(NamedTuple):
    """What one seed gave."""

    seed: int
    kills: int
    behind: list[str]  # the last stage that each killed run had ended
    went_on: bool  # the last run took something from a killed one
    valid: bool  # what was published was whole after each kill
    equal: bool  # the result is that of the undisturbed run


class Killing:
    """A corpus, its undisturbed result, and an output with another one to begin with."""

    def __init__(self, folder: Path, rows: int, *settings: str) -> None:
        self.folder, self.settings = folder, settings
        self.corpus = make_corpus("mixed", rows, 1, folder / "corpus").files
        before = make_corpus("mixed", max(200, rows // 10), 2, folder / "before").files
        self._whole(self._command(before, folder / "old"))
        self.old = digest(published(folder / "old"))
        begin = time.monotonic()  # the kernels are compiled by now
        self._whole(self._command(self.corpus, folder / "undisturbed"))
        self.seconds = time.monotonic() - begin
        self.stages = published(folder / "undisturbed")["metrics"]["seconds"]  # of each stage
        self.expected = digest(published(folder / "undisturbed"))

    def one(self, seed: int) -> Outcome:
        """Kill once or more, then let the job end."""
        chance = random.Random(seed)
        output = self.folder / f"seed-{seed}"
        kills, seconds = chance.choice([1, 1, 1, 2, 3]), self.seconds
        behind: list[str] = []
        valid = True
        while len(behind) < kills:
            if not behind:
                self._begin(output)
            text, ended = self._killed(output, after(chance.uniform(0.3, seconds)))
            if not ended:
                behind.append(_last_stage(text))
                valid &= digest(published(output)) in (self.old, self.expected)
            elif behind:
                break
            else:
                seconds *= 0.7  # the machine is faster now: too late, once more
        return Outcome(seed, len(behind), behind, *self._made_good(output, valid))

    def in_stage(self, stage: str) -> Outcome:
        """Kill once, while a stage runs (``judge``: behind the last one, before the pointer), then let the job end."""
        output = self.folder / f"stage-{stage}"
        number = PLACES.index(stage)
        for delay in DELAYS:
            self._begin(output)
            seconds = delay * self.stages.get(stage, 0.3)
            text, ended = self._killed(output, behind_stage(output, number, seconds))
            if not ended and ended_stages(output) == number and "published: run" not in text:
                break
        else:
            raise AssertionError(f"{stage} was always over before the kill")
        valid = digest(published(output)) == self.old
        return Outcome(number, 1, [PLACES[number - 1] if number else "nothing"], *self._made_good(output, valid))

    def _begin(self, output: Path) -> None:
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(self.folder / "old", output)

    def _made_good(self, output: Path, valid: bool) -> tuple[bool, bool, bool]:
        done = self._whole(self._command(self.corpus, output))
        went_on = "going on with run" in done or "nothing to do" in done
        equal = digest(published(output)) == self.expected
        shutil.rmtree(output)
        return went_on, valid, equal

    def _command(self, corpus: str, output: Path) -> list[str]:
        words = [word for setting in self.settings for word in ("--set", setting)]
        job = [sys.executable, str(ROOT / "jobs" / "rebuild.py"), "--engine", "embedded"]
        return [*job, "--input", corpus, "--output", str(output), *words]

    def _whole(self, command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def _killed(self, output: Path, moment: Moment) -> tuple[str, bool]:
        """What a run said until it was killed, and whether it had ended before."""
        with (self.folder / "said").open("wb+") as said:
            command = self._command(self.corpus, output)
            process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
            begun = time.monotonic()
            while process.poll() is None and not moment(time.monotonic() - begun):
                time.sleep(0.002)
            ended = process.poll() is not None
            if not ended:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            said.seek(0)
            return said.read().decode("utf-8", "replace"), ended


def after(seconds: float) -> Moment:
    """So long after the start."""
    return lambda passed: passed > seconds


def behind_stage(output: Path, number: int, seconds: float) -> Moment:
    """So long after so many stages of the unfinished run were done; before the first: after it claimed its folder."""
    since: list[float] = []

    def moment(passed: float) -> bool:
        if not since and ended_stages(output) >= number:
            since.append(passed)
        return bool(since) and passed - since[0] >= seconds

    return moment


def ended_stages(output: Path) -> int:
    """How many stages the newest run has ended, by its lineage; -1 if there is no run beside the published one."""
    runs = [folder for folder in (output / "runs").iterdir() if folder.name != current_run(str(output))]
    if not runs:
        return -1
    try:
        lines = (runs[0] / "lineage.jsonl").read_text("utf-8").splitlines()
    except FileNotFoundError:
        return 0
    return len({name for line in lines if '"COMPLETE"' in line for name in STAGES if f'"dedup.{name}"' in line})


def _last_stage(text: str) -> str:
    stages = [line.split("]")[1].split()[0] for line in text.splitlines() if line.startswith("[") and " round " not in line]
    return "published" if "published: run" in text else stages[-1] if stages else "nothing"


def main() -> None:
    """Kill, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="seeds")
    parser.add_argument("--rows", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="killing-") as folder:
        killing = Killing(Path(folder), given.rows)
        print(f"undisturbed: {killing.seconds:.1f} s", flush=True)
        outcomes = []
        for seed in range(given.kills):
            outcomes.append(killing.one(seed))
            print(json.dumps(outcomes[-1]._asdict()), flush=True)
    every = Counter(stage for outcome in outcomes for stage in outcome.behind)
    print(f"seeds {len(outcomes)}, kills {sum(o.kills for o in outcomes)}, by the last stage that had ended: {dict(every)}")
    valid, equal, went_on = (sum(getattr(o, name) for o in outcomes) for name in ("valid", "equal", "went_on"))
    print(f"published result valid {valid}, rerun equal {equal}, rerun went on where the killed one ended {went_on}")
    sys.exit(not (valid == equal == len(outcomes)))


if __name__ == "__main__":
    main()
