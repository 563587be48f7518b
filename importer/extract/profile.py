"""What is in a sheet: for each column how many cells are filled, samples, and a guess of the kind of its values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

import pandas as pd

from importer.extract.sheet import Sheet
from importer.models import Column, Problem, Row
from importer.text.dates import WRITTEN, YEAR, all_formats_of

_LOOKED_AT = 2000  # filled cells of a column, enough to tell its kind
_SHARE = 0.9  # of these must be of the kind
_SAMPLES = 3
_PROBLEMS = 20
_MIXED = 6  # date formats that one column may mix
_MISSING = frozenset({"-", "--", ".", "?", "n/a", "na", "null", "none", "nan", "yok", "keine", "unknown"})
_PATTERNS = {
    "e-mail": r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+",
    "URL": r"(?:https?://|www\.)\S+|(?:[\w-]+\.)+(?:com|org|net|io|dev|me)/\S*",
    "yes/no": r"(?i:yes|no|true|false|evet|hayır|y|n|x)",
    "number": r"[+-]?\d{1,3}(?:[., ]\d{3})*(?:[.,]\d+)?|[+-]?\d+(?:[.,]\d+)?",
}
_PHONE = r"[+(]?\d[\d\s().\-/]{5,18}\d"
_PHONE_SIGNS = r"[+0(].*|.*\d[\s().\-/]+\d.*"
_PHONE_HEADER = re.compile(r"phone|mobile|\btel|telefon|gsm|\bcep\b|handy", re.IGNORECASE)


class Kind(StrEnum):
    """What the values of a column seem to be."""

    EMPTY = "empty"
    TEXT = "text"
    E_MAIL = "e-mail"
    PHONE = "phone"
    DATE = "date"
    URL = "URL"
    YES_NO = "yes/no"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column: how many of its cells are filled, up to three different ones, and the kind they seem to be.

    `formats` are the date formats that its cells fit, as a mapping declares them, the most frequent first. `ambiguous`:
    each of them fits, as where no date tells day from month; else all of them are needed.
    """

    column: Column
    filled: int
    samples: tuple[str, ...]
    kind: Kind
    formats: tuple[str, ...] = ()
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class SheetProfile:
    """A sheet: its rows that hold something, those with a problem, the first of these problems, and its columns."""

    rows: int
    last_row: int
    rows_with_problems: int
    problems: tuple[Problem, ...]
    columns: tuple[ColumnProfile, ...]


def profile_sheet(sheet: Sheet) -> SheetProfile:
    """Read a sheet to its end and say what is in it.

    Raises:
        UnusableInput: the file breaks off on the way.
    """
    seen = _Seen(sheet)
    for row in sheet.rows():
        seen.add(row)
    return SheetProfile(
        seen.rows,
        seen.last_row,
        seen.rows_with_problems,
        tuple(seen.problems),
        tuple(seen.column_profiles(sheet.columns)),
    )


class _Seen:
    """What was seen of a sheet so far; of the cells only as many as tell the kind."""

    def __init__(self, sheet: Sheet) -> None:
        self.rows = self.rows_with_problems = 0
        self.last_row = sheet.header_row
        self.problems: list[Problem] = []
        self._filled = [0] * len(sheet.columns)
        self._cells: list[list[str]] = [[] for _ in sheet.columns]

    def add(self, row: Row) -> None:
        self.rows += 1
        self.last_row = row.number
        self.rows_with_problems += bool(row.problems)
        self.problems.extend(row.problems[: _PROBLEMS - len(self.problems)])
        for index, cell in enumerate(row.cells):
            if cell:
                self._filled[index] += 1
                if len(self._cells[index]) < _LOOKED_AT:
                    self._cells[index].append(cell)

    def column_profiles(self, columns: tuple[Column, ...]) -> Iterator[ColumnProfile]:
        for column, filled, cells in zip(columns, self._filled, self._cells, strict=True):
            samples = tuple(islice(dict.fromkeys(cells), _SAMPLES))
            values = pd.Series([cell for cell in cells if cell.casefold() not in _MISSING], dtype="str")
            fits = _date_fits(values)
            kind = Kind.DATE if fits.formats else _kind(column, values)
            yield ColumnProfile(column, filled, samples, kind, fits.formats, fits.ambiguous)


def _kind(column: Column, values: pd.Series[str]) -> Kind:
    if values.empty:
        return Kind.EMPTY
    if _share(values, _PHONE) >= _SHARE and (
        _PHONE_HEADER.search(column.name) or (_share(values, _PHONE_SIGNS) >= 0.5 and values.str.len().median() >= 9)
    ):
        return Kind.PHONE
    return next((Kind(name) for name, pattern in _PATTERNS.items() if _share(values, pattern) >= _SHARE), Kind.TEXT)


def _share(values: pd.Series[str], pattern: str) -> float:
    return float(values.str.fullmatch(pattern).mean())


@dataclass(frozen=True, slots=True)
class _DateFits:
    """The date formats that a column's values fit, see ColumnProfile."""

    formats: tuple[str, ...] = ()
    ambiguous: bool = False


def _date_fits(values: pd.Series[str]) -> _DateFits:
    if values.empty or float(values.str.contains(r"\d").mean()) < _SHARE:
        return _DateFits()
    found = values.map(all_formats_of)
    occurring = {one for formats in found for one in formats}
    fits = {one: found.map(lambda formats, one=one: one in formats) for one in WRITTEN if one in occurring}
    best = max((float(fit.mean()) for one, fit in fits.items() if one != YEAR), default=0.0)
    if best >= _SHARE:
        formats = tuple(one for one, fit in fits.items() if float(fit.mean()) == best)
        return _DateFits(formats, len(formats) > 1)
    return _mixed_fits(fits) if fits else _DateFits()


def _mixed_fits(fits: dict[str, pd.Series[bool]]) -> _DateFits:
    """The fewest formats that cover most values together, if such a few do. A lone year is a date among others only."""
    chosen: list[str] = []
    covered = next(iter(fits.values())) & False
    while len(chosen) < _MIXED and float(covered.mean()) < 1:
        gain = {one: int((fit & ~covered).sum()) for one, fit in fits.items()}
        most = max(gain, key=lambda one: gain[one])
        if gain[most] == 0:
            break
        chosen.append(most)
        covered |= fits[most]
    return _DateFits(tuple(chosen)) if float(covered.mean()) >= _SHARE and chosen != [YEAR] else _DateFits()
