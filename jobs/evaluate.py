"""Measure decisions against labelled pairs or clusters: precision, recall and F1 at every threshold, beside other methods.

python jobs/evaluate.py --input corpus/ --labels truth.parquet --output out/evaluation

Exit codes: 0 measured, 1 a stage failed, 2 usage or configuration, 3 a gate refused the run, 4 labels or input cannot be used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.errors import ConfigError
from dedup_lib.evaluate import Request, evaluate, print_comparison
from dedup_lib.evaluation.labels import parse_meanings
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings


def main(
    labels: Annotated[str, typer.Option(metavar="FILE", help="Parquet or CSV: pairs, or clusters.")],
    output: Annotated[str, typer.Option(metavar="DIR", help="Folder for the result.")],
    input: Annotated[list[str], typer.Option(metavar="PATH", help="The corpus; may be repeated.")] = [],
    run: Annotated[str | None, typer.Option(metavar="DIR", help="A finished run to measure, not a new one.")] = None,
    meaning: Annotated[list[str], typer.Option(metavar="VALUE=LABEL", help="duplicate, different or skip.")] = [],
    original: Annotated[str, typer.Option(help="Kind of rows that are no copy.")] = "orig",
    config: cli.ConfigOption = None,
    profile: Annotated[str | None, typer.Option(help="Profile of rows that name none.")] = None,
    engine: cli.EngineOption = None,
    set: cli.SetOption = [],
) -> None:
    """Measure decisions against labelled pairs or clusters of rows."""
    named = {"input__path": input or None, "profile": profile}
    if run and (config or set or any(named.values())):
        raise ConfigError("--run: a finished run has its own input and settings; leave out --input, --config, --profile, --set")
    settings = load_settings(config, cli.overrides(set, engine=engine, **named))
    request = Request(labels, output, run, parse_meanings(meaning), original)
    with open_session(settings.config.engine) as session:
        print_comparison(evaluate(session, settings.config, request), output)


if __name__ == "__main__":
    cli.run(main)
