"""The rows of a check or a run, a page at a time, with their problems in their cells; and the corrections made there.

Rows are read from its results files, so that memory is flat and no workbook is opened again. A row with a
correction that is newer than the check is checked at once, by itself; what compares rows needs the next check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from importer.extract import NumberedRows, ReadingLimits, Sheet, corrected_sheet, with_texts, write_corrections
from importer.mapping import ResolvedMapping
from importer.models import NEEDS_ATTENTION, Application, CorrectedCell, Outcome, OutcomeKind, PoolCandidate, Row
from importer.problems import CellPlace, Column, Problem, UsageError
from importer.report import csv_file, is_newer_than_report, outcome_text
from importer.runs.journal import RunJournal
from importer.runs.manifest import read_manifest
from importer.runs.private_copies import resolve_again
from importer.sent_answers import SentLine, sent_lines
from importer.settings import Settings
from importer.transform import Invalid, trace_row, transform_row

_DONE: Final = (OutcomeKind.CREATED, OutcomeKind.ALREADY_EXISTS, OutcomeKind.ALREADY_IMPORTED)
Cause = tuple[str, str | None]
"""The code of problems, and the name of their column."""


@dataclass(frozen=True, slots=True)
class CheckedCell:
    """A cell: its text as it is read now, its problems, and what the file has, if that is another text."""

    column: Column
    text: str
    problems: tuple[Problem, ...] = ()
    old: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row: its outcome in words, its cells, and the problems of the row as a whole. is_good: it needs no attention;
    is_done: it is in the service, so that a correction would not be sent. is_newer: it was corrected since the check,
    and this is what it would be now, by itself."""

    number: int
    outcome: str
    is_good: bool
    is_done: bool
    cells: tuple[CheckedCell, ...]
    problems: tuple[Problem, ...]
    is_newer: bool = False


