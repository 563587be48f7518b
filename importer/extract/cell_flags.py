"""What a reader of values does not see in a sheet, and a person does: errors, missing results, formats, hidden rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from importer.extract.cell_text import changes_text
from importer.problems import FilePlace, Problem, UnusableInput, column_letter

LAST_ROW = 1_048_576  # of a sheet, in every format that knows so many
FIRST_FAR = 702  # the index of column AAA; few tables have as many columns
_AREA = 20_000_000  # cells, blank ones too, that are read in fair time
_FILLED = 0.1  # of a table, not of stray cells


class DamagedError(Exception):
    """The file itself proves that it is damaged: no reader's values of it can be trusted."""


def checked_row(number: int) -> int:
    """The number of a row, which a sheet can have.

    Raises:
        DamagedError: no sheet has so many rows. A reader of values would take the room for all of them.
    """
    if number > LAST_ROW:
        raise DamagedError(f"it has a row {number:,}; the last possible row is {LAST_ROW:,}")
    return number


@dataclass(frozen=True, slots=True)
class MergedRange:
    """Cells that are shown as one, of which only the first holds a value; rows from 1, columns from 0, inclusive."""

    first_row: int
    first_index: int
    last_row: int
    last_index: int


class TooWideError(ValueError):
    """A few far cells make the sheet too large for a reader that keeps its whole area."""


@dataclass(slots=True)
class StrayCells:
    """The rows that reach far to the right. `area` counts all their cells, `filled` those that the file holds."""

    first_row: int = 0
    first_index: int = 0
    rows: int = 0
    widest: int = 0
    area: int = 0
    filled: int = 0

    def note(self, row: int, first: int, last: int, filled: int) -> None:
        """Note a row: the indexes of its first and last far cell, and how many cells it holds in all."""
        if not self.rows:
            self.first_row, self.first_index = row, first
        self.rows += 1
        self.widest = max(self.widest, last + 1)
        self.area += last + 1
        self.filled += filled

    def check(self, file: str) -> None:
        """Refuse stray cells in so many rows that no reader is quick.

        Raises:
            UnusableInput: there are, with the address of the first.
        """
        if self.area > _AREA and self.filled < _FILLED * self.area:
            raise UnusableInput(
                Problem(
                    "sheet-too-wide",
                    f"stray cells make {self.rows:,} rows up to {self.widest:,} columns wide; the first is "
                    f"{column_letter(self.first_index)}{self.first_row}",
                    "delete the columns to the right of the table and save the workbook again, or save the sheet as "
                    "CSV",
                    FilePlace(file),
                )
            )

    def check_area(self, last_row: int) -> None:
        """Hand the sheet over to a reader that keeps no area, where only some of its rows are wide.

        Raises:
            TooWideError: they make the area many times that of the rows.
        """
        area = last_row * self.widest
        if area > _AREA and self.area * 2 < area:
            raise TooWideError(f"{last_row:,} rows x {self.widest:,} columns")


@dataclass(slots=True)
class CellFlags:
    """Cells that need more care than their value says, by row number (from 1) and column index (from 0).

    `errors`: the error that the cell shows, such as `#N/A`. `unstored`: formulas without a stored result. `formats`:
    the number formats that change what a person sees (see `changes_text`). `hidden`: rows that are not shown.
    `merged`: cells shown as one. `stray`: what lies far to the right; `end`: the last row that the sheet lists, or 0
    (both only in XLSX). `unchecked`: why all this is not known, where it could not be looked for.
    """

    errors: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    unstored: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    formats: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    hidden: set[int] = field(default_factory=set)
    merged: list[MergedRange] = field(default_factory=list)
    stray: StrayCells = field(default_factory=StrayCells)
    end: int = 0
    unchecked: str = ""

    @property
    def last_row(self) -> int:
        """The last row that holds an error or a formula: a reader of values may end before it."""
        return max((*self.errors, *self.unstored), default=0)


# --- what several formats share ------------------------------------------------------------------

_PERCENT_FORMATS = {9: "0%", 10: "0.00%"}  # the built-in ones that no stylesheet lists


def formats_by_style(codes: dict[int, str], styles: Iterable[int]) -> dict[int, str]:
    """The number formats that change the digits a person sees, by cell style.

    `codes`: the formats that the workbook declares, by number; `styles`: the number of the format of each style.
    """
    known = _PERCENT_FORMATS | codes
    named = {style: known.get(number, "") for style, number in enumerate(styles)}
    return {style: code for style, code in named.items() if changes_text(code)}
