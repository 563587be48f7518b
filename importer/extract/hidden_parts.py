"""Warnings of what a spreadsheet program hides: rows and columns that are read, and sheets that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from importer.extract.header import place_of
from importer.extract.sheet import Layout, Record, Sheet
from importer.models import SourceOptions
from importer.problems import Column, Problem, file_problem
from importer.text.normalize import normalize_name

_SHOWN = 10  # rows or columns in one warning


def hidden_rows_read(
    hidden: frozenset[int], records: Callable[[], Iterable[Record]], options: SourceOptions, layout: Layout
) -> Iterator[Problem]:
    """Hidden rows of the table, unless the mapping says that they are read or skipped."""
    if not hidden or options.hidden_rows is not None or layout.results is not None:
        return
    own = [one.number for one in records() if one.number in hidden and one.number > layout.header_row and not one.blank]
    rows = [number for number in own if number not in layout.left_out]
    if rows:
        some = "1 hidden row is" if len(rows) == 1 else f"{len(rows):,} hidden rows are"
        message = f"{some} read like the others ({_listed(rows)})"
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
    if columns and layout.results is None:
        some = "a hidden column is" if len(columns) == 1 else f"{len(columns)} hidden columns are"
        message = f"{some} read like the others ({_listed([f'{each.letter} {each.name!r}' for each in columns])})"
        hint = "show the columns and check their values, or map other columns"
        yield Problem("columns-hidden", message, hint, place_of(layout.origin))


def hidden_tables_not_read(tables: Iterable[Sheet], layout: Layout) -> Iterator[Problem]:
    """Those of the hidden sheets with rows and most of the names of the sheet that is read."""
    own = _names(layout.columns)
    alike = [
        repr(table.origin.sheet)
        for table in tables
        if 2 * len(own & _names(table.columns)) > len(own) and any(True for _ in table.rows())
    ]
    if alike and layout.results is None:
        some = "a hidden sheet has" if len(alike) == 1 else f"{len(alike)} hidden sheets have"
        message = f"{some} rows with the same columns and will not be read: {', '.join(alike)}"
        hint = "to read one, set sheet: under source: in the mapping to its name"
        yield file_problem("hidden-sheet-not-read", message, hint, layout.origin.file)


def _names(columns: Iterable[Column]) -> set[str]:
    return {normalize_name(column.name) for column in columns} - {""}


def _listed(items: Sequence[object]) -> str:
    return ", ".join(map(str, items[:_SHOWN])) + (", ..." if len(items) > _SHOWN else "")
