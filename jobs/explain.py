"""Show what happened to one row: its cluster, its survivor, the measures against the thresholds, and the differences.

python jobs/explain.py --output out/sample --doc-id 20230105-3
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.explain import explain, print_explanation
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings


def main(
    output: Annotated[str, typer.Option(metavar="DIR", help="Folder of the runs.")],
    doc_id: Annotated[str, typer.Option(metavar="ID", help="The row.")],
    run_id: Annotated[str | None, typer.Option(help="The run; default: the published one.")] = None,
    config: cli.ConfigOption = None,
    engine: cli.EngineOption = None,
) -> None:
    """Print the evidence for one row."""
    settings = load_settings(config, cli.overrides([], engine=engine))
    with open_session(settings.config.engine) as session:
        print_explanation(explain(session, output, doc_id, run_id))


if __name__ == "__main__":
    cli.run(main)
