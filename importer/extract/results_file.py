"""The form of a results file that is imported again: its header, the columns that were added, and its values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

from importer.extract.cell_text import header_text, width_of
from importer.extract.possible_values import Moment, Number, readings
from importer.models import ADDED_COLUMNS, IMPORT_COLUMNS
from importer.problems import Column, Problem

_READ_AS = "import_read_as "
_CURRENCY = re.compile(r"(?<!\S)([A-Z]+)=([+-]?[\d.]+%?)([^\d\s.%]\S*)")
# How Row writes a workbook's numbers, dates, times and booleans. Row never writes 45.000, which may mean 45 thousand.
_CANONICAL = re.compile(
    r"[+-]?\d+(\.(?!\d\d0(?!\d))\d+)?|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|-?\d\d+:\d\d:\d\d|TRUE|FALSE", re.ASCII
)


class ReadAs(NamedTuple):
    """What a private copy in which values were restored was made from: how that was read, and its header's width.

    The header of the private copy ends with this cell. Below it are the problems of values that are not proven.
    """

    how: str
    sheet: str | None
    width: int

    @property
    def cell(self) -> str:
        return f"{_READ_AS}{self.width}\n{self.how}\n{self.sheet or ''}"

    @classmethod
    def of(cls, cell: str) -> ReadAs | None:
        width, how, sheet = [*cell.removeprefix(_READ_AS).split("\n", 2), "", ""][:3]
        return cls(how, sheet or None, int(width)) if cell.startswith(_READ_AS) and width.isdecimal() else None


@dataclass(frozen=True, slots=True)
class ResultsHeader:
    """The header of a results file: the source's own columns, from the index `first` on, and the added ones.

    `added`: the indexes of the added columns, by name. `read_as`: in a private copy in which values were restored, its
    cell at the index `restored_at`.
    """

    first: int
    columns: tuple[Column, ...]
    added: dict[str, int]
    read_as: ReadAs | None = None
    restored_at: int = 0

    def own(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        """The cells of the source's own columns."""
        own = cells[self.first : self.first + len(self.columns)]
        return own + ("",) * (len(self.columns) - len(own))

    def text(self, cells: Sequence[str], name: str) -> str:
        """The cell of an added column; "" if there is none."""
        return "".join(cells[at : at + 1]) if (at := self.added.get(name)) is not None else ""

    def row_number(self, cells: Sequence[str]) -> int | None:
        """The number of the source's row, if it is given."""
        text = self.text(cells, IMPORT_COLUMNS[0])
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None

    def unproven(self, cells: Sequence[str]) -> Iterator[tuple[int, Problem]]:
        """The problems that restoring the values of a row left, each with the index of its column."""
        text = "".join(cells[self.restored_at : self.restored_at + 1]) if self.read_as else ""
        with suppress(ValueError, TypeError):  # another file may have such a header
            for index, *problem in json.loads(text or "[]"):
                if (
                    0 <= index < len(self.columns)
                    and len(problem) == 3
                    and all(isinstance(one, str) for one in problem)
                ):
                    yield index, Problem(*problem)


def problems_text(problems: Iterable[tuple[int, Problem]]) -> str:
    """What ResultsHeader.unproven reads."""
    found = [(index, each.code, each.message, each.hint) for index, each in problems]
    return json.dumps(found) if found else ""


def results_header(cells: Sequence[str]) -> ResultsHeader | None:
    """The header of a results file; None if it is another file.

    A person may have removed some of the added columns; one is enough.
    """
    first, end = 0, width_of(cells)
    added: dict[str, int] = {}
    read_as = ReadAs.of(cells[end - 1]) if end else None
    end = restored_at = end - 1 if read_as else end
    while first < end and cells[first] in ADDED_COLUMNS:
        added[cells[first]] = first
        first += 1
    while first < end and cells[end - 1] in ADDED_COLUMNS:
        end -= 1
        added[cells[end]] = end
    columns = tuple(Column.at(index, header_text(cells[first + index])) for index in range(end - first))
    return ResultsHeader(first, columns, added, read_as, restored_at) if added else None


# --- its values -------------------------------------------------------------------------------------


OR_LEAVE_IT: Final = "; or leave it if the old value is right"
PERHAPS_CODE: Final = "value-perhaps-changed"
_FORMS: Final[dict[type | None, str]] = {
    Moment: "write it as YYYY-MM-DD (in a text cell)",
    Number: "write it as 1234.5, with a point for decimals and nothing between thousands",
    bool: "write it as TRUE or FALSE",
}
_ANY_FORM: Final = "write it as YYYY-MM-DD (in a text cell), 1234.5 or TRUE"


def typed_cells(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> frozenset[int]:
    """The indexes of the cells that TYPED_COLUMN lists, except blank ones."""
    named = {each.partition("=")[0] for each in letters.split()}
    return frozenset(column.index for column in columns if column.letter in named and cells[column.index])


def listed_currencies(letters: str, cells: Sequence[str], columns: Sequence[Column]) -> tuple[tuple[int, str], ...]:
    """The currencies that TYPED_COLUMN lists, of the cells that still have the number that they had."""
    listed = {letter: (number, currency) for letter, number, currency in _CURRENCY.findall(letters)}
    found = ((column.index, *listed[column.letter]) for column in columns if column.letter in listed)
    return tuple((index, currency) for index, number, currency in found if cells[index] == number)


def links_unreadable() -> Problem:
    """The problem of a row whose LINKS_COLUMN was changed: what it listed is lost."""
    message = "the cell import_links of this row was changed and cannot be read"
    hint = "copy it from the results file again; or clear it, and write the web addresses into the row's own cells"
    return Problem("links-unreadable", message, hint)


def is_canonical(text: str) -> bool:
    """Whether a text has the format in which Row writes values."""
    return bool(_CANONICAL.fullmatch(text.removesuffix("%")))


def perhaps_changed(was: str, now: str, *, was_wrong: bool) -> Problem:
    """The problem of a cell that either a person or a program has changed; its old value is kept.

    was_wrong: that value is itself reported as a problem.
    """
    before = f"was '{was[:80]}'" if was else "was blank"
    message = f"this cell {before} and is now '{now[:80]}'; a spreadsheet program may have changed it"
    hint = (
        "the new results files have the old value again: type the right one into this cell of the new report.xlsx, "
        "where every cell is text and stays as you type it"
    )
    return Problem(PERHAPS_CODE, message, hint if was_wrong else hint + OR_LEAVE_IT)


def format_changed(text: str, *, is_workbook: bool) -> Problem:
    """The problem of a value whose format has changed: read by the mapping, day and month could be swapped.

    is_workbook: a person has fixed it in a workbook, such as report.xlsx.
    """
    message = f"'{text[:80]}' was a date, a number, TRUE or FALSE; its format has changed since"
    kinds = {type(each.value) for each in readings(text)}
    hint = _FORMS.get(kinds.pop() if len(kinds) == 1 else None, _ANY_FORM)
    return Problem(
        "value-format-changed",
        message,
        hint if is_workbook else f"{hint}; or fix the row in report.xlsx or in your own file",
    )
