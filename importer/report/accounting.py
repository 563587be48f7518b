"""Pairs each row with its one outcome, fills the import_ columns, counts outcomes and groups problems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import chain, zip_longest
from typing import Final

from importer.models import (
    CREATED_EMAIL_DIFFERS,
    EXISTS_WORDS,
    ID_COLUMN,
    IMPORT_COLUMNS,
    NEEDS_ATTENTION,
    ROUTE_UNKNOWN,
    Outcome,
    OutcomeKind,
    Row,
)
from importer.problems import CellPlace, Origin, Place, Problem
from importer.report.outcomes import OUTCOMES
from importer.report.summary import PLACES_KEPT, ProblemGroup, Requests, RunFacts, RunState, Summary

MOST_GROUPS: Final = 500  # then problems of one code and column are one group, whatever their messages say
_DIFFER: Final = "the messages differ; the report has that of each row"
_SAME_AS: Final = "the e-mail address is the same as in another row, which the report names"
_WORD: Final = re.compile(r"[\w@.+'’-]+")
_QUOTED: Final = re.compile(r"""['"`“„‘«]([^'"`”“’»]{1,60})['"`”“’»]""")
_LONG_CELL: Final = 60  # characters; its words are not those of a name or a number

_ROW_THERE: Final = re.compile(r" \(row \d+ there\)")  # of an earlier run
# Their messages come from the service or the connection: the same code can have different causes.
_BY_MESSAGE: Final = frozenset(NEEDS_ATTENTION) - {OutcomeKind.INVALID}
# One column may have several shapes of such values, each with its own hint: `from 90000`, `100 000`.
_BY_HINT: Final = frozenset(("date-invalid", "email-invalid", "name-split-failed", "number-invalid", "phone-invalid"))
# Each unknown value is its own group, for the value table; so is each response with another e-mail address.
_BY_VALUE: Final = frozenset(("value-unknown", ROUTE_UNKNOWN, "not-an-option", CREATED_EMAIL_DIFFERS, EXISTS_WORDS))


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One row and its outcome."""

    row: Row
    outcome: Outcome

    @property
    def import_cells(self) -> dict[str, str]:
        """The cells by column: `7`, `400 rejected`, all problems with their places, all distinct hints, the ID."""
        label, status, problems = OUTCOMES[self.outcome.kind].label, self.outcome.status, self.outcome.problems
        told = [f"{place_in_row(problem.place, self.row)}{problem.message}" for problem in problems]
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
        shown = label if status is None else f"{status} {label}"
        number = self.outcome.candidate_id
        texts = str(self.row.number), shown, " | ".join(told), " | ".join(hints), "" if number is None else str(number)
        return dict(zip((*IMPORT_COLUMNS, ID_COLUMN), texts, strict=True))

    def highlighted_cells(self) -> dict[int, list[Problem]]:
        """The problems of the row's own cells, by column index."""
        cells: dict[int, list[Problem]] = {}
        for problem in self.outcome.problems:
            place = problem.place
            if isinstance(place, CellPlace) and place.column and place == self.row.place(place.column):
                cells.setdefault(place.column.index, []).append(problem)
        return cells


def pair(rows: Iterable[Row], outcomes: Iterable[Outcome]) -> Iterator[ReportedRow]:
    """Each row with its outcome; both must come in ascending order of row number. Memory stays flat.

    Raises AssertionError: a row does not have exactly one outcome, a bug of ours.
    """
    for row, outcome in zip_longest(rows, outcomes):
        if row is None or outcome is None or row.number != outcome.row:
            raise AssertionError(f"row {row and row.number} has the outcome of row {outcome and outcome.row}")
        yield ReportedRow(row, outcome)


def place_in_row(place: Place | None, row: Row) -> str:
    """The place for the import_ columns of the row, before its message: `Candidates!F7, column "Mobile": `.

    The full place if it is outside the row's sheet; "" for the row as a whole.
    """
    if place is None or (isinstance(place, CellPlace) and place == row.place()):
        return ""
    if isinstance(place, CellPlace) and place.origin == row.origin:
        where = str(place).removeprefix(f"{row.origin.file}, ")
        named = place.column is not None and place.origin.sheet is not None and place.column.name
        return f'{where}, column "{named}": ' if named else f"{where}: "
    return f"{place}: "


def place_in_list(place: Place | None, row: Row, origin: Origin | None = None) -> str:
    """The place for a group of problems of one column: `F7` in a workbook, `row 7` in a CSV.

    origin: the file of the places before it in the list, if any; a place in another file is written in full.
    """
    if place is None:
        return f"row {row.number}"
    if isinstance(place, CellPlace) and place.origin == (origin or row.origin):
        return place.address if place.origin.sheet is not None else f"row {place.row}"
    return str(place)


@dataclass(slots=True)
class _Group:
    """A group of problems; the first one is its example."""

    example: Problem
    example_row: int
    count: int = 0
    places: list[str] = field(default_factory=list)


class SummaryCounter:
    """Counts outcomes and groups problems; memory stays flat in the number of rows.

    identity: the indexes of the columns with names and addresses, which do not distinguish messages of the service.
    """

    def __init__(self, identity: Iterable[Iterable[int]] = ()) -> None:
        self._of_people = frozenset(chain.from_iterable(identity))
        self.outcomes = dict.fromkeys(OutcomeKind, 0)
        self._sent = 0
        self._retried = 0
        self._last_row: Collection[object] = ()
        self._groups: dict[tuple[OutcomeKind, str, str | None, str | None], _Group] = {}

    def add(self, reported: ReportedRow) -> None:
        """Count one row."""
        outcome, row = reported.outcome, reported.row
        self.outcomes[outcome.kind] += 1
        self._sent += outcome.attempts
        self._retried += max(outcome.attempts - 1, 0)
        # A cell can have a problem twice: both dates of a period.
        own = (problem for problem in outcome.problems if not _is_of_other_row(problem.place, row))
        found = {(self._key(problem, outcome.kind, row), problem.place): problem for problem in own}
        for (key, place), problem in found.items():
            shown = replace(problem, message=_DIFFER) if key[-1] == _DIFFER else problem
            group = self._groups.setdefault(key, _Group(shown, row.number))
            if problem.code == "email-duplicate" and problem.message != group.example.message:
                hint = re.sub(r"^fix row \d+, or ", "", group.example.hint)
                group.example = replace(group.example, message=_SAME_AS, hint=hint)
            group.count += 1
            is_told = place is not None and (key, place) in self._last_row  # as that of another row of the candidate
            if len(group.places) < PLACES_KEPT and not is_told:
                first = group.example.place
                origin = first.origin if group.places and isinstance(first, CellPlace) else None
                group.places.append(place_in_list(place, row, origin))
        self._last_row = found

    def _key(self, problem: Problem, outcome: OutcomeKind, row: Row) -> tuple[OutcomeKind, str, str | None, str | None]:
        text = None  # the message or the hint, where that distinguishes groups
        if problem.code in _BY_VALUE:
            text = problem.message
        elif outcome in _BY_MESSAGE:
            text = self._without_own_words(problem.message, row)
        elif problem.code in _BY_HINT:
            text = problem.hint
        elif problem.code == "document-unusable":  # what it is, without the name of the file
            text = problem.message.rpartition("'")[2]
        key = outcome, problem.code, problem.column, text
        is_full = text is not None and len(self._groups) >= MOST_GROUPS and key not in self._groups
        return (*key[:-1], _DIFFER) if is_full else key

    def _without_own_words(self, message: str, row: Row) -> str:
        """A message of the service without what is only of this row: its names, addresses, numbers and quoted cells."""
        own = {
            word
            for index, cell in enumerate(row.cells)
            if len(cell) <= _LONG_CELL
            for word in _words(cell)
            if index in self._of_people or (len(word) > 3 and any(map(str.isdigit, word)))
        }
        cells = {cell.strip().casefold() for cell in row.cells}
        message = _ROW_THERE.sub("", message)
        message = _QUOTED.sub(lambda found: "" if found[1].casefold() in cells else found[0], message)
        return " ".join(word for word in _words(message) if word not in own)

    def groups(self) -> tuple[ProblemGroup, ...]:
        """The groups of problems so far, the largest first, then by first row."""
        groups = []
        for (outcome, *_), group in self._groups.items():
            shown, example = str(group.example), group.example
            parts = shown, outcome, example.message, example.hint, tuple(group.places), example.severity
            groups.append(ProblemGroup(example.code, example.column, group.count, group.example_row, *parts))
        return tuple(sorted(groups, key=lambda group: (-group.count, group.example_row)))

    def summary(self, facts: RunFacts, files: Iterable[str], *, rows_are_read: bool = True) -> Summary:
        """The summary so far. `files`: those of the report; `rows_are_read`: false if the run is starting."""
        known = {each.name: getattr(facts, each.name) for each in fields(RunState)}
        known["source"] = replace(facts.source, rows=sum(self.outcomes.values()) if rows_are_read else None)
        return Summary(
            **known,
            outcomes=dict(self.outcomes),
            requests=Requests(self._sent, self._retried),
            problems=self.groups(),
            files=tuple(files),
        )


def _is_of_other_row(place: Place | None, row: Row) -> bool:
    """Whether a problem of a candidate is in another row of it, where it is counted."""
    return isinstance(place, CellPlace) and place.origin == row.origin and place.row != row.number


def _words(text: str) -> list[str]:
    return [word.strip(".'’-").removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text.casefold())]
