"""The errors a user can meet, and the exit code of each.

DedupError                 1  a stage failed
 ├─ ConfigError            2  bad usage or configuration: every problem found, at once
 ├─ GateRefused            3  the run finished, its result was not published
 └─ InputError             4  the input is missing, unreadable or not what the configuration says

A message names the file, column, row or setting at fault, its value, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class DedupError(Exception):
    """A stage failed for a reason that the message explains."""

    exit_code = 1


class ConfigError(DedupError):
    """One or more settings are wrong; ``problems`` holds one line for each."""

    exit_code = 2

    def __init__(self, problems: Sequence[str] | str) -> None:
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        super().__init__("\n".join(self.problems))


class GateRefused(DedupError):
    """The result is complete but must not be published; it stays in its run folder for inspection."""

    exit_code = 3


class InputError(DedupError):
    """The input cannot be used as configured."""

    exit_code = 4
