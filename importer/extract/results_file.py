"""The form of a results file that is imported again: its header, the columns that were added, and its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, unquote

from importer.extract.cell_text import header_text, width_of
from importer.models import ADDED_COLUMNS, IMPORT_COLUMNS, LINKS_COLUMN
from importer.problems import Column, Problem
from importer.text.results_cells import links_text, read_links

if TYPE_CHECKING:
    from importer.extract.sheet import Record
    from importer.extract.table import RecordSource

_READ_AS = "import_read_as "
_CURRENCY = re.compile(r"(?<!\S)([A-Z]+)=([+-]?[\d.]+%?)([^\d\s.%]\S*)")
# How Row writes a workbook's numbers, dates, times and booleans. Row never writes 45.000, which may mean 45 thousand.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


class ReadAs(NamedTuple):
    """What a private copy in which values were restored was made from: how that was read, and its header's width.

    has_report: report.xlsx has its rows too, as it has those of every file but a table of entries.
    """

    how: str
    sheet: str | None
    width: int
    has_report: bool

    @property
    def cell(self) -> str:
        """The last cell of the header of the private copy."""
        return f"{_READ_AS}{self.width}\n{self.how}\n{self.sheet or ''}\n{self.has_report}"

    @classmethod
    def of(cls, cell: str) -> ReadAs | None:
        width, how, sheet, has_report = [*cell.removeprefix(_READ_AS).split("\n", 3), "", "", ""][:4]
        return cls(how, sheet or None, int(width), has_report != "False") if width.isdecimal() else None


@dataclass(frozen=True, slots=True)
class ResultsHeader:
    """The header of a results file: the source's own columns, from the index `first` on, and the added ones.

    `added`: the indexes of the added columns, by name. `read_as`: in a private copy in which values were restored.
    """

    first: int
    columns: tuple[Column, ...]
    added: dict[str, int]
    read_as: ReadAs | None = None

    def text(self, cells: Sequence[str], name: str) -> str:
        """The cell of an added column; "" if there is none."""
        return "".join(cells[at : at + 1]) if (at := self.added.get(name)) is not None else ""

    def row_number(self, cells: Sequence[str]) -> int | None:
        """The number of the source's row, if it is given."""
        text = self.text(cells, IMPORT_COLUMNS[0])
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None

    @property
    def has_report(self) -> bool:
        """As in ReadAs."""
        return self.read_as is None or self.read_as.has_report

    def shown_width(self, width: int) -> int:
        """The width of the header for a person, who does not see the columns of a private copy."""
        return self.read_as.width if self.read_as else width


def results_header(cells: Sequence[str]) -> ResultsHeader | None:
    """The header of a results file; None if it is another file.

    A person may have removed some of the added columns; one is enough.
    """
    first, end = 0, width_of(cells)
    added: dict[str, int] = {}
    read_as = None
    if end and cells[end - 1].startswith(_READ_AS):
        end, read_as = end - 1, ReadAs.of(cells[end - 1])
    while first < end and cells[first] in ADDED_COLUMNS:
        added[cells[first]] = first
        first += 1
    while first < end and cells[end - 1] in ADDED_COLUMNS:
        end -= 1
        added[cells[end]] = end
    columns = tuple(Column.at(index, header_text(cells[first + index])) for index in range(end - first))
    return ResultsHeader(first, columns, added, read_as) if added else None


