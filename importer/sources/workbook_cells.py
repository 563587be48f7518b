"""From the stored cells of a workbook to records: the text that a person sees, or the problem of the cell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from importer.problems import Problem, column_letter, unusable_file
from importer.sources.cell_text import (
    NO_RESULT,
    Value,
    cell_text,
    clean,
    error_cell,
    find_problem,
    is_canonical,
    lost_digits,
    plain_number,
    quoted,
)
from importer.sources.number_format import DateKind, date_kind, shown_currency, shown_date, shown_number, shown_text
from importer.sources.sheet import CellProblem, Record

_LEAP_DAY_1900 = 60  # Excel believes that 29 February 1900 exists
_FIRST_STRAY = 702  # the index of column AAA; few tables are as wide
_MAX_AREA = 20_000_000  # cells, including blank ones, that are read in acceptable time


class Cell(NamedTuple):
    """A stored cell. code: its number format, "" for General. problem: of a cell whose value is its text here."""

    at: int  # the index of its column
    value: Value
    code: str = ""
    problem: Problem | None = None


class DamagedError(Exception):
    """The workbook is proven to be damaged: the values of no reader can be trusted."""


class MergedRange(NamedTuple):
    """Merged cells, of which only the first has a value. Rows count from 1, columns from 0; both ends are included."""

    first_row: int
    first_index: int
    last_row: int
    last_index: int


@dataclass(slots=True)
class SheetFacts:
    """What a person should know of a sheet, complete after its last row.

    hidden: the numbers of hidden rows, hidden_columns: indexes. links: the addresses of hyperlinks, by row and index of
    the column. is_1904: days are counted from 1904.
    """

    hidden: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    links: dict[int, dict[int, str]] = field(default_factory=dict)
    is_1904: bool = False
    merged: list[MergedRange] = field(default_factory=list)


class CellReader:
    """Makes records of rows, and notes what a person should know. file: its name, in messages."""

    def __init__(self, file: str, facts: SheetFacts) -> None:
        self._file, self._facts, self._stray = file, facts, 0

    def record(self, number: int, cells: Iterable[Cell]) -> Record:
        """A row with its cells, of which blank ones may be missing."""
        texts: list[str] = []
        typed, problems = list[int](), list[CellProblem]()
        for index, value, code, problem in cells:
            if index >= len(texts):
                texts += [""] * (index + 1 - len(texts))
            if problem is not None:
                texts[index] = str(value)
                problems.append(CellProblem(index, problem))
            elif isinstance(value, str):
                text = clean(value)
                shown = shown_text(text, code) if text and ("@" in code or code.count(";") > 2) else text
                texts[index] = text if shown is None else clean(shown)
                if shown is None:
                    problems.append(CellProblem(index, _not_read(value, code)))
                elif not (text.isascii() and text.isalnum()) and (found := find_problem(text)):
                    problems.append(CellProblem(index, found))
            else:
                shown = _shown(value, code)
                texts[index] = text = cell_text(value) if shown is None else clean(shown)
                if shown is None:
                    problems.append(CellProblem(index, _not_read(text, code, is_date=isinstance(value, date))))
                elif isinstance(value, int | float) and (found := lost_digits(value)):
                    problems.append(CellProblem(index, found))
                elif isinstance(value, date):
                    typed.append(index)
                elif is_canonical(text) and ("." not in text or text.endswith("%") or text == cell_text(value)):
                    typed.append(index)  # but not the text of a code: its point may be a decimal point
                    if code and isinstance(value, int | float) and (currency := shown_currency(value, code)):
                        texts[index] = f"{text} {currency}"
        if len(texts) > _FIRST_STRAY:
            self._refuse_stray(number, texts)
        return Record(number, tuple(texts), frozenset(typed), tuple(problems))

    def _refuse_stray(self, number: int, texts: list[str]) -> None:
        """Refuse a sheet that a few stray cells make so wide that reading it takes too long."""
        self._stray += len(texts)
        if self._stray > _MAX_AREA and 10 * (len(texts) - texts.count("")) < len(texts):
            first = next(index for index, text in enumerate(texts) if text and index >= _FIRST_STRAY)
            message = f"stray cells make rows up to {len(texts):,} columns wide, such as {column_letter(first)}{number}"
            hint = "delete the columns to the right of the table and save the workbook again, or save the sheet as CSV"
            raise unusable_file("sheet-too-wide", message, hint, self._file)


def _shown(value: Value, code: str) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shown_date(cell_text(value), code) if isinstance(value, date) and code else cell_text(value)
    return shown_number(value, code) if code else cell_text(value)


def _not_read(value: str, code: str, *, is_date: bool = False) -> Problem:
    """The problem of a cell whose format shows more than its value, or something that cannot be told."""
    message = f"the cell has {quoted(value)}, but its number format {quoted(code)} shows something else"
    hint = "give the column the format General or Text, and check what it shows then"
    if is_date and "y" not in code.lower():
        hint = "type again what is meant, as text or as a date with its year"
    return Problem("format-not-read", message, hint)


# Characters that XML does not allow, and the underscore of a text that looks like such an escape. openpyxl takes the
# latter from a shared text, so other escapes are left as they are: a person may have typed them.
_ESCAPE = re.compile(r"_x(00[01][0-9A-Fa-f]|005[fF])_")


def unescaped(text: str) -> str:
    """A text as it is meant, of one as it is stored in XML."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def with_error(index: int, text: str) -> Cell:
    """A cell that shows an error."""
    return Cell(index, text, problem=error_cell(text))


def without_result(index: int) -> Cell:
    """The cell of a formula whose result is not stored: other programs see an empty cell."""
    hint = "open the workbook in a spreadsheet program, save it, then run the same command again"
    return Cell(index, NO_RESULT, problem=Problem("formula-result-missing", "the formula has no stored result", hint))


def impossible_date(index: int, serial: float, code: str, *, is_1904: bool) -> Cell | None:
    """The cell of a number in the format of a date that is none; None if it is one.

    Excel counts days from 1 January 1900 = 1, or from 1 January 1904 = 0, and shows #### for what is before.
    """
    kind, hint = date_kind(code), "type the right date into the cell, or clear the cell"
    if serial < 0 and not (is_1904 and kind is DateKind.DURATION):
        message = f"the cell shows a date or time as ####, because its number, {plain_number(serial)}, is below zero"
        return Cell(index, "####", problem=Problem("cell-error", message, hint))
    if kind is not DateKind.DATE or is_1904 or not (serial < 1 or int(serial) == _LEAP_DAY_1900):
        return None
    text, day = ("1900-01-00", "00.01.1900") if serial < 1 else ("1900-02-29", "29 February 1900")
    return Cell(index, text, problem=Problem("cell-error", f"the cell shows the day {day}, which does not exist", hint))


def too_late(index: int, serial: float) -> Cell:
    """The cell of a number in the format of a date, which is after the last day of a spreadsheet."""
    shown = f"its number, {plain_number(serial)}, is after the last possible day"
    hint = "type the right date into the cell, or clear the cell"
    message = f"the cell shows a date or time as ####, because {shown}"
    return Cell(index, "####", problem=Problem("cell-error", message, hint))
