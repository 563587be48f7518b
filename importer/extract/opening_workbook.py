"""Opens a workbook: settles which of its sheets is read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from importer.errors import UnusableInput
from importer.extract.results_file import added_columns
from importer.extract.sheet import Sheet
from importer.extract.sheet_choice import first_sheet, named_sheet, other_sheets_warning
from importer.extract.table import Readable, open_table
from importer.extract.xlsx_file import XlsxFile
from importer.extract.xlsx_package import SheetPart
from importer.models import Origin, Problem, SourceOptions


def open_workbook(path: Path, name: str, options: SourceOptions) -> Sheet:
    """Open an XLSX workbook.

    Raises:
        UnusableInput: it is damaged, has no such sheet, or no header can be told.
    """
    book = XlsxFile(path, name)
    sheets = book.sheets()
    warnings: tuple[Problem, ...] = ()
    if options.sheet is not None:
        try:
            sheet = named_sheet(name, sheets, options.sheet)
        except UnusableInput:
            # A sheet of the report that somebody copied into a workbook of its own bears another name.
            results = [each for each in sheets if _is_results(book, each)]
            if len(results) != 1:
                raise
            sheet = results[0]
    else:
        sheet = first_sheet(name, sheets, lambda each: _holds_anything(book, each))
        warnings = other_sheets_warning(name, sheets, sheet)
    origin = Origin(name, sheet.title)
    how = f"XLSX, sheet {sheet.title!r}"
    readable = Readable(origin, lambda: book.records(sheet), how, warnings=warnings)
    return open_table(readable, options.header_row)


def _holds_anything(book: XlsxFile, sheet: SheetPart) -> bool:
    with closing(book.records(sheet)) as records:
        return any(not record.blank for record in records)


def _is_results(book: XlsxFile, sheet: SheetPart) -> bool:
    with closing(book.records(sheet)) as records:
        first = next(records, None)
        return first is not None and added_columns(first.cells) > 0
