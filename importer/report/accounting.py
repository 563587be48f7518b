"""Pairs each row with its one outcome, fills the import_ columns, counts outcomes and groups problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from importer.models import (
    CREATED_EMAIL_DIFFERS,
    CREATED_EMAILS,
    EXISTS_WORDS,
    NEEDS_ATTENTION,
    Outcome,
    OutcomeKind,
    Row,
)
from importer.problems import CellPlace, Origin, Place, Problem
from importer.report.outcomes import OUTCOMES
from importer.report.summary import ProblemGroup, Requests, RunFacts, SourceSummary, Summary
from importer.text.results_cells import links_text

_BETWEEN: Final = " | "

# If the messages of a service contain values of the row, the number of groups must stay limited: after so many, rows
# are grouped by the text without names, numbers and addresses, after twice as many all others together.
MOST_GROUPS: Final = 500
_DIFFER: Final = "the messages differ; the report has that of each row"
# What is quoted, and words, but not the status in `(400: ...)`.
_PARTS: Final = re.compile(
    r"""(?<!\w)(?:'[^']+'|"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»)(?!\w)"""
    r"|\b(?!(?<=\()\d{3}[:,)])(?:[\w.+'’-]*@[\w.-]+|\w(?:[\w'’-]*\w)?)"
)
_LEFT_OUT: Final = re.compile(r"…(?:[\s,.;/-]*…)+")
_PLACES_KEPT: Final = 5

# Their messages come from the service or the connection: the same code can have different causes.
_GROUPED_BY_MESSAGE: Final = frozenset(NEEDS_ATTENTION) - {OutcomeKind.INVALID}
# One column may have several shapes of such values, each with its own hint: `from 90000`, `100 000`.
_GROUPED_BY_HINT: Final = frozenset(
    ("currency-of-format", "date-invalid", "decimal-invalid", "integer-invalid", "name-split-failed", "phone-invalid")
)
# Each unknown value is its own group: a person adds it to the value table. So is each created row whose response
# contains another e-mail address.
_GROUPED_BY_VALUE: Final = frozenset(
    {"value-unknown", "not-an-option", CREATED_EMAIL_DIFFERS, CREATED_EMAILS, EXISTS_WORDS}
)


