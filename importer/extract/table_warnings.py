"""What a person should know of a detected table: what is above and beside it, and how its names were made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby, takewhile

from importer.extract.cell_text import quoted
from importer.extract.header import Header, place_of
from importer.extract.likely_header import has_values
from importer.extract.sheet import Layout, Record, Sheet
from importer.models import SourceOptions
from importer.problems import Column, Origin, Problem, column_letter, file_problem
from importer.text.normalize import normalize_name

_SHOWN = 5  # cells or names in one warning
_SETTING = re.compile(r".*\S:")  # above a table: `Filter: | open | Page: | 1`


def table_warnings(origin: Origin, head: Sequence[Record], header: Header, options: SourceOptions) -> Iterator[Problem]:
    """The warnings of the table below a header; head: the first records of the file."""
    head = [record for record in head if record.number not in options.skip_rows]
    found = [_broken_names(head, header), _beside(head, header)]
    if options.header_row is None:
        found = [_rows_above(head, header), _two_rows(header, options), *found]
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


# --- a second table beside the first --------------------------------------------------------------


def _beside(head: Sequence[Record], header: Header) -> Problem | None:
    """Columns after a blank one that look like another table.

    One table may have blank columns too. Another one has the same names again, none in this header, names in the row
    above it, or ends in another row.
    """
    numbers = count(header.last_row + 1)
    below = [record for record in head if record.number > header.last_row]
    body = list(takewhile(lambda record: record.number == next(numbers) and record.width, below))
    above = next((record for record in head if record.number == header.first_row - 1), None)
    blocks = _blocks(header, body)
    main = max(blocks, key=lambda block: len(_names(header, block)), default=range(0))
    others = [block for block in blocks if block != main and _is_other(block, main, header, body, above)]
    if not others:
        return None
    shown = " and ".join(map(_columns, others))
    names = _listed([repr(name) for block in others for name in _names(header, block)])
    message = (
        f"columns {shown} ({names or 'without names'}) look like a second table beside {_columns(main)}, but each row "
        "is read as one"
    )
    hint = "put the second table into a sheet or file of its own, or check that the mapping reads columns of one table"
    return Problem("second-table", message, hint)


def _blocks(header: Header, body: Sequence[Record]) -> list[range]:
    """The columns between blank ones, two or more together."""
    width = max([len(header.names), *(record.width for record in body)])
    blocks = []
    for is_filled, some in groupby(
        range(width), lambda index: bool(_names(header, (index,)) or _filled(body, (index,)))
    ):
        indexes = list(some)
        if is_filled and len(indexes) > 1:
            blocks.append(range(indexes[0], indexes[-1] + 1))
    return blocks


def _is_other(block: range, main: range, header: Header, body: Sequence[Record], above: Record | None) -> bool:
    names, own = _names(header, block), set(map(normalize_name, _names(header, main)))
    rows, main_rows = _filled(body, block), _filled(body, main)
    if not names:
        return rows > 1
    if above and len(_cells(above, block)) > 1 and not _cells(above, main):
        return True
    if 2 * sum(normalize_name(name) in own for name in names) > len(names):
        return True
    is_early = 1 < rows < len(body) - 1 and all(len(_cells(record, block)) == len(block) for record in body[:rows])
    return _ends_at(body, main, main_rows) < len(body) or (is_early and _ends_at(body, block, rows) < len(body))


def _ends_at(body: Sequence[Record], block: range, rows: int) -> int:
    """The number of rows that the block fills, if they are the first ones; else that of all rows."""
    return rows if rows > 1 and all(_cells(record, block) for record in body[:rows]) else len(body)


def _filled(body: Sequence[Record], block: Sequence[int]) -> int:
    return sum(bool(_cells(record, block)) for record in body)


def _cells(record: Record, block: Sequence[int]) -> list[str]:
    return [record.cells[index] for index in block if index < len(record.cells) and record.cells[index]]


def _names(header: Header, block: Sequence[int]) -> list[str]:
    return [header.names[index] for index in block if index < len(header.names) and header.names[index]]


def _columns(block: range) -> str:
    return f"{column_letter(block[0])}:{column_letter(block[-1])}"


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
