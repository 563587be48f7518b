"""Writes the sample files; the same seed gives the same bytes: `python sample_data/make_samples.py [folder]`."""

from __future__ import annotations

import csv
import sys
from datetime import date, datetime
from pathlib import Path

import xlsxwriter
from invented import child_sheets, legacy_export, nightly, two_row_header
from invented.cells import Cell, ErrorCell
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

MADE_AT = datetime(2025, 5, 30, 2, 15)
HEADER_ROW = 2  # from 0: two title rows are above it


def write_legacy_export(file: Path) -> None:
    """The migration workbook: sheets Candidates, Notes (visible) and Lookups (hidden)."""
    with xlsxwriter.Workbook(file, {"strings_to_formulas": False, "strings_to_urls": False}) as workbook:
        workbook.set_properties({"author": "old system", "created": MADE_AT})
        day = workbook.add_format({"num_format": "dd.mm.yyyy"})
        head = workbook.add_format({"bold": True, "bg_color": "#D9E1F2"})
        _write_candidates(workbook.add_worksheet("Candidates"), head, day)
        _write_notes(workbook.add_worksheet("Notes"))
        _write_lookups(workbook.add_worksheet("Lookups"))


def write_nightly(file: Path) -> None:
    """The nightly CSV: semicolons, Turkish Windows encoding, line breaks inside quotes."""
    with file.open("w", encoding=nightly.ENCODING, newline="") as text:
        writer = csv.DictWriter(text, nightly.HEADER, restval="", delimiter=";", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(nightly.rows())


def write_child_sheets(file: Path) -> None:
    """The workbook whose sheets belong together, one of them hidden."""
    with xlsxwriter.Workbook(file, {"strings_to_formulas": False, "strings_to_urls": False}) as workbook:
        workbook.set_properties({"author": "old system", "created": MADE_AT})
        day = workbook.add_format({"num_format": "dd.mm.yyyy"})
        for title, lines in child_sheets.SHEETS.items():
            sheet = workbook.add_worksheet(title)
            for number, line in enumerate(lines):
                for place, cell in enumerate(line):
                    _write_cell(sheet, number, place, cell, day)
            if title == child_sheets.HIDDEN:
                sheet.hide()


def write_two_row_header(file: Path) -> None:
    """The workbook with a header of two rows; its dates count from 1904, and one sheet is very hidden."""
    options = {"strings_to_formulas": False, "strings_to_urls": False, "date_1904": True}
    with xlsxwriter.Workbook(file, options) as workbook:
        workbook.set_properties({"author": "old system", "created": MADE_AT})
        workbook.add_worksheet("Cover").write_column(0, 0, two_row_header.COVER)
        secret = workbook.add_worksheet("Settings")
        secret.write_string(0, 0, "E-mail")
        secret.very_hidden()
        sheet = workbook.add_worksheet("Applicants")
        day = workbook.add_format({"num_format": "dd.mm.yyyy"})
        sheet.write_string(0, 0, two_row_header.TITLE)
        for first, last, name in two_row_header.MERGED:
            sheet.merge_range(1, first, 1, last, name)
        sheet.write_row(2, 0, two_row_header.LOWER)
        for place, name in enumerate(two_row_header.TALL, start=len(two_row_header.LOWER)):
            sheet.merge_range(1, place, 2, place, name)
        sheet.write_string(3, 0, two_row_header.INSTRUCTIONS)
        lines = (*two_row_header.LINES, two_row_header.SUM, two_row_header.SIGNATURE)
        for number, line in enumerate(lines, start=4):
            for place, cell in enumerate(line):
                _write_cell(sheet, number, place, cell, day)
        sheet.set_row(4 + two_row_header.HIDDEN_LINE, None, None, {"hidden": True})


def _write_candidates(sheet: Worksheet, head: Format, day: Format) -> None:
    sheet.write_string(0, 0, legacy_export.TITLE)
    sheet.write_string(1, 0, legacy_export.SUBTITLE)
    sheet.write_row(HEADER_ROW, 0, legacy_export.HEADER, head)
    sheet.freeze_panes(HEADER_ROW + 1, 2)
    for number, record in enumerate(legacy_export.rows(), start=HEADER_ROW + 1):
        for place, column in enumerate(legacy_export.HEADER):
            _write_cell(sheet, number, place, record.get(column), day)


def _write_cell(sheet: Worksheet, row: int, column: int, cell: Cell, day: Format) -> None:
    match cell:
        case None | "":
            return
        case ErrorCell():
            sheet.write_formula(row, column, cell.formula, None, cell.shown)
        case date():
            sheet.write_datetime(row, column, cell, day)
        case str():
            sheet.write_string(row, column, cell)
        case _:
            sheet.write_number(row, column, cell)


def _write_notes(sheet: Worksheet) -> None:
    lines = (
        ("Candidate ID", "Written on", "Note"),
        ("000040", "12.03.2025", "aynı ilana daha önce başvurmuş"),
        ("000119", "02.04.2025", "Rückruf vereinbart"),
    )
    for number, line in enumerate(lines):
        sheet.write_row(number, 0, line)


def _write_lookups(sheet: Worksheet) -> None:
    for number, status in enumerate(("Status", "Active", "Interview", "Rejected", "Archived")):
        sheet.write_string(number, 0, status)
    sheet.hide()


def main() -> None:
    """Writes all files into the folder named on the command line, or into the folder of this script."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    write_legacy_export(folder / "legacy_ats_export.xlsx")
    write_nightly(folder / "nightly_candidates.csv")
    write_child_sheets(folder / "child_sheets.xlsx")
    write_two_row_header(folder / "two_row_header.xlsx")


if __name__ == "__main__":
    main()
