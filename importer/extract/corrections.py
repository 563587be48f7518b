"""Corrections of a source: a list of cells that are read with another text. The file itself stays as it is.

The list is a CSV with the columns row, column, old and new. A row has the number that a spreadsheet program shows; a
column is given by its name, or by its letter (`=C`, or `C` if no column has this name). The new text is read as if it
stood in the cell. The old one must be what stands there, so that no list is applied to another version of the file.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from importer.extract.cell_text import quoted
from importer.extract.opening import open_sheet
from importer.extract.results_file import is_canonical
from importer.extract.sheet import ReadingLimits, Sheet
from importer.files import write_private
from importer.models import CorrectedCell, Row, SourceOptions
from importer.problems import Column, FilePlace, Place, Problem, UnusableInput, column_letter
from importer.text.normalize import closest
from importer.text.results_cells import escape_formula, unescape_formula

COLUMNS: Final = ("row", "column", "old", "new")
_LETTER: Final = re.compile(r"=?([A-Za-z]{1,3})")
_ONE_OR_THOUSAND: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")


def write_corrections(path: Path, corrections: Iterable[CorrectedCell], sheet: Sheet) -> None:
    """Write a list for a sheet: private, its cells quoted where they look like a formula.

    Raises:
        OSError: the file cannot be written.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    names = [column.name for column in sheet.columns]
    for one in sorted(corrections, key=lambda each: (each.row, each.column.index)):
        is_named = one.column.name and names.count(one.column.name) == 1
        name = one.column.name if is_named else f"={_letter(one.column, sheet)}"
        writer.writerow([one.row, *map(escape_formula, (name, one.old, one.new))])
    write_private(path, text.getvalue().encode("utf-8-sig", "backslashreplace"))


def corrected_sheet(
    sheet: Sheet, path: Path, limits: ReadingLimits, *, shown_as: str | None = None, is_proven: bool = False
) -> Sheet:
    """The sheet, read with the corrections of a list. is_proven: a run has checked that the list fits the file.

    Raises:
        UnusableInput: with every problem of the list: it cannot be read, names an unknown row or column, or an old
            text is not the one in the file. If `is_proven`, only reading the rows looks for other texts.
    """
    listed, problems = _read(path, sheet, limits, shown_as or str(path))
    by_row: _ByRow = {}
    for one in listed:
        first = by_row.setdefault(one.cell.row, {}).setdefault(one.cell.column.index, one)
        if first.cell != one.cell:
            message = f"this cell is corrected in row {first.line.number} of the list too, to another text"
            problems.append(Problem("correction-invalid", message, "keep one of the two", one.line.place()))
    problems += [] if is_proven else _problems(sheet, by_row)
    if problems:
        raise UnusableInput(problems)
    cells = tuple(one.cell for row in by_row.values() for one in row.values())
    reading = f"{sheet.reading}, {len(cells):,} cell{'' if len(cells) == 1 else 's'} corrected"
    return replace(sheet, reading=reading, corrections=cells, _read=lambda: _rows(sheet, by_row))


class _Listed(NamedTuple):
    """A correction, its row of the list, and the places of its old and new text there."""

    cell: CorrectedCell
    line: Row
    old: Place
    new: Place


_ByRow = dict[int, dict[int, _Listed]]
"""The corrections by row number, then by the index of the column."""


# --- the list ---------------------------------------------------------------------------------------


def _read(path: Path, sheet: Sheet, limits: ReadingLimits, name: str) -> tuple[list[_Listed], list[Problem]]:
    """The corrections of a list, and the problems of its other rows."""
    table = open_sheet(path, SourceOptions(header_row=1, delimiter=_delimiter(path)), limits, shown_as=name)
    found = {column.name.casefold(): column for column in table.columns}
    if table.origin.sheet is not None or not set(COLUMNS) <= set(found):
        message = "this is not a list of corrections, a CSV with the columns row, column, old and new"
        hint = "correct its first row; save a workbook as CSV UTF-8"
        raise UnusableInput(Problem("correction-invalid", message, hint, FilePlace(name)))
    row, column, old, new = (found[each] for each in COLUMNS)
    listed, problems = [], []
    for line in table.rows():
        number, named, before, after = (unescape_formula(line.cells[each.index]) for each in (row, column, old, new))
        meant = _column(named, sheet)
        wrong = [each for each in line.problems if not each.is_in([old.index])]  # an error may be what is corrected
        if not (number.isascii() and number.isdigit() and len(number) < 9):
            wrong.append(_unknown(f"{quoted(number)} is not a row number", line.place(row)))
        if meant is None:
            wrong.append(_unknown_column(named, sheet, line.place(column)))
        elif not wrong:
            cell = CorrectedCell(int(number), meant, before, after)
            listed.append(_Listed(cell, line, line.place(old), line.place(new)))
        problems += wrong
    return listed, problems


