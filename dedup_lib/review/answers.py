"""A person's answers: the sheet as a spreadsheet saved it, or the file that the review page saves; checked line by line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from dedup_lib.diff import visible
from dedup_lib.errors import InputError
from dedup_lib.review.questions import question_key
from dedup_lib.review.table import Judgement
from dedup_lib.stages.verdicts import DUPLICATE, NOT_DUPLICATE, PROTECT
from dedup_lib.strings import LANGUAGES, strings

Lookup = Callable[[str, Sequence[str]], dict[str, tuple[str, str]]]  # a run and questions of it -> the ids behind them

_SKIP = ""
_MEANINGS = {"duplicate": DUPLICATE, "different": NOT_DUPLICATE, "protect": PROTECT, "skip": _SKIP}
_WORDS = {strings("review", language)[f"word_{name}"]: meaning for language in LANGUAGES for name, meaning in _MEANINGS.items()}
_WORDS |= {**_MEANINGS, NOT_DUPLICATE: NOT_DUPLICATE, "": _SKIP, "d": DUPLICATE, "f": NOT_DUPLICATE, "p": PROTECT, "s": _SKIP}
_NEEDED = ("question", "run_id", "doc_id", "kept_id", "verdict")
_PROBLEMS = 10  # told at once
_LARGEST = 1 << 28  # bytes of a file


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Saved(_Part):
    question: str
    doc_id: str
    kept_id: str
    verdict: Literal["duplicate", "different", "protect"]
    judged_at: AwareDatetime


class _File(_Part):
    format: Literal["dedup-verdicts"]
    version: Literal[1]
    run_id: str
    judged_by: str | None = Field(default=None, max_length=200)
    verdicts: list[_Saved]


class _Line(NamedTuple):
    """An answer before its ids are certain."""

    place: str
    question: str
    run_id: str
    ids: tuple[str, str]
    verdict: str
    judged_by: str | None
    judged_at: datetime


def read_answers(path: str, judged_by: str | None, now: datetime, lookup: Lookup) -> tuple[list[Judgement], int]:
    """The judgements of a file, and how many questions it leaves open. Raises ``InputError`` naming every line at fault.

    ``judged_by`` is for files that do not say who; a sheet does not, nor when, so its answers are of ``now``.
    """
    data = _read(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("gb18030", "replace")  # what a Chinese spreadsheet saves
    lines = _of_page(path, text, judged_by) if text.lstrip().startswith("{") else _of_sheet(path, text, judged_by, now)
    given = [line for line in lines if line.verdict]
    ids = _certain(path, given, lookup)
    found = [
        Judgement(*_sides(ids[line.question], line.verdict), line.verdict, line.judged_by, line.judged_at.astimezone(UTC))
        for line in given
    ]
    return found, len(lines) - len(given)


def _sides(ids: tuple[str, str], verdict: str) -> tuple[str, str | None]:
    return (ids[0], None) if verdict == PROTECT else ids


def _read(path: str) -> bytes:
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST:
            raise InputError(f"{path}: more than {_LARGEST:,} bytes; is it the file with the verdicts?")
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _of_page(path: str, text: str, judged_by: str | None) -> list[_Line]:
    try:
        saved = _File.model_validate(json.loads(text))
    except ValidationError as error:
        told = [f"{'.'.join(map(str, problem['loc'])) or 'file'}: {problem['msg']}" for problem in error.errors()]
        raise InputError(f"{path}: not as the review page saves it: " + "; ".join(map(visible, told[:_PROBLEMS]))) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {str(error)[:200]}; save it again from the review page") from None
    return [
        _Line(f"verdict {number}", v.question, saved.run_id, (v.doc_id, v.kept_id), _MEANINGS[v.verdict],
              judged_by or saved.judged_by, v.judged_at)
        for number, v in enumerate(saved.verdicts, 1)
    ]  # fmt: skip


def _of_sheet(path: str, text: str, judged_by: str | None, now: datetime) -> list[_Line]:
    csv.field_size_limit(_LARGEST)
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    if missing := [name for name in _NEEDED if name not in (reader.fieldnames or [])]:
        raise InputError(f"{path}: lacks the column {', '.join(missing)}; use the sheet that jobs/review.py export writes")
    found, problems = [], []
    try:
        for row in reader:
            place, word = f"line {reader.line_num}", (row["verdict"] or "").strip().lower()
            if word not in _WORDS:
                problems.append(f"{place}: verdict {visible(word[:40])!r}: write duplicate, different, protect or skip")
                continue
            values = {name: row[name] or "" for name in _NEEDED}
            ids = (values["doc_id"], values["kept_id"])
            found.append(_Line(place, values["question"], values["run_id"], ids, _WORDS[word], judged_by, now))
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: {error}; save the sheet as CSV again") from None
    _tell(path, problems)
    return found


def _certain(path: str, lines: Sequence[_Line], lookup: Lookup) -> dict[str, tuple[str, str]]:
    """The ids of each question: those of the file where they fit the question's name, else those of its run.

    A spreadsheet makes 7 of 007, and the sheet itself puts a quote before what looks like a formula.
    """
    known = {line.question: line.ids for line in lines if question_key(*line.ids) == line.question}
    by_run: dict[str, list[str]] = {}
    for line in lines:
        if line.question not in known:
            by_run.setdefault(line.run_id, []).append(line.question)
    for run_id, questions in sorted(by_run.items()):
        known |= lookup(run_id, sorted(set(questions)))
    _tell(path, [
        f"{line.place}: question {visible(line.question[:40])!r} is none of run {visible(line.run_id[:60])!r}"
        for line in lines if line.question not in known
    ])  # fmt: skip
    return known


def _tell(path: str, problems: Sequence[str]) -> None:
    if problems:
        more = f"; and {len(problems) - _PROBLEMS:,} more" if len(problems) > _PROBLEMS else ""
        raise InputError(f"{path}: " + "; ".join(problems[:_PROBLEMS]) + more + ". Nothing was imported")
