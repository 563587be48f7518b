"""The first rows of a file with what is in its columns, and the mapping file that is proposed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from importer.app.inspect_file import InspectedFile, inspect_file, open_candidates
from importer.app.proposed_folders import with_document_folders
from importer.models import CorrectedCell, Question, Row, SourceOptions, Target
from importer.runs.corrections import by_row, over
from importer.suggest import ColumnNames, ColumnView, Proposal, profile_sheet, propose, writes_day_first
from importer.suggest.entry_columns import OtherSheet, join_of
from importer.text.normalize import normalize, normalized

_ROWS: Final = 2_000  # of the file, which a page looks at
_PROFILED: Final = 500  # of a large file, for the proposal
_SMALL: Final = 4 << 20  # bytes of a file that is read whole, with the tables beside it


@dataclass(frozen=True, slots=True)
class SampledColumn:
    """A column to choose. name: for a mapping; filled: how many of the first rows; text: of the first one."""

    name: str
    letter: str
    label: str
    filled: int
    text: str


@dataclass(frozen=True)
class Sample:
    """The first rows of a file, with what is in its columns, and the mapping file that is proposed from them."""

    columns: tuple[ColumnView, ...]
    rows: tuple[Row, ...]
    is_whole: bool
    proposal: Proposal
    others: tuple[OtherSheet, ...] = ()

    @cached_property
    def sheets(self) -> dict[str, dict[str, ColumnView]]:
        """The columns of the other sheets of a workbook, by sheet and by their names for a mapping."""
        names = {one.name: ColumnNames([view.column for view in one.columns]) for one in self.others}
        return {one.name: {names[one.name].of(view.column): view for view in one.columns} for one in self.others}

    def join_with(self, sheet: str) -> tuple[str, str]:
        """The column there, and the one here, whose cells say which rows of another sheet belong to which; or ""."""
        there = self.sheets[sheet]
        found = join_of([*there.values()], self.columns)
        named = next((name for name, view in there.items() if found and view is found.key), "")
        return named, self.names.of(found.equals.column) if found else ""

    @cached_property
    def names(self) -> ColumnNames:
        """The names of the columns for a mapping."""
        return ColumnNames([one.column for one in self.columns])

    @cached_property
    def day_first(self) -> bool | None:
        return writes_day_first(self.columns)

    def listed(self, missing: Iterable[str]) -> tuple[SampledColumn, ...]:
        """The columns of the file, in their order. missing: words that are read as a blank cell."""
        blank = normalized(("", *missing))
        filled = Counter(
            index for row in self.rows for index, text in enumerate(row.cells) if normalize(text) not in blank
        )
        return tuple(
            SampledColumn(
                self.names.of(one.column),
                one.column.letter,
                one.column.name,
                filled[one.column.index],
                next(iter(one.texts), ""),
            )
            for one in self.columns
        )

    def with_corrections(self, cells: Iterable[CorrectedCell]) -> Sample:
        """The sample with the corrections of its rows, as far as the file still has their old texts."""
        rows = {row.number: row for row in self.rows}
        own = by_row(
            one
            for one in cells
            if one.row in rows and rows[one.row].cells[one.column.index : one.column.index + 1] == (one.old,)
        )
        return replace(self, rows=tuple(over(self.rows, own))) if own else self

    def view(self, name: str) -> ColumnView | None:
        """The column with this name, or `=C` for its letter."""
        return next((one for one in self.columns if name in (self.names.of(one.column), one.column.label)), None)


def sample_of(
    file: Path, source: SourceOptions, target: Target, questions: tuple[Question, ...], shown_as: str | None = None
) -> Sample:
    """The first rows of a file, read once for all requests about it. shown_as: its name for a person.

    Raises UnusableInput: it cannot be read.
    """
    status = file.stat() if file.exists() else None  # a file that is gone is reported when it is opened
    key = file, status and (status.st_size, status.st_mtime_ns), source, target, questions
    if key not in _KEPT:
        if status is not None and status.st_size <= _SMALL:
            found = inspect_file(file, source, shown_as)
        else:
            sheet, _ = open_candidates(file, source, shown_as or str(file))
            first = islice(sheet.rows(), _PROFILED)
            found = InspectedFile(sheet, profile_sheet(sheet.columns, first, sheet.header_row))
        views, rows = found.profile.views, tuple(islice(found.sheet.rows(), _ROWS + 1))
        proposal = propose(target, questions, views, found.facts(source), found.others)
        if status is not None:
            proposal = with_document_folders(proposal, views, file)
        while len(_KEPT) > 1:
            _KEPT.pop(next(iter(_KEPT)))
        others = tuple(one for one in found.others if not one.is_file)
        _KEPT[key] = Sample(views, rows[:_ROWS], len(rows) <= _ROWS, proposal, others)
    return _KEPT[key]


_KEPT: Final[dict[Any, Sample]] = {}  # the last two: a file is not read again for each change
