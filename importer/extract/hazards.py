"""What a reader of values does not see in a sheet, and a person does: errors, missing results, formats, hidden rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from importer.extract.far_cells import FarCells

LAST_ROW = 1_048_576  # of a sheet, in every format that knows so many


class DamagedError(Exception):
    """The file itself proves that it is damaged: no reader's values of it can be trusted."""


def checked_row(number: int) -> int:
    """The number of a row, which a sheet can have.

    Raises:
        DamagedError: no sheet has so many rows. A reader of values would take the room for all of them.
    """
    if number > LAST_ROW:
        raise DamagedError(f"it has a row {number:,}, and the last that a sheet can have is {LAST_ROW:,}")
    return number


@dataclass(frozen=True, slots=True)
class MergedRange:
    """Cells that are shown as one, of which only the first holds a value; rows from 1, columns from 0, inclusive."""

    first_row: int
    first_index: int
    last_row: int
    last_index: int


@dataclass(slots=True)
class Hazards:
    """Cells that need more care than their value says, by row number (from 1) and column index (from 0).

    `errors`: the error that the cell shows, such as `#N/A`. `unstored`: formulas without a stored result. `formats`:
    the number formats that change what a person sees (see `changes_text`). `hidden`: rows that are not shown.
    `merged`: cells shown as one. `far`: what lies far to the right; `end`: the last row that the sheet lists, or 0
    (both only in XLSX). `unchecked`: why all this is not known, where it could not be looked for.
    """

    errors: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    unstored: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    formats: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    hidden: set[int] = field(default_factory=set)
    merged: list[MergedRange] = field(default_factory=list)
    far: FarCells = field(default_factory=FarCells)
    end: int = 0
    unchecked: str = ""

    @property
    def last_row(self) -> int:
        """The last row that holds an error or a formula: a reader of values may end before it."""
        return max((*self.errors, *self.unstored), default=0)
