"""How to tell one of our own results files that is fed back, so that it is read by its own rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from importer.models import IMPORT_COLUMNS, TYPED_COLUMN, Column, Problem

# How Row writes what a workbook keeps as a number, a date, a time or a boolean. It never writes 45.000, which a person
# writes for thousands.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


def added_columns(header: Sequence[str]) -> int:
    """How many cells at the end of a header row are what our report added; 0 if it is no results file.

    Somebody may have taken out some of them, and one is enough to tell.
    """
    start = end = len(header)
    while end and not header[end - 1]:
        start = end = end - 1
    for name in (TYPED_COLUMN, *reversed(IMPORT_COLUMNS)):
        if start and header[start - 1] == name:
            start -= 1
    return len(header) - start if start < end else 0


def typed_cells(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> frozenset[int]:
    """The indexes of the cells that TYPED_COLUMN names, save those that are blank by now."""
    named = set(letters.split())
    return frozenset(column.index for column in columns if column.letter in named and cells[column.index])


def is_canonical(text: str) -> bool:
    """Whether a cell is written as Row writes values, so that it can be read as one."""
    return bool(_CANONICAL.fullmatch(text.removesuffix("%")))


def rewritten(text: str) -> Problem:
    """What is told of a value that came back in another form: by the mapping's, day and month could be swapped."""
    return Problem(
        "value-rewritten",
        f"'{text[:80]}' was a date, a number or TRUE or FALSE in the workbook, and is written in another form now",
        "write it as YYYY-MM-DD (a date, in a cell of text), 1234.5 or TRUE; or fix the row in report.xlsx",
    )
