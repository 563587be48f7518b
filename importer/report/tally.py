"""Counts what became of the rows, and groups like problems, while they pass by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from importer.models import CREATED_EMAILS, CREATED_OTHER_EMAIL, OutcomeKind, Problem
from importer.report.places import place_in_list
from importer.report.reported import ReportedRow
from importer.report.summary import ProblemGroup, Requests
from importer.report.words import OPEN

# A service that puts the row's own values into its messages must not make a group, and memory, of each row.
MOST_GROUPS: Final = 500
PLACES_KEPT: Final = 5

# Their messages are the service's words or tell of the connection: like codes do not mean like causes.
_GROUPED_BY_MESSAGE: Final = frozenset(OPEN) - {OutcomeKind.INVALID}
# Of a value that no table or question knows, each is a group of its own: a person adds them to the table one by one.
# And each created row whose response names somebody else is looked at by itself.
_GROUPED_BY_VALUE: Final = frozenset({"value-unknown", "choice-unknown", CREATED_OTHER_EMAIL, CREATED_EMAILS})


@dataclass(frozen=True, slots=True)
class _Key:
    outcome: OutcomeKind
    code: str
    column: str | None
    message: str | None


@dataclass(slots=True)
class _Gathering:
    """A group that still grows; the first problem in it is its example."""

    example: Problem
    example_row: int
    count: int = 0
    places: list[str] = field(default_factory=list)


class Tally:
    """What the rows seen so far add up to."""

    def __init__(self) -> None:
        self.rows = 0
        self.outcomes = dict.fromkeys(OutcomeKind, 0)
        self._sent = 0
        self._retried = 0
        self._groups: dict[_Key, _Gathering] = {}

    @property
    def requests(self) -> Requests:
        return Requests(self._sent, self._retried)

    def add(self, reported: ReportedRow) -> None:
        """Count one row."""
        outcome = reported.outcome
        self.rows += 1
        self.outcomes[outcome.kind] += 1
        self._sent += outcome.attempts
        self._retried += max(outcome.attempts - 1, 0)
        for problem in outcome.problems:
            self._add_problem(problem, reported)

    def _add_problem(self, problem: Problem, reported: ReportedRow) -> None:
        key = self._key(problem, reported.outcome.kind)
        group = self._groups.setdefault(key, _Gathering(problem, reported.row.number))
        group.count += 1
        if len(group.places) < PLACES_KEPT:
            group.places.append(place_in_list(problem.place, reported.row))

    def _key(self, problem: Problem, outcome: OutcomeKind) -> _Key:
        by_message = outcome in _GROUPED_BY_MESSAGE or problem.code in _GROUPED_BY_VALUE
        message = problem.message if by_message else None
        key = _Key(outcome, problem.code, problem.column, message)
        if key in self._groups or len(self._groups) < MOST_GROUPS:
            return key
        return _Key(outcome, problem.code, problem.column, None)

    def problems(self) -> tuple[ProblemGroup, ...]:
        """The groups, the largest first, then by the row where they first occur."""
        groups = [_group(key, gathering) for key, gathering in self._groups.items()]
        return tuple(sorted(groups, key=lambda group: (-group.count, group.example_row)))


def _group(key: _Key, gathering: _Gathering) -> ProblemGroup:
    return ProblemGroup(
        code=key.code,
        column=key.column,
        count=gathering.count,
        example_row=gathering.example_row,
        message=str(gathering.example),
        outcome=key.outcome,
        what=gathering.example.message,
        hint=gathering.example.hint,
        places=tuple(gathering.places),
    )
