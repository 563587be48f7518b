"""Where the columns of a table are, and how a record becomes a Row of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from importer.extract.clean_text import header_text
from importer.extract.record import Record
from importer.models import CellPlace, Column, Origin, Problem, Row


@dataclass(frozen=True, slots=True)
class Layout:
    """The header of a table and its columns.

    `width` counts the header's cells; `columns` are the ones that are kept, always the first of them. `even`: every row
    must have as many cells as the header, as in a CSV; a workbook leaves empty cells out.
    """

    origin: Origin
    header_row: int
    width: int
    columns: tuple[Column, ...]
    even: bool

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """The rows below the header, blank ones left out."""
        for record in records:
            if record.number > self.header_row and not record.blank:
                yield self._row(record)

    def _row(self, record: Record) -> Row:
        kept = len(self.columns)
        cells = record.cells[:kept] + ("",) * (kept - len(record.cells))
        typed = (
            record.typed
            if not record.typed or max(record.typed) < kept
            else frozenset(index for index in record.typed if index < kept)
        )
        return Row(self.origin, record.number, cells, typed, self._problems(record))

    def _problems(self, record: Record) -> tuple[Problem, ...]:
        if len(record.cells) == self.width and not record.flaws:
            return ()
        return tuple(self._width_problems(record)) + tuple(self._flaws(record))

    def _width_problems(self, record: Record) -> Iterator[Problem]:
        if record.width > self.width:
            yield Problem(
                "too-many-cells",
                f"the row has {record.width} cells, the header {self.width}",
                "clear the cells beyond the header, or give them a header; in a CSV, quote cells that hold delimiters",
                CellPlace(self.origin, record.number, _column(record.width - 1, "")),
            )
        elif self.even and len(record.cells) < self.width:
            yield Problem(
                "too-few-cells",
                f"the row has {len(record.cells)} cells, the header {self.width}",
                "look for a missing delimiter or a line break outside quotes",
                CellPlace(self.origin, record.number),
            )

    def _flaws(self, record: Record) -> Iterator[Problem]:
        for flaw in record.flaws:
            if flaw.index < len(self.columns):
                place = CellPlace(self.origin, record.number, self.columns[flaw.index])
                yield Problem(flaw.problem.code, flaw.problem.message, flaw.problem.hint, place)


def layout_of(origin: Origin, header: Record, even: bool, dropped: int = 0) -> Layout:
    """The layout that a header record says, without its last `dropped` columns."""
    width = len(header.cells) if even else header.width
    columns = tuple(
        _column(index, header_text(header.cells[index]) if index < len(header.cells) else "")
        for index in range(width - dropped)
    )
    return Layout(origin, header.number, width, columns, even)


def _column(index: int, name: str) -> Column:
    return Column(index, column_letter(index), name)


def column_letter(index: int) -> str:
    """The letter of a column, counted from 0: A, Z, AA.

    >>> column_letter(0), column_letter(25), column_letter(26), column_letter(701)
    ('A', 'Z', 'AA', 'ZZ')
    """
    letters = ""
    number = index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