def _delimiter(path: Path) -> str | None:
    """The delimiter of the first row; its texts may have many others. None: it is another file, or not UTF-8."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = file.readline(1_000).replace('"', "").strip().casefold()
    except OSError:  # reported when it is opened
        return None
    return next((each for each in ",;\t|" if set(COLUMNS) <= set(first.split(each))), None)


def _letter(column: Column, sheet: Sheet) -> str:
    return column_letter(column.index + sheet.origin.first)


def _column(named: str, sheet: Sheet) -> Column | None:
    same = [column for column in sheet.columns if named and column.name == named]
    letter = _LETTER.fullmatch(named)
    if not same and letter:
        same = [column for column in sheet.columns if _letter(column, sheet) == letter[1].upper()]
    return same[0] if len(same) == 1 else None


def _unknown(message: str, place: Place) -> Problem:
    return Problem("correction-invalid", message, "use the number that a spreadsheet program shows", place)


def _unknown_column(named: str, sheet: Sheet, place: Place) -> Problem:
    names = [column.name for column in sheet.columns]
    file = sheet.origin.file
    if named in names:
        letters = " or ".join(f"={_letter(column, sheet)}" for column in sheet.columns if column.name == named)
        return Problem("correction-invalid", f"{file} has several columns '{named}'", f"write {letters}", place)
    near = closest(named, names) if named else None
    hint = f"did you mean '{near}'?" if near else "write its name as in the header, or its letter like =C"
    return Problem("correction-invalid", f"{file} has no column {quoted(named)}", hint, place)


# --- the file ---------------------------------------------------------------------------------------


def _problems(sheet: Sheet, by_row: _ByRow) -> list[Problem]:
    """What of a list does not fit the file."""
    left, found = dict(by_row), list[Problem]()
    last = max(by_row, default=0)
    for row in sheet.rows() if by_row else ():
        for one in left.pop(row.number, {}).values():
            found += filter(None, [_other_text(one, row), _doubt(one, row)])
        if row.number >= last:
            break
    for number, cells in left.items():
        message = f"{sheet.origin.file} has no row {number} below its header in row {sheet.header_row}"
        found += (_unknown(message, one.line.place()) for one in cells.values())
    return found


def _other_text(one: _Listed, row: Row) -> Problem | None:
    text = row.cells[one.cell.column.index]
    if text == one.cell.old:
        return None
    message = f"{row.place(one.cell.column)} has the text {quoted(text)}, not {quoted(one.cell.old)}"
    return Problem("correction-invalid", message, "look at the cell, and correct this row of the list", one.old)


def _doubt(one: _Listed, row: Row) -> Problem | None:
    """The problem of a text that two people read as two numbers, in a cell with a number."""
    if one.cell.column.index not in row.typed or not _ONE_OR_THOUSAND.fullmatch(one.cell.new):
        return None
    thousand, rest = one.cell.new.replace(".", ""), f"{one.cell.new}0"
    return Problem(
        "correction-ambiguous", f"'{one.cell.new}' can be two numbers", f"write {thousand} or {rest}", one.new
    )


def _rows(sheet: Sheet, by_row: _ByRow) -> Iterator[Row]:
    for row in sheet.rows():
        yield _corrected(row, by_row[row.number]) if row.number in by_row else row


def _corrected(row: Row, listed: Mapping[int, _Listed]) -> Row:
    if problem := next(filter(None, (_other_text(one, row) for one in listed.values())), None):
        raise UnusableInput(problem)
    return with_texts(row, {index: one.cell.new for index, one in listed.items()})


def with_texts(row: Row, new: Mapping[int, str]) -> Row:
    """A row with other texts in some cells, by the index of their column. A number, a date or TRUE stays a value if its
    new text has the format of `Row`.
    """
    typed = row.typed - {index for index, text in new.items() if not is_canonical(text)}
    return replace(
        row,
        cells=tuple(new.get(index, text) for index, text in enumerate(row.cells)),
        typed=typed,
        problems=tuple(problem for problem in row.problems if not problem.is_in(new)),
        links=tuple(link for link in row.links if link[0] not in new),
        currencies=tuple(each for each in row.currencies if each[0] in typed),
    )
