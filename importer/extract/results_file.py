"""The form of a results file that is imported again: its header, the columns that were added, and its values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from importer.extract.cell_text import header_text, width_of
from importer.models import ADDED_COLUMNS, IMPORT_COLUMNS
from importer.problems import Column, Problem

_CURRENCY = re.compile(r"(?<!\S)([A-Z]+)=([+-]?[\d.]+%?)([^\d\s.%]\S*)")
# How Row writes a workbook's numbers, dates, times and booleans. Row never writes 45.000, which may mean 45 thousand.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


@dataclass(frozen=True, slots=True)
class ResultsHeader:
    """The header of a results file: the source's own columns, from the index `first` on, and the added ones.

    `added`: the indexes of the added columns, by name.
    """

    first: int
    columns: tuple[Column, ...]
    added: dict[str, int]

    def own(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        """The cells of the source's own columns."""
        own = cells[self.first : self.first + len(self.columns)]
        return own + ("",) * (len(self.columns) - len(own))

    def text(self, cells: Sequence[str], name: str) -> str:
        """The cell of an added column; "" if there is none."""
        return "".join(cells[at : at + 1]) if (at := self.added.get(name)) is not None else ""

    def row_number(self, cells: Sequence[str]) -> int | None:
        """The number of the source's row, if it is given."""
        text = self.text(cells, IMPORT_COLUMNS[0])
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def results_header(cells: Sequence[str]) -> ResultsHeader | None:
    """The header of a results file; None if it is another file.

    A person may have removed some of the added columns; one is enough.
    """
    first, end = 0, width_of(cells)
    added: dict[str, int] = {}
    while first < end and cells[first] in ADDED_COLUMNS:
        added[cells[first]] = first
        first += 1
    while first < end and cells[end - 1] in ADDED_COLUMNS:
        end -= 1
        added[cells[end]] = end
    columns = tuple(Column.at(index, header_text(cells[first + index])) for index in range(end - first))
    return ResultsHeader(first, columns, added) if added else None


# --- its values -------------------------------------------------------------------------------------


_DATE = re.compile(r"\d+([./-])\d+\1\d+.*", re.DOTALL)
_AS_DATE: Final = "write it as YYYY-MM-DD (in a text cell)"
_AS_NUMBER: Final = "write it as 1234.5, with a point for decimals and nothing between thousands"


def typed_cells(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> frozenset[int]:
    """The indexes of the cells that TYPED_COLUMN lists, except blank ones."""
    named = {each.partition("=")[0] for each in letters.split()}
    return frozenset(column.index for column in columns if column.letter in named and cells[column.index])


def listed_currencies(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> tuple[tuple[int, str], ...]:
    """The currencies that TYPED_COLUMN lists, of the cells that still have the number that they had."""
    listed = {letter: (number, currency) for letter, number, currency in _CURRENCY.findall(letters)}
    found = ((column.index, *listed[column.letter]) for column in columns if column.letter in listed)
    return tuple((index, currency) for index, number, currency in found if cells[index] == number)


def links_unreadable() -> Problem:
    """The problem of a row whose LINKS_COLUMN was changed: what it listed is lost."""
    message = "the cell import_links of this row was changed and cannot be read"
    hint = "copy it from the results file again; or clear it, and write the web addresses into the row's own cells"
    return Problem("links-unreadable", message, hint)


def is_canonical(text: str) -> bool:
    """Whether a text has the format in which Row writes values."""
    return bool(_CANONICAL.fullmatch(text.removesuffix("%")))


def format_changed(text: str) -> Problem:
    """The problem of a value of a CSV whose format has changed: read by the mapping, day and month could be swapped."""
    message = f"'{text[:80]}' was a date, a number, TRUE or FALSE; its format has changed since"
    hint = _AS_DATE if _DATE.fullmatch(text) else _AS_NUMBER if text[-1:].isdigit() else f"{_AS_DATE}, 1234.5 or TRUE"
    return Problem("value-format-changed", message, f"{hint}; or fix the row in report.xlsx or in your own file")
