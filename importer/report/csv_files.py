"""The CSV files of a results folder: one for each outcome, in the form in which they can be fed back."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from importer.models import OutcomeKind
from importer.report.facts import RunFacts
from importer.report.guard import FIRST_SIGNS, guarded
from importer.report.names import ALWAYS_WRITTEN, CSV_FILES
from importer.report.reported import IMPORT_COLUMNS, TYPED_COLUMN, ReportedRow


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
        self._with_types = facts.origin.sheet is not None
        self._header = [*(column.name for column in facts.columns), *IMPORT_COLUMNS, *[TYPED_COLUMN] * self._with_types]
        self._delimiter = facts.delimiter
        self._files = ExitStack()
        self._writers: dict[OutcomeKind, Any] = {}

    def __enter__(self) -> Self:
        for kind in ALWAYS_WRITTEN:
            self._writer(kind)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.close()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files begun so far, in the order of the outcomes."""
        return tuple(CSV_FILES[kind] for kind in OutcomeKind if kind in self._writers)

    def add(self, reported: ReportedRow) -> None:
        """Write one row."""
        cells = [*reported.row.cells, *reported.import_cells]
        if self._with_types:
            cells.append(reported.typed_letters(self._columns))
        self._writer(reported.outcome.kind).writerow(_cells(cells))

    def _writer(self, kind: OutcomeKind) -> Any:
        if kind not in self._writers:
            # A name typed on a command line can hold bytes that are no UTF-8: shown escaped, never a reason to fail.
            path = self._folder / CSV_FILES[kind]
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            file = self._files.enter_context(opened)
            self._writers[kind] = csv.writer(file, delimiter=self._delimiter, lineterminator="\r\n")
            self._writers[kind].writerow(_cells(self._header))
        return self._writers[kind]


def _cells(texts: Iterable[str]) -> list[str]:
    return [guarded(text) if text[:1] in FIRST_SIGNS else text for text in texts]
