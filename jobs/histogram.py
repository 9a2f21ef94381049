"""Show the similarities of a corpus: a sample against everything, the valley, what another threshold would do, pairs at the cut.

    python jobs/histogram.py --output out/sample
    python jobs/histogram.py --output out/sample --at 0.75
    python jobs/histogram.py --input crawl/ --output out/look

Exit codes: 0 done, 1 a stage failed, 2 usage or configuration, 4 the run, the labels or the input cannot be used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.errors import ConfigError


def main(
    output: Annotated[str, typer.Option(metavar="DIR", help="Folder of the runs.")],
    run_id: Annotated[str | None, typer.Option(help="The run; default: the published one.")] = None,
    at: Annotated[float | None, typer.Option(metavar="J", help="What would this drop_jaccard do? From existing tables.")] = None,
    input: Annotated[list[str], typer.Option(metavar="PATH", help="Raw rows instead of a run: histogram and valley only.")] = [],
    labels: Annotated[str | None, typer.Option(metavar="FILE", help="Labels or verdicts; default: the run's verdicts.")] = None,
    meaning: Annotated[list[str], typer.Option(metavar="VALUE=LABEL", help="duplicate, different or skip.")] = [],
    sample: Annotated[int, typer.Option(min=2, max=10_000, help="Texts of each profile to draw.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws others.")] = 1,
    borderline: Annotated[int, typer.Option(min=1, max=10_000, help="Pairs on each side of the cut.")] = 50,
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    profile: Annotated[str | None, typer.Option(help="With --input: profile of rows that name none.")] = None,
    config: cli.ConfigOption = None,
    engine: cli.EngineOption = None,
    set: cli.SetOption = [],
) -> None:
    """Show how alike the texts of a corpus are, and propose a threshold; settings are never changed."""

    if not input and (set or profile):
        raise ConfigError("--set, --profile: a finished run has its own settings; they go with --input")
    if at is not None:
        from dedup_lib.analysis.what_if import answer  # neither engine nor kernels: in a second or two

        answer(output, run_id, at, language)
        return
    from dedup_lib.analysis import desk
    from dedup_lib.evaluation.labels import parse_meanings
    from dedup_lib.settings import load_settings

    request = desk.Request(sample, seed, borderline, labels, parse_meanings(meaning))
    settings = load_settings(config, cli.overrides(set, engine=engine, input__path=input or None, profile=profile))
    desk.show(settings.config, output, run_id, request, bool(input), language)


if __name__ == "__main__":
    cli.run(main)