class CheckedRows:
    """The rows of a check, or of a run that has ended. corrections: the list as it is now, "" if there is none.

    Raises:
        UnusableInput: the files of the check were changed, or the list does not fit it.
    """

    def __init__(self, run: str, corrections: Path, settings: Settings) -> None:
        self._folder, self._path, self._settings = settings.out / run, corrections, settings
        self._limits = ReadingLimits.of(settings)
        self._manifest = read_manifest(self._folder)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return self._like.columns

    @property
    def fixed(self) -> tuple[Column, ...]:
        """The columns that say who it is: name and e-mail."""
        email, name = self._manifest.identity or ((), ())
        return tuple(self.columns[index] for index in dict.fromkeys((*name, *email)))

    @cached_property
    def corrections(self) -> dict[tuple[int, int], CorrectedCell]:
        """The corrected cells by row number and index of the column."""
        if not self._path.is_file():
            return {}
        listed = corrected_sheet(self._like, self._path, self._limits, is_proven=True).corrections
        return {(one.row, one.column.index): one for one in listed}

    @property
    def newer(self) -> int:
        """How many cells have another text than in the check."""
        before = self._checked_with
        return sum(before.get(cell) != one.new for cell, one in self.corrections.items()) + sum(
            cell not in self.corrections for cell in before
        )

    def page(
        self, first: int, count: int, cause: Cause | None = None, *, all_rows: bool = False
    ) -> tuple[CheckedRow, ...]:
        """Some rows from the `first` (from 0) of those with problems: of this cause (a code and a column), or all."""
        with RunJournal(self._folder) as journal:
            outcomes = tuple(journal.page(first, count, cause=cause, all_rows=all_rows))
        rows = self._rows(outcomes)
        return tuple(self._shown(rows[one.row], one) for one in outcomes if one.row in rows)

    def sent(self, number: int) -> tuple[SentLine, ...]:
        """What would be sent for a row as it is now; () if it has problems."""
        with RunJournal(self._folder) as journal:
            outcome = journal.outcome(number)
        row = self._rows([outcome]).get(number) if outcome else None
        if row is None or (mapping := self._mapping) is None:
            return ()
        row = self._now(row)
        body = transform_row(row, mapping)
        if not isinstance(body, Application | PoolCandidate):
            return ()
        return tuple(sent_lines(trace_row(row, mapping, body), row.origin))

    def cells_of(self, cause: Cause, count: int = -1) -> Iterator[tuple[Row, int]]:
        """The cells with a problem of this cause, of its first `count` rows (of all: -1), without those that were
        corrected since: the row as it is now, and the index of its column.
        """
        code, name = cause
        with RunJournal(self._folder) as journal:
            outcomes = tuple(journal.page(0, count, cause=cause, all_rows=False))
        rows = self._rows(outcomes)
        for outcome in outcomes:
            found = {
                one.place.column for one in outcome.problems if one.code == code and isinstance(one.place, CellPlace)
            }
            for column in found:
                if column is not None and column.label == name and outcome.row in rows:
                    now = self._now(rows[outcome.row])
                    if now.cells[column.index] == rows[outcome.row].cells[column.index]:
                        yield now, column.index

    def is_valid(self, row: Row, index: int, text: str) -> bool:
        """Whether the mapping reads a cell of a row without a problem if it has this text. False where that depends on
        other rows.
        """
        if (mapping := self._mapping) is None or mapping.grouping is not None:
            return False
        result = transform_row(with_texts(row, {index: text}), mapping)
        return not isinstance(result, Invalid) or not any(one.is_in((index,)) for one in result.problems)

    # --- corrections --------------------------------------------------------------------------------

    def correct(self, texts: Mapping[tuple[int, int], str]) -> int:
        """Keep the new texts of cells, by row and index of the column; a text that the file has takes a correction
        back. Returns how many cells changed."""
        with RunJournal(self._folder) as journal:
            outcomes = [outcome for row in {row for row, _ in texts} if (outcome := journal.outcome(row))]
        cells = {number: row.cells for number, row in self._rows(outcomes).items()}
        kept, changed = dict(self.corrections), 0
        for (number, index), text in texts.items():
            if number not in cells or not 0 <= index < len(self.columns):
                raise UsageError(f"the check has no such cell in row {number}; check again")
            known = kept.pop((number, index), None)
            old = known.old if known else self._file_text(number, index, cells[number][index])
            new = text.strip()
            changed += new != (known.new if known else old)
            if new != old:
                kept[number, index] = CorrectedCell(number, self.columns[index], old, new)
        self._write(kept)
        return changed

    def correct_all(self, number: int, index: int) -> int:
        """Give every cell of a column with the same old text the new text of this one. Returns how many changed."""
        if (one := self.corrections.get((number, index))) is None:
            raise UsageError("correct one of the cells first")
        read = (row for file in self._files.values() for row in file.numbers_with(index, one.old))
        same = {row for row in read if (row, index) not in self._listed_then}
        same |= {row for (row, at), (old, _) in self._listed_then.items() if at == index and old == one.old}
        wanted = [(row, index) for row in same if (row, index) not in self.corrections]
        self._write({**self.corrections, **{cell: replace(one, row=cell[0]) for cell in wanted}})
        return len(wanted)

    def _write(self, kept: Mapping[tuple[int, int], CorrectedCell]) -> None:
        write_corrections(self._path, kept.values(), self._like)
        del self.corrections

    def _file_text(self, number: int, index: int, text: str) -> str:
        """The text of the file: of a cell that the check read with a correction, the old one."""
        return self._listed_then.get((number, index), (text, ""))[0]

    @cached_property
    def _listed_then(self) -> dict[tuple[int, int], tuple[str, str]]:
        """The corrections that the check was made with."""
        if (listed := self._manifest.corrections) is None:
            return {}
        found = corrected_sheet(self._like, self._folder / listed.copy, self._limits, is_proven=True).corrections
        return {(one.row, one.column.index): (one.old, one.new) for one in found}

    @property
    def _checked_with(self) -> dict[tuple[int, int], str]:
        return {cell: new for cell, (_, new) in self._listed_then.items()}

    # --- rows ---------------------------------------------------------------------------------------

    @cached_property
    def _files(self) -> dict[OutcomeKind, NumberedRows]:
        """The results files that there are."""
        found = ((kind, self._folder / csv_file(kind)) for kind in OutcomeKind)
        name = self._manifest.file
        return {
            kind: NumberedRows(path, self._limits, shown_as=name, is_changed=is_newer_than_report(path))
            for kind, path in found
            if path.is_file()
        }

    @cached_property
    def _like(self) -> Sheet:
        """A sheet with the columns of the source."""
        return next(iter(self._files.values())).sheet

    @cached_property
    def _mapping(self) -> ResolvedMapping | None:
        return resolve_again(self._folder, self._manifest, self._like, self._limits)

    def _rows(self, outcomes: Sequence[Outcome]) -> dict[int, Row]:
        """The rows of these outcomes, as the check read them."""
        found: dict[int, Row] = {}
        for kind in {one.kind for one in outcomes} & self._files.keys():
            found |= self._files[kind].rows({one.row for one in outcomes if one.kind is kind})
        return found

    def _now(self, row: Row) -> Row:
        """A row with the corrections as they are now."""
        back = {index: old for (number, index), (old, _) in self._listed_then.items() if number == row.number}
        new = {index: one.new for (number, index), one in self.corrections.items() if number == row.number}
        texts = {index: text for index, text in {**back, **new}.items() if row.cells[index] != text}
        return with_texts(row, texts) if texts else row

    def _shown(self, row: Row, outcome: Outcome) -> CheckedRow:
        now, problems = self._now(row), outcome.problems
        kind, mapping = outcome.kind, self._mapping if now is not row else None
        if mapping is not None and mapping.grouping is None:  # a candidate with several rows needs the next check
            result = transform_row(now, mapping)
            problems = result.problems if isinstance(result, Invalid) else ()
            kind = OutcomeKind.INVALID if problems else OutcomeKind.NOT_SENT
        cells = tuple(self._cell(now, column, problems) for column in self.columns)
        own = tuple(problem for problem in problems if not problem.is_in(range(len(cells))))
        is_newer = now is not row
        label = outcome_text(kind, dry_run=is_newer or self._manifest.dry_run).label
        return CheckedRow(row.number, label, kind not in NEEDS_ATTENTION, kind in _DONE, cells, own, is_newer)

    def _cell(self, row: Row, column: Column, problems: Iterable[Problem]) -> CheckedCell:
        own = tuple(problem for problem in problems if problem.is_in((column.index,)))
        one = self.corrections.get((row.number, column.index))
        return CheckedCell(column, row.cells[column.index], own, one.old if one else None)
