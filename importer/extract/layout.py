"""Where the columns of a table are, and how a record becomes a Row of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from importer.extract.record import Record
from importer.extract.results_file import is_canonical, rewritten, typed_cells
from importer.models import CellPlace, Column, Origin, Problem, Row


@dataclass(frozen=True, slots=True)
class Layout:
    """The header of a table, its columns, and which rows below belong to it.

    `header_row` is the header's last row. `width` counts the header's cells; `columns` are the ones that are kept,
    always the first of them. `even` as in RecordSource. `left_out` are the numbers of rows that are not read. The table
    ends before the first row whose first filled cell is `stop_at`. `typed_at` is where a results file that is fed back
    says which of its cells a workbook kept as values.
    """

    origin: Origin
    header_row: int
    width: int
    columns: tuple[Column, ...]
    even: bool
    left_out: frozenset[int] = frozenset()
    stop_at: str | None = None
    typed_at: int | None = None

    @property
    def takes_all(self) -> bool:
        """Whether every row below the header counts, so that a reader need not ask for each."""
        return not self.left_out and self.stop_at is None

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """The rows below the header; blank ones and those left out are not among them."""
        for record in records:
            if record.number <= self.header_row or record.blank or record.number in self.left_out:
                continue
            if self.stop_at is not None and self._stops(record.cells):
                return
            yield self.row(record)

    def row(self, record: Record) -> Row:
        """One record as a Row, with what is wrong in it."""
        kept = len(self.columns)
        cells = record.cells[:kept] + ("",) * (kept - len(record.cells))
        typed = record.typed
        if self.typed_at is not None:
            listed = typed_cells("".join(record.cells[self.typed_at : self.typed_at + 1]), cells, self.columns)
            problems = tuple(self._rewritten(record, cells, listed - typed))
            kept_typed = frozenset(index for index in typed | listed if index < kept)
            return Row(self.origin, record.number, cells, kept_typed, (*self._problems(record), *problems))
        if typed and max(typed) >= kept:
            typed = frozenset(index for index in typed if index < kept)
        return Row(self.origin, record.number, cells, typed, self._problems(record))

    def _rewritten(self, record: Record, cells: tuple[str, ...], listed: frozenset[int]) -> Iterator[Problem]:
        """What is listed as a value and is written as none stays listed: it must not be taken for text later either."""
        told = {flaw.index for flaw in record.flaws}
        for index in sorted(listed - told):
            if not is_canonical(cells[index]):
                yield replace(rewritten(cells[index]), place=CellPlace(self.origin, record.number, self.columns[index]))

    def _stops(self, cells: tuple[str, ...]) -> bool:
        return next((cell for cell in cells if cell), "").casefold() == (self.stop_at or "").strip().casefold()

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
                CellPlace(self.origin, record.number, column(record.width - 1, "")),
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
            if flaw.index < len(self.columns) or flaw.index >= self.width:
                place = CellPlace(self.origin, record.number, self.column_at(flaw.index))
                yield Problem(flaw.problem.code, flaw.problem.message, flaw.problem.hint, place)

    def column_at(self, index: int) -> Column:
        """The column at an index, also beyond the header."""
        return self.columns[index] if index < len(self.columns) else column(index, "")


def column(index: int, name: str) -> Column:
    """The column at an index, from 0, with its letter."""
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
