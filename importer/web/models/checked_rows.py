"""The rows of a check or a run, a page at a time, with their problems in their cells; and the corrections made there.

A row with a correction that is newer than the check is checked at once, by itself; what compares rows needs the next
check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from importer.mapping import ResolvedMapping
from importer.models import IN_SERVICE, NEEDS_ATTENTION, CorrectedCell, Outcome, OutcomeKind, Row
from importer.problems import CellPlace, Column, Problem, UsageError
from importer.report.outcomes import outcome_text
from importer.runs.corrections import by_row, corrected, read_corrections, with_texts, write_corrections
from importer.runs.manifest import read_manifest
from importer.runs.private_copies import resolve_again
from importer.runs.run_report import refuse_missing
from importer.runs.table import RunTable
from importer.settings import Settings
from importer.sources import clean
from importer.transform import Invalid, trace_row, transform_row
from importer.web.models.sent_lines import SentLine, sent_lines

CauseKey = tuple[str, str | None]
"""The code of problems, and the name of their column."""
CORRECTED: CauseKey = ("corrected", None)
"""In place of a cause: the rows with corrections."""


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
    """The rows of a check, or of a run that has ended. corrections: the list as it is now.

    Raises UnusableInput: the files of the check, or the list, were changed.
    """

    def __init__(self, run: str, corrections: Path, settings: Settings) -> None:
        self.run = run
        self._folder, self._path = settings.out / run, corrections
        self._manifest = read_manifest(self._folder)
        refuse_missing(self._folder)
        with RunTable(self._folder) as table:
            self.columns, self._checked_with, self._origin = table.sheet.columns, table.corrections, table.sheet.origin
        self._then = by_row(self._checked_with.values())

    @property
    def fixed(self) -> tuple[Column, ...]:
        """The columns that say who it is: name and e-mail."""
        email, name = self._manifest.identity or ((), ())
        return tuple(self.columns[index] for index in dict.fromkeys((*name, *email)))

    @cached_property
    def corrections(self) -> dict[tuple[int, int], CorrectedCell]:
        """The corrected cells by row number and index of the column."""
        return {(one.row, one.column.index): one for one in read_corrections(self._path)[0]}

    @cached_property
    def _listed(self) -> dict[int, list[CorrectedCell]]:
        return by_row(self.corrections.values())

    @property
    def newer(self) -> int:
        """How many cells have another text than in the check."""
        before = {cell: one.new for cell, one in self._checked_with.items()}
        return sum(before.get(cell) != one.new for cell, one in self.corrections.items()) + sum(
            cell not in self.corrections for cell in before
        )

    def page(
        self, first: int, count: int, cause: CauseKey | None = None, *, all_rows: bool = False
    ) -> tuple[CheckedRow, ...]:
        """Some rows from the `first` (from 0) of those with problems: of this cause (a code and a column), or all; or
        of those that were corrected."""
        with RunTable(self._folder) as table:
            if cause == CORRECTED:
                numbers = sorted({row for row, _ in self.corrections})[first : first + count]
                outcomes = tuple(found for row in numbers if (found := table.outcome(row)))
            else:
                outcomes = tuple(table.page(first, count, cause=cause, all_rows=all_rows))
            rows = table.rows_with(one.row for one in outcomes)
        return tuple(self._shown(rows[one.row], one) for one in outcomes if one.row in rows)

    def sent(self, number: int) -> tuple[SentLine, ...]:
        """What would be sent for a row as it is now; () if it has problems."""
        with RunTable(self._folder) as table:
            row = table.rows_with([number]).get(number)
        if row is None or (mapping := self._mapping) is None:
            return ()
        return tuple(sent_lines(trace_row(self._now(row), mapping), row.origin))

    def cells_of(self, cause: CauseKey, count: int = -1) -> Iterator[tuple[Row, int]]:
        """The cells with a problem of this cause, of its first `count` rows (of all: -1), without those that were
        corrected since: the row as it is now, and the index of its column.
        """
        code, name = cause
        with RunTable(self._folder) as table:
            outcomes = tuple(table.page(0, count, cause=cause, all_rows=False))
            rows = table.rows_with(one.row for one in outcomes)
        for outcome in outcomes:
            found = {
                one.place.column
                for one in outcome.problems
                if one.code == code and isinstance(one.place, CellPlace) and one.place.origin == self._origin
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
        result = transform_row(with_texts(row, {self.columns[index]: text}), mapping)
        return not isinstance(result, Invalid) or not any(one.is_in((index,), self._origin) for one in result.problems)

    # --- corrections --------------------------------------------------------------------------------

    def correct(self, texts: Mapping[tuple[int, int], str]) -> int:
        """Keep the new texts of cells, by row and index of the column; a text that the file has takes a correction
        back. Returns how many cells changed."""
        with RunTable(self._folder) as table:
            rows = table.originals({row for row, _ in texts})
            done = {row for row in rows if _is_done(table.outcome(row))}
        kept, changed = dict(self.corrections), 0
        for (number, index), text in texts.items():
            if number not in rows or not 0 <= index < len(self.columns):
                raise UsageError(f"the check has no such cell in row {number}; check again")
            known = kept.pop((number, index), None)
            old = rows[number].cells[index]
            new = clean(text)
            if number in done and new != old:
                raise UsageError(f"row {number} is in the service: change the candidate there")
            changed += new != (known.new if known else old)
            if new != old:
                kept[number, index] = CorrectedCell(number, self.columns[index], old, new)
        self._write(kept)
        return changed

    def correct_all(self, number: int, index: int) -> int:
        """Give every cell of a column with the same old text the new text of this one; of blank cells, those with a
        problem, as others are meant to be blank. Returns how many changed."""
        if (one := self.corrections.get((number, index))) is None:
            raise UsageError("correct one of the cells first")
        with RunTable(self._folder) as table:
            outcomes = ((row, table.outcome(row)) for row in table.numbers_with(index, one.old))
            same = [row for row, outcome in outcomes if outcome and self._is_same(outcome, index, one.old)]
        wanted = [(row, index) for row in same if (row, index) not in self.corrections]
        self._write({**self.corrections, **{cell: replace(one, row=cell[0]) for cell in wanted}})
        return len(wanted)

    def _is_same(self, outcome: Outcome, index: int, old: str) -> bool:
        is_wrong = any(problem.is_in((index,), self._origin) for problem in outcome.problems)
        return not _is_done(outcome) and (bool(old.strip()) or is_wrong)

    def _write(self, kept: Mapping[tuple[int, int], CorrectedCell]) -> None:
        write_corrections(self._path, kept.values(), self._manifest.sha256)
        for name in ("corrections", "_listed"):  # read again
            self.__dict__.pop(name, None)

    # --- rows ---------------------------------------------------------------------------------------

    @cached_property
    def _mapping(self) -> ResolvedMapping | None:
        with RunTable(self._folder) as table:
            return resolve_again(self._folder, self._manifest, table.sheet)

    def _now(self, row: Row) -> Row:
        """A row with the corrections as they are now."""
        then, now = self._then.get(row.number, []), self._listed.get(row.number, [])
        if len(then) == len(now) and all(one in now for one in then):
            return row
        with RunTable(self._folder) as table:
            return corrected(table.originals([row.number])[row.number], now)

    def _shown(self, row: Row, outcome: Outcome) -> CheckedRow:
        now, problems = self._now(row), outcome.problems
        kind, mapping = outcome.kind, self._mapping if now is not row else None
        if mapping is not None and mapping.grouping is not None:  # the next check looks at all rows of the candidate
            changed = [at for at, pair in enumerate(zip(now.cells, row.cells, strict=True)) if len(set(pair)) > 1]
            problems = tuple(one for one in problems if not one.is_in(changed, self._origin))
        elif mapping is not None:
            result = transform_row(now, mapping)
            problems = result.problems if isinstance(result, Invalid) else ()
            kind = OutcomeKind.INVALID if problems else OutcomeKind.NOT_SENT
        cells = tuple(self._cell(now, column, problems) for column in self.columns)
        own = tuple(map(self._placed, (one for one in problems if not one.is_in(range(len(cells)), self._origin))))
        is_newer = now is not row
        label = outcome_text(kind, dry_run=is_newer or self._manifest.dry_run).label
        is_done = _is_done(outcome)
        return CheckedRow(row.number, label, kind not in NEEDS_ATTENTION, is_done, cells, own, is_newer)

    def _placed(self, problem: Problem) -> Problem:
        """A problem that is in no cell of the grid says where it is."""
        is_elsewhere = isinstance(problem.place, CellPlace) and problem.place.origin != self._origin
        return replace(problem, message=f"{problem.place}: {problem.message}") if is_elsewhere else problem

    def _cell(self, row: Row, column: Column, problems: Iterable[Problem]) -> CheckedCell:
        own = tuple(problem for problem in problems if problem.is_in((column.index,), self._origin))
        one = self.corrections.get((row.number, column.index))
        return CheckedCell(column, row.cells[column.index], own, one.old if one else None)


def _is_done(outcome: Outcome | None) -> bool:
    """Whether the candidate is in the service, so that a correction would not be sent."""
    return outcome is not None and outcome.kind in IN_SERVICE
