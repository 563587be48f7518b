"""The baseline of a report: XlsxWriter writes every row of a CSV to a workbook, and nothing else."""

from __future__ import annotations

import csv

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types

from benchmarks.rooms.pair import arguments


def main() -> None:
    """Write the cells of one file to a workbook in one folder."""
    source, _, folder = arguments()
    with (
        source.open(newline="", encoding="utf-8-sig") as file,
        xlsxwriter.Workbook(folder / "bare.xlsx", {"constant_memory": True, "strings_to_urls": False}) as book,
    ):
        sheet = book.add_worksheet()
        for number, row in enumerate(csv.reader(file)):
            for column, text in enumerate(row):
                sheet.write_string(number, column, text)


if __name__ == "__main__":
    main()
