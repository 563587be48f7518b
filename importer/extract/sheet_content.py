"""The rows of one worksheet as an engine gives them, made into batches of clean text with what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest
from typing import TypeVar

from importer.extract.cell_flaws import NO_RESULT, error_cell, flaw_of, formula_without_value
from importer.extract.cell_text import Value
from importer.extract.column_text import column_text
from importer.extract.hazards import Hazards
from importer.extract.joined_cells import Cells, blank_cells, taken_apart
from importer.extract.number_format import formatted_number
from importer.extract.workbook_frames import BatchDraft, CellFlaw, LostDigits
from importer.models import Problem

_T = TypeVar("_T")
_ROWS = 250  # in a batch: few enough for the processor to keep them at hand
_WIDE = 1000  # cells: such a row does not widen the rows of its batch, where the reader gives each its own width


@dataclass(frozen=True, slots=True)
class SheetContent:
    """The values of a worksheet from row 1 on, blank rows too; the first value of a row is in column `first_column`."""

    rows: Iterator[Sequence[Value]]
    first_column: int
    hazards: Hazards


@dataclass(slots=True)
class _Draft:
    """A batch that is being written."""

    first: int
    count: int
    columns: list[Cells]
    typed: list[bool | bytes]
    flaws: list[CellFlaw]

    def widen(self, width: int) -> None:
        while len(self.columns) < width:
            self.columns.append(blank_cells(self.count))
            self.typed.append(False)

    def write(self, row: int, index: int, text: str) -> None:
        cells = self.columns[index] = taken_apart(self.columns[index])
        cells[row - self.first] = text

    def flaw(self, row: int, index: int, problem: Problem) -> None:
        self.flaws.append(CellFlaw(row - self.first, index, problem.code, problem.message, problem.hint))

    def done(self) -> BatchDraft:
        return BatchDraft(self.first, self.columns, self.typed, self.flaws)


class Batches:
    """The batches of a worksheet. `lost_digits` is complete once all are read."""

    def __init__(self, content: SheetContent) -> None:
        self._content = content
        self._lost: dict[int, int] = {}

    @property
    def lost_digits(self) -> list[LostDigits]:
        return [LostDigits(row, index) for index, row in sorted(self._lost.items())]

    def __iter__(self) -> Iterator[BatchDraft]:
        first = 1
        while rows := list(islice(self._content.rows, _ROWS)):
            for _, alike in groupby(rows, lambda row: len(row) > _WIDE):
                some = list(alike)
                yield self._batch(first, list(zip_longest(*some, fillvalue="")), len(some))
                first += len(some)
        # Errors and formulas may follow the last value that the engine saw.
        while first <= self._content.hazards.last_row:
            count = min(_ROWS, self._content.hazards.last_row - first + 1)
            yield self._batch(first, [], count)
            first += count

    def _batch(self, first: int, values: Sequence[Sequence[Value]], count: int) -> BatchDraft:
        draft = _Draft(first, count, [], [], [])
        draft.widen(self._content.first_column)
        for index, column in enumerate(values, self._content.first_column):
            text = column_text(column)
            draft.columns.append(text.cells)
            draft.typed.append(text.typed)
            for at, suspect in text.suspects:
                told = index in self._content.hazards.errors.get(first + at, ())
                if not told and (problem := flaw_of(suspect)):
                    draft.flaw(first + at, index, problem)
            if text.lost_digits is not None:
                self._lost.setdefault(index, first + text.lost_digits)
        self._note_formats(draft, values)
        self._note_flaws(draft)
        return draft.done()

    def _note_formats(self, draft: _Draft, values: Sequence[Sequence[Value]]) -> None:
        for row, formats in _within(self._content.hazards.formats, draft):
            for index, number_format in formats.items():
                at = index - self._content.first_column
                value = values[at][row - draft.first] if 0 <= at < len(values) else ""
                if isinstance(value, int | float) and not isinstance(value, bool):
                    draft.write(row, index, formatted_number(value, number_format))

    def _note_flaws(self, draft: _Draft) -> None:
        hazards = self._content.hazards
        for row, errors in _within(hazards.errors, draft):
            for index, error in errors.items():
                draft.widen(index + 1)
                draft.write(row, index, error)
                draft.flaw(row, index, error_cell(error))
        for row, indexes in _within(hazards.unstored, draft):
            for index in sorted(indexes):
                draft.widen(index + 1)
                draft.write(row, index, NO_RESULT)
                draft.flaw(row, index, formula_without_value())


def _within(hazards: dict[int, _T], draft: _Draft) -> Iterator[tuple[int, _T]]:
    if hazards:
        for row in range(draft.first, draft.first + draft.count):
            if row in hazards:
                yield row, hazards[row]
