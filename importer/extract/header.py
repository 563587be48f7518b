"""Which row holds the header: the declared one, or the first among the first twenty that looks like one.

And whether it is the header of one of our own results files, which is read by its own rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from importer.errors import UnusableInput
from importer.extract.cell_text import header_text, shown
from importer.extract.sheet import Record
from importer.models import IMPORT_COLUMNS, TYPED_COLUMN, CellPlace, Origin, Problem

WINDOW = 20  # rows that are looked at
_NUMBER = re.compile(r"[+(]?[\d][\d\s.,()/:%+-]*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*")
_PLACEHOLDER = re.compile(r"(?:column|unnamed: ?|sütun|spalte|colonne|columna)\s?\d+", re.IGNORECASE)
_JOINT = " / "  # between the names of a header of two rows


@dataclass(frozen=True, slots=True)
class Header:
    """A header: the names of its cells, and the row or rows that it stands in."""

    names: tuple[str, ...]
    first_row: int
    last_row: int

    @classmethod
    def of(cls, record: Record) -> Header:
        return cls(tuple(header_text(cell) for cell in record.cells), record.number, record.number)

    @property
    def width(self) -> int:
        """The number of cells up to the last that has a name."""
        return max((index + 1 for index, name in enumerate(self.names) if name), default=0)


def declared_header(origin: Origin, records: Sequence[Record], row: int, rows: int = 1) -> Header:
    """The header in the declared row, or in that many rows from there on.

    Of two rows, as of merged cells, each column gets both names: `Balance / Opening`.

    Raises:
        UnusableInput: the row is blank or the sheet ends before it.
    """
    chosen = [record for record in records if row <= record.number < row + rows and record.width]
    if not chosen or chosen[0].number != row:
        raise UnusableInput(
            Problem(
                "header-row-blank",
                "the row that the mapping declares as header is blank",
                f"give the header's row number as header_row: under source:; {_first_rows(records)}",
                CellPlace(origin, row),
            )
        )
    header = Header.of(chosen[0])
    for lower in chosen[1:]:
        header = _joined(header, Header.of(lower))
    return Header(header.names, row, row + rows - 1)


def found_header(origin: Origin, records: Sequence[Record]) -> Header:
    """The first of the first rows that looks like a header: texts, most of them distinct, as wide as the rows below.

    Raises:
        UnusableInput: no row looks like a header; the message shows the first rows.
    """
    filled = [record for record in records if record.number <= WINDOW and record.width]
    for position, record in enumerate(filled):
        if _reads_like_header(record) and _as_wide_as_below(record, filled[position + 1 :]):
            return Header.of(record)
    raise UnusableInput(
        Problem(
            "header-not-found",
            f"none of the first {WINDOW} rows looks like a header",
            f"give its row number as header_row: under source: in the mapping; {_first_rows(records)}",
            CellPlace(origin, filled[0].number if filled else 1),
        )
    )


def added_columns(header: Sequence[str]) -> int:
    """How many cells at the end of a header row are what our report added; 0 if it is no results file.

    Somebody may have taken out some of them, and one is enough to tell.
    """
    start = end = len(header)
    while end and not header[end - 1]:
        start = end = end - 1
    for name in (TYPED_COLUMN, *reversed(IMPORT_COLUMNS)):
        if start and header[start - 1] == name:
            start -= 1
    return len(header) - start if start < end else 0


def _joined(upper: Header, lower: Header) -> Header:
    """Each lower name below its upper one, which reaches to the right as far as it has lower names."""
    names = []
    reaching = ""
    for index in range(max(len(upper.names), len(lower.names))):
        above = upper.names[index] if index < len(upper.names) else ""
        below = lower.names[index] if index < len(lower.names) else ""
        if above or not below:
            reaching = above if below else ""
        names.append(_JOINT.join(name for name in (above or reaching, below) if name))
    return Header(tuple(names), upper.first_row, lower.last_row)


def _reads_like_header(record: Record) -> bool:
    cells = [cell for cell in record.cells if cell]
    values = sum(1 for index, cell in enumerate(record.cells) if cell and (index in record.typed or _is_value(cell)))
    distinct = len({cell.casefold() for cell in cells})
    if any("@" in cell for cell in cells) or all(_PLACEHOLDER.fullmatch(cell) for cell in cells):
        return False
    return values * 3 <= len(cells) and distinct * 2 >= len(cells)


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def _as_wide_as_below(record: Record, below: Sequence[Record]) -> bool:
    """Whether the row has about as many cells as most rows below: a title or a list of settings has fewer."""
    widths = sorted(other.filled for other in below)
    if not widths:
        return True
    usual = widths[int(0.75 * (len(widths) - 1))]
    wide = record.width >= usual * (0.75 if len(widths) > 1 else 0.5)
    return wide and record.filled * 2 >= record.width


def _first_rows(records: Sequence[Record]) -> str:
    rows = [
        f"row {record.number}: {', '.join(shown(cell, 20) for cell in [cell for cell in record.cells if cell][:4])}"
        for record in records
        if record.width
    ]
    return "the first rows are " + "; ".join(rows[:5]) if rows else "no row holds anything"
