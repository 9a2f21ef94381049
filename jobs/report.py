"""Write the report of a finished run again: report.html in its folder.

python jobs/report.py --output out/sample --language zh

Exit codes: 0 written, 1 internal failure, 2 usage or configuration, 4 there is no such run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.report import write_report
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.store import RunStore, current_run


def main(
    output: Annotated[str, typer.Option(metavar="DIR", help="Folder of the runs.")],
    run: Annotated[str | None, typer.Option(metavar="ID", help="The run; default: the published one.")] = None,
    language: cli.LanguageOption = None,
    config: cli.ConfigOption = None,
    engine: cli.EngineOption = None,
) -> None:
    """Write the report of a run."""
    cli.check_language(language)
    settings = load_settings(config, cli.overrides([], engine=engine))
    with open_session(settings.config.engine) as session:
        store = RunStore(session, output, run or current_run(output))
        print(f"report: {store.folder}/{write_report(store, language)}")


if __name__ == "__main__":
    cli.run(main)
