"""A CSV as a stream of records: decoded and taken apart strictly, one record one row, memory flat."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from importer.errors import UnusableInput
from importer.extract.clean_text import clean, flaw_of
from importer.extract.encoding import Encoding
from importer.extract.record import Flaw, Record
from importer.models import CellPlace, Origin, Problem

_FIELD_LIMIT = 16 << 20  # characters; a quote that is never closed swallows no more than this
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV whose encoding and delimiter are settled.

    `guarded`: the file is one of our results, where a cell that a spreadsheet would take for a formula carries a quote.
    """

    path: Path
    origin: Origin
    encoding: Encoding
    delimiter: str
    guarded: bool = False

    def records(self) -> Generator[Record, None, None]:
        """Every record, blank ones too, numbered as a spreadsheet program numbers them.

        Raises:
            UnusableInput: a quote is wrong; it names the row.
        """
        number = 0
        csv.field_size_limit(_FIELD_LIMIT)
        with self.path.open(encoding=self.encoding.codec, newline="") as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            try:
                for number, cells in enumerate(reader, 1):
                    yield _record(number, self._unguarded(cells) if self.guarded else cells)
            except csv.Error as error:
                raise UnusableInput(self._broken(number + 1, str(error))) from error

    def _unguarded(self, cells: list[str]) -> list[str]:
        return [cell[1:] if _GUARDED.match(cell) else cell for cell in cells]

    def _broken(self, row: int, reason: str) -> Problem:
        place = CellPlace(self.origin, row)
        if "field larger" in reason:
            return Problem(
                "cell-too-long",
                f"a cell is longer than {_FIELD_LIMIT:,} characters",
                'most likely a quote (") is opened and never closed',
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
            f'a quote (") ends inside a cell: after it only {self.delimiter!r} or the end of the line may stand',
            'write a quote inside a quoted cell twice (""), or close the one that is open',
            place,
        )


def sample_lines(path: Path, encoding: Encoding, limit: int = 200, characters: int = 1 << 18) -> list[str]:
    """The first lines of a file, to look for its delimiter."""
    with path.open(encoding=encoding.codec, newline="") as file:
        return file.read(characters).splitlines(keepends=True)[:limit]


def _record(number: int, cells: list[str]) -> Record:
    flaws = tuple(Flaw(index, problem) for index, cell in enumerate(cells) if (problem := flaw_of(cell)))
    return Record(number, tuple(clean(cell) for cell in cells), flaws=flaws)
