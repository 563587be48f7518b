"""What a person fixed in the report of a run: its cells, compared with the rows of the run, as a list of corrections.

Every cell of report.xlsx is text, which no spreadsheet program changes. One that opens a CSV may change cells when it
saves it, and never says so: `2021-03-04` becomes 3/4/2021, `0012` becomes 12. So of a CSV only the cells that the
report asks to fix may be different; anything else is refused, as a value would be sent that nobody wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from importer.models import CANDIDATE_COLUMN, IMPORT_COLUMNS, TO_FIX, CorrectedCell, Outcome, OutcomeKind, Row
from importer.problems import (
    CellPlace,
    Column,
    FilePlace,
    Place,
    Problem,
    UnusableInput,
    distinct_labels,
    unusable_file,
)
from importer.report.outcomes import csv_file, sheet_title
from importer.runs.corrections import AMBIGUOUS
from importer.runs.manifest import RunManifest, is_run
from importer.runs.run_report import refuse_missing
from importer.runs.table import RunTable
from importer.sources import ResultsTable, clean, is_results_file, results_tables, run_of_report
from importer.sources.sheet import Record
from importer.sources.workbook_cells import unescaped
from importer.text.results_cells import truncated
from importer.text.terminal import command_line

_SHEETS: Final = frozenset(map(sheet_title, OutcomeKind))
_CSV_FILES: Final = frozenset(map(csv_file, OutcomeKind))
_SHOWN: Final = 3  # cells in a message
_FEWEST_SORTED: Final = 3  # texts: two may really have been exchanged
_NOTE: Final = "Only the first "  # of the line after a sheet that is full
_IN_REPORT: Final = "fix the rows in report.xlsx of the same folder, where a cell stays as you type it, and run that"
_AS_TEXT: Final = "undo them; what you meant to change, type with ' in front: then it stays as you type it"


def run_of_results_file(file: Path, out: Path) -> Path | None:
    """The folder of the run whose results file this is, wherever it was moved; None for any other file.

    Raises UnusableInput: it is the report of a run that is not in the results folder.
    """
    if not file.is_file():  # a pipe is told when it is copied
        return None
    folder = file.absolute().parent
    if (run := run_of_report(file)) is not None:
        likely = (out / run, folder.parent / run, folder)
        found = next(filter(is_run, likely), None)
        if found is None and not is_results_file(file):  # without its import_ columns, its rows are new ones
            return None
        if found is None or found.name != run:
            message = f"its run {run} is not in {out}"
            hint = "name its results folder with --out; if it was purged, fix and import your own file"
            raise unusable_file("results-file-elsewhere", message, hint, file)
        return found
    is_ours = file.name in _CSV_FILES or is_results_file(file)  # by its name also one that a program has spoiled
    return folder if is_run(folder) and is_ours else None


def read_fixed(
    file: Path, folder: Path, manifest: RunManifest, shown_as: str | None = None
) -> tuple[CorrectedCell, ...]:
    """The corrections of a run with those that a person made in one of its results files. folder: of the run; shown_as:
    the name of the file in messages, if not its path.

    Raises:
        UnusableInput: with every problem: nothing was changed, a row is not recognized, or a program changed the file.
    """
    refuse_missing(folder)
    name, run = shown_as or str(file), run_of_report(file)
    if run not in (None, manifest.run):
        raise unusable_file("results-file-elsewhere", f"this is the report of run {run}", "bring it to that run", name)
    with RunTable(folder) as table:
        comparison = _Comparison(name, manifest, table)
        for each in results_tables(file, name, _SHEETS):
            comparison.add(each)
        changed = comparison.finish(may_be_unchanged=bool(table.corrections or manifest.continues))
        merged = dict(table.corrections)
        for cell, one in changed.items():
            old = merged.pop(cell).old if cell in merged else one.old
            if one.new != old:
                merged[cell] = replace(one, old=old)
    return tuple(merged.values())


class _Comparison:
    """Compares the rows of a results file with those of its run."""

    def __init__(self, file: str, manifest: RunManifest, table: RunTable) -> None:
        self._file, self._table = file, table
        self._email, self._name = manifest.identity or ((), ())
        self._lines: dict[int, str] = {}  # where each row was found
        self._changed: dict[tuple[int, int], CorrectedCell] = {}
        self._replaced: dict[str, tuple[str, int]] = {}  # by the new name and address of rows
        self._rewritten: list[str] = []
        self._is_csv = False
        self._problems: list[Problem] = []

    def add(self, table: ResultsTable) -> None:
        """Compare the rows of one sheet, or of a CSV."""
        columns, self._is_csv = self._table.sheet.columns, table.origin.sheet is None
        names = [column.name for column in columns] if self._is_csv else distinct_labels(columns)
        ours = IMPORT_COLUMNS[0]  # before the columns of the source, or in a CSV after them
        wanted = [*names, ours] if self._is_csv else [ours, *names]
        places, problems = _places_of(table.header, wanted, FilePlace(self._file))
        self._problems += problems
        if problems:
            return
        number_at = places[-1] if self._is_csv else places[0]
        places = places[:-1] if self._is_csv else places[1:]
        candidate_at = table.header.index(CANDIDATE_COLUMN) if CANDIDATE_COLUMN in table.header else None
        for record in table.records:
            number = record.cell(number_at)
            if record.blank or number.startswith(_NOTE):
                continue
            where = CellPlace(table.origin, record.number, Column.at(number_at, ours))
            row = self._row(number, where)
            if row is None:
                continue
            if candidate_at is not None and (other := self._other_person(row, record.cell(candidate_at), where)):
                self._problems.append(other)
                continue
            self._compare(record, row, places, where)

    def _row(self, number: str, where: CellPlace) -> Row | None:
        found = None
        if number.isascii() and number.isdigit() and len(number) < 9:
            found = self._table.rows_with([int(number)]).get(int(number))
        if found is None:
            message = f"'{number[:40]}' is not the number of a row of this run" if number else "this row has no number"
            hint = "undo the change of import_row; new people belong in a file of their own"
            self._problems.append(Problem("results-row-unknown", message, hint, where))
        elif (other := self._lines.setdefault(found.number, self._shown(where))) != self._shown(where):
            message = f"row {number} is in this file twice, also in {other}"
            hint = "keep one of them; new people belong in a file of their own"
            self._problems.append(Problem("results-row-unknown", message, hint, where))
            return None
        return found

    def _other_person(self, row: Row, shown: str, where: CellPlace) -> Problem | None:
        """The problem of a row beside the number of another one: only some of the columns were sorted."""
        was = ", ".join(filter(None, (row.cells[index] for index in dict.fromkeys((*self._name, *self._email)))))
        if shown == truncated(was).strip():
            return None
        message = f"this row is of '{shown[:60]}', but row {row.number} of the file was '{was[:60]}'"
        return Problem("results-row-unknown", message, self._write_again, where)

    @property
    def _write_again(self) -> str:
        folder = self._table.path.parent
        again = command_line("report", folder.name, flags={"--out": str(folder.parent)})
        return f"write the report again ({again}), and sort whole rows only"

    def _compare(self, record: Record, row: Row, places: Sequence[int], where: CellPlace) -> None:
        changed = []
        for column, at in zip(self._table.sheet.columns, places, strict=True):
            now, before = record.cell(at), row.cells[column.index]
            if now not in (before, clean(unescaped(before))) and now != (written := truncated(before).strip()):
                place = replace(where, column=Column.at(at, column.name))
                if written != before:
                    hint = "fix it in the source, and run that again"
                    self._problems.append(Problem("cell-cut", "this text is longer than a cell can be", hint, place))
                else:
                    changed.append((column, at, now, place))
        outcome = self._table.outcome(row.number) if changed else None
        for column, at, now, place in changed:
            found = [each for each in record.problems if each.index == at]
            is_value = at in record.typed
            if self._is_rewritten(row, column, now, outcome, is_value=is_value):
                was = _quoted(row.cells[column.index])
                self._rewritten.append(f"{self._shown(place)} was {was} and is {_quoted(now)} now")
            elif found:
                self._problems += [replace(each.problem, place=place) for each in found]
            elif column.index in row.typed and not is_value and (number := AMBIGUOUS.match(now)):
                hint = f"write {now.replace('.', '')} or {number[0]}0{now[number.end() :]}"
                self._problems.append(Problem("correction-ambiguous", f"'{now}' can be two numbers", hint, place))
            else:
                one = CorrectedCell(row.number, column, row.cells[column.index], now, is_value)
                self._changed[row.number, column.index] = one
        new = {column.index: now for column, _, now, _ in changed}
        cells = [new.get(index, text) for index, text in enumerate(row.cells)]
        if new.keys() & set(self._email) and new.keys() & set(self._name):
            self._replaced |= dict.fromkeys(self._people_in(cells), (self._shown(where), row.number))

    def _is_rewritten(self, row: Row, column: Column, now: str, outcome: Outcome | None, *, is_value: bool) -> bool:
        """Whether a program may have changed a cell, and not a person."""
        before = row.cells[column.index]
        if not self._is_csv and (column.index in row.typed or not is_value):
            return False
        if not _may_be_fixed(outcome, row, column):
            return self._is_csv or _may_be_rewritten(before, now)
        return bool(now) and _may_be_mistaken(before, now)

    def finish(self, *, may_be_unchanged: bool) -> dict[tuple[int, int], CorrectedCell]:
        """The changed cells, by row number and index of the column.

        may_be_unchanged: the run was a check of what was fixed before, which is sent now.
        """
        if self._replaced:
            self._problems += self._mixed()
        if not self._problems:
            self._problems += self._exchanged()
        if self._rewritten:
            more = f"; and {len(self._rewritten) - _SHOWN} more cells" if len(self._rewritten) > _SHOWN else ""
            cells = "; ".join(self._rewritten[:_SHOWN])
            message = f"a spreadsheet program may have changed values: {cells}{more}"
            hint = _IN_REPORT if self._is_csv else _AS_TEXT
            self._problems.append(Problem("results-file-rewritten", message, hint, FilePlace(self._file)))
        if not self._problems and not self._changed and not may_be_unchanged:
            message = "no cell of this file was changed"
            hint = "fix the highlighted cells, save it, and run it again; rows can be removed only in your own file"
            self._problems.append(Problem("nothing-corrected", message, hint, FilePlace(self._file)))
        if self._problems:
            raise UnusableInput(self._problems)
        return self._changed

    def _shown(self, place: Place) -> str:
        """A place in this file, without its name."""
        return str(place).removeprefix(f"{self._file}, ")

    def _people_in(self, cells: Sequence[str]) -> set[str]:
        """The address and the whole name in the cells of a row."""
        return {*(cells[index] for index in self._email), " ".join(cells[index] for index in self._name)} - {""}

    def _mixed(self) -> Iterator[Problem]:
        """The problems of rows whose name and address are now those of another row."""
        replaced = {number for _, number in self._replaced.values()}
        for row in self._table.rows():  # of another row, a name alone is a namesake
            known = self._people_in(row.cells) if row.number in replaced else {row.cells[at] for at in self._email}
            for text in known & self._replaced.keys():
                place, number = self._replaced[text]
                if number != row.number:
                    message = f"{place}: row {number} is the person of row {row.number} now"
                    yield Problem("results-row-unknown", message, self._write_again, FilePlace(self._file))

    def _exchanged(self) -> Iterator[Problem]:
        """The problems of columns that were sorted alone: most of the changed cells have each other's texts now; in one
        of addresses or names, some.
        """
        people = {*self._email, *self._name}
        for index in {index: None for _, index in self._changed}:
            cells = [one for (_, at), one in self._changed.items() if at == index]
            exchanged = Counter(one.old for one in cells) & Counter(one.new for one in cells)
            if len(exchanged) >= _FEWEST_SORTED and (index in people or 2 * exchanged.total() > len(cells)):
                moved = [str(one.row) for one in cells if one.new in exchanged]
                rows = ", ".join(moved[:_SHOWN]) + (", ..." if len(moved) > _SHOWN else "")
                message = f"the cells of the column '{cells[0].column.label}' in rows {rows} are exchanged"
                hint = f"{self._write_again}; if they are right now, correct your own file, and import that"
                yield Problem("results-row-unknown", message, hint, FilePlace(self._file))


def _places_of(
    header: Sequence[str], names: Sequence[str], place: Place
) -> tuple[tuple[int, ...], tuple[Problem, ...]]:
    """Where in a results file each column is, by its name; columns that a person added are not read."""
    wanted, found = Counter(names), Counter(header)
    wrong = [name for name, count in wanted.items() if found[name] != count]
    if wrong:
        some = ", ".join(f"'{name}'" if name else "one without a header" for name in wrong[:_SHOWN])
        message = f"columns are missing, or there twice: {some}"
        problem = Problem("results-columns-changed", message, "undo the change of the header row", place)
        return (), (problem,)
    seen: Counter[str] = Counter()
    places = []
    for name in names:
        places.append([at for at, each in enumerate(header) if each == name][seen[name]])
        seen[name] += 1
    return tuple(places), ()


# --- what a spreadsheet program changes -------------------------------------------------------------

_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{2,4}.*", re.DOTALL)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_SHORT: Final = re.compile(r"-?\d{1,3}(?:[.,]\d+)?")  # what a program makes of a typed 45.000
_LOSES: Final = re.compile(r"\+?0*(\d+)")  # its zeros or plus, in every program


def _may_be_fixed(outcome: Outcome | None, was: Row, column: Column) -> bool:
    """Whether the report asks to fix a cell, by its place or its name, or the row as a whole: the service rejected it
    without naming a cell.
    """
    if outcome is None or outcome.kind not in TO_FIX:
        return False
    places = [one.place for one in outcome.problems]
    cells = [one for one in places if isinstance(one, CellPlace) and (one.origin, one.row) == (was.origin, was.number)]
    if any(one.column is None or one.column.index == column.index for one in cells):
        return True
    if any(one.message.endswith(f" in '{column.label}'") for one in outcome.problems):  # an end date, beside its start
        return True
    return outcome.kind is OutcomeKind.REJECTED and not all(isinstance(one, CellPlace) for one in places)


def _may_be_rewritten(before: str, now: str) -> bool:
    """Whether a program can have made a value of a text: a number or a date, where the text has digits."""
    return "@" not in before and any(map(str.isdigit, before)) and any(map(str.isdigit, now))


def _may_be_mistaken(before: str, now: str) -> bool:
    """Whether a program has dropped zeros, or may have saved what a person typed as another value: 2026-04-03 as
    4/3/2026, 45.000 as 45.
    """
    loses = _LOSES.fullmatch(before)
    if loses is not None and loses[1] == now:
        return True
    date = _DATE.fullmatch(now)
    is_turned = date is not None and date[1] != date[3] and max(int(date[1]), int(date[3])) <= 12
    return is_turned or (_GROUPED.search(before) is not None and _SHORT.fullmatch(now) is not None)


def _quoted(text: str) -> str:
    return f"'{text[:40]}'" if text else "blank"
