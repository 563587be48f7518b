"""A source as the other rooms see it, what reading it may cost, and its rows before their columns are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from importer.models import Row
from importer.problems import CellPlace, Column, Origin, Problem, column_letter

if TYPE_CHECKING:
    from importer.settings import Settings

# How Row writes what a workbook keeps as a number, a date, a time or a boolean. It never writes 45.000, which a person
# writes for thousands.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a source, opened and ready to be read.

    `header_row` is the number that a spreadsheet program shows. `columns` are the source's own, without the `import_*`
    columns of a results file. `reading` says in one line how the file was read, for a person to verify. `delimiter`
    is that of a CSV, "," for a workbook: what result CSVs are written with. `lines` is about how many a CSV has, None
    for a workbook, which is in memory. `knows_types`: its rows say which cells a workbook kept as values.
    """

    origin: Origin
    header_row: int
    columns: tuple[Column, ...]
    reading: str
    warnings: tuple[Problem, ...]
    delimiter: str
    lines: int | None
    knows_types: bool
    _read: Callable[[], Iterator[Row]] = field(repr=False)

    def rows(self) -> Iterator[Row]:
        """Stream the rows below the header; may be called again. Wholly blank rows are left out, and keep their number.

        Raises:
            UnusableInput: the file breaks off on the way (a quote that is never closed, a damaged workbook).
        """
        return self._read()


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What reading one file may cost, so that a hostile or broken one ends in a message and not in a dead machine.

    `source`: bytes of a file, `standard_input`: those that are taken from there. Of a CSV, `cell_characters`: the
    longest cell, `row`: bytes of the longest row, `columns`: the most cells of a row. The others hold for the child
    process that reads a workbook: `seconds` of time, `memory` in bytes, `unpacked` bytes of what the workbook unpacks
    to.
    """

    source: int = 4 << 30
    standard_input: int = 2 << 30
    cell_characters: int = 16 << 20
    row: int = 16 << 20
    columns: int = 16_384
    seconds: float = 120.0
    memory: int = 2 << 30
    unpacked: int = 2 << 30

    @classmethod
    def of(cls, settings: Settings) -> ReadingLimits:
        """The limits of this machine, for every file that is opened on it.

        They are no part of a mapping or a run: a report that is written again later, where the person has allowed more
        meanwhile, is read with more.
        """
        return cls(
            source=settings.source_megabytes << 20,
            standard_input=settings.standard_input_megabytes << 20,
            row=settings.csv_row_megabytes << 20,
            columns=settings.csv_columns,
            seconds=settings.workbook_seconds,
            memory=settings.workbook_memory_megabytes << 20,
            unpacked=settings.workbook_unpacked_megabytes << 20,
        )


# --- what the readers of all formats hand on ----------------------------------------------------


class FileKind(StrEnum):
    """The formats that are read."""

    CSV = "CSV"
    XLSX = "XLSX"
    XLSB = "XLSB"
    XLS = "XLS"
    ODS = "ODS"


@dataclass(frozen=True, slots=True)
class SheetName:
    """A worksheet: its title, and whether a person sees its tab."""

    title: str
    visible: bool = True


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the cell at `index` of a record. The place is added once the columns are known."""

    index: int
    problem: Problem


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one row as clean text, as many as the file has.

    `number` is the row number that a spreadsheet program shows; `typed` as in Row.
    """

    number: int
    cells: tuple[str, ...]
    typed: frozenset[int] = frozenset()
    flaws: tuple[Flaw, ...] = ()

    @property
    def blank(self) -> bool:
        return not any(self.cells) and not self.flaws

    @property
    def filled(self) -> int:
        """How many cells hold something."""
        return len(self.cells) - self.cells.count("")

    @property
    def width(self) -> int:
        """The number of cells up to the last that holds something."""
        return width_of(self.cells)


def width_of(cells: Sequence[str]) -> int:
    """The number of cells up to the last that holds something."""
    width = len(cells)
    while width and not cells[width - 1]:
        width -= 1
    return width


# --- and what becomes of it -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """The header of a table, its columns, and which rows below belong to it.

    `header_row` is the header's last row. `width` counts the header's cells; `columns` are the ones that are kept,
    always the first of them. `even` as in RecordSource. `left_out` are the numbers of rows that are not read. The table
    ends before the first row whose first filled cell is `stop_at`. `typed_at` is where a results file that is fed back
    says which of its cells a workbook kept as values.
    """

    origin: Origin
    header_row: int
    width: int
    columns: tuple[Column, ...]
    even: bool
    left_out: frozenset[int] = frozenset()
    stop_at: str | None = None
    typed_at: int | None = None

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """The rows below the header; blank ones and those left out are not among them."""
        for record in records:
            if record.number <= self.header_row or record.blank or record.number in self.left_out:
                continue
            if self.stop_at is not None and self._stops(record.cells):
                return
            yield self.row(record)

    def row(self, record: Record) -> Row:
        """One record as a Row, with what is wrong in it."""
        kept = len(self.columns)
        cells = record.cells[:kept] + ("",) * (kept - len(record.cells))
        typed = record.typed
        if self.typed_at is not None:
            listed = typed_cells("".join(record.cells[self.typed_at : self.typed_at + 1]), cells, self.columns)
            problems = tuple(self._rewritten(record, cells, listed - typed))
            kept_typed = frozenset(index for index in typed | listed if index < kept)
            return Row(self.origin, record.number, cells, kept_typed, (*self._problems(record), *problems))
        if typed and max(typed) >= kept:
            typed = frozenset(index for index in typed if index < kept)
        return Row(self.origin, record.number, cells, typed, self._problems(record))

    def _rewritten(self, record: Record, cells: tuple[str, ...], listed: frozenset[int]) -> Iterator[Problem]:
        """What is listed as a value and is written as none stays listed: it must not be taken for text later either."""
        for index in sorted(listed - {flaw.index for flaw in record.flaws}):
            if not is_canonical(cells[index]):
                yield replace(rewritten(cells[index]), place=CellPlace(self.origin, record.number, self.columns[index]))

    def _stops(self, cells: tuple[str, ...]) -> bool:
        return next((cell for cell in cells if cell), "").casefold() == (self.stop_at or "").strip().casefold()

    def _problems(self, record: Record) -> tuple[Problem, ...]:
        if len(record.cells) == self.width and not record.flaws:
            return ()
        return tuple(self._width_problems(record)) + tuple(self._flaws(record))

    def _width_problems(self, record: Record) -> Iterator[Problem]:
        if record.width > self.width:
            yield Problem(
                "too-many-cells",
                f"the row has {record.width} cells, but the header has {self.width}",
                "clear the extra cells, or give them a header; in a CSV, quote cells that contain the delimiter",
                CellPlace(self.origin, record.number, column(record.width - 1, "")),
            )
        elif self.even and len(record.cells) < self.width:
            yield Problem(
                "too-few-cells",
                f"the row has {len(record.cells)} cells, but the header has {self.width}",
                "look for a missing delimiter or a line break outside quotes",
                CellPlace(self.origin, record.number),
            )

    def _flaws(self, record: Record) -> Iterator[Problem]:
        for flaw in record.flaws:
            if flaw.index < len(self.columns) or flaw.index >= self.width:
                place = CellPlace(self.origin, record.number, self.column_at(flaw.index))
                yield Problem(flaw.problem.code, flaw.problem.message, flaw.problem.hint, place)

    def column_at(self, index: int) -> Column:
        """The column at an index, also beyond the header."""
        return self.columns[index] if index < len(self.columns) else column(index, "")


def column(index: int, name: str) -> Column:
    """The column at an index, from 0, with its letter."""
    return Column(index, column_letter(index), name)


# --- the values of a results file that is fed back ----------------------------------------------


def typed_cells(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> frozenset[int]:
    """The indexes of the cells that TYPED_COLUMN names, save those that are blank by now."""
    named = set(letters.split())
    return frozenset(column.index for column in columns if column.letter in named and cells[column.index])


def is_canonical(text: str) -> bool:
    """Whether a cell is written as Row writes values, so that it can be read as one."""
    return bool(_CANONICAL.fullmatch(text.removesuffix("%")))


def rewritten(text: str) -> Problem:
    """The problem of a value that came back in another form: by the mapping's, day and month could be swapped."""
    return Problem(
        "value-format-changed",
        f"'{text[:80]}' was a date, a number, TRUE or FALSE in the workbook; its format has changed since",
        "write it as YYYY-MM-DD (in a text cell), 1234.5 or TRUE; or fix the row in report.xlsx",
    )
