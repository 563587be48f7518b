"""The CSV files of a results folder: one for each outcome, in a form that can be imported again."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

from importer.models import IMPORT_COLUMNS, OutcomeKind
from importer.report.accounting import ReportedRow
from importer.report.outcomes import OUTCOMES, csv_file
from importer.report.summary import RunFacts
from importer.text.results_cells import escape_formula

_FIRST_CHARACTERS: Final = frozenset("'=+-@＝＋－＠\t\r")


class CsvFiles:
    """Writes each row to the file of its outcome; its columns are those of the source, then ours.

    UTF-8 with BOM (for Excel), CRLF, minimal quotes, formulas escaped. A file is created with its first row, or at once
    if it is always written.

    Raises:
        OSError: a file cannot be written.
    """

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        self._folder = staged
        self._facts = {kind: facts.of(kind) for kind in OutcomeKind}
        self._open = ExitStack()
        self._files: dict[OutcomeKind, Any] = {}
        try:
            for kind, words in OUTCOMES.items():
                if words.always_written:
                    self._file_of(kind)
        except OSError:
            self.close()
            raise

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files so far, in the order of the outcomes."""
        return tuple(csv_file(kind) for kind in OutcomeKind if kind in self._files)

    def add(self, reported: ReportedRow) -> None:
        """Write one row."""
        kind = reported.outcome.kind
        self._file_of(kind).writerow(_escaped(cells(reported, self._facts[kind])))

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _file_of(self, kind: OutcomeKind) -> Any:
        if kind not in self._files:
            # A name from the command line may not be UTF-8: then it is escaped.
            path = self._folder / csv_file(kind)
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            self._files[kind] = _writer(self._open.enter_context(opened), self._facts[kind].delimiter)
            self._files[kind].writerow(_escaped(header(self._facts[kind])))
        return self._files[kind]


def write_rows(file: IO[str], facts: RunFacts, rows: Iterable[ReportedRow]) -> None:
    """Write rows with any outcome to one file of the same form."""
    out = _writer(file, facts.delimiter)
    out.writerow(_escaped(header(facts)))
    for reported in rows:
        out.writerow(_escaped(cells(reported, facts)))


def header(facts: RunFacts) -> list[str]:
    """The names of the columns: those of the source, then ours."""
    return [*(column.name for column in facts.columns), *IMPORT_COLUMNS, *facts.last_columns]


def cells(reported: ReportedRow, facts: RunFacts) -> list[str]:
    """The cells of a row, as many as the header has."""
    return [*reported.row.cells, *reported.import_cells, *reported.last_cells(facts)]


def _writer(file: IO[str], delimiter: str) -> Any:
    return csv.writer(file, delimiter=delimiter, lineterminator="\r\n")


def _escaped(texts: Iterable[str]) -> list[str]:
    # Checking the first character is faster, and enough for nearly all cells.
    return [escape_formula(text) if text[:1] in _FIRST_CHARACTERS else text for text in texts]
