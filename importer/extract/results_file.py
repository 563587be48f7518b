"""How to tell one of our own results files that is fed back, so that it is read by its own rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from importer.models import Column

IMPORT_COLUMNS = ("import_row", "import_status", "import_problem", "import_hint")
TYPED_COLUMN = "import_typed"  # after them where the source was a workbook: the letters of the cells it kept as values
# How Row writes what a workbook keeps as a number, a date, a time or a boolean.
_CANONICAL = re.compile(r"-?\d+(\.\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|\d\d:\d\d:\d\d|TRUE|FALSE", re.ASCII)


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
    """The indexes of the cells that TYPED_COLUMN names, save those that a person has written anew in another form."""
    named = set(letters.split())
    return frozenset(
        column.index
        for column in columns
        if column.letter in named and _CANONICAL.fullmatch(cells[column.index].removesuffix("%"))
    )
