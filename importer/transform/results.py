"""What becomes of a row that is not sent."""

from __future__ import annotations

from dataclasses import dataclass

from importer.models import Problem


@dataclass(frozen=True, slots=True)
class Filtered:
    """The row is left out by the mapping's own `where`."""

    row: int
    problem: Problem


@dataclass(frozen=True, slots=True)
class Invalid:
    """The row cannot be sent; `problems` are all that were found in it, at least one."""

    row: int
    problems: tuple[Problem, ...]
