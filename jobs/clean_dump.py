"""Clean a table of MySQL, from a dump without any server, or straight from a server.

    python jobs/clean_dump.py --dump backup.sql.gz --output out/news
    python jobs/clean_dump.py --dump backup.sql.gz --table news --columns id=aid,title=subject,content=body --output out/news
    python jobs/clean_dump.py --server db.example.org/oldsite --table news --options-file ~/.my.cnf --output out/news

From a dump: the same dump without the duplicates, the duplicates, SQL for the live table, a report. From a server: SQL, a report.
Exit codes: 0 published, 1 a stage failed, 2 usage or configuration, 3 a gate refused to publish, 4 the input cannot be used.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dedup_lib import cli
from dedup_lib.clean import run as dumps
from dedup_lib.clean import server as servers
from dedup_lib.config import Config
from dedup_lib.diff import visible
from dedup_lib.dump.guess import parsed
from dedup_lib.errors import ConfigError
from dedup_lib.server import address
from dedup_lib.server.options import Options
from dedup_lib.server.options import driver as found_driver
from dedup_lib.server.source import Connection
from dedup_lib.session import open_session
from dedup_lib.settings import load_settings
from dedup_lib.summary import print_summary

Dump = Annotated[str | None, typer.Option(metavar="PATH", help="File, folder or glob; .sql, .gz, .bz2, .zst, .zip.")]
LiveServer = Annotated[
    str | None, typer.Option(metavar="HOST[:PORT]/DATABASE", help="A live server instead of a dump; needs Java for Spark.")
]
TableName = Annotated[str | None, typer.Option(help="Table, or DATABASE.TABLE; guessed where only one holds texts.")]
Roles = Annotated[
    str | None, typer.Option(metavar="ROLE=NAME,…", help="id, title, content, publish_time, source, url; the rest is guessed.")
]
DumpOption = Annotated[
    list[str], typer.Option(metavar="NAME=VALUE", help="How to read: charset, mode=quarantine, backslash, ddl, timezone.")
]
OptionsFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="[client] user=… password=…; without it the environment: MYSQL_USER, MYSQL_PWD."),
]
ServerOption = Annotated[
    list[str], typer.Option(metavar="NAME=VALUE", help="partition=COLUMN, parts, fetch (rows), tls=off|on|verify, timezone.")
]
DriverPath = Annotated[str | None, typer.Option(metavar="JAR", help="JDBC driver; default: of Debian's libmariadb-java.")]


def main(
    dump: Dump = None,
    server: LiveServer = None,
    table: TableName = None,
    columns: Roles = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the runs.")] = None,
    config: cli.ConfigOption = None,
    profile: Annotated[str | None, typer.Option(help="Profile of the rows.")] = None,
    verdicts: Annotated[str | None, typer.Option(metavar="FILE", help="What people decided; always wins.")] = None,
    engine: cli.EngineOption = None,
    set: cli.SetOption = [],
    dump_option: DumpOption = [],
    options_file: OptionsFile = None,
    server_option: ServerOption = [],
    driver: DriverPath = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run folder; default: time and settings.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be read, stop.")] = False,
) -> None:
    """Find exact and near duplicates in a table of a MySQL dump or server; neither is touched."""
    if (dump is None) == (server is None):
        raise ConfigError("--dump, --server: name a file or a server, one of them")
    of_servers = {"--options-file": options_file, "--server-option": server_option, "--driver": driver}
    if wrong := [name for name, value in (of_servers if dump else {"--dump-option": dump_option}).items() if value]:
        raise ConfigError(f"{', '.join(wrong)}: belongs to {'--server' if dump else '--dump'}")
    if server and engine is None and not any(entry.startswith("engine=") for entry in set):
        engine = "spark"
    named = {"output__path": output, "profile": profile, "input__verdicts": verdicts}
    settings = load_settings(config, cli.overrides(set, engine=engine, **named)).config
    if not settings.output.path:
        raise ConfigError("output.path (--output): not set")
    if dump:
        job = dumps.prepare(dump, table, parsed(columns), dict(cli.pairs("--dump-option", dump_option)))
        _show(settings, job)
        if not dry_run:
            with open_session(settings.engine) as session:
                _tell(dumps.clean(session, settings, job, run_id))
        return
    servers.check_engine(settings.engine)
    options = Options.of(dict(cli.pairs("--server-option", server_option)))
    given = address.parsed(server), address.login(options_file, os.environ), options, found_driver(driver)
    with open_session(settings.engine) as session:
        job = servers.prepare(Connection(session, *given), table, parsed(columns))
        _show(settings, job)
        if not dry_run:
            _tell(servers.clean(session, settings, job, run_id))


def _show(config: Config, job: dumps.Chosen) -> None:
    dumps.configured(config, job)
    print("\n".join(map(visible, dumps.plan_lines(job))), flush=True)


def _tell(result: dumps.Result) -> None:
    print_summary(result)
    print(f"report: {result.store.folder}/report.html")


if __name__ == "__main__":
    cli.run(main)
