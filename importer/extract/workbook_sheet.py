"""Opens a workbook: has a sheet read, finds its table, and gives its records and rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from importer.errors import UnusableInput
from importer.extract.cell_flags import MergedRange
from importer.extract.sheet import Flaw, Layout, Record, Sheet
from importer.extract.table import RecordSource, open_table, place_of
from importer.extract.workbook_process import ReadSheet, WorkbookSource, read_workbook
from importer.extract.worker_protocol import Batch
from importer.models import CellPlace, FilePlace, Origin, Problem, SourceOptions, column_letter

_SHOWN = 10  # merged ranges in one warning


def open_workbook(source: WorkbookSource, options: SourceOptions) -> Sheet:
    """Open a workbook.

    Raises:
        UnusableInput: it is damaged or too large, has no such sheet, or no header can be found.
    """
    read = read_workbook(source)
    origin = Origin(source.name, read.head.title)
    how, hidden = f"{source.kind}, sheet {origin.sheet!r}", frozenset(read.head.hidden)
    sheet = _WorkbookSheet(read, origin)
    if read.head.unchecked and options.hidden_rows == "skip":
        raise UnusableInput(
            Problem(
                "hidden-rows-unknown",
                f"which rows are hidden could not be read ({read.head.unchecked}), and the mapping leaves them out",
                "open it in a spreadsheet program, save it as .xlsx and use that, or take hidden_rows: out of the "
                "mapping",
                place_of(origin),
            )
        )
    return open_table(RecordSource(origin, how, sheet.records, sheet.warnings, even=False, hidden=hidden), options)


@dataclass(frozen=True, slots=True)
class _WorkbookSheet:
    read: ReadSheet
    origin: Origin

    def warnings(self, layout: Layout) -> Iterator[Problem]:
        yield from self._unchecked()
        yield from self._other_sheets()
        yield from self._merged(layout)
        yield from self._lost_digits(layout)

    def records(self) -> Generator[Record, None, None]:
        """Every row, blank ones too."""
        for batch in self.read.batches():
            yield from _records(batch)

    def _unchecked(self) -> Iterator[Problem]:
        if self.read.head.unchecked:
            yield Problem(
                "sheet-unchecked",
                f"only the values of this sheet could be read, and not what is beside them "
                f"({self.read.head.unchecked}): a cell that shows an error, or a formula without a stored result, is "
                "read as blank; leading zeros and percent signs that a format adds, hidden rows and merged cells are "
                "not known",
                "open it in a spreadsheet program, save it as .xlsx and use that, or compare the rows with it",
                place_of(self.origin),
            )

    def _other_sheets(self) -> Iterator[Problem]:
        if self.read.head.others:
            yield Problem(
                "other-sheets",
                f"only the sheet {self.read.head.title!r} is read, not {', '.join(map(repr, self.read.head.others))}",
                "name the right one as sheet: under source: in the mapping",
                FilePlace(self.origin.file),
            )

    def _merged(self, layout: Layout) -> Iterator[Problem]:
        shown = [
            merged
            for merged in self.read.head.merged
            if merged.last_row > layout.header_row
            and merged.first_row not in layout.left_out
            and merged.first_index < len(layout.columns)
        ]
        if shown:
            ranges = ", ".join(map(_address, shown[:_SHOWN])) + (", ..." if len(shown) > _SHOWN else "")
            some = f"{len(shown):,} ranges of cells are" if len(shown) > 1 else "a range of cells is"
            yield Problem(
                "cells-merged",
                f"{some} merged ({ranges}); only the first cell of each holds the value, the others are blank",
                "take the merging apart and fill the cells, unless blank is right",
                place_of(self.origin),
            )

    def _lost_digits(self, layout: Layout) -> Iterator[Problem]:
        for index, row in sorted(self.read.end.lost_digits.items()):
            if row > layout.header_row:
                yield Problem(
                    "digits-lost",
                    "the column holds numbers of more than 15 digits, of which a workbook keeps only 15",
                    "if they are ids, format the column as text in the original and export it again",
                    CellPlace(self.origin, row, layout.column_at(index)),
                )


def _address(merged: MergedRange) -> str:
    first = f"{column_letter(merged.first_index)}{merged.first_row}"
    return f"{first}:{column_letter(merged.last_index)}{merged.last_row}"


def _records(batch: Batch) -> Iterator[Record]:
    typed, flaws = _typed(batch), _flaws(batch)
    for offset, cells in enumerate(zip(*batch.columns, strict=True)):
        yield Record(batch.first + offset, cells, typed[offset], flaws.get(offset, ()))


def _typed(batch: Batch) -> Sequence[frozenset[int]]:
    """Which cells are typed, for each row of a batch."""
    always = frozenset(index for index, typed in enumerate(batch.typed) if typed is True)
    masks = [(index, mask) for index, mask in enumerate(batch.typed) if isinstance(mask, bytes)]
    if not masks:
        return [always] * (len(batch.columns[0]) if batch.columns else 0)
    known: dict[tuple[int, ...], frozenset[int]] = {}
    sets = []
    for pattern in zip(*(mask for _, mask in masks), strict=True):
        if pattern not in known:
            known[pattern] = always | {index for (index, _), typed in zip(masks, pattern, strict=True) if typed}
        sets.append(known[pattern])
    return sets


def _flaws(batch: Batch) -> dict[int, tuple[Flaw, ...]]:
    flaws: defaultdict[int, tuple[Flaw, ...]] = defaultdict(tuple)
    for flaw in batch.flaws:
        flaws[flaw.offset] += (Flaw(flaw.index, Problem(flaw.code, flaw.message, flaw.hint)),)
    return flaws
