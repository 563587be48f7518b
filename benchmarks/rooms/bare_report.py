"""The baseline of a report: write every row of a CSV to a CSV and a workbook, without problems."""

from __future__ import annotations

import csv

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types

from benchmarks.rooms.pair import arguments


def main() -> None:
    """Write the report of one file to one folder."""
    source, _, folder = arguments()
    with (
        source.open(newline="", encoding="utf-8") as file,
        (folder / "bare.csv").open("w", newline="", encoding="utf-8") as written,
        xlsxwriter.Workbook(folder / "bare.xlsx", {"constant_memory": True, "strings_to_urls": False}) as book,
    ):
        writer, sheet = csv.writer(written), book.add_worksheet()
        for number, row in enumerate(csv.reader(file)):
            writer.writerow([*row, str(number), "201", "", ""])
            for column, text in enumerate(row):
                sheet.write_string(number, column, text)


if __name__ == "__main__":
    main()
