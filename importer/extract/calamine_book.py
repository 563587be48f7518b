"""A workbook of any format, its values read by calamine, and beside it by our own scan what calamine does not give."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from importer.extract import ods_hazards, xls_hazards, xlsb_hazards, xlsx_hazards
from importer.extract.file_kind import FileKind
from importer.extract.hazards import Hazards
from importer.extract.sheet_choice import SheetName
from importer.extract.sheet_content import SheetContent
from importer.extract.xlsx_package import check_parts, read_package


class CalamineBook:
    """A workbook. calamine works outside the interpreter, so that what our scan does beside it costs little time."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        with ThreadPoolExecutor(1) as calamine:
            opening = calamine.submit(CalamineWorkbook.from_path, str(path))
            # First what the scan says: of a damaged workbook it knows better what is wrong.
            self._scan = _scan_of(path, kind)
            self._book = opening.result()
        self.sheets = tuple(
            SheetName(sheet.name, sheet.visible is SheetVisibleEnum.Visible)
            for sheet in self._book.sheets_metadata
            if sheet.typ is SheetTypeEnum.WorkSheet
        )

    def content(self, sheet: SheetName) -> SheetContent:
        """The rows of a worksheet."""
        with ThreadPoolExecutor(1) as calamine:
            reading = calamine.submit(self._book.get_sheet_by_name, sheet.title)
            hazards = self._scan.hazards(sheet.title)
            hazards.far.check_area(hazards.end)
            values = reading.result()
        return SheetContent(values.iter_rows(), values.start[1] if values.start else 0, hazards)


class _Scan:
    """Finds the hazards of a sheet of an XLS workbook."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def hazards(self, title: str) -> Hazards:
        return xls_hazards.find_hazards(self._path, title)


class _ZipScan(_Scan):
    """The same for a workbook that is a zip."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._archive = zipfile.ZipFile(path)
        check_parts(self._archive)


class _XlsxScan(_ZipScan):
    def hazards(self, title: str) -> Hazards:
        package = read_package(self._archive)
        return xlsx_hazards.find_hazards(self._archive, package.paths[title], package.formats)


class _XlsbScan(_ZipScan):
    def hazards(self, title: str) -> Hazards:
        return xlsb_hazards.find_hazards(self._archive, title)


class _OdsScan(_ZipScan):
    def hazards(self, title: str) -> Hazards:
        return ods_hazards.find_hazards(self._archive, title)


def _scan_of(path: Path, kind: FileKind) -> _Scan:
    scans = {FileKind.XLS: _Scan, FileKind.XLSX: _XlsxScan, FileKind.XLSB: _XlsbScan, FileKind.ODS: _OdsScan}
    return scans[kind](path)