class MissingOutcome(AssertionError):
    """A row without an outcome, or an outcome without a row: a bug of ours."""


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One row and its outcome."""

    row: Row
    outcome: Outcome
    import_cells: tuple[str, str, str, str] = field(init=False)
    """The cells of IMPORT_COLUMNS: `7`, `400 rejected`, all problems with their places, all distinct hints."""

    def __post_init__(self) -> None:
        problems, hints = "", ""
        if self.outcome.problems:
            problems = _BETWEEN.join(self._with_place(problem) for problem in self.outcome.problems)
            hints = _BETWEEN.join(dict.fromkeys(problem.hint for problem in self.outcome.problems if problem.hint))
        object.__setattr__(self, "import_cells", (str(self.row.number), self._status(), problems, hints))

    def _status(self) -> str:
        label = OUTCOMES[self.outcome.kind].label
        return label if self.outcome.status is None else f"{self.outcome.status} {label}"

    def _with_place(self, problem: Problem) -> str:
        where = place_in_row(problem.place, self.row)
        return f"{where}: {problem.message}" if where else problem.message

    def last_cells(self, facts: RunFacts) -> tuple[str, ...]:
        """The cells of `facts.last_columns`; of TYPED_COLUMN the letters of the row's typed cells, `D K`."""
        row, columns = self.row, facts.columns
        marks = row.typed_marks({each.index: each.letter for each in columns}) if facts.knows_types else {}
        letters = [" ".join(marks.values())] if facts.knows_types else ()
        number = self.outcome.candidate_id
        return (
            *(["" if number is None else str(number)] if facts.has_ids else ()),
            *letters,
            *([links_text(row.cells, row.links, [each.letter for each in columns])] if facts.has_links else ()),
        )

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

    Raises:
        MissingOutcome: a row does not have exactly one outcome.
    """
    waiting = iter(outcomes)
    for row in rows:
        outcome = next(waiting, None)
        if outcome is None or outcome.row > row.number:
            raise MissingOutcome(f"row {row.number} of {row.origin.file} has no outcome")
        if outcome.row < row.number:
            raise _without_row(outcome)
        yield ReportedRow(row, outcome)
    outcome = next(waiting, None)
    if outcome is not None:
        raise _without_row(outcome)


def _without_row(outcome: Outcome) -> MissingOutcome:
    return MissingOutcome(
        f"the outcome {outcome.kind} of row {outcome.row} has no row, or the row has a second outcome"
    )


# --- the place of a problem, as short as possible ------------------------------------------------


def place_in_row(place: Place | None, row: Row) -> str:
    """The place for the import_ columns of the row: `Candidates!F7, column "Mobile"`.

    The full place if it is outside the row's sheet; "" for the row as a whole.
    """
    if place is None or (isinstance(place, CellPlace) and place == row.place()):
        return ""
    if isinstance(place, CellPlace) and place.origin == row.origin:
        where = str(place).removeprefix(f"{row.origin.file}, ")
        named = place.column is not None and place.origin.sheet is not None and place.column.name
        return f'{where}, column "{named}"' if named else where
    return str(place)


def place_in_list(place: Place | None, row: Row, origin: Origin | None = None) -> str:
    """The place for a group of problems of one column: `F7` in a workbook, `row 7` in a CSV.

    origin: the file of the places before it in the list, if any; a place in another file is written in full.
    """
    if place is None:
        return f"row {row.number}"
    if isinstance(place, CellPlace) and place.origin == (origin or row.origin):
        return place.address if place.origin.sheet is not None else f"row {place.row}"
    return str(place)


# --- counts and groups of problems ----------------------------------------------------------------


class SummaryCounter:
    """Counts outcomes and groups problems; memory stays flat in the number of rows."""

    def __init__(self) -> None:
        self._rows = 0
        self._outcomes = dict.fromkeys(OutcomeKind, 0)
        self._sent = 0
        self._retried = 0
        self._groups: dict[_Key, _Group] = {}
        self._nth: dict[int, int] = {}
        self._is_full = False  # there were too many groups

    def add(self, reported: ReportedRow) -> None:
        """Count one row."""
        outcome = reported.outcome
        self._rows += 1
        self._outcomes[outcome.kind] += 1
        self._sent += outcome.attempts
        self._retried += max(outcome.attempts - 1, 0)
        counted: set[tuple[_Key, Place | None]] = set()
        for problem in outcome.problems:
            key = self._key(problem, outcome.kind, reported.row)
            if (key, problem.place) not in counted:  # a cell can have two: both dates of a period
                counted.add((key, problem.place))
                self._add_problem(key, problem, reported.row)

    def count(self, kind: OutcomeKind) -> int:
        """How many of the rows so far have this outcome."""
        return self._outcomes[kind]

    def groups(self) -> tuple[ProblemGroup, ...]:
        """The groups of problems so far, the largest first, then by first row."""
        groups = [group.as_problem_group(key) for key, group in self._groups.items()]
        return tuple(sorted(groups, key=lambda group: (-group.count, group.example_row)))

    def nth(self, group: ProblemGroup) -> int:
        """Which one of the rows of its outcome, from 1, the first row of the group is."""
        return self._nth[group.example_row]

    def _add_problem(self, key: _Key, problem: Problem, row: Row) -> None:
        if key not in self._groups:
            self._nth[row.number] = self._outcomes[key.outcome]
            group = _Group(problem, row.number, _without_names(key.text or "", row))
            self._groups[key] = self._with_alike(key, group) if key.is_general else group
        group = self._groups[key]
        group.count += 1
        if len(group.places) < _PLACES_KEPT:
            group.places.append(place_in_list(problem.place, row, group.origin if group.places else None))

    def _with_alike(self, key: _Key, group: _Group) -> _Group:
        """A new group, or the first one that has its text without names, with all others of that text."""
        same = [one for one, other in self._groups.items() if key == replace(one, text=other.general, is_general=True)]
        found = [self._groups.pop(one) for one in same]
        for other in found[1:]:
            found[0].count += other.count
            found[0].places = (found[0].places + other.places)[:_PLACES_KEPT]
        return found[0] if found else group

    def _key(self, problem: Problem, outcome: OutcomeKind, row: Row) -> _Key:
        by_message = outcome in _GROUPED_BY_MESSAGE or problem.code in _GROUPED_BY_VALUE
        text = problem.message if by_message else problem.hint if problem.code in _GROUPED_BY_HINT else None
        key = _Key(outcome, problem.code, problem.column, text)
        self._is_full = self._is_full or len(self._groups) >= MOST_GROUPS
        if key in self._groups or not self._is_full:
            return key
        if not by_message or problem.code in _GROUPED_BY_VALUE:
            return replace(key, text=None)
        general = replace(key, text=_without_names(problem.message, row), is_general=True)
        has_room = general in self._groups or len(self._groups) < 2 * MOST_GROUPS
        return general if has_room else replace(general, text=_DIFFER)

    def summary(self, facts: RunFacts, files: Iterable[str], *, rows_are_read: bool = True) -> Summary:
        """The summary of the rows so far; `files`: those of the report. `rows_are_read`: false if the run is starting.

        Raises:
            MissingOutcome: a row was not counted exactly once, a bug of ours.
        """
        counted = sum(self._outcomes.values())
        if counted != self._rows:
            raise MissingOutcome(f"{self._rows} rows were read, but {counted} outcomes counted")
        return Summary(
            run=facts.run,
            finished=facts.finished,
            exit_code=facts.exit_code,
            source=SourceSummary(
                file=facts.origin.file,
                sheet=facts.origin.sheet,
                sha256=facts.sha256,
                rows=self._rows if rows_are_read else None,
                blank_rows=facts.blank_rows,
                reading=facts.reading,
                taken=facts.taken,
            ),
            target=facts.target,
            target_title=facts.target_title,
            mapping=facts.mapping,
            outcomes=dict(self._outcomes),
            requests=Requests(self._sent, self._retried),
            problems=self.groups(),
            warnings=facts.warnings,
            stopped=facts.stopped,
            sandbox=facts.sandbox,
            dry_run=facts.dry_run,
            files=tuple(files),
            started_at=facts.started_at,
            ended_at=facts.ended_at,
            flags=dict(facts.flags),
            continues=facts.continues,
        )


@dataclass(frozen=True, slots=True)
class _Key:
    outcome: OutcomeKind
    code: str
    column: str | None
    text: str | None  # the message or the hint, where they distinguish groups
    is_general: bool = False  # the text is the message without what is of one row


@dataclass(slots=True)
class _Group:
    """A group of problems; the first one is its example. general: the text of its key without names."""

    example: Problem
    example_row: int
    general: str
    count: int = 0
    places: list[str] = field(default_factory=list)

    @property
    def origin(self) -> Origin | None:
        """The file or sheet of the example; None: that of the rows."""
        place = self.example.place
        return place.origin if isinstance(place, CellPlace) else None

    def as_problem_group(self, key: _Key) -> ProblemGroup:
        shown = replace(self.example, message=key.text) if key.is_general and key.text else self.example
        return ProblemGroup(
            code=key.code,
            column=key.column,
            count=self.count,
            example_row=self.example_row,
            message=str(shown),
            outcome=key.outcome,
            what=shown.message,
            hint=self.example.hint,
            places=tuple(self.places),
            severity=self.example.severity,
        )


def _without_names(message: str, row: Row) -> str:
    """A message without quotations, addresses, numbers, and names that the row has too."""
    own = {part.casefold() for cell in row.cells if len(cell) <= 60 for part in _PARTS.findall(cell)}

    def general(found: re.Match[str]) -> str:
        part = found[0]
        is_name = not part[0].islower() and part.casefold().removesuffix("'s") in own
        return "…" if is_name or not part[0].isalnum() or re.search(r"[@\d]", part) else part

    return _LEFT_OUT.sub("…", _PARTS.sub(general, message))
