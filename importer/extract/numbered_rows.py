"""Rows of a results file by the number of their source's row, read from near the place where they are.

The file is scanned once for the places where records begin. That is right for a file that nobody has changed: its
quotes are those that importer wrote. Each row proves by its number that it is the one that was asked for.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Final

from importer.extract.csv_file import CsvFile, Mark
from importer.extract.opening import open_csv
from importer.extract.results_file import results_header
from importer.extract.sheet import ReadingLimits, Sheet
from importer.extract.table import open_table
from importer.models import Row, SourceOptions

_EVERY: Final = 256  # records between two marks: read in a few milliseconds
_FILES: Final = 16  # whose marks are kept


class NumberedRows:
    """The rows of a results file; each has the number of its source's row. is_changed: a person may have changed it, so
    that it is read from its start.

    Raises:
        UnusableInput: it cannot be read.
    """

    def __init__(self, path: Path, limits: ReadingLimits, *, shown_as: str, is_changed: bool) -> None:
        self._file = open_csv(path, shown_as, SourceOptions(), limits)
        self._is_changed = is_changed

    @cached_property
    def sheet(self) -> Sheet:
        return self._sheet_from(None)

    def rows(self, wanted: Collection[int]) -> dict[int, Row]:
        """The rows with these numbers, as far as there are any."""
        found: dict[int, Row] = {}
        for number in sorted(wanted):
            if number not in found:
                found |= {one.number: one for one in self._near(number) if one.number in wanted}
        if missing := set(wanted) - found.keys():
            for row in _numbered(self.sheet):
                if row.number in missing:
                    found[row.number] = row
                    missing.discard(row.number)
                if not missing:
                    break
        return found

    def numbers_with(self, index: int, text: str) -> Iterator[int]:
        """The numbers of the rows whose cell at this index has this text."""
        if not self._marks:
            yield from (row.number for row in _numbered(self.sheet) if row.cells[index] == text)
            return
        written = text.replace('"', '""').encode()
        records = _records(self._file.path)
        header = results_header(self._cells(next(records)[2].decode("utf-8-sig")))
        assert header is not None
        for mark, _, content in records:
            if written in content:  # few are: the others need not be read as cells
                cells = self._cells(content.decode())
                record = self._file.record(mark, cells, "".join(cells))
                number = header.row_number(record.cells)
                if number is not None and header.own(record.cells)[index] == text:
                    yield number

    def _near(self, number: int) -> Iterator[Row]:
        """The rows of the part of the file that has this one if the numbers ascend."""
        if not self._marks:
            return
        at = bisect_right(self._marks, number, key=self._number_at) - 1
        last = self._marks[at + 1].record if at + 1 < len(self._marks) else None
        for row in self._sheet_from(self._marks[max(at, 0)]).rows():
            if last is not None and row.number >= last:
                return
            if row.corrects is not None:
                yield replace(row, number=row.corrects)

    def _number_at(self, mark: Mark) -> int:
        return next((row.number for row in _numbered(self._sheet_from(mark))), 0)

    def _sheet_from(self, mark: Mark | None) -> Sheet:
        records = partial(self._file.records, mark)
        return open_table(replace(self._file.source(), records=records), SourceOptions())

    def _cells(self, text: str) -> list[str]:
        return next(csv.reader([text], delimiter=self._file.delimiter, strict=True))

    @cached_property
    def _marks(self) -> tuple[Mark, ...]:
        """Where every 256th row begins; none if the file is read from its start."""
        found: CsvFile = self._file
        if self._is_changed or not found.survey.encoding.codec.startswith("utf-8"):
            return ()
        return _marks(found.path, found.survey.size, found.survey.changed)


def _numbered(sheet: Sheet) -> Iterator[Row]:
    """The rows, with the numbers of the source's rows."""
    return (replace(row, number=row.corrects) for row in sheet.rows() if row.corrects is not None)


@lru_cache(_FILES)
def _marks(path: Path, size: int, changed: int) -> tuple[Mark, ...]:
    """size, changed: of the file, so that another version of it is scanned again."""
    return tuple(
        Mark(offset, number, line)
        for number, (line, offset, _) in enumerate(_records(path), 1)
        if number % _EVERY == 2  # the first row is record 2
    )


def _records(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Each record of a file that the csv module wrote: its first line, where it begins, and its bytes."""
    with path.open("rb") as file:
        content, first, at, is_open = b"", 1, 0, False
        for number, line in enumerate(file, 1):
            content += line
            is_open ^= line.count(b'"') % 2 == 1
            if not is_open:
                yield first, at, content
                content, first, at = b"", number + 1, at + len(content)
