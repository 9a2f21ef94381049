"""What the histogram job does: analyse a run or raw input, and say what was found."""

from __future__ import annotations

import os

from dedup_lib.analysis.histogram import Request, analyse, analyse_input
from dedup_lib.analysis.what_if import run_folder
from dedup_lib.analysis.words import proposal_lines
from dedup_lib.config import Config
from dedup_lib.errors import ConfigError
from dedup_lib.finished import finished_run
from dedup_lib.metrics import tell
from dedup_lib.session import open_session
from dedup_lib.store import RunStore, check_paths
from dedup_lib.strings import checked_language


def show(config: Config, output: str, run_id: str | None, request: Request, raw: bool, language: str) -> None:
    """Analyse, write the tables, and say what they show. ``raw``: the input of ``config`` instead of a finished run."""
    checked_language(language)
    if raw:
        check_paths(config.input.path, output)
        if os.path.exists(os.path.join(folder := run_folder(output, run_id or f"look-{config.fingerprint()}"), "manifest.json")):
            raise ConfigError(f"--run-id: {folder} is a finished run; leave out --input to analyse it")
    else:
        folder = run_folder(output, run_id)
    with open_session(config.engine) as session:
        if raw:
            store = RunStore(session, output, os.path.basename(folder))
            made = analyse_input(session, config, request, store)
        else:
            store, settings = finished_run(session, folder)
            made = analyse(store, settings, request)
    for line in proposal_lines(made, folder, language):
        tell(line)
