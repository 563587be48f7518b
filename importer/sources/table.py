"""The table in a source: its header, its columns, and whether rows follow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, pairwise, takewhile
from typing import Final

from importer.models import SourceOptions
from importer.problems import Column, Origin, Problem, UnusableInput, unusable_file
from importer.sources.header import Header, find_header, place_of
from importer.sources.likely_header import mark_repeated_header
from importer.sources.results_file import is_results_header, results_file_elsewhere
from importer.sources.sheet import EXCEL_BLOCK, WINDOW, CellProblem, Layout, Record, Sheet
from importer.sources.table_warnings import rows_above, rows_below
from importer.text.normalize import normalize_name


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A file whose encoding and delimiter, or sheet, are known, and whose header is not.

    `how` describes in a few words how it is read. `records` streams every row from row 1; blank rows may be missing.
    `warnings` are what a person should know about the file as a whole. `even`: every row must have as many cells as
    the header, as in a CSV; a workbook omits empty cells. `hidden`: the numbers of the hidden rows. `delimiter`,
    `sheets` as in Sheet; `hidden_tables`: the first rows of hidden sheets.
    """

    origin: Origin
    how: str
    records: Callable[[], Generator[Record, None, None]]
    warnings: Callable[[Layout], Iterable[Problem]] = lambda _: ()
    even: bool = True
    hidden: frozenset[int] = frozenset()
    delimiter: str = ","
    sheets: tuple[str, ...] = ()
    hidden_tables: tuple[RecordSource, ...] = ()


def open_table(source: RecordSource, options: SourceOptions) -> Sheet:
    """The Sheet of a source. Raises UnusableInput: no header is found, the table is empty, or it is a results file."""
    origin = source.origin
    with closing(source.records()) as records:
        head = list(islice(records, max(WINDOW, (options.header_row or 0) + (options.header_rows or 1))))
        if not any(record.width for record in head) and all(record.blank for record in records):
            raise unusable_file("file-empty", "the table is empty", "export it again", place_of(origin))
        if head and is_results_header(head[0].cells):
            raise results_file_elsewhere(origin)
        header = find_header(origin, head, options)
        found = (_found_in(header, options), *_left_out(source, options))
        above = tuple(rows_above(origin, head, header, options))
        layout = _layout(source, header, options, head)
        has_rows = any(True for _ in layout.rows(head)) or any(True for _ in layout.rows(records))
    below = rows_below(source.records(), layout) if options.stop_at is not None else ()
    warnings = (*above, *below, *source.warnings(layout))
    return Sheet(
        layout.origin,
        layout.header_row,
        layout.columns,
        ", ".join((source.how, *found, counted(len(layout.columns), "column"))),
        warnings if has_rows else (*warnings, _no_rows(layout)),
        source.delimiter,
        header_rows=header.last_row - header.first_row + 1,
        _read=lambda: layout.rows(mark_repeated_header(_mark_cut(_records(source, layout, options), layout), layout)),
        sheets=source.sheets,
    )


def has_table(source: RecordSource, options: SourceOptions, known: int = 1) -> bool:
    """Whether `open_table` finds a header, and not only a title: one name without a row below.

    known: how many of the columns that are read it must have, where these are given.
    """
    with closing(source.records()) as records:
        head = list(islice(records, WINDOW))
    try:
        header = find_header(source.origin, head, options)
    except UnusableInput:
        return False
    wanted = {*map(normalize_name, options.names)}
    has_letters = any(name.startswith("=") for name in options.names)  # they name no column
    if (
        wanted
        and not has_letters
        and len(wanted.intersection(map(normalize_name, header.names + header.lower))) < known
    ):
        return False
    return len([*filter(None, header.names)]) > 1 or any(one.width for one in head if one.number > header.last_row)


