"""Finds the table in a source: its header, its columns, and whether rows follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from importer.errors import UnusableInput
from importer.extract.header import WINDOW, Header, declared_header, found_header
from importer.extract.layout import Layout, column
from importer.extract.record import Record, RecordSource
from importer.extract.results_file import added_columns
from importer.extract.sheet import Sheet
from importer.models import TYPED_COLUMN, FilePlace, Origin, Problem, Row, SourceOptions


@dataclass(frozen=True, slots=True)
class _Table:
    """The layout of a table, how its header was found, and whether rows follow it."""

    layout: Layout
    how: tuple[str, ...]
    has_rows: bool


def open_table(source: RecordSource, options: SourceOptions) -> Sheet:
    """The Sheet of a source. In a results file the header is row 1, whatever is declared.

    Raises:
        UnusableInput: no header can be told, or nothing is in the table.
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
                Problem("table-empty", "no cell holds anything", "export it again", _place(source.origin))
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
                _place(source.origin),
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


def _place(origin: Origin) -> FilePlace:
    return FilePlace(f"{origin.file}, {origin.sheet}" if origin.sheet is not None else origin.file)


def _no_rows(layout: Layout) -> Problem:
    return Problem(
        "no-rows",
        f"no row holds anything below the header in row {layout.header_row}",
        "check that this is the right file and sheet",
        _place(layout.origin),
    )
