"""An opened source for the other rooms, the limits of reading, and the rows before their columns are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from importer.models import Row
from importer.problems import CellPlace, Column, Origin, Problem
from importer.sources.cell_text import width_of

WINDOW: Final = 60
"""The rows from which the header is detected."""

EXCEL_BLOCK: Final = 16
"""The rows that Excel writes to a CSV at once, without the last columns if these are blank in all of them."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a source, ready to be read.

    `header_row` is the number that a spreadsheet program shows, of the last row of the header; `header_rows`
    how many it has. `reading` says in one line how the file is read, for a person to check. `delimiter` is that of a
    CSV, else ",": result CSVs are written with it. `sheets`: the visible ones of a workbook.
    """

    origin: Origin
    header_row: int
    columns: tuple[Column, ...]
    reading: str
    warnings: tuple[Problem, ...]
    delimiter: str
    header_rows: int
    _read: Callable[[], Iterator[Row]] = field(repr=False)
    sheets: tuple[str, ...] = ()

    def rows(self) -> Iterator[Row]:
        """Stream the rows below the header; may be called again. Blank rows are skipped, but count in row numbers.

        Raises UnusableInput: the rest of the file cannot be read (an unclosed quote, a changed file).
        """
        return self._read()


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The limits of reading one file, so that a hostile or broken file ends in a message, not in a frozen machine.

    `source`: bytes of a file. For a CSV, `cell_characters`: the longest cell; `row`: characters of the longest row;
    `columns`: the most cells in a row. `unpacked`: bytes of a workbook; `on_rows`: called with how many rows are read.
    """

    source: int = 4 << 30
    cell_characters: int = 16 << 20
    row: int = 16 << 20
    columns: int = 16_384
    unpacked: int = 2 << 30
    on_rows: Callable[[int], None] | None = field(default=None, compare=False)


USUAL_LIMITS: Final = ReadingLimits()


# --- what the readers of all formats return -----------------------------------------------------


class FileKind(StrEnum):
    """The supported file formats."""

    CSV = "CSV"
    XLSX = "XLSX"
    XLS = "XLS"


@dataclass(frozen=True, slots=True)
class SheetName:
    """A worksheet: its title, and whether its tab is visible."""

    title: str
    visible: bool = True


@dataclass(frozen=True, slots=True)
class CellProblem:
    """The problem of the cell at `index` of a record, whose place is not known yet; or of the whole record."""

    index: int | None
    problem: Problem


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one row as clean text, as many as the file has for it.

    `number` is the row number that a spreadsheet program shows; `typed` and `links` as in Row.
    """

    number: int
    cells: tuple[str, ...]
    typed: frozenset[int] = frozenset()
    problems: tuple[CellProblem, ...] = ()
    links: tuple[tuple[int, str], ...] = ()

    def cell(self, index: int) -> str:
        """The text of a cell, blank behind the last one."""
        return self.cells[index] if index < len(self.cells) else ""

    @property
    def blank(self) -> bool:
        return not any(self.cells) and not self.problems

    @property
    def filled(self) -> int:
        """The number of cells that are not empty."""
        return len(self.cells) - self.cells.count("")

    @property
    def width(self) -> int:
        """The number of cells up to the last that is not empty."""
        return width_of(self.cells)


# --- from records to rows -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """The header of a table, its columns, and which rows below belong to it.

    `header_row` is the header's last row. `width` counts the header's cells; `columns` are those that are kept, from
    the index `origin.first` on. `even` as in RecordSource. `left_out` are the numbers of skipped rows. The table ends
    before the first row whose first filled cell is `stop_at`. `named`: the header's cells without those at its end that
    have neither a name nor, in most rows, a value. `longest`: the most cells that are usual in a CSV; a row with more
    has a delimiter too many, and its cells may be those of other columns.
    """

    origin: Origin
    header_row: int
    width: int
    columns: tuple[Column, ...]
    even: bool
    left_out: frozenset[int] = frozenset()
    stop_at: str | None = None
    named: int = 0
    longest: int = 0

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """The rows below the header, without blank and skipped rows."""
        for record in records:
            if record.number <= self.header_row or record.blank or record.number in self.left_out:
                continue
            if self.ends_at(record):
                return
            yield self.row(record)

    def row(self, record: Record) -> Row:
        """One record as a Row, with its problems."""
        kept, first = len(self.columns), self.origin.first
        cells = record.cells[first : first + kept] if first else record.cells[:kept]
        cells += ("",) * (kept - len(cells))
        typed, links = record.typed, record.links
        if first or (typed and max(typed) >= kept):
            own = range(first, first + kept)
            typed = frozenset(index - first for index in typed if index in own)
            links = tuple((index - first, address) for index, address in links if index in own)
        problems = self._problems(record)
        return Row(self.origin, record.number, cells, typed, problems, links=links)

    def ends_at(self, record: Record) -> bool:
        """Whether the table ends before this row."""
        if self.stop_at is None or record.number <= self.header_row or record.number in self.left_out:
            return False
        return next((cell for cell in record.cells if cell), "").casefold() == self.stop_at.strip().casefold()

    def _problems(self, record: Record) -> tuple[Problem, ...]:
        is_usual = len(record.cells) == self.width and (self.named == self.width or record.width <= self.named)
        if is_usual and not record.problems:
            return ()
        return tuple(self._width_problems(record)) + tuple(self._cell_problems(record))

    def _width_problems(self, record: Record) -> Iterator[Problem]:
        count = len(record.cells) if self.even and len(record.cells) > self.longest else record.width
        if count > (self.longest if count > record.width else self.named):
            message = f"the row has {count} cells, but the header has {self.named}"
            hint = "clear the extra cells, or give them a header; in a CSV, quote cells that contain the delimiter"
            if count > record.width:
                hint = "remove the delimiter that is too many, such as at the end, or quote the cell that contains it"
            column = Column.at(count - 1 - self.origin.first, "")
            yield Problem("too-many-cells", message, hint, CellPlace(self.origin, record.number, column))
        elif self.even and len(record.cells) < self.width:
            message = f"the row has {len(record.cells)} cells, but the header has {self.width}"
            hint = (
                "look for a missing delimiter or a line break outside quotes; if Excel left out blank cells at the end "
                "of rows, set short_rows: blank under source: in the mapping"
            )
            yield Problem("too-few-cells", message, hint, CellPlace(self.origin, record.number))

    def _cell_problems(self, record: Record) -> Iterator[Problem]:
        for each in record.problems:
            if each.index is None:
                yield replace(each.problem, place=CellPlace(self.origin, record.number))
                continue
            index = each.index - self.origin.first
            if 0 <= index < len(self.columns) or each.index >= self.width:
                place = CellPlace(self.origin, record.number, self.column_at(index))
                yield Problem(each.problem.code, each.problem.message, each.problem.hint, place)

    def column_at(self, index: int) -> Column:
        """The column at an index, also beyond the header."""
        return self.columns[index] if index < len(self.columns) else Column.at(index, "")
