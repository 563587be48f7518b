"""The table in a source: its header, where its columns are, how a record becomes a Row of them, whether rows follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from importer.errors import UnusableInput
from importer.extract.header import WINDOW, Header, added_columns, declared_header, found_header
from importer.extract.sheet import Record, RecordSource, Sheet
from importer.models import (
    TYPED_COLUMN,
    CellPlace,
    Column,
    FilePlace,
    Origin,
    Problem,
    Row,
    SourceOptions,
    column_letter,
)

# How Row writes what a workbook keeps as a number, a date, a time or a boolean. It never writes 45.000, which a person
# writes for thousands.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


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

    @property
    def takes_all(self) -> bool:
        """Whether every row below the header counts, so that a reader need not ask for each."""
        return not self.left_out and self.stop_at is None

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
                f"the row has {record.width} cells, the header {self.width}",
                "clear the cells beyond the header, or give them a header; in a CSV, quote cells that hold delimiters",
                CellPlace(self.origin, record.number, column(record.width - 1, "")),
            )
        elif self.even and len(record.cells) < self.width:
            yield Problem(
                "too-few-cells",
                f"the row has {len(record.cells)} cells, the header {self.width}",
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
        "value-rewritten",
        f"'{text[:80]}' was a date, a number or TRUE or FALSE in the workbook, and is written in another form now",
        "write it as YYYY-MM-DD (a date, in a cell of text), 1234.5 or TRUE; or fix the row in report.xlsx",
    )


# --- finding the table --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """The layout of a table, how its header was found, and whether rows follow it."""

    layout: Layout
    how: tuple[str, ...]
    has_rows: bool


def open_table(source: RecordSource, options: SourceOptions) -> Sheet:
    """The Sheet of a source. In a results file the header is row 1, whatever is declared.

    Raises:
        UnusableInput: no header can be found, or nothing is in the table.
    """
    table = _find(source, options)
    layout = table.layout

    def rows() -> Iterator[Row]:
        return source.rows(layout)

    warnings = source.warnings(layout)
    if not table.has_rows:
        warnings = (*warnings, _no_rows(layout))
    parts = (source.how, *table.how, _counted(len(layout.columns), "column"))
    how = ", ".join(parts)
    origin, knows_types = source.origin, source.origin.sheet is not None or layout.typed_at is not None
    return Sheet(
        origin, layout.header_row, layout.columns, how, warnings, source.delimiter, source.lines, knows_types, rows
    )


def _find(source: RecordSource, options: SourceOptions) -> _Table:
    with closing(source.records()) as records:
        head = list(islice(records, max(WINDOW, (options.header_row or 0) + options.header_rows)))
        if not any(record.width for record in head) and all(record.blank for record in records):
            raise UnusableInput(
                Problem("table-empty", "no cell holds anything", "export it again", place_of(source.origin))
            )
        added = added_columns(head[0].cells) if head and head[0].number == 1 else 0
        if added:
            layout = _layout(source, Header.of(head[0]), added)
            how: tuple[str, ...] = ("a results file fed back", "header in row 1")
        else:
            header = _header(source, head, options)
            layout = _chosen_rows(_layout(source, header, 0), source, options)
            how = (_how(header, options), *_left_out(source, options))
        below = layout.rows(head)
        has_rows = next(below, None) is not None or next(layout.rows(records), None) is not None
    return _Table(layout, how, has_rows)


def _header(source: RecordSource, head: Sequence[Record], options: SourceOptions) -> Header:
    shown = [record for record in head if record.number not in options.skip_rows]
    if options.header_row is not None:
        return declared_header(source.origin, shown, options.header_row, options.header_rows)
    if options.header_rows > 1:
        raise UnusableInput(
            Problem(
                "header-row-undeclared",
                f"a header of {options.header_rows} rows cannot be found by itself",
                "declare its first row as header_row: under source: in the mapping",
                place_of(source.origin),
            )
        )
    return found_header(source.origin, shown)


def _layout(source: RecordSource, header: Header, added: int) -> Layout:
    width = len(header.names) if source.even else header.width
    columns = tuple(column(index, header.names[index]) for index in range(width - added))
    typed_at = next((index for index in range(len(columns), width) if header.names[index] == TYPED_COLUMN), None)
    return Layout(source.origin, header.last_row, width, columns, source.even, typed_at=typed_at if added else None)


def _chosen_rows(layout: Layout, source: RecordSource, options: SourceOptions) -> Layout:
    hidden = source.hidden if options.hidden_rows == "skip" else frozenset()
    return replace(layout, left_out=hidden.union(options.skip_rows), stop_at=options.stop_at)


def _how(header: Header, options: SourceOptions) -> str:
    rows = f"row {header.first_row}"
    if header.first_row != header.last_row:
        rows = f"rows {header.first_row} to {header.last_row}"
    if options.header_row is not None:
        return f"header declared in {rows}"
    above = header.first_row - 1
    if above == 0:
        return f"header found in {rows}"
    return f"header found in {rows} ({'row 1' if above == 1 else f'rows 1 to {above}'} above it left out)"


def _left_out(source: RecordSource, options: SourceOptions) -> Iterator[str]:
    if options.skip_rows:
        yield f"{_counted(len(options.skip_rows), 'row')} left out by skip_rows"
    if options.stop_at is not None:
        yield f"ends before {options.stop_at!r}"
    if source.hidden:
        yield f"{_counted(len(source.hidden), 'hidden row')} {'left out' if options.hidden_rows == 'skip' else 'read'}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def place_of(origin: Origin) -> FilePlace:
    return FilePlace(f"{origin.file}, {origin.sheet}" if origin.sheet is not None else origin.file)


def _no_rows(layout: Layout) -> Problem:
    return Problem(
        "no-rows",
        f"no row holds anything below the header in row {layout.header_row}",
        "check that this is the right file and sheet",
        place_of(layout.origin),
    )
