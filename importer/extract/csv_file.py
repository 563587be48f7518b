"""A CSV as a stream of records: decoded and taken apart strictly, one record one row, memory flat."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from importer.errors import UnusableInput
from importer.extract.cell_text import clean, flaw_of, may_hold_flaw
from importer.extract.csv_survey import Survey
from importer.extract.encoding import Encoding, undecodable
from importer.extract.sheet import Flaw, ReadingLimits, Record
from importer.extract.table import Layout
from importer.models import CellPlace, FilePlace, Origin, Place, Problem, Row

if TYPE_CHECKING:
    import _csv

_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_SOME = 1 << 16  # characters
_NO_FLAWS: tuple[Flaw, ...] = ()


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV whose encoding and delimiter are settled.

    `cell_limit` in characters: a quote that is never closed swallows no more. `limits` are those of a row. `marked`:
    the first line is `sep=;`, which names the delimiter to a spreadsheet program and is no row to it. `delimited`: the
    delimiter was declared or seen, and not only taken because there is one column. `guarded`: the file is one of our
    results, where a cell that a spreadsheet program would take for a formula carries a quote.
    """

    path: Path
    origin: Origin
    encoding: Encoding
    delimiter: str
    survey: Survey
    cell_limit: int
    limits: ReadingLimits
    marked: bool = False
    delimited: bool = True
    guarded: bool = False
    even: bool = True
    hidden: frozenset[int] = frozenset()

    @property
    def how(self) -> str:
        delimiter = f"delimiter {_shown_delimiter(self.delimiter)}" if self.delimited else "no delimiter found"
        return f"CSV, {self.encoding.label}, {delimiter}"

    @property
    def lines(self) -> int:
        return self.survey.lines

    def warnings(self, layout: Layout) -> tuple[Problem, ...]:
        return ()

    def records(self) -> Generator[Record, None, None]:
        """Every row that is not blank.

        Raises:
            UnusableInput: a quote is wrong, a cell or the row too long, a byte cannot be decoded, or the file changed.
        """
        number = 0
        with self._reading(lambda: number) as reader:
            try:
                for number, cells in enumerate(reader, 1):
                    if "".join(cells).strip(" "):
                        yield self._record(number, cells)
            except csv.Error as error:
                raise UnusableInput(self._broken(number + 1, str(error))) from error

    def rows(self, layout: Layout) -> Iterator[Row]:
        """The rows of a table. Raises: as `records`."""
        if not layout.takes_all or not self.survey.plain or self.guarded or len(layout.columns) != layout.width:
            yield from layout.rows(self.records())
            return
        # Most files need no care but trimming, and most of the time of a large import goes here.
        origin, header_row, width, strip = self.origin, layout.header_row, layout.width, str.strip
        number = more_lines = 0
        with self._reading(lambda: number) as reader:
            try:
                for cells in reader:
                    number += 1
                    if len(cells) == width and number + more_lines == reader.line_num and number > header_row:
                        texts = tuple(map(strip, cells))
                        if texts[0] or any(texts):
                            yield Row(origin, number, texts)
                    else:
                        more_lines = reader.line_num - number
                        if any(map(strip, cells)):
                            yield from layout.rows((self._record(number, cells),))
            except csv.Error as error:
                raise UnusableInput(self._broken(number + 1, str(error))) from error

    @contextmanager
    def _reading(self, rows_read: Callable[[], int]) -> Iterator[_csv.Reader]:
        if not self.survey.holds_for(self.path):
            raise UnusableInput(_changed(self.origin))
        csv.field_size_limit(self.cell_limit)
        try:
            with self.path.open(encoding=self.encoding.codec, newline="") as file:
                if self.marked:
                    next(file)
                lines = chain.from_iterable(self._lines(file, rows_read))
                yield csv.reader(lines, delimiter=self.delimiter, strict=True)
        except UnicodeDecodeError as error:
            raise UnusableInput(undecodable(self.path, self.origin.file, self.encoding)) from error

    def _lines(self, file: TextIO, rows_read: Callable[[], int]) -> Iterator[list[str]]:
        """The lines of the file, some at a time; a row of many must not be too long. None is by itself."""
        read = length = 0
        while lines := file.readlines(_SOME):
            yield lines
            length = length + sum(map(len, lines)) if read == rows_read() else 0
            read = rows_read()
            if length > self.limits.row:
                raise UnusableInput(row_too_long(CellPlace(self.origin, read + 1), self.limits))

    def _record(self, number: int, cells: list[str]) -> Record:
        if len(cells) > self.limits.columns:
            raise UnusableInput(
                Problem(
                    "too-many-columns",
                    f"the row has {len(cells):,} cells, more than the {self.limits.columns:,} that are allowed",
                    f"check that {_shown_delimiter(self.delimiter)} is the delimiter and that no line break was lost, "
                    "or allow more with IMPORTER_CSV_COLUMNS",
                    CellPlace(self.origin, number),
                )
            )
        if self.guarded:
            cells = list(map(unguarded, cells))
        flaws = _NO_FLAWS
        if may_hold_flaw("".join(cells)):
            flaws = tuple(Flaw(index, problem) for index, cell in enumerate(cells) if (problem := flaw_of(cell)))
        return Record(number, tuple(map(clean, cells)), flaws=flaws)

    def _broken(self, row: int, reason: str) -> Problem:
        place = CellPlace(self.origin, row)
        if "field larger" in reason:
            return Problem(
                "cell-too-long",
                f"a cell is longer than {self.cell_limit:,} characters",
                'most likely a quote (") is opened and never closed; if the cell is meant, allow more characters as '
                "longest_cell: under source: in the mapping",
                place,
            )
        if "unexpected end" in reason:
            return Problem(
                "quote-unclosed",
                'a quote (") is opened and never closed',
                "close it, or double it to mean a quote",
                place,
            )
        return Problem(
            "quote-broken",
            f"a quote (\") ends inside a cell: only {_shown_delimiter(self.delimiter)} or the line's end may follow it",
            'write a quote inside a quoted cell twice (""), or close the one that is open',
            place,
        )


def unguarded(cell: str) -> str:
    """A cell of a results file without the quote that keeps it from being taken for a formula."""
    return cell[1:] if _GUARDED.match(cell) else cell


def _shown_delimiter(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else f'"{delimiter}"'


def row_too_long(place: Place, limits: ReadingLimits) -> Problem:
    """The problem of a row that would fill the memory."""
    return Problem(
        "row-too-long",
        f"a row is longer than the {limits.row >> 20:,} MB that are allowed",
        "check that the file is a table and that no line break was lost, or allow more with IMPORTER_CSV_ROW_MEGABYTES",
        place,
    )


def _changed(origin: Origin) -> Problem:
    return Problem(
        "file-changed",
        "the file changed after it was opened",
        "close the program that writes it and run again",
        FilePlace(origin.file),
    )
