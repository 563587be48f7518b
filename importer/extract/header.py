"""Which row holds the header: the declared one, or the first among the first twenty that looks like one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from importer.errors import UnusableInput
from importer.extract.clean_text import shown
from importer.extract.record import Record
from importer.models import CellPlace, Origin, Problem

WINDOW = 20  # rows that are looked at
_NUMBER = re.compile(r"[+(]?[\d][\d\s.,()/:%+-]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")


def declared_header(origin: Origin, records: Sequence[Record], row: int) -> Record:
    """The record at the declared row.

    Raises:
        UnusableInput: that row is blank or the sheet ends before it.
    """
    for record in records:
        if record.number == row and record.width:
            return record
    raise UnusableInput(
        Problem(
            "header-row-blank",
            "the row that the mapping declares as header is blank",
            f"give the header's row number as header_row: under source:; {_first_rows(records)}",
            CellPlace(origin, row),
        )
    )


def found_header(origin: Origin, records: Sequence[Record]) -> Record:
    """The first of the first rows that looks like a header: texts, most of them distinct, as wide as the rows below.

    Raises:
        UnusableInput: no row looks like a header; the message shows the first rows.
    """
    filled = [record for record in records if record.number <= WINDOW and record.width]
    for position, record in enumerate(filled):
        if _reads_like_header(record) and _as_wide_as_below(record, filled[position + 1 :]):
            return record
    raise UnusableInput(
        Problem(
            "header-not-found",
            f"none of the first {WINDOW} rows looks like a header",
            f"give its row number as header_row: under source: in the mapping; {_first_rows(records)}",
            CellPlace(origin, filled[0].number if filled else 1),
        )
    )


def _reads_like_header(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    values = sum(1 for index, cell in enumerate(record.cells) if cell and (index in record.typed or _is_value(cell)))
    distinct = len({cell.casefold() for cell in cells})
    return not any("@" in cell for cell in cells) and values * 3 <= len(cells) and distinct * 2 >= len(cells)


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def _as_wide_as_below(record: Record, below: Sequence[Record]) -> bool:
    """Whether the row has about as many cells as most rows below: a title or a list of settings has fewer."""
    widths = sorted(other.filled for other in below)
    if not widths:
        return True
    usual = widths[int(0.75 * (len(widths) - 1))]
    return record.filled >= usual * (0.75 if len(widths) > 1 else 0.5)


def _first_rows(records: Sequence[Record]) -> str:
    rows = [
        f"row {record.number}: {', '.join(shown(cell, 20) for cell in record.cells[:4] if cell)}"
        for record in records
        if record.width
    ]
    return "the first rows are " + "; ".join(rows[:5]) if rows else "no row holds anything"