def _layout(source: RecordSource, header: Header, options: SourceOptions, head: Sequence[Record]) -> Layout:
    """The layout below a header. head: the first records, which show how many cells are usual."""
    width = len(header.names) if source.even else header.width
    lower = header.lower + ("",) * width
    columns = tuple(Column.at(index, header.names[index], lower[index]) for index in range(width))
    rows = [record for record in head if record.number > header.last_row and record.width]
    letters = {name[1:].strip().upper() for name in options.names if name.startswith("=")}
    named = max([header.width, *(column.index + 1 for column in columns if column.letter in letters)])
    are_named = bool(rows) and 2 * sum(record.width > named for record in rows) < len(rows)
    usual = Counter(len(record.cells) for record in rows).most_common(1) if source.even else ()
    hidden = source.hidden if options.hidden_rows == "skip" else frozenset()
    return Layout(
        source.origin,
        header.last_row,
        width,
        columns,
        source.even,
        hidden.union(options.skip_rows),
        options.stop_at,
        named if are_named else width,
        max(width, *(length for length, _ in usual)) if usual else width,
    )


def _records(source: RecordSource, layout: Layout, options: SourceOptions) -> Iterator[Record]:
    """The records, with as many cells as the header where Excel wrote more or fewer.

    It writes a CSV in blocks of 16 rows, each with the delimiters of its longest row: a note beside the table gives its
    whole block blank cells at the end. A small block, or one without such a note, shows nothing. With `short_rows:
    blank`, rows whose last cells it left out have them. All rows of a block must be short alike, with an e-mail address
    in the same column: a row that is cut, or broken in two, has longer neighbors, is alone, or has its address in one
    half.
    """
    if not source.even:
        yield from source.records()
        return
    width, records = layout.width, source.records()
    of_table = takewhile(lambda one: not layout.ends_at(one), records)  # what is below it may not be readable
    for _, block in groupby(of_table, lambda record: (record.number - 1) // EXCEL_BLOCK):
        rows = list(block)
        length = len(rows[0].cells)
        if length == width or len(rows) == 1 or any(len(record.cells) != length for record in rows):
            yield from rows
            continue
        with_address = [{at for at, cell in enumerate(record.cells) if "@" in cell} for record in rows]
        notes = sum(record.width == length for record in rows)
        if length > width and 0 < 4 * notes <= len(rows) >= EXCEL_BLOCK // 2:
            rows = [replace(one, cells=one.cells[:width]) if one.width <= width else one for one in rows]
        elif options.short_rows and length > 1 and (set.intersection(*with_address) or not any(with_address)):
            rows = [replace(record, cells=record.cells + ("",) * (width - length)) for record in rows]
        yield from rows


def _mark_cut(records: Iterable[Record], layout: Layout) -> Iterator[Record]:
    """The records; of a CSV, those right beside a line without a delimiter have a problem: that is a piece of one. Not
    a line with an address, which is a row, nor a footer, as `Total: 5`.
    """
    if not layout.even:
        yield from records
        return
    above: Record | None = None
    is_below_piece = False
    for record, following in pairwise(chain(records, [None])):
        assert record is not None
        is_own = record.number > layout.header_row and record.number not in layout.left_out
        is_piece = is_own and len(record.cells) == 1 < layout.width and not layout.ends_at(record)
        is_piece = is_piece and "@" not in record.cells[0]
        is_last = following is None or len(following.cells) == 1
        is_footer = is_last and _FOOTER.search(record.cells[0])
        if above is not None:
            is_beside = is_piece and not is_footer and above.number == record.number - 1 > layout.header_row
            yield _cut(above, record.number) if is_beside and len(above.cells) > 1 else above
        is_below = is_below_piece and above is not None and above.number == record.number - 1
        above = _cut(record, record.number - 1) if is_below and not is_piece and is_own else record
        is_below_piece = is_piece
    if above is not None:
        yield above


_FOOTER: Final = re.compile(r"[\d:]|^\W*$|^\W*(?:total|summe|gesamt|toplam|razem|totale?)\b", re.IGNORECASE)


def _cut(record: Record, piece: int) -> Record:
    message = f"row {piece} is only a piece of a row: a line break outside quotes has cut it, or this row"
    hint = (
        "remove the line break in your own file, or quote the cell that contains it; delete a line that is only a note"
    )
    return replace(record, problems=(*record.problems, CellProblem(None, Problem("row-cut", message, hint))))


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
