"""The header of a table: the declared rows, the row with the names that the mapping reads, or the likeliest row.

Where the mapping names columns, its names decide: no other sign is as sure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from importer.models import SourceOptions
from importer.problems import CellPlace, FilePlace, Origin, Problem, UnusableInput, unusable_file
from importer.sources.cell_text import header_text, quoted, width_of
from importer.sources.likely_header import likely_header_rows
from importer.sources.sheet import WINDOW, Record
from importer.text.normalize import normalize_name

_PERSON = re.compile(r"\s*[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+\s*")  # an e-mail address: not the name of a column
_ADD_HEADER = "add a row with the names of the columns above the first candidate"
_SEARCHED = 40  # of them: the last that may be the header
_JOINT = " / "  # between the names of a header of two rows


@dataclass(frozen=True, slots=True)
class Header:
    """A header: the names of its cells, and its first and last row; `lower`: of several rows, the last one's cells."""

    names: tuple[str, ...]
    first_row: int
    last_row: int
    lower: tuple[str, ...] = ()

    @classmethod
    def of(cls, *records: Record) -> Header:
        """The header in these rows. In a header of two rows a column has both names: `Balance / Opening`."""
        names: Sequence[str] = ()
        for record in records:
            texts = tuple(header_text(cell) for cell in record.cells)
            names = _joined(names, texts) if names else texts
        lower = texts if len(records) > 1 else ()
        return cls(tuple(names), records[0].number, records[-1].number, lower)

    @property
    def width(self) -> int:
        """The number of cells up to the last that is not empty."""
        return width_of(self.names)


def find_header(origin: Origin, head: Sequence[Record], options: SourceOptions) -> Header:
    """The header of a file that is not a results file, from its first rows.

    Raises UnusableInput: no row looks like a header, or the declared row is blank; the message shows the first rows.
    """
    records = [record for record in head if record.number not in options.skip_rows and record.width]
    if options.header_row is not None:
        return _declared(origin, records, options.header_row, options.header_rows or 1)
    if (options.header_rows or 1) > 1:
        message = f"a header of {options.header_rows} rows cannot be detected"
        hint = "set header_row: under source: in the mapping to its first row"
        raise unusable_file("header-not-found", message, hint, place_of(origin))
    first = [record for record in records if record.number <= WINDOW]
    searched = sum(record.number <= _SEARCHED for record in first)
    likely = likely_header_rows(first, searched)
    found = _named_rows(first[:searched], options.names, likely)
    if not found:
        message = f"none of the first {_SEARCHED} rows looks like a header"
        hint = (
            f"set header_row: under source: in the mapping to its row number, or {_ADD_HEADER}; {_first_rows(records)}"
        )
        place = CellPlace(origin, records[0].number if records else 1)
        raise UnusableInput(Problem("header-not-found", message, hint, place))
    found = found[-1:] if options.header_rows == 1 else found
    return Header.of(*_first_of_equal(first, found))


def _first_of_equal(records: Sequence[Record], found: tuple[Record, ...]) -> tuple[Record, ...]:
    """The first rows with the names of a header: it may be repeated, and the rows below the first one are data too."""
    names = [_names_of(record) for record in found]
    blocks = (tuple(records[at : at + len(found)]) for at in range(len(records)))
    return next(rows for rows in blocks if [_names_of(record) for record in rows] == names)


def _names_of(record: Record) -> list[str]:
    return [normalize_name(cell) for cell in record.cells[: record.width]]


def place_of(origin: Origin) -> FilePlace:
    """The file, or its sheet."""
    return FilePlace(f"{origin.file}, {origin.sheet}" if origin.sheet is not None else origin.file)


def _declared(origin: Origin, records: Sequence[Record], row: int, rows: int) -> Header:
    chosen = [record for record in records if row <= record.number < row + rows]
    if not chosen or chosen[0].number != row:
        message = "the header row that the mapping gives is blank"
        hint = f"correct header_row: under source: in the mapping; {_first_rows(records)}"
        raise UnusableInput(Problem("header-not-found", message, hint, CellPlace(origin, row)))
    people = (cell for record in chosen for cell in record.cells if _PERSON.fullmatch(cell))
    if (person := next(people, None)) is not None:
        message = f"the header row that the mapping gives has {quoted(person)}: this candidate would not be imported"
        hint = f"correct header_row: under source: in the mapping, or {_ADD_HEADER}; {_first_rows(records)}"
        raise UnusableInput(Problem("header-not-found", message, hint, CellPlace(origin, row)))
    return replace(Header.of(*chosen), last_row=row + rows - 1)


def _named_rows(records: Sequence[Record], names: Sequence[str], likely: tuple[Record, ...]) -> tuple[Record, ...]:
    """The row, or the two rows, with most of the names that a mapping reads; the likely ones if it has few of them."""
    wanted = {normalize_name(name) for name in names if not name.startswith("=")} - {""}

    def count(rows: tuple[Record, ...]) -> int:
        header = Header.of(*rows) if rows else None
        return len(wanted.intersection(map(normalize_name, (*header.names, *header.lower)))) if header else 0

    pairs = (pair for pair in pairwise(records) if pair[1].number == pair[0].number + 1)
    best = max((likely, *((record,) for record in records), *pairs), key=count)
    return best if 2 * count(best) > len(wanted) else likely


def _joined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Each lower name after its upper name, which also covers the blank cells to its right that have lower names."""
    names = []
    current = ""
    for above, below in zip_longest(upper, lower, fillvalue=""):
        if above or not below:
            current = above if below else ""
        names.append(_JOINT.join(name for name in (above or current, below) if name))
    return names


def _first_rows(records: Sequence[Record]) -> str:
    rows = [
        f"row {record.number}: {', '.join(quoted(cell, 20) for cell in [cell for cell in record.cells if cell][:4])}"
        for record in records[:5]
    ]
    return "the first rows are " + "; ".join(rows) if rows else "all rows are empty"
