"""Reads the results files of a run, which a person fixes: report.xlsx and the CSV files, as texts.

They are no sources: what was fixed there is compared with the rows of the run (`runs.fixed_report`).
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

from importer.models import IMPORT_COLUMNS
from importer.problems import Origin, UnusableInput, unusable_file
from importer.sources.csv_file import CsvFile, survey
from importer.sources.encoding import UTF8, byte_order_mark
from importer.sources.results_file import is_results_header
from importer.sources.sheet import USUAL_LIMITS, FileKind, Record
from importer.sources.source_file import kind_by_name
from importer.sources.workbook import refuse_merged, sheets_of

_DELIMITERS: Final = ",;\t|"
_FIRST: Final = 5  # records in which a header is looked for


def is_results_file(path: Path) -> bool:
    """Whether a file has the header of a results file; False if it cannot be read, which is reported elsewhere."""
    with suppress(UnusableInput, OSError):
        return next(results_tables(path, str(path)), None) is not None
    return False


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A results file, or a sheet of one: its header, and the rows below. sheet: None for a CSV."""

    origin: Origin
    header: tuple[str, ...]
    records: Iterable[Record]


def results_tables(path: Path, name: str, outcome_sheets: Collection[str] = ()) -> Iterator[ResultsTable]:
    """The tables of a results file: of a workbook each sheet that has our columns. Read them in their order.

    outcome_sheets: the titles of our sheets, of which each is a table. Where a person has put something above the
    header, that is in its place.

    Raises UnusableInput: it is damaged, not UTF-8, has no such table, or merged cells: which rows their value is meant
    for is not known.
    """
    is_csv = kind_by_name(path) is not FileKind.XLSX
    tables = _csv_table(path, name) if is_csv else _sheets(path, name, outcome_sheets)
    is_empty = True
    for table in tables:
        is_empty = False
        yield table
    if is_empty:
        message, hint = (
            "it has no column import_row",
            "if the run has no rows to fix, run the file itself; else use its report.xlsx",
        )
        raise unusable_file("results-columns-changed", message, hint, name)


def _csv_table(path: Path, name: str) -> list[ResultsTable]:
    encoding = byte_order_mark(path) or UTF8
    found = survey(path, encoding)
    if found.undecodable is not None:
        hint = "save it as CSV UTF-8; or fix the rows in report.xlsx of the same folder"
        raise unusable_file("encoding-wrong", "this results file is not in UTF-8 any more", hint, name)
    with path.open(encoding=encoding.codec, newline="") as file:
        first = file.readline()
    # A spreadsheet program may have saved it with another delimiter.
    delimiter = next((each for each in _DELIMITERS if is_results_header(_split(first, each))), ",")
    longest = USUAL_LIMITS.cell_characters
    records = CsvFile(path, Origin(name), found, delimiter, longest, USUAL_LIMITS, formula_escaped=True).records()
    header = next(records, Record(1, ())).cells
    return [ResultsTable(Origin(name), header, records)] if is_results_header(header) else []


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _sheets(path: Path, name: str, outcome_sheets: Collection[str]) -> Iterator[ResultsTable]:
    for title, records, facts in sheets_of(path, name, USUAL_LIMITS):
        first = [*islice(records, _FIRST)]
        is_ours = (IMPORT_COLUMNS[0] in record.cells or is_results_header(record.cells) for record in first)
        if title in outcome_sheets or any(is_ours):
            header = first[0].cells if first else ()
            yield ResultsTable(Origin(name, title), header, chain(first[1:], records))
            for _ in records:  # a header that is refused
                pass
            refuse_merged(facts, name, title)
