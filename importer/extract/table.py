"""The table in a source: its header, its columns, and whether rows follow.

The header is the declared row, or the first of the first twenty rows that looks like a header. In a results file it is
row 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from importer.extract.cell_text import header_text, quoted, width_of
from importer.extract.results_file import ResultsHeader, results_header
from importer.extract.sheet import Layout, Record, Sheet
from importer.models import ADDED_COLUMNS, LINKS_COLUMN, TYPED_COLUMN, SourceOptions
from importer.problems import CellPlace, Column, FilePlace, Origin, Problem, UnusableInput, unusable_file

_WINDOW = 20  # rows that are searched for the header


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file whose encoding and delimiter, or sheet, are known, and whose header is not.

    `how` describes in a few words how it is read. `records` streams every row from row 1; blank rows may be missing.
    `warnings` are what a person should know about the file as a whole. `even`: every row must have as many cells as
    the header, as in a CSV; a workbook omits empty cells. `hidden`: the numbers of the hidden rows. `delimiter`,
    `lines`, `copy_of` and `sheets` as in Sheet; `has_links`: cells have hyperlinks.
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
    copy_of: str | None = None
    sheets: tuple[str, ...] = ()


def open_table(source: RecordSource, options: SourceOptions) -> Sheet:
    """The Sheet of a source. In a results file the header is row 1, whatever the mapping declares.

    Raises:
        UnusableInput: no header is found, or the table is empty.
    """
    origin = source.origin
    with closing(source.records()) as records:
        head = list(islice(records, max(_WINDOW, (options.header_row or 0) + (options.header_rows or 1))))
        if not any(record.width for record in head) and all(record.blank for record in records):
            raise unusable_file("table-empty", "the table is empty", "export it again", place_of(origin))
        results = results_header(head[0].cells) if head and head[0].number == 1 else None
        if results:
            if results.read_as is not None:
                read_as = results.read_as
                source = replace(source, origin=replace(origin, sheet=read_as.sheet), how=read_as.how)
            header, options = Header.of(head[0]), SourceOptions()
            found: tuple[str, ...] = ("a corrected results file", "header in row 1")
        else:
            header = _header(origin, head, options)
            found = (_found_in(header, options), *_left_out(source, options))
        layout = _layout(source, header, results, options)
        if moved := next((one for one in layout.columns if one.name in ADDED_COLUMNS), None):
            message = f"the column '{moved.name}' of a results file is between other columns"
            hint = "move the import_ columns to the end, in any order; the rows cannot be known without them"
            raise unusable_file("results-columns-moved", message, hint, place_of(origin))
        has_rows = any(True for _ in layout.rows(head)) or any(True for _ in layout.rows(records))
    warnings = tuple(source.warnings(layout))
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
        _read=lambda: layout.rows(source.records()),
        copy_of=source.copy_of,
        sheets=source.sheets,
    )


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


def place_of(origin: Origin) -> FilePlace:
    return FilePlace(f"{origin.file}, {origin.sheet}" if origin.sheet is not None else origin.file)


def _no_rows(layout: Layout) -> Problem:
    message = f"there are no rows below the header in row {layout.header_row}"
    hint = "check that this is the right file and sheet"
    return Problem("rows-missing", message, hint, place_of(layout.origin))


# --- the header -----------------------------------------------------------------------------------


_NUMBER = re.compile(r"[+(]?[\d][\d\s.,()/:%+-]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_PLACEHOLDER = re.compile(r"(?:column|unnamed: ?|sütun|spalte|colonne|columna)\s?\d+", re.IGNORECASE)
_JOINT = " / "  # between the names of a header of two rows


@dataclass(frozen=True, slots=True)
class Header:
    """A header: the names of its cells, and its first and last row; `lower`: of several rows, the last one's cells."""

    names: tuple[str, ...]
    first_row: int
    last_row: int
    lower: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Record) -> Header:
        return cls(tuple(header_text(cell) for cell in record.cells), record.number, record.number)

    @property
    def width(self) -> int:
        """The number of cells up to the last that is not empty."""
        return width_of(self.names)


def _header(origin: Origin, head: Sequence[Record], options: SourceOptions) -> Header:
    """The header of a file that is not a results file.

    Raises:
        UnusableInput: no row looks like a header, or the declared row is blank; the message shows the first rows.
    """
    records = [record for record in head if record.number not in options.skip_rows and record.width]
    if options.header_row is not None:
        return _declared_header(origin, records, options.header_row, options.header_rows or 1)
    if (options.header_rows or 1) > 1:
        message = f"a header of {options.header_rows} rows cannot be detected"
        hint = "set header_row: under source: in the mapping to its first row"
        raise unusable_file("header-row-missing", message, hint, place_of(origin))
    return _likely_header(origin, records, several=options.header_rows is None)


