"""A source row with what became of it, as the import_ columns tell it; every row has exactly one outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from importer.models import CellPlace, Column, Outcome, Place, Problem, Row
from importer.report.outcomes import OUTCOMES

_BETWEEN: Final = " | "


class Unaccounted(AssertionError):
    """A row has no outcome, or an outcome no row: a bug of ours, never the user's."""


@dataclass(frozen=True, slots=True)
class ReportedRow:
    """One row and its outcome."""

    row: Row
    outcome: Outcome
    import_cells: tuple[str, str, str, str] = field(init=False)
    """The cells of IMPORT_COLUMNS: `7`, `400 rejected`, every problem with its place, every distinct hint."""

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

    def typed_letters(self, columns: Sequence[Column]) -> str:
        """The cell of TYPED_COLUMN: the letters of the cells that the workbook kept as values, `D K`."""
        return " ".join(column.letter for column in columns if column.index in self.row.typed)

    def highlighted_cells(self) -> dict[int, list[Problem]]:
        """The row's own cells that have problems, by their column's index."""
        cells: dict[int, list[Problem]] = {}
        for problem in self.outcome.problems:
            place = problem.place
            if isinstance(place, CellPlace) and place.column and place == self.row.place(place.column):
                cells.setdefault(place.column.index, []).append(problem)
        return cells


def pair(rows: Iterable[Row], outcomes: Iterable[Outcome]) -> Iterator[ReportedRow]:
    """Each row with its outcome; both must come in ascending order of row number. Memory stays flat.

    Raises:
        Unaccounted: not every row has exactly one outcome.
    """
    waiting = iter(outcomes)
    for row in rows:
        outcome = next(waiting, None)
        if outcome is None or outcome.row > row.number:
            raise Unaccounted(f"row {row.number} of {row.origin.file} has no outcome")
        if outcome.row < row.number:
            raise _without_row(outcome)
        yield ReportedRow(row, outcome)
    outcome = next(waiting, None)
    if outcome is not None:
        raise _without_row(outcome)


def _without_row(outcome: Outcome) -> Unaccounted:
    return Unaccounted(f"the outcome {outcome.kind} of row {outcome.row} has no row, or the row has a second outcome")


# --- where a problem is, in as few words as its reader needs: the file is known already ----------


def place_in_row(place: Place | None, row: Row) -> str:
    """For a reader who has the row, though perhaps not at its old place: `Candidates!F7, column "Mobile"`.

    The whole place if it is elsewhere; "" for the row as such.
    """
    if place is None or (isinstance(place, CellPlace) and place == row.place()):
        return ""
    if isinstance(place, CellPlace) and place.origin == row.origin:
        where = str(place).removeprefix(f"{row.origin.file}, ")
        named = place.column is not None and place.origin.sheet is not None and place.column.name
        return f'{where}, column "{named}"' if named else where
    return str(place)


def place_in_list(place: Place | None, row: Row) -> str:
    """For a list of like problems under the name of their column: `F7` of a workbook, `row 7` of a CSV."""
    if place is None:
        return f"row {row.number}"
    if isinstance(place, CellPlace) and place.origin == row.origin:
        in_workbook = place.column is not None and place.origin.sheet is not None
        return f"{place.column.letter}{place.row}" if in_workbook and place.column else f"row {place.row}"
    return str(place)
