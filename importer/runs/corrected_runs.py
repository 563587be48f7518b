"""The runs of results files: rows of an earlier run that were corrected, and which row each one was there.

A person fixes some cells of a results file. A spreadsheet program that opens a CSV may also change others when it saves
it, and never says so: `2021-03-04` becomes 3/4/2021, `0012` becomes 12, `45.000` becomes 45. Such a file is refused, as
a value would be sent that nobody wrote. Every cell of report.xlsx is text, which no program changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from importer.extract import ReadingLimits, Sheet
from importer.models import Outcome, OutcomeKind, Row
from importer.problems import CellPlace, FilePlace, Problem, UnusableInput
from importer.runs.journal import JOURNAL, RunJournal
from importer.runs.manifest import RunManifest, manifests_in, part_folders, read_manifest
from importer.runs.private_copies import sheet_of
from importer.runs.run_report import refuse_changed
from importer.settings import Settings
from importer.text.normalize import normalize_name


class CorrectedRuns:
    """The runs of a results folder, by name."""

    def __init__(self, settings: Settings) -> None:
        self.limits = ReadingLimits.of(settings)
        self._opened: dict[str, Sheet] = {}  # the last few: a workbook takes a second to open
        self.all = {manifest.run: (folder, manifest) for folder, manifest in manifests_in(settings.out)}

    def manifest(self, run: str) -> RunManifest:
        return self.all[run][1]

    def sheet(self, run: str) -> Sheet:
        if run not in self._opened:
            self._opened = dict([*self._opened.items(), (run, sheet_of(*self.all[run], self.limits))][-3:])
        return self._opened[run]

    def line(self, manifest: RunManifest) -> list[str]:
        """The runs that a run descends from, the nearest first; [] if it is of no results file."""
        line: list[str] = []
        while manifest.corrects in self.all and manifest.corrects not in line:
            line.append(str(manifest.corrects))
            manifest = self.manifest(line[-1])
        return line

    def lines_to(self, originals: Collection[str]) -> dict[str, list[str]]:
        """The runs that sent corrected rows of these ones, each with the line to one of them."""
        lines = {run: self.line(one) for run, (_, one) in self.all.items() if not one.dry_run}
        return {run: line for run, line in lines.items() if line and line[-1] in originals}

    def numbers(self, sheet: Sheet, line: Sequence[str]) -> dict[int, int]:
        """The number in the last run of the line of each row of a results file."""
        numbers = _corrected(sheet)
        for run in line[:-1]:
            earlier = _corrected(self.sheet(run))
            numbers = {row: earlier[number] for row, number in numbers.items() if number in earlier}
        return numbers


def _corrected(sheet: Sheet) -> dict[int, int]:
    return {row.number: row.corrects for row in sheet.rows() if row.corrects is not None}


# --- what a spreadsheet program changed -------------------------------------------------------------

_AMBIGUOUS: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # one or a thousand
_DATE: Final = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{2,4}.*", re.DOTALL)
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?")
_LOSES: Final = re.compile(r"\+?0*(\d+)")  # its zeros or plus, in every program
_VALUES: Final = frozenset(("true", "false", "wahr", "falsch", "vrai", "faux", "doğru", "yanlış"))
_SHOWN: Final = 3  # cells in the message


def refuse_rewritten(sheet: Sheet, folder: Path, limits: ReadingLimits) -> None:
    """Ensure that a results file is as its run wrote it, but for what a person can have changed.

    folder: of that run; its source says what each cell was, and its outcomes which cells were to be fixed. Rows that
    someone added are what they are.

    Raises:
        UnusableInput: with the first cells that a program may have changed, and the way out; or the files of that run
            were changed.
    """
    manifest = read_manifest(folder)
    refuse_changed(folder, manifest)
    original, is_workbook = sheet_of(folder, manifest, limits), sheet.origin.sheet is not None
    columns = _same_columns(sheet, original)
    rewritten, problems = list[str](), list[Problem]()
    with ExitStack() as opened:
        parts = dict.fromkeys((folder, *part_folders(folder, manifest)))
        journals = [opened.enter_context(RunJournal(one)) for one in parts if (one / JOURNAL).is_file()]
        for row, was in _pairs(sheet, original):
            same = {here for here, there in columns if row.cells[here] == was.cells[there]}
            changed = [(here, there) for here, there in columns if here not in same and row.cells[here]]
            outcome = next(filter(None, (each.outcome(was.number) for each in journals)), None) if changed else None
            for here, there in changed:
                before, now, place = was.cells[there], row.cells[here], row.place(sheet.columns[here])
                where = str(place).removeprefix(f"{sheet.origin.file}, ")
                shown, is_value = f"{where} was {_quoted(before)} and is {_quoted(now)} now", here in row.typed
                if there in was.typed and _AMBIGUOUS.fullmatch(now):
                    hint = f"write {now.replace('.', '')} or {now}0"
                    problems.append(Problem("correction-ambiguous", f"'{now}' can be two numbers", hint, place))
                elif not (is_workbook and (there in was.typed or not is_value)):
                    is_new = not before or _may_be_fixed(outcome, was, there)
                    is_doubtful = _may_be_mistaken(before, now) if is_new else _may_be_rewritten(before, now)
                    rewritten += [shown] if is_doubtful else []
    if rewritten:
        problems.append(_rewritten(rewritten, FilePlace(sheet.origin.file), is_workbook=is_workbook))
    if problems:
        raise UnusableInput(problems)


def _rewritten(cells: list[str], place: FilePlace, *, is_workbook: bool) -> Problem:
    more = f"; and {len(cells) - _SHOWN} more cells" if len(cells) > _SHOWN else ""
    message = f"a spreadsheet program may have changed values: {'; '.join(cells[:_SHOWN])}{more}"
    hint = "fix the rows in report.xlsx of the same folder, where every cell stays as you type it, and import that"
    if is_workbook:
        hint = "format these cells as text, and type their old or right values; or fix the rows in your own file"
    return Problem("results-file-rewritten", message, hint, place)


def _pairs(sheet: Sheet, original: Sheet) -> Iterator[tuple[Row, Row]]:
    """Each row of a results file with the row that it was. Memory is flat if they are in the same order."""
    wanted = {row.corrects for row in sheet.rows()}
    rows, read = original.rows(), dict[int, Row]()
    for row in sheet.rows():
        while row.corrects is not None and row.corrects not in read and (was := next(rows, None)) is not None:
            if was.number in wanted:
                read[was.number] = was
        if row.corrects in read:
            yield row, read[row.corrects]


def _same_columns(sheet: Sheet, original: Sheet) -> list[tuple[int, int]]:
    """The indexes of each column here and in the source. If they are not the same, only names that are unique, as a
    mapping compares them.
    """
    names, before = ([normalize_name(column.name) for column in one.columns] for one in (sheet, original))
    if names == before:
        return [(index, index) for index in range(len(names))]
    unique = (name for name in names if name and names.count(name) == 1 and before.count(name) == 1)
    return [(names.index(name), before.index(name)) for name in unique]


def _may_be_fixed(outcome: Outcome | None, was: Row, index: int) -> bool:
    """Whether the report asks to fix a cell, by the index of its column, or the row as a whole: the service rejected it
    without naming a cell.
    """
    if outcome is None or outcome.kind not in (OutcomeKind.INVALID, OutcomeKind.REJECTED):
        return False
    places = [one.place for one in outcome.problems]
    cells = [one for one in places if isinstance(one, CellPlace) and (one.origin, one.row) == (was.origin, was.number)]
    if any(one.column is None or one.column.index == index for one in cells):
        return True
    return outcome.kind is OutcomeKind.REJECTED and not all(isinstance(one, CellPlace) for one in places)


def _may_be_rewritten(before: str, now: str) -> bool:
    """Whether a program can have made one text of the other: of a number or date, TRUE, or letters in its encoding."""
    of_value = "@" not in before and any(map(str.isdigit, before)) and (any(map(str.isdigit, now)) or now[0] == "#")
    of_letters = not before.isascii() and len(before) == len(now)
    return of_value or of_letters or (before.casefold() in _VALUES and before.casefold() == now.casefold())


def _may_be_mistaken(before: str, now: str) -> bool:
    """Whether a program has dropped zeros, or may have saved what a person typed as another value: 2026-04-03 as
    4/3/2026, 45.000 as 45.
    """
    loses = _LOSES.fullmatch(before)
    if loses is not None and loses[1] == now:
        return True
    date = _DATE.fullmatch(now)
    is_turned = date is not None and date[1] != date[3] and max(int(date[1]), int(date[3])) <= 12
    return is_turned or (_GROUPED.search(before) is not None and _NUMBER.fullmatch(now) is not None)


def _quoted(text: str) -> str:
    return f"'{text[:40]}'" if text else "blank"
