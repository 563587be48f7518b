"""The CSV files of a results folder: one for each outcome, in the form in which they can be fed back."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from importer.models import OutcomeKind
from importer.report.facts import RunFacts
from importer.report.guard import FIRST_SIGNS, guarded
from importer.report.names import ALWAYS_WRITTEN, CSV_FILES
from importer.report.reported import IMPORT_COLUMNS, TYPED_COLUMN, ReportedRow

_ON_DISK_EVERY: Final = 4_000_000  # characters


class RowsFile:
    """A CSV with CRLF and quotes where needed. Most rows need none, and are written without asking for each sign.

    It goes to disk as it grows: whoever waits for the end of a long report does not wait for all of it.
    """

    def __init__(self, file: IO[str], delimiter: str) -> None:
        self._file = file
        self._not_on_disk = 0
        self._delimiter = delimiter
        self._writer: Any = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")

    def write(self, texts: Sequence[str]) -> None:
        """Write a row of at least two texts."""
        line = self._delimiter.join(texts)
        if '"' not in line and line.count(self._delimiter) == len(texts) - 1 and line.isprintable():
            self._file.write(f"{line}\r\n")
        else:
            self._writer.writerow(texts)
        self._not_on_disk += len(line)
        if self._not_on_disk >= _ON_DISK_EVERY:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._not_on_disk = 0


class CsvFiles:
    """Writes each row into the file of its outcome.

    UTF-8 with BOM (Excel takes it for something else without), CRLF, quotes where needed, guard quotes. A file is begun
    with its first row; the first three always are.

    Raises:
        OSError: a file cannot be written.
    """

    def __init__(self, folder: Path, facts: RunFacts) -> None:
        self._folder = folder
        self._columns = facts.columns
        # Of a workbook's cells their types go along, or a fed-back 2.5 would be read as text with a wrong decimal sign.
        self._with_types = facts.knows_types
        self._header = [*(column.name for column in facts.columns), *IMPORT_COLUMNS, *[TYPED_COLUMN] * self._with_types]
        self._delimiter = facts.delimiter
        self._files = ExitStack()
        self._written: dict[OutcomeKind, RowsFile] = {}

    def __enter__(self) -> Self:
        for kind in ALWAYS_WRITTEN:
            self._of(kind)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files begun so far, in the order of the outcomes."""
        return tuple(CSV_FILES[kind] for kind in OutcomeKind if kind in self._written)

    def add(self, reported: ReportedRow) -> None:
        """Write one row."""
        cells = [*reported.row.cells, *reported.import_cells]
        if self._with_types:
            cells.append(reported.typed_letters(self._columns))
        self._of(reported.outcome.kind).write(_cells(cells))

    def _of(self, kind: OutcomeKind) -> RowsFile:
        if kind not in self._written:
            # A name typed on a command line can hold bytes that are no UTF-8: shown escaped, never a reason to fail.
            path = self._folder / CSV_FILES[kind]
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            self._written[kind] = RowsFile(self._files.enter_context(opened), self._delimiter)
            self._written[kind].write(_cells(self._header))
        return self._written[kind]


def _cells(texts: Iterable[str]) -> list[str]:
    return [guarded(text) if text[:1] in FIRST_SIGNS else text for text in texts]
