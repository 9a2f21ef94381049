"""Deduplicate a whole corpus: the nightly full-history rebuild.

    spark-submit jobs/rebuild.py --config conf/rebuild.yaml --input /data/news --output /data/dedup
    python jobs/rebuild.py --input data/sample --output out/sample

Exit codes: 0 published or nothing to do, 1 a stage failed, 2 usage or configuration, 3 a gate refused to publish, 4 the input is
missing, stale or cannot be used, 75 another run works in the output.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.pipeline import rebuild
from dedup_lib.planning import plan
from dedup_lib.resume import How
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.summary import print_summary

EXIT_CODES = (
    "Exit codes: 0 published or nothing to do, 1 a stage failed, 2 usage or configuration, 3 a gate refused, "
    "4 input missing or stale, 75 locked by another run."
)


def main(
    input: Annotated[list[str], typer.Option(metavar="PATH", help="File, folder or glob; may be repeated.")] = [],
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the runs.")] = None,
    config: cli.ConfigOption = None,
    profile: Annotated[str | None, typer.Option(help="Profile of rows that name none.")] = None,
    verdicts: Annotated[str | None, typer.Option(metavar="FILE", help="What people decided; always wins.")] = None,
    engine: cli.EngineOption = None,
    set: cli.SetOption = [],
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Reuse nothing of earlier runs.")] = False,
    first: Annotated[str | None, typer.Option("--from", metavar="STAGE", help="Go on with the unfinished run here.")] = None,
    last: Annotated[str | None, typer.Option("--until", metavar="STAGE", help="Stop behind this stage.")] = None,
    take_over: Annotated[bool, typer.Option("--take-over", help="Ignore the lock of a run that is dead.")] = False,
    log_format: cli.LogOption = cli.LogFormat.text,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, stop.")] = False,
    print_config: Annotated[bool, typer.Option("--print-config", help="Print every setting and its origin, stop.")] = False,
) -> None:
    """Remove exact and near duplicates from a corpus of Chinese text, with evidence for every dropped row."""
    named = {"input__path": input or None, "output__path": output, "profile": profile, "input__verdicts": verdicts}
    settings = load_settings(config, cli.overrides(set, engine=engine, **named))
    if print_config:
        print("\n".join(settings.lines()))
        return
    how = How(fresh, first, last, take_over)
    with cli.logged(log_format) as say, open_session(settings.config.engine) as session:
        if dry_run:
            print("\n".join(plan(session, settings.config, run_id, how)))
            return
        result = rebuild(session, settings.config, run_id, say, how=how)
        if result.state != "stopped" and log_format is cli.LogFormat.text:
            print_summary(result)
        elif result.state == "stopped":
            say(f"stopped behind {last}; the job without --until goes on with run {result.store.run_id}")


if __name__ == "__main__":
    cli.run(main, EXIT_CODES)
