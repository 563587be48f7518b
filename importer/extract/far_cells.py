"""Cells far to the right: a stray one makes a sheet enormous for readers that keep every cell of its area."""

from __future__ import annotations

from dataclasses import dataclass

from importer.errors import UnusableInput
from importer.extract.layout import column_letter
from importer.models import FilePlace, Problem

FIRST_FAR = 702  # the index of column AAA; few tables have as many columns
_AREA = 20_000_000  # cells, blank ones too, that are read in fair time
_FILLED = 0.1  # of a table, not of stray cells


class TooWideError(ValueError):
    """A few far cells make the sheet too large for a reader that keeps its whole area."""


@dataclass(slots=True)
class FarCells:
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
