"""What a person sees in a sheet and a reader of values does not: errors, missing results, formats, hidden rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from importer.extract.cell_text import Value
from importer.extract.number_format import DateKind, changes_text, date_kind
from importer.problems import Problem, column_letter, unusable_file

LAST_ROW = 1_048_576  # the largest row number of any format
LAST_COLUMN = 16_384  # likewise, of a column
FIRST_STRAY = 702  # the index of column AAA; few tables are as wide
_MAX_AREA = 20_000_000  # cells, including blank ones, that are read in acceptable time
_MIN_FILLED = 0.1  # share of filled cells in a table; stray cells fill less


class DamagedError(Exception):
    """The file is proven to be damaged: the values of no reader can be trusted."""


class UnknownFormError(ValueError):
    """The workbook has a form that our scan does not support; the message says which."""


def checked_row(number: int) -> int:
    """The row number, if a sheet can have it.

    Raises:
        DamagedError: no sheet has so many rows. A reader of values would allocate memory for all of them.
    """
    if number > LAST_ROW:
        raise DamagedError(f"it has a row {number:,}; the last possible row is {LAST_ROW:,}")
    return number


@dataclass(frozen=True, slots=True)
class MergedRange:
    """Merged cells, of which only the first has a value. Rows count from 1, columns from 0; both ends are included."""

    first_row: int
    first_index: int
    last_row: int
    last_index: int


class TooWideError(ValueError):
    """A few stray cells make the sheet too large for a reader that allocates its whole area."""


@dataclass(slots=True)
class StrayCells:
    """The rows with cells far to the right. `area` counts all their cells, `filled` those that the file contains."""

    first_row: int = 0
    first_index: int = 0
    rows: int = 0
    widest: int = 0
    area: int = 0
    filled: int = 0

    def note(self, row: int, first: int, last: int, filled: int) -> None:
        """Add a row: the indexes of its first and last stray cell, and how many cells the file has for it."""
        if not self.rows:
            self.first_row, self.first_index = row, first
        self.rows += 1
        self.widest = max(self.widest, last + 1)
        self.area += last + 1
        self.filled += filled

    def check(self, file: str) -> None:
        """Check that the stray cells are not in so many rows that every reader is slow.

        Raises:
            UnusableInput: they are; the message gives the address of the first.
        """
        if self.area > _MAX_AREA and self.filled < _MIN_FILLED * self.area:
            message = (
                f"stray cells make {self.rows:,} rows up to {self.widest:,} columns wide; the first is "
                f"{column_letter(self.first_index)}{self.first_row}"
            )
            hint = "delete the columns to the right of the table and save the workbook again, or save the sheet as CSV"
            raise unusable_file("sheet-too-wide", message, hint, file)

    def check_area(self, last_row: int) -> None:
        """Check that a reader that allocates the whole area can read the sheet.

        Raises:
            TooWideError: a few wide rows make the area many times that of the rows; use the other reader.
        """
        area = last_row * self.widest
        if area > _MAX_AREA and self.area * 2 < area:
            raise TooWideError(f"{last_row:,} rows x {self.widest:,} columns")


@dataclass(frozen=True, slots=True)
class Fault:
    """A cell whose value is not known: the text that stands for it, and its problem."""

    text: str
    problem: Problem


@dataclass(slots=True)
class CellFlags:
    """What the values of a sheet do not show, by row number (from 1) and column index (from 0).

    `errors`: the error that the cell shows, such as `#N/A`. `unstored`: formulas without a stored result. `formats`:
    the number formats that change what a person sees (see `CellStyles`). `values`: those that a reader of values
    returns wrongly or not at all; `faults`: likewise, where the right one is not known. `hidden`: the hidden rows.
    `hidden_columns`: the indexes of the hidden columns. `merged`: the merged cells. `links`: the addresses of
    hyperlinks (in XLSX). `uncalculated`: the rows of formulas with a result of 0 or an empty text that a
    program may have written without calculating, by column;
    `in_utc`: likewise, the dates stored as text in UTC. `stray`: the cells far to the right; `end`: the last row that
    the sheet lists, or 0 (both only in XLSX). `unchecked`: why the scan failed and nothing of this is known, or "".
    """

    errors: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    unstored: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    formats: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    values: defaultdict[int, dict[int, Value]] = field(default_factory=lambda: defaultdict(dict))
    faults: defaultdict[int, dict[int, Fault]] = field(default_factory=lambda: defaultdict(dict))
    hidden: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    merged: list[MergedRange] = field(default_factory=list)
    links: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    uncalculated: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    in_utc: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    stray: StrayCells = field(default_factory=StrayCells)
    end: int = 0
    unchecked: str = ""

    @property
    def last_row(self) -> int:
        """The last row with an error or a formula: a reader of values may end before it."""
        return max((*self.errors, *self.unstored, *self.faults, *self.values), default=0)

    def set_value(self, row: int, index: int, value: Value | Fault) -> None:
        """Note what is read of a cell instead of what a reader of values returns."""
        if isinstance(value, Fault):
            self.faults[row][index] = value
        else:
            self.values[row][index] = value


# --- the number formats of a workbook -------------------------------------------------------------

# Built-in formats that change what a person sees: no stylesheet lists them.
_BUILT_IN = {9: "0%", 10: "0.00%", **dict.fromkeys((14, 15, 16, 17, 22), "yyyy-mm-dd")}
_BUILT_IN |= dict.fromkeys((18, 19, 20, 21, 45, 47), "h:mm") | {46: "[h]:mm:ss"}


@dataclass(frozen=True, slots=True)
class CellStyles:
    """What the number formats of a workbook do, by cell style.

    `formats`: those that change what a person sees of a number or text, or show a currency. `dates`: what the formats
    of dates show. `is_1904`: its days are counted from 1904.
    """

    formats: dict[int, str] = field(default_factory=dict)
    dates: dict[int, DateKind] = field(default_factory=dict)
    is_1904: bool = False

    @classmethod
    def of(cls, codes: dict[int, str], styles: Iterable[int], *, is_1904: bool) -> CellStyles:
        """`codes`: the formats that the workbook declares, by number; `styles`: the number of the format of each."""
        known = _BUILT_IN | codes
        named = {style: known.get(number, "") for style, number in enumerate(styles)}
        dates = {style: kind for style, code in named.items() if (kind := date_kind(code))}
        return cls({style: code for style, code in named.items() if changes_text(code)}, dates, is_1904)
