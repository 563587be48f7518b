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

    UTF-8 with BOM (for Excel), CRLF, minimal quotes, formulas escaped. Each method raises OSError if a file cannot be
    written.
    """

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        self._folder = staged
        self._facts = {kind: facts.of(kind) for kind in OutcomeKind}
        self._open = ExitStack()
        self._files: dict[OutcomeKind, Any] = {}

    def add(self, reported: ReportedRow) -> None:
        """Write one row."""
        kind = reported.outcome.kind
        self._file_of(kind).writerow(_escaped(cells(reported, self._facts[kind])))

    def finish(self) -> list[str]:
        """Close the files, with those that are always written; returns their names, in the order of the outcomes."""
        for kind, words in OUTCOMES.items():
            if words.status:
                self._file_of(kind)
        self.close()
        return [csv_file(kind) for kind in OutcomeKind if kind in self._files]

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _file_of(self, kind: OutcomeKind) -> Any:
        if kind not in self._files:
            # A name from the command line may not be UTF-8: then it is escaped.
            path = self._folder / csv_file(kind)
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            self._files[kind] = _begin(self._open.enter_context(opened), self._facts[kind])
        return self._files[kind]


def write_rows(file: IO[str], facts: RunFacts, rows: Iterable[ReportedRow]) -> None:
    """Write rows with any outcome to one file of the same form."""
    _begin(file, facts).writerows(_escaped(cells(reported, facts)) for reported in rows)


def header(facts: RunFacts) -> list[str]:
    """The names of the columns: those of the source, then ours."""
    return [*(column.name for column in facts.columns), *IMPORT_COLUMNS, *facts.last_columns]


def cells(reported: ReportedRow, facts: RunFacts) -> list[str]:
    """The cells of a row, as many as the header has."""
    return [*reported.row.cells, *reported.import_cells, *reported.last_cells(facts)]


def _begin(file: IO[str], facts: RunFacts) -> Any:
    """Write the header. Returns a writer for the rows."""
    writer = csv.writer(file, delimiter=facts.delimiter, lineterminator="\r\n")
    writer.writerow(_escaped(header(facts)))
    return writer


def _escaped(texts: Iterable[str]) -> list[str]:
    # Checking the first character is faster, and enough for nearly all cells.
    return [escape_formula(text) if text[:1] in _FIRST_CHARACTERS else text for text in texts]
