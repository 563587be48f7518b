"""The CSV files of a results folder: one for each outcome, in a form that can be imported again."""

from __future__ import annotations

import csv
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from importer.models import OutcomeKind
from importer.report.accounting import ReportedRow
from importer.report.outcomes import OUTCOMES, csv_file
from importer.report.summary import RunFacts
from importer.text.results_cells import escape_formula


class CsvFiles(ExitStack):
    """Writes each row to the file of its outcome; its columns are those of the source, then ours.

    UTF-8 with BOM (for Excel), CRLF, minimal quotes, formulas escaped. Each method raises OSError if a file cannot be
    written. Leaving its context closes the files.
    """

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        super().__init__()
        self._folder, self._facts = staged, facts
        self._files: dict[OutcomeKind, Any] = {}

    def add(self, reported: ReportedRow) -> None:
        """Write one row."""
        self._file_of(reported.outcome.kind).writerow(map(escape_formula, cells(reported, self._facts)))

    def finish(self) -> list[str]:
        """Close the files, with those that are always written; returns their names, in the order of the outcomes."""
        for kind, words in OUTCOMES.items():
            if words.status:
                self._file_of(kind)
        self.close()
        return [csv_file(kind) for kind in OutcomeKind if kind in self._files]

    def _file_of(self, kind: OutcomeKind) -> Any:
        if kind not in self._files:
            # A name from the command line may not be UTF-8: then it is escaped.
            path = self._folder / csv_file(kind)
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            writer = csv.writer(self.enter_context(opened), delimiter=self._facts.delimiter, lineterminator="\r\n")
            writer.writerow(map(escape_formula, header(self._facts)))
            self._files[kind] = writer
        return self._files[kind]


def header(facts: RunFacts) -> list[str]:
    """The names of the columns: those of the source, then ours."""
    return [*(column.name for column in facts.columns), *facts.import_columns]


def cells(reported: ReportedRow, facts: RunFacts) -> list[str]:
    """The cells of a row, as many as the header has."""
    ours = reported.import_cells
    return [*reported.row.cells, *(ours[name] for name in facts.import_columns)]
