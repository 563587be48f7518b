"""Finds the table in a readable source: its header, its columns, and whether rows follow."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from importer.errors import UnusableInput
from importer.extract.header import WINDOW, declared_header, found_header
from importer.extract.layout import Layout, layout_of
from importer.extract.record import Record
from importer.extract.results_file import added_columns
from importer.extract.sheet import Sheet
from importer.models import FilePlace, Origin, Problem, Row


@dataclass(frozen=True, slots=True)
class Readable:
    """Something that gives records, and what is known of it before its header is.

    `how` says how it is read, without the header. `even` and `delimiter` as in Layout and Sheet.
    """

    origin: Origin
    records: Callable[[], Generator[Record, None, None]]
    how: str
    even: bool = False
    delimiter: str = ","
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """The layout of a table, how its header was found, and whether rows follow it."""

    layout: Layout
    how: str
    has_rows: bool


def open_table(readable: Readable, header_row: int | None) -> Sheet:
    """The Sheet of a readable source. `header_row` is the declared one; that of a results file is row 1 in any case.

    Raises:
        UnusableInput: no header can be told, or nothing is in the table.
    """
    found = _find(readable, header_row)
    layout = found.layout

    def rows() -> Iterator[Row]:
        return layout.rows(readable.records())

    warnings = readable.warnings if found.has_rows else (*readable.warnings, _no_rows(readable.origin, layout))
    count = len(layout.columns)
    reading = f"{readable.how}, {found.how}, {count} column{'s' if count != 1 else ''}"
    return Sheet(readable.origin, layout.header_row, layout.columns, reading, warnings, readable.delimiter, rows)


def _find(readable: Readable, header_row: int | None) -> _Found:
    origin = readable.origin
    with closing(readable.records()) as records:
        head = list(islice(records, max(WINDOW, header_row or 0)))
        if not any(record.width for record in head) and all(record.blank for record in records):
            raise UnusableInput(
                Problem("table-empty", "no cell holds anything", "export it again", FilePlace(str_of(origin)))
            )
        added = added_columns(head[0].cells) if head else 0
        if added:
            header, how = head[0], "a results file fed back, header in row 1"
        elif header_row is not None:
            header, how = declared_header(origin, head, header_row), f"header declared in row {header_row}"
        else:
            header = found_header(origin, head)
            how = f"header found in row {header.number}{_skipped(header.number)}"
        below = (record for record in head if record.number > header.number)
        has_rows = any(not record.blank for record in below) or any(not record.blank for record in records)
    return _Found(layout_of(origin, header, readable.even, added), how, has_rows)


def _skipped(header_row: int) -> str:
    if header_row == 1:
        return ""
    return " (row 1 above it left out)" if header_row == 2 else f" (rows 1 to {header_row - 1} above it left out)"


def str_of(origin: Origin) -> str:
    return f"{origin.file}, {origin.sheet}" if origin.sheet else origin.file


def _no_rows(origin: Origin, layout: Layout) -> Problem:
    return Problem(
        "no-rows",
        f"no row holds anything below the header in row {layout.header_row}",
        "check that this is the right file and sheet",
        FilePlace(str_of(origin)),
    )
