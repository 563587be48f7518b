"""Writes the table of a sample in the other format, as saved by a spreadsheet program."""

from __future__ import annotations

import csv
from datetime import date, datetime
from pathlib import Path

from openpyxl import Workbook, load_workbook


def as_csv(workbook: Path, sheet: str, folder: Path) -> Path:
    """The sheet as "CSV UTF-8": real dates as ISO text, numbers with a decimal comma."""
    copy = folder / f"{workbook.stem}.csv"
    book = load_workbook(workbook, data_only=True)
    with copy.open("w", encoding="utf-8-sig", newline="") as text:
        writer = csv.writer(text, delimiter=";")
        writer.writerows([_shown(cell) for cell in row] for row in book[sheet].iter_rows(values_only=True))
    book.close()
    return copy


def as_workbook(table: Path, encoding: str, folder: Path) -> Path:
    """The CSV with semicolons as the only sheet of a workbook, all cells text."""
    copy = folder / f"{table.stem}.xlsx"
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    with table.open(encoding=encoding, newline="") as text:
        for record in csv.reader(text, delimiter=";"):
            sheet.append(record)
    book.save(copy)
    return copy


def _shown(cell: object) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return str(cell).upper()
        case datetime() | date():
            return f"{cell:%Y-%m-%d}"
        case float():
            return f"{cell:g}".replace(".", ",")
        case _:
            return str(cell)
