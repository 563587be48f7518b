"""The table in a source: its header, its columns, and whether rows follow.

The header is found by `header`; in a results file it is row 1.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice

from importer.extract.header import Header, find_header, place_of
from importer.extract.likely_header import mark_repeated_header, mark_second_table
from importer.extract.results_file import ResultsHeader, results_header
from importer.extract.sheet import WINDOW, Layout, Record, Sheet
from importer.extract.table_warnings import table_warnings
from importer.models import ADDED_COLUMNS, LINKS_COLUMN, TYPED_COLUMN, SourceOptions
from importer.problems import Column, Origin, Problem, UnusableInput, unusable_file


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file whose encoding and delimiter, or sheet, are known, and whose header is not.

    `how` describes in a few words how it is read. `records` streams every row from row 1; blank rows may be missing.
    `warnings` are what a person should know about the file as a whole. `even`: every row must have as many cells as
    the header, as in a CSV; a workbook omits empty cells. `hidden`: the numbers of the hidden rows. `delimiter`,
    `lines` and `sheets` as in Sheet; `hidden_tables`: the first rows of hidden sheets. `has_links`: cells
    have hyperlinks.
    """

    origin: Origin
    how: str
    records: Callable[[], Generator[Record, None, None]]
    warnings: Callable[[Layout], Iterable[Problem]] = lambda _: ()
    even: bool = True
    hidden: frozenset[int] = frozenset()
    delimiter: str = ","
    lines: int | None = None
    has_links: bool = False
    sheets: tuple[str, ...] = ()
    hidden_tables: tuple[RecordSource, ...] = ()


def open_table(source: RecordSource, options: SourceOptions) -> Sheet:
    """The Sheet of a source. In a results file the header is row 1, whatever the mapping declares.

    Raises:
        UnusableInput: no header is found, or the table is empty.
    """
    origin = source.origin
    above: tuple[Problem, ...] = ()
    with closing(source.records()) as records:
        head = list(islice(records, max(WINDOW, (options.header_row or 0) + (options.header_rows or 1))))
        if not any(record.width for record in head) and all(record.blank for record in records):
            raise unusable_file("file-empty", "the table is empty", "export it again", place_of(origin))
        results = results_header(head[0].cells) if head and head[0].number == 1 else None
        if results:
            header, options = Header.of(head[0]), SourceOptions()
            found: tuple[str, ...] = ("a corrected results file", "header in row 1")
        else:
            header = find_header(origin, head, options)
            found = (_found_in(header, options), *_left_out(source, options))
            above = tuple(table_warnings(origin, head, header, options))
        layout = _layout(source, header, results, options)
        if moved := next((one for one in layout.columns if one.name in ADDED_COLUMNS), None):
            message = f"the column '{moved.name}' of a results file is between other columns"
            hint = "move the import_ columns to the end, in any order; the rows cannot be known without them"
            raise unusable_file("results-columns-moved", message, hint, place_of(origin))
        has_rows = any(True for _ in layout.rows(head)) or any(True for _ in layout.rows(records))
    warnings = (*above, *source.warnings(layout))
    return Sheet(
        layout.origin,
        layout.header_row,
        layout.columns,
        ", ".join((source.how, *found, counted(len(layout.columns), "column"))),
        warnings if has_rows else (*warnings, _no_rows(layout)),
        source.delimiter,
        source.lines,
        knows_types=layout.origin.sheet is not None or (results is not None and TYPED_COLUMN in results.added),
        has_links=source.has_links or (results is not None and LINKS_COLUMN in results.added),
        header_rows=header.last_row - header.first_row + 1,
        _read=lambda: layout.rows(
            mark_repeated_header(
                source.records() if results else mark_second_table(source.records(), head, layout.header_row), layout
            )
        ),
        sheets=source.sheets,
    )


def has_table(source: RecordSource, options: SourceOptions) -> bool:
    """Whether `open_table` finds a header, and not only a title: one name without a row below."""
    with closing(source.records()) as records:
        head = list(islice(records, WINDOW))
    if head and results_header(head[0].cells):
        return True
    try:
        header = find_header(source.origin, head, options)
    except UnusableInput:
        return False
    return len([*filter(None, header.names)]) > 1 or any(one.width for one in head if one.number > header.last_row)


def _layout(source: RecordSource, header: Header, results: ResultsHeader | None, options: SourceOptions) -> Layout:
    width = len(header.names) if source.even else header.width
    lower = header.lower + ("",) * width
    columns = tuple(Column.at(index, header.names[index], lower[index]) for index in range(width))
    hidden = source.hidden if options.hidden_rows == "skip" else frozenset()
    return Layout(
        replace(source.origin, first=results.first) if results else source.origin,
        header.last_row,
        width,
        results.columns if results else columns,
        source.even,
        hidden.union(options.skip_rows),
        options.stop_at,
        results,
    )


def _found_in(header: Header, options: SourceOptions) -> str:
    rows = f"row {header.first_row}"
    if header.first_row != header.last_row:
        rows = f"rows {header.first_row} to {header.last_row}"
    if options.header_row is not None:
        return f"header in {rows}"
    above = header.first_row - 1
    if above == 0:
        return f"header found in {rows}"
    return f"header found in {rows} ({'row 1' if above == 1 else f'rows 1 to {above}'} above it left out)"


def _left_out(source: RecordSource, options: SourceOptions) -> Iterator[str]:
    if options.skip_rows:
        yield f"{counted(len(options.skip_rows), 'row')} excluded by skip_rows"
    if options.stop_at is not None:
        yield f"ends before {options.stop_at!r}"
    if source.hidden:
        yield f"{counted(len(source.hidden), 'hidden row')} {'left out' if options.hidden_rows == 'skip' else 'read'}"


def counted(count: int, noun: str) -> str:
    """`1 column`, `2 columns`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _no_rows(layout: Layout) -> Problem:
    message = f"there are no rows below the header in row {layout.header_row}"
    hint = "check that this is the right file and sheet"
    return Problem("file-empty", message, hint, place_of(layout.origin))
