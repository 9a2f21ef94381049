"""The errors a user can meet, and the exit code of each.

DedupError                 1  a stage failed
 ├─ ConfigError            2  bad usage or configuration: every problem found, at once
 ├─ GateRefused            3  the run finished, its result was not published
 ├─ InputError             4  the input is missing, unreadable, stale or not what the configuration says
 └─ Locked                75  another run works in the output

A message names the file, column, row or setting at fault, its value, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# What an engine may quote of a document: what follows "record parsing:", long quotations, Chinese.
_QUOTED = re.compile(r"(?<=record parsing: ).*|'[^'\n]{60,}'|\"[^\"\n]{60,}\"|[^\x00-\x7f]{4,}", re.DOTALL)


# What the system says when a disk takes no more, in whatever an engine wraps it.
_TAKES_NO_MORE = re.compile(r"No space left on device|Disk quota exceeded|Read-only file system")


def no_room(error: BaseException | None) -> bool:
    """Whether an error, or one behind it, says that a disk takes no more."""
    while error is not None:
        if _TAKES_NO_MORE.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def redacted(text: str) -> str:
    """What an engine or an interpreter says, without what may be a document's text: logs go where documents may not."""
    return _QUOTED.sub("…", text)


class DedupError(Exception):
    """A stage failed for a reason that the message explains."""

    exit_code = 1


class ConfigError(DedupError):
    """One or more settings are wrong; ``problems`` holds one line for each."""

    exit_code = 2

    def __init__(self, problems: Sequence[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class StorageUnknown(ConfigError):
    """This process cannot open the storage that a URI names, though the engine may."""


class GateRefused(DedupError):
    """The result is complete but must not be published; it stays in its run folder for inspection."""

    exit_code = 3


class InputError(DedupError):
    """The input cannot be used as configured."""

    exit_code = 4


class Locked(DedupError):
    """Somebody else writes into the output; trying again later helps (EX_TEMPFAIL)."""

    exit_code = 75