# --- its rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A results file: the source's own cells of its rows, and the added ones."""

    header: ResultsHeader
    records: Callable[[], Iterator[Record]]
    is_workbook: bool
    has_links: bool

    @classmethod
    def of(cls, source: RecordSource) -> ResultsTable | None:
        """None for another file, and for a results file whose rows are not numbered any more."""
        with closing(source.records()) as records:
            first = next(records, None)
        header = results_header(first.cells) if first is not None and first.number == 1 else None
        if header is None or IMPORT_COLUMNS[0] not in header.added:
            return None
        has_links = source.has_links or LINKS_COLUMN in header.added
        return cls(header, source.records, source.origin.sheet is not None, has_links)

    @property
    def width(self) -> int:
        """The number of cells of the header."""
        return max(self.header.first + len(self.header.columns), 1 + max(self.header.added.values()))

    def rows(self) -> Iterator[Record]:
        return (record for record in self.records() if record.number > 1)

    def cells(self, record: Record) -> tuple[str, ...]:
        first, count = self.header.first, len(self.header.columns)
        cells = record.cells[first : first + count]
        return cells + ("",) * (count - len(cells))

    def added(self, record: Record, name: str) -> str:
        return self.header.text(record.cells, name)

    def links(self, record: Record) -> str:
        """What LINKS_COLUMN lists, with the links that a person set in a results workbook."""
        listed, first, cells = self.added(record, LINKS_COLUMN), self.header.first, self.cells(record)
        own = tuple((index - first, link) for index, link in record.links if first <= index < first + len(cells))
        letters = [column.letter for column in self.header.columns]
        try:
            links = read_links(listed or "{}", cells, own, letters)
        except ValueError:  # reading the row reports it
            return listed
        return links_text(cells, links, letters) if own else listed

    def number(self, record: Record) -> int:
        """The number of the source row; -1 if it is not given."""
        return self.header.row_number(record.cells) or -1


# --- its values -------------------------------------------------------------------------------------


_PERHAPS_CHANGED: Final = "!"
_WAS_WRONG: Final = "!!"
OR_LEAVE_IT: Final = "; or leave it if the old value is right"
PERHAPS_CODE: Final = "value-perhaps-changed"


def perhaps_mark(letter: str, now: str, *, was_wrong: bool) -> str:
    """What TYPED_COLUMN of a private copy lists for a cell that either a person or a program has changed to `now`.

    was_wrong: the value that it had is itself reported as a problem.
    """
    mark = _WAS_WRONG if was_wrong else _PERHAPS_CHANGED
    return f"{letter}{mark}{quote(now[:80], safe='', errors='backslashreplace')}"


def perhaps_marked(listed: str) -> dict[str, tuple[str, bool]]:
    """The texts that perhaps_mark listed, each with its was_wrong, by the letter of the cell."""
    marks = (each.partition(_PERHAPS_CHANGED) for each in listed.split())
    return {
        letter: (unquote(now.removeprefix(_PERHAPS_CHANGED)), now.startswith(_PERHAPS_CHANGED))
        for letter, mark, now in marks
        if mark
    }


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


def perhaps_changed(text: str, now: str, *, was_wrong: bool, has_report: bool) -> Problem:
    """The problem of a cell that may be fixed, or changed by a spreadsheet program; `text` is what it was. was_wrong:
    as in perhaps_mark; has_report: as in ReadAs."""
    was = f"was '{text[:80]}'" if text else "was blank"
    message = f"this cell {was} and is now '{now}'; a spreadsheet program may have changed it"
    hint = (
        "the new results files have the old value again: type the right one into this cell of the new report.xlsx, "
        "where every cell is text and stays as you type it"
        if has_report
        else "the new results files have the old value again: correct it in your own file and import that again"
    )
    if not was_wrong:
        hint += OR_LEAVE_IT
    return Problem(PERHAPS_CODE, message, hint)


def format_changed(text: str, *, has_report: bool, is_workbook: bool) -> Problem:
    """The problem of a value whose format has changed: read by the mapping, day and month could be swapped.

    is_workbook: a person has fixed it in a workbook, such as report.xlsx.
    """
    message = f"'{text[:80]}' was a date, a number, TRUE or FALSE; its format has changed since"
    hint = "write it as YYYY-MM-DD (in a text cell), 1234.5 or TRUE"
    if not has_report:
        hint += "; or fix the row in your own file, and import that again"
    elif not is_workbook:
        hint += "; or fix the row in report.xlsx"
    return Problem("value-format-changed", message, hint)
