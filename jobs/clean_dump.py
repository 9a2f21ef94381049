"""Clean a MySQL dump without a server: the same dump without the duplicates, the duplicates, SQL for the live table, a report.

    python jobs/clean_dump.py --dump backup.sql.gz --output out/news
    python jobs/clean_dump.py --dump backup.sql.gz --table news --columns id=aid,title=subject,content=body --output out/news

Exit codes: 0 published, 1 a stage failed, 2 usage or configuration, 3 a gate refused to publish, 4 the input cannot be used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.clean.run import clean, configured, plan_lines, prepare
from dedup_lib.dump.guess import parsed
from dedup_lib.errors import ConfigError
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.summary import print_summary


def main(
    dump: Annotated[str | None, typer.Option(metavar="PATH", help="File, folder or glob; .sql, .gz, .bz2, .zst, .zip.")] = None,
    table: Annotated[str | None, typer.Option(help="Table, or DATABASE.TABLE; guessed where only one holds texts.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="ROLE=NAME,…", help="id, title, content, publish_time, source, url; the rest is guessed."),
    ] = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the runs.")] = None,
    config: cli.ConfigOption = None,
    profile: Annotated[str | None, typer.Option(help="Profile of the rows.")] = None,
    verdicts: Annotated[str | None, typer.Option(metavar="FILE", help="What people decided; always wins.")] = None,
    engine: cli.EngineOption = None,
    set: cli.SetOption = [],
    dump_option: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="How to read: charset, mode=quarantine, backslash, ddl, timezone.")
    ] = [],
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder; default: time and settings.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be read, stop.")] = False,
) -> None:
    """Remove exact and near duplicates from a table in a MySQL dump; the dump itself is not touched."""
    if dump is None:
        raise ConfigError("--dump: name the file")
    named = {"output__path": output, "profile": profile, "input__verdicts": verdicts}
    settings = load_settings(config, cli.overrides(set, engine=engine, **named))
    if not settings.config.output.path:
        raise ConfigError("output.path (--output): not set")
    options = dict(cli.pairs("--dump-option", dump_option))
    job = prepare(dump, table, parsed(columns), options)
    configured(settings.config, job)
    print("\n".join(plan_lines(job)), flush=True)
    if dry_run:
        return
    with open_session(settings.config.engine) as session:
        print_summary(result := clean(session, settings.config, job, run_id))
        print(f"report: {result.store.folder}/report.html")


if __name__ == "__main__":
    cli.run(main)
