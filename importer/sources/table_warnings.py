"""What a person should know of a table: what is above it, how its names were made, and what its sheet hides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from importer.models import SourceOptions
from importer.problems import Column, Origin, Problem, column_letter, file_problem
from importer.sources.cell_text import quoted
from importer.sources.header import Header, place_of
from importer.sources.likely_header import has_values
from importer.sources.sheet import Layout, Record, Sheet
from importer.text.normalize import normalize_name

_SHOWN = 5  # cells or names in one warning
_SETTING = re.compile(r".*\S:")  # above a table: `Filter: | open | Page: | 1`


def table_warnings(origin: Origin, head: Sequence[Record], header: Header, options: SourceOptions) -> Iterator[Problem]:
    """The warnings of the table below a header; head: the first records of the file."""
    head = [record for record in head if record.number not in options.skip_rows]
    found = [_broken_names(head, header)]
    if options.header_row is None:
        found += [_rows_above(head, header), _two_rows(header, options)]
    yield from (replace(problem, place=place_of(origin)) for problem in found if problem is not None)


def _rows_above(head: Sequence[Record], header: Header) -> Problem | None:
    """Rows above the header that look like candidates: as wide as it, with numbers or addresses."""
    above = [one for one in head if one.number < header.first_row and not any(map(_SETTING.fullmatch, one.cells))]
    rows = [str(one.number) for one in above if has_values(one) and 4 * one.filled >= 3 * (header.width or 1)]
    if not rows:
        return None
    some = f"row {rows[0]} looks" if len(rows) == 1 else f"rows {', '.join(rows)} look"
    message = f"{some} like data, but the header was found below, in row {header.first_row}: not imported"
    hint = "if the header is another row, set header_row: under source: in the mapping"
    return Problem("rows-above-header", message, hint)


def _two_rows(header: Header, options: SourceOptions) -> Problem | None:
    """A header that was taken from two rows, unless the mapping reads one of its names."""
    joined = [name for name, lower in zip(header.names, header.lower, strict=False) if name != lower != ""]
    if not joined or {*map(normalize_name, options.names)}.intersection(map(normalize_name, joined)):
        return None
    rows = f"rows {header.first_row} and {header.last_row}"
    message = f"the header was found in {rows}; a column has the names of both, such as {quoted(joined[0])}"
    hint = (
        f"if only row {header.last_row} is the header, set header_row: {header.last_row} under source: in the mapping; "
        f"if both are, header_row: {header.first_row} and header_rows: 2"
    )
    return Problem("header-of-two-rows", message, hint)


def _broken_names(head: Sequence[Record], header: Header) -> Problem | None:
    """Cells of the header with an error, or another problem."""
    cells = [
        f"{column_letter(each.index)}{record.number} ({quoted(record.cells[each.index])})"
        for record in head
        if header.first_row <= record.number <= header.last_row
        for each in record.problems
        if each.index is not None and each.index < len(record.cells)
    ]
    if not cells:
        return None
    some = "a cell of the header has" if len(cells) == 1 else f"{len(cells)} cells of the header have"
    message = f"{some} an error, which is read as the name of the column: {_listed(cells)}"
    hint = "fix the header; or give the column by its letter in the mapping, such as =B"
    return Problem("header-cell-error", message, hint)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")


# --- what a sheet hides ---


_SHOWN = 10  # rows or columns in one warning


def hidden_rows_read(
    hidden: frozenset[int], records: Callable[[], Iterable[Record]], options: SourceOptions, layout: Layout
) -> Iterator[Problem]:
    """Hidden rows of the table, unless the mapping says that they are read or skipped."""
    if not hidden or options.hidden_rows is not None:
        return
    own = [one.number for one in records() if one.number in hidden and one.number > layout.header_row and not one.blank]
    rows = [number for number in own if number not in layout.left_out]
    if rows:
        some = "1 hidden row is" if len(rows) == 1 else f"{len(rows):,} hidden rows are"
        message = f"{some} read like the others ({_listed_parts(rows)})"
        hint = "to leave them out, set hidden_rows: skip under source: in the mapping; hidden_rows: read confirms them"
        yield Problem("rows-hidden", message, hint, place_of(layout.origin))


def hidden_columns_read(hidden: Sequence[int], options: SourceOptions, layout: Layout) -> Iterator[Problem]:
    """Hidden columns with a name; of a mapping, those that it reads by name."""
    known, wanted = set(hidden), set(map(normalize_name, options.names))
    columns = [
        column
        for column in layout.columns
        if column.index in known and column.name and (not wanted or normalize_name(column.name) in wanted)
    ]
    if columns:
        some = "a hidden column is" if len(columns) == 1 else f"{len(columns)} hidden columns are"
        message = f"{some} read like the others ({_listed_parts([f'{each.letter} {each.name!r}' for each in columns])})"
        hint = "show the columns and check their values, or map other columns"
        yield Problem("rows-hidden", message, hint, place_of(layout.origin))


def hidden_tables_not_read(tables: Iterable[Sheet], layout: Layout) -> Iterator[Problem]:
    """Those of the hidden sheets with rows and most of the names of the sheet that is read."""
    own = _column_names(layout.columns)
    alike = [
        repr(table.origin.sheet)
        for table in tables
        if 2 * len(own & _column_names(table.columns)) > len(own) and any(True for _ in table.rows())
    ]
    if alike:
        some = "a hidden sheet has" if len(alike) == 1 else f"{len(alike)} hidden sheets have"
        message = f"{some} rows with the same columns and will not be read: {', '.join(alike)}"
        hint = "to read one, set sheet: under source: in the mapping to its name"
        yield file_problem("hidden-sheet-not-read", message, hint, layout.origin.file)


def _column_names(columns: Iterable[Column]) -> set[str]:
    return {normalize_name(column.name) for column in columns} - {""}


def _listed_parts(items: Sequence[object]) -> str:
    return ", ".join(map(str, items[:_SHOWN])) + (", ..." if len(items) > _SHOWN else "")
