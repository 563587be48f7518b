"""What a person should know of a table: what is above it, and what its sheet hides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from importer.models import SourceOptions
from importer.problems import Column, Origin, Problem, UnusableInput, file_problem
from importer.sources.header import Header, place_of
from importer.sources.likely_header import has_values
from importer.sources.sheet import Layout, Record, Sheet
from importer.text.normalize import normalize_name

_SETTING = re.compile(r".*\S:")  # above a table: `Filter: | open | Page: | 1`


def rows_above(origin: Origin, head: Sequence[Record], header: Header, options: SourceOptions) -> Iterator[Problem]:
    """Rows above a header that was detected, and that look like candidates: as wide as it, with numbers or addresses.

    head: the first records of the file.
    """
    above = [one for one in head if one.number < header.first_row and one.number not in options.skip_rows]
    above = [one for one in above if has_values(one) and not any(map(_SETTING.fullmatch, one.cells))]
    rows = [str(one.number) for one in above if 4 * one.filled >= 3 * (header.width or 1)]
    if rows and options.header_row is None:
        some = f"row {rows[0]} looks" if len(rows) == 1 else f"rows {', '.join(rows)} look"
        message = f"{some} like data, but the header was found below, in row {header.first_row}: not imported"
        hint = "if the header is another row, set header_row: under source: in the mapping"
        yield Problem("rows-above-header", message, hint, place_of(origin))


def rows_below(records: Iterable[Record], layout: Layout) -> Iterator[Problem]:
    """Rows below the end of a table that look like candidates: as wide as most of them, with an address."""
    below, rows = iter(records), list[int]()
    end = next(filter(layout.ends_at, below), None)
    wide = max(min(3, len(layout.columns)), len(layout.columns) // 2)  # a total, or who made the file, is shorter
    with suppress(UnusableInput):  # what is below the table may be anything
        rows += [one.number for one in below if one.filled >= wide and any("@" in cell for cell in one.cells)]
    if end is None:
        message = f"no row begins with {layout.stop_at!r}, so the table is read to the end of the file"
        hint = "correct stop_at: under source: in the mapping (it is the whole text of the first filled cell)"
        yield Problem("end-not-found", message, hint, place_of(layout.origin))
    if end is not None and rows:
        some = "1 row below it looks" if len(rows) == 1 else f"{len(rows):,} rows below it look"
        message = f"the table ends before row {end.number}, and {some} like data ({_listed_parts(rows)}): not imported"
        hint = "if they are candidates, remove stop_at: under source: in the mapping, and exclude totals with where:"
        yield Problem("rows-below-end", message, hint, place_of(layout.origin))


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
        hint = "to leave them out, set hidden_rows: skip under source: (or sheet:, file:) in the mapping; "
        hint += "hidden_rows: read confirms them"
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
