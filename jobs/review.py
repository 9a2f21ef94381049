"""The review loop: questions of a run out to people, their verdicts back into the table that the next run obeys.

    python jobs/review.py export --output out/sample --to out/review
    python jobs/review.py import verdicts-RUN.json --verdicts verdicts.parquet --output out/sample
    python jobs/rebuild.py … --verdicts verdicts.parquet

Exit codes: 0 done, 1 internal failure, 2 usage, 4 there is no such run, the file is wrong, or verdicts contradict each other.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.review.loop import export_questions, import_answers
from dedup_lib.review.questions import Request
from dedup_lib.settings import load_settings

TEXT = "Questions of a run (--output) to people, and their verdicts back."
EXIT_CODES = "Exit codes: 0 done, 2 usage, 4 there is no such run, the file is wrong, or verdicts contradict each other."
Output = Annotated[str, typer.Option("--output", metavar="DIR", help="Folder of the runs.")]


def export_command(
    output: Output,
    to: Annotated[str, typer.Option(metavar="DIR", help="Folder for review.csv and review.html.")],
    run: Annotated[str | None, typer.Option(metavar="ID", help="The run; default: the published one.")] = None,
    verdicts: Annotated[str | None, typer.Option(metavar="FILE", help="What is answered already is not asked again.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="So many questions at most.")] = 500,
    drops: Annotated[int, typer.Option(min=0, help="And so many drops, to check them.")] = 0,
    language: cli.LanguageOption = None,
    config: cli.ConfigOption = None,
    engine: cli.EngineOption = None,
) -> None:
    """Write the questions of a run as a sheet and as a page to answer by keyboard."""
    cli.check_language(language)
    settings = load_settings(config, cli.overrides([], engine=engine)).config
    request = Request(output, run, to, verdicts, limit, drops, language or settings.output.language)
    export_questions(settings.engine, request)


def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The filled sheet, or what the page saved.")],
    verdicts: Annotated[str, typer.Option(metavar="FILE", help="The verdict table: .parquet or .csv; made if absent.")],
    output: Output,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who judged; default: what the page noted.")] = None,
    latest: Annotated[bool, typer.Option("--latest", help="Of contradictory verdicts take the latest.")] = False,
    config: cli.ConfigOption = None,
    engine: cli.EngineOption = None,
) -> None:
    """Check a person's answers and append them to the verdict table."""
    settings = load_settings(config, cli.overrides([], engine=engine)).config
    import_answers(settings.engine, file, verdicts, output, by, latest, datetime.now(UTC))


if __name__ == "__main__":
    cli.run_group({"export": export_command, "import": import_command}, TEXT, EXIT_CODES)
