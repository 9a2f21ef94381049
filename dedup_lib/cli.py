"""What the jobs share: turning errors into messages and exit codes, and the options that every job knows."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, NoReturn

import typer

from dedup_lib.diff import visible
from dedup_lib.errors import ConfigError, DedupError, redacted
from dedup_lib.metrics import Line, json_line, tell, tell_json
from dedup_lib.session import under_spark_submit
from dedup_lib.strings import checked_language

INTERNAL = 1

ConfigOption = Annotated[str | None, typer.Option("--config", metavar="FILE", help="Settings; default: conf/rebuild.yaml.")]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help="embedded (no Java), spark, or connect=sc://HOST:PORT; spark under spark-submit."),
]
SetOption = Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="Override one setting; may be repeated.")]
LanguageOption = Annotated[str | None, typer.Option("--language", help="en or zh; default: that of the run's settings.")]


def check_language(language: str | None) -> None:
    """Raise ``ConfigError`` for a language that there is not; None is that of the run."""
    if language is not None:
        checked_language(language)


def run(job: Callable[..., None], epilog: str | None = None) -> NoReturn:
    """Run a job function as a command: its parameters are the options, its docstring the help."""
    app = _app()
    app.command(epilog=epilog)(_guarded(job))
    app()
    sys.exit(0)


def run_group(jobs: Mapping[str, Callable[..., None]], text: str, epilog: str) -> NoReturn:
    """Run several job functions as sub-commands of one."""
    app = _app(help=text, epilog=epilog)
    for name, job in jobs.items():
        app.command(name)(_guarded(job))
    app()
    sys.exit(0)


def _app(**more: str) -> typer.Typer:
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **more)


class LogFormat(StrEnum):
    """How a job tells what it does."""

    text = "text"
    json = "json"


LogOption = Annotated[LogFormat, typer.Option("--log-format", help="text, or json: an object a line.")]


@contextmanager
def logged(form: LogFormat) -> Iterator[Callable[[str], None]]:
    """How to tell progress. As JSON also errors are objects, and never quote what an engine says of a document."""
    if form is LogFormat.text:
        yield tell
        return
    try:
        yield tell_json
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        code = error.exit_code if isinstance(error, DedupError) else INTERNAL
        message = str(error) if isinstance(error, DedupError) else "internal failure; nothing was published"
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-5:]]
        where = {} if isinstance(error, DedupError) else {"frames": frames}
        facts = {"level": "error", "event": "error", "error": type(error).__name__, "exit_code": code, **where}
        print(json_line(Line(message, **facts)), file=sys.stderr)
        sys.exit(code)


def _guarded(job: Callable[..., None]) -> Callable[..., None]:
    from functools import wraps

    @wraps(job)
    def guarded(*args: object, **options: object) -> None:
        try:
            job(*args, **options)
        except DedupError as error:
            problems = error.problems if isinstance(error, ConfigError) else [str(error)]
            for problem in problems:
                print("error: " + "\n".join(map(visible, problem.split("\n"))), file=sys.stderr)
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            _interrupted()
        except Exception as error:
            if _by_the_user(error):
                _interrupted()
            if "UNAVAILABLE" in str(error) and "_InactiveRpcError" in str(error):
                print("error: the engine stopped (interrupted, or out of memory); nothing was published", file=sys.stderr)
                sys.exit(INTERNAL)
            print(redacted(traceback.format_exc()), file=sys.stderr)
            print(f"error: internal failure in {type(error).__name__}; nothing was published", file=sys.stderr)
            sys.exit(INTERNAL)

    return guarded


def _interrupted() -> NoReturn:
    print("interrupted; nothing was published", file=sys.stderr)
    sys.exit(INTERNAL)


def _by_the_user(error: BaseException | None) -> bool:
    """Whether an error came while an interrupt was being handled: the engine's client hides it behind its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def overrides(given: list[str], **named: object) -> list[str]:
    """Options with names of their own as ``--set`` entries; those given last win. None means not given."""
    if under_spark_submit() and named.get("engine") is None:
        named["engine"] = "spark"
    return [*given, *(f"{name.replace('__', '.')}={_yaml(value)}" for name, value in named.items() if value is not None)]


def _yaml(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def pairs(option: str, given: list[str]) -> list[tuple[str, str]]:
    """NAME=VALUE entries of an option that may be repeated. Raises ``ConfigError`` for one without ``=``."""
    found = [entry.partition("=") for entry in given]
    if wrong := [name for name, equals, _ in found if not equals]:
        raise ConfigError([f"{option} {name!r}: write NAME=VALUE" for name in wrong])
    return [(name, value) for name, _, value in found]
