"""Reads the results files of a run, which a person fixes: report.xlsx and the CSV files, as texts.

They are no sources: what was fixed there is compared with the rows of the run (`runs.fixed_report`).
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from importer.extract.cell_text import cell_text, clean, error_cell
from importer.extract.csv_file import CsvFile, survey
from importer.extract.encoding import UTF8, byte_order_mark
from importer.extract.results_file import is_results_header
from importer.extract.sheet import CellProblem, ReadingLimits, Record
from importer.extract.workbook_cells import unescaped
from importer.problems import Origin, UnusableInput, unusable_file

_DELIMITERS: Final = ",;\t|"


def is_results_file(path: Path) -> bool:
    """Whether a file has the header of a results file; False if it cannot be read, which is reported elsewhere."""
    with suppress(UnusableInput, OSError):
        return next(results_tables(path, str(path), ReadingLimits()), None) is not None
    return False


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A results file, or a sheet of one: its header, and the rows below. sheet: None for a CSV."""

    origin: Origin
    header: tuple[str, ...]
    records: Iterable[Record]


def results_tables(path: Path, name: str, limits: ReadingLimits) -> Iterator[ResultsTable]:
    """The tables of a results file: of a workbook each visible sheet that has our columns. Read them in their order.

    Raises:
        UnusableInput: it is damaged, not UTF-8, or has no such table.
    """
    is_csv = path.suffix.lower() not in (".xlsx", ".xlsm")
    tables = _csv_table(path, name, limits) if is_csv else _sheets(path, name, limits)
    is_empty = True
    for table in tables:
        is_empty = False
        yield table
    if is_empty:
        message, hint = "it has no column import_row", "use the report.xlsx of the run, or run its source again"
        raise unusable_file("results-columns-changed", message, hint, name)


def _csv_table(path: Path, name: str, limits: ReadingLimits) -> list[ResultsTable]:
    encoding = byte_order_mark(path) or UTF8
    found = survey(path, encoding)
    if found.undecodable is not None:
        hint = "save it as CSV UTF-8; or fix the rows in report.xlsx of the same folder"
        raise unusable_file("encoding-wrong", "this results file is not in UTF-8 any more", hint, name)
    with path.open(encoding=encoding.codec, newline="") as file:
        first = file.readline()
    # A spreadsheet program may have saved it with another delimiter.
    delimiter = next((each for each in _DELIMITERS if is_results_header(_split(first, each))), ",")
    source = CsvFile(path, Origin(name), found, delimiter, limits.cell_characters, limits, formula_escaped=True)
    records = source.source().records()
    header = next(records, Record(1, ())).cells
    return [ResultsTable(Origin(name), header, records)] if is_results_header(header) else []


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _sheets(path: Path, name: str, limits: ReadingLimits) -> Iterator[ResultsTable]:
    from openpyxl import load_workbook  # slow to load

    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > limits.unpacked:
            hint = "check that it is the right file, or raise IMPORTER_WORKBOOK_UNPACKED_MEGABYTES"
            raise unusable_file("limit-exceeded", f"it unpacks to {unpacked >> 20:,} MB", hint, name)
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()  # a wrong one hides rows
                    records = map(_record, sheet.iter_rows())
                    header = next(records, Record(1, ())).cells
                    if is_results_header(header):
                        yield ResultsTable(Origin(name, sheet.title), header, records)
        finally:
            book.close()
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, SyntaxError) as error:
        hint = "save it again in a spreadsheet program, or write it again with importer report"
        raise unusable_file("workbook-damaged", f"the workbook cannot be read: {error}", hint, name) from None


def _record(cells: Sequence[Any]) -> Record:
    """A row of a workbook; numbers, dates and TRUE as `Row` writes them."""
    number = next((cell.row for cell in cells if hasattr(cell, "row")), 0)
    problems = tuple(
        CellProblem(index, error_cell(str(cell.value))) for index, cell in enumerate(cells) if cell.data_type == "e"
    )
    typed = frozenset(
        index for index, cell in enumerate(cells) if cell.value is not None and not isinstance(cell.value, str)
    )
    return Record(number, tuple(_text(cell.value) for cell in cells), typed, problems)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean(unescaped(value))
    return "" if value is None else cell_text(value)
