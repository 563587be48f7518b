"""A workbook of any format, its values read by calamine, and beside it by our own scan what calamine does not give."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from python_calamine import CalamineWorkbook

from importer.extract.sheet_choice import SheetName
from importer.extract.sheet_content import SheetContent
from importer.extract.xlsx_hazards import find_hazards
from importer.extract.xlsx_package import check_parts, read_package


class CalamineXlsx:
    """An XLSX or XLSM workbook."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        check_parts(self._archive)
        self._package = read_package(self._archive)
        self._book = CalamineWorkbook.from_path(str(path))

    @property
    def sheets(self) -> tuple[SheetName, ...]:
        """The worksheets in tab order."""
        return self._package.sheets

    def content(self, sheet: SheetName) -> SheetContent:
        """The rows of a worksheet. calamine works outside the interpreter, so the scan costs no time of its own."""
        with ThreadPoolExecutor(1) as calamine:
            reading = calamine.submit(self._book.get_sheet_by_name, sheet.title)
            # First what the scan says: of a damaged workbook it knows better what is wrong.
            hazards = find_hazards(self._archive, self._package.paths[sheet.title], self._package.formats)
            values = reading.result()
        return SheetContent(values.iter_rows(), values.start[1] if values.start else 0, hazards)
