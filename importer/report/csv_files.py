"""The CSV files of a results folder: one for each outcome, in a form that can be imported again."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final

from importer.models import IMPORT_COLUMNS, Outcome, OutcomeKind
from importer.problems import CellPlace, Problem
from importer.report.accounting import ReportedRow
from importer.report.outcomes import OUTCOMES, csv_file
from importer.report.summary import Entries, RunFacts, Summary
from importer.text.normalize import join_key
from importer.text.results_cells import escape_formula

_FIRST_CHARACTERS: Final = frozenset("'=+-@＝＋－＠\t\r")


class CsvFiles:
    """Writes each row to the file of its outcome; a ReportWriter.

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
        self._file_of(kind).writerow(_cells(reported, self._facts[kind]))

    def finish(self, summary: Summary, folder: Path) -> None:
        """Close the files."""
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._open.close()

    def _file_of(self, kind: OutcomeKind) -> Any:
        if kind not in self._files:
            # A name from the command line may not be UTF-8: then it is escaped.
            path = self._folder / csv_file(kind)
            opened = path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="")
            self._files[kind] = _writer(self._open.enter_context(opened), self._facts[kind].delimiter)
            self._files[kind].writerow(_header(self._facts[kind]))
        return self._files[kind]


class EntryFiles:
    """Writes a table with entries that a person has to fix beside the file with their rows: `invalid.education.csv`.

    A ReportWriter. The rows in question come first, then the rest of the table: a results file needs no other one, also
    if its keys are corrected.
    """

    def __init__(self, staged: Path, facts: RunFacts) -> None:
        self._folder = staged
        self._facts = facts
        self._found: dict[str, _EntriesToFix] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files, complete once all rows were added."""
        return tuple(self._found)

    def add(self, reported: ReportedRow) -> None:
        """Note the entries of a row that have problems."""
        if reported.outcome.kind not in (OutcomeKind.INVALID, OutcomeKind.REJECTED):
            return
        stem = csv_file(reported.outcome.kind).removesuffix(".csv")
        for table in self._facts.entries:
            problems = [one for one in reported.outcome.problems if table.has(one.place)]
            if problems:
                found = self._found.setdefault(f"{stem}.{table.label}.csv", _EntriesToFix(table, reported.outcome.kind))
                if table.equals is not None:
                    found.keys.add(join_key(reported.row.cells[table.equals]))
                for problem in problems:
                    assert isinstance(problem.place, CellPlace)
                    found.problems.setdefault(problem.place.row, []).append(problem)

    def finish(self, summary: Summary, folder: Path) -> None:
        """Write the files."""
        for name, found in self._found.items():
            table = found.table
            facts = replace(
                self._facts,
                columns=table.columns,
                delimiter=table.delimiter,
                knows_types=table.knows_types,
                has_links=False,
                has_ids=False,
            )
            with (self._folder / name).open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as file:
                out = _writer(file, facts.delimiter)
                out.writerow(_header(facts))
                for reported, is_to_fix in found.rows():
                    out.writerow(_cells(reported, facts, with_status=is_to_fix))

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class _EntriesToFix:
    """The keys of the candidates whose entries have to be fixed, and the problems by the row of the table."""

    table: Entries
    kind: OutcomeKind
    keys: set[str] = field(default_factory=set)
    problems: dict[int, list[Problem]] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[ReportedRow, bool]]:
        """All rows of the table; first those of the candidates that have to be fixed."""
        for is_to_fix in (True, False):
            for row in self.table.rows():
                if (row.number in self.problems or join_key(row.cells[self.table.key]) in self.keys) is is_to_fix:
                    problems = tuple(dict.fromkeys(self.problems.get(row.number, ())))
                    yield ReportedRow(row, Outcome(row.number, self.kind, problems=problems)), is_to_fix


def write_rows(file: IO[str], facts: RunFacts, rows: Iterable[ReportedRow]) -> None:
    """Write rows with any outcome to one file of the same form."""
    out = _writer(file, facts.delimiter)
    out.writerow(_header(facts))
    for reported in rows:
        out.writerow(_cells(reported, facts))


def _header(facts: RunFacts) -> list[str]:
    # Cell types of a workbook are kept: otherwise 2.5 would be read as text with a wrong decimal sign next time.
    return _escaped([*(column.name for column in facts.columns), *IMPORT_COLUMNS, *facts.last_columns])


def _cells(reported: ReportedRow, facts: RunFacts, *, with_status: bool = True) -> list[str]:
    number, *status = reported.import_cells
    return _escaped(
        [*reported.row.cells, number, *(status if with_status else [""] * len(status)), *reported.last_cells(facts)]
    )


def _writer(file: IO[str], delimiter: str) -> Any:
    return csv.writer(file, delimiter=delimiter, lineterminator="\r\n")


def _escaped(texts: Iterable[str]) -> list[str]:
    # Checking the first character is faster, and enough for nearly all cells.
    return [escape_formula(text) if text[:1] in _FIRST_CHARACTERS else text for text in texts]
