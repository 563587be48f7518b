"""What can go wrong with a run as a whole: one class for each reaction, not for each cause.

    ImporterError                 the message is for a person; the class says the exit code
    |-- UsageError          (2)   the command was typed wrongly
    |-- UnusableInput       (3)   file, mapping or settings cannot be used; nothing was sent
    |   `-- DamagedRun            what is kept of an earlier run cannot be used; what that sent is not known here
    |-- StoppedEarly        (5)   the service cannot be worked with now; safe to run again
    `-- Busy               (75)   another run holds the lock

What is wrong with one row is no exception: it is a `Problem` and ends in an `Outcome`.
Anything that is not an ImporterError is a bug of ours and shows its traceback (exit code 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from importer.models import Problem


class ImporterError(Exception):
    """A run cannot go on, and a person can do something about it."""

    exit_code: ClassVar[int] = 1


class UsageError(ImporterError):
    """The command was typed wrongly."""

    exit_code = 2


class UnusableInput(ImporterError):
    """File, mapping or settings cannot be used. Nothing was sent.

    Carries every problem that was found, never only the first.
    """

    exit_code = 3

    def __init__(self, problems: Sequence[Problem] | Problem) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class DamagedRun(UnusableInput):
    """What is kept of a run cannot be used. Whether it sent anything is not known from it."""


class StoppedEarly(ImporterError):
    """The service cannot be worked with now (token refused, no connection). Safe to run again."""

    exit_code = 5


class Busy(ImporterError):
    """Another run holds the lock of this ledger and target."""

    exit_code = 75