def _declared_header(origin: Origin, records: Sequence[Record], row: int, rows: int) -> Header:
    """The header in `rows` rows from `row` on. In a header of two rows a column has both names: `Balance / Opening`."""
    chosen = [record for record in records if row <= record.number < row + rows]
    if not chosen or chosen[0].number != row:
        message = "the header row that the mapping gives is blank"
        hint = f"correct header_row: under source: in the mapping; {_first_rows(records)}"
        raise UnusableInput(Problem("header-row-blank", message, hint, CellPlace(origin, row)))
    return _header_of(chosen, row, row + rows - 1)


def _header_of(records: Sequence[Record], first_row: int, last_row: int) -> Header:
    """The header in these records, of which some may be blank and missing."""
    names: Sequence[str] = ()
    for record in records:
        names = _joined(names, Header.of(record).names) if names else Header.of(record).names
    return Header(tuple(names), first_row, last_row, Header.of(records[-1]).names if len(records) > 1 else ())


def _likely_header(origin: Origin, records: Sequence[Record], *, several: bool) -> Header:
    """The first row that looks like a header: mostly distinct texts, and as wide as the rows below.

    several: the row may be the upper one of two.
    """
    first = [record for record in records if record.number <= _WINDOW]
    for position, record in enumerate(first):
        if several and _is_upper_row(record, first[position + 1 :]):
            return _header_of(first[position : position + 2], record.number, record.number + 1)
        if _reads_like_header(record) and _as_wide_as_below(record, first[position + 1 :]):
            return Header.of(record)
    message = f"none of the first {_WINDOW} rows looks like a header"
    hint = f"set header_row: under source: in the mapping to its row number; {_first_rows(records)}"
    raise UnusableInput(Problem("header-not-found", message, hint, CellPlace(origin, first[0].number if first else 1)))


def _joined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Each lower name after its upper name, which also covers the blank cells to its right that have lower names."""
    names = []
    current = ""
    for above, below in zip_longest(upper, lower, fillvalue=""):
        if above or not below:
            current = above if below else ""
        names.append(_JOINT.join(name for name in (above or current, below) if name))
    return names


def _reads_like_header(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    values = sum(1 for index, cell in enumerate(record.cells) if cell and (index in record.typed or _is_value(cell)))
    distinct = len({cell.casefold() for cell in cells})
    if any("@" in cell for cell in cells) or all(_PLACEHOLDER.fullmatch(cell) for cell in cells):
        return False
    return values * 3 <= len(cells) and distinct * 2 >= len(cells)


def _is_upper_row(upper: Record, below: Sequence[Record]) -> bool:
    """Whether the row names groups of columns, and the next row the columns: `Person | | School |` above them.

    It has a gap between two names with column names below it, and in the columns of dates, numbers and e-mail addresses
    the next row has names.
    """
    if len(below) < 2 or below[0].number != upper.number + 1:
        return False
    lower, *rows = below
    if upper.filled < 2 or not (_reads_like_header(upper) and _reads_like_header(lower)):
        return False
    width = max(upper.width, lower.width)
    above, names = (record.cells[:width] + ("",) * (width - len(record.cells)) for record in (upper, lower))
    has_gap = any(names[index] and not above[index] and any(above[:index]) for index in range(upper.width))
    values = [index for index in range(width) if _holds_values(index, rows)]
    return has_gap and all(names[i] or above[i] for i in values) and any(names[i] for i in values)


def _holds_values(index: int, rows: Sequence[Record]) -> bool:
    """Whether most filled cells of a column are numbers, dates or e-mail addresses."""
    filled = [record for record in rows if "".join(record.cells[index : index + 1])]
    values = [row for row in filled if index in row.typed or "@" in row.cells[index] or _is_value(row.cells[index])]
    return 2 * len(values) > len(filled)


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def _as_wide_as_below(record: Record, below: Sequence[Record]) -> bool:
    """Whether the row has about as many cells as most rows below. A title or a list of settings has fewer."""
    widths = sorted(other.filled for other in below)
    if not widths:
        return True
    usual = widths[int(0.75 * (len(widths) - 1))]
    wide = record.width >= usual * (0.75 if len(widths) > 1 else 0.5)
    return wide and record.filled * 2 >= record.width


def _first_rows(records: Sequence[Record]) -> str:
    rows = [
        f"row {record.number}: {', '.join(quoted(cell, 20) for cell in [cell for cell in record.cells if cell][:4])}"
        for record in records[:5]
    ]
    return "the first rows are " + "; ".join(rows) if rows else "all rows are empty"
