"""A workbook of any format, its values read by calamine, and beside it by our own scan what calamine does not give.

The scan refuses a workbook that is proven to be damaged. One that it only does not understand is read all the same,
and its `Hazards.unchecked` says that nobody looked.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from importer.extract import ods_hazards, xls_hazards, xlsb_hazards, xlsx_hazards
from importer.extract.file_kind import FileKind
from importer.extract.hazards import Hazards
from importer.extract.sheet_choice import SheetName
from importer.extract.sheet_content import SheetContent
from importer.extract.xlsx_package import check_parts, read_package

# What our scan raises over what it does not understand, as against what proves that the file is damaged.
_NOT_UNDERSTOOD = (LookupError, ValueError, struct.error, NotImplementedError, RuntimeError, zipfile.BadZipFile)


class CalamineBook:
    """A workbook. calamine works outside the interpreter, so that what our scan does beside it costs little time."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        with ThreadPoolExecutor(1) as calamine:
            opening = calamine.submit(CalamineWorkbook.from_path, str(path))
            # First what the scan says: of a damaged workbook it knows better what is wrong.
            try:
                self._scan = _scan_of(path, kind)
            except _NOT_UNDERSTOOD as error:
                self._scan = _NoScan(_unchecked(error))
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
            try:
                hazards = self._scan.hazards(sheet.title)
            except _NOT_UNDERSTOOD as error:
                hazards = _unchecked(error)
            hazards.far.check_area(hazards.end)
            values = reading.result()
        return SheetContent(values.iter_rows(), values.start[1] if values.start else 0, hazards)


class _Scan(Protocol):
    """Finds the hazards of a sheet."""

    def hazards(self, title: str) -> Hazards: ...


class _NoScan:
    def __init__(self, hazards: Hazards) -> None:
        self._hazards = hazards

    def hazards(self, title: str) -> Hazards:
        return self._hazards


class _XlsScan:
    def __init__(self, path: Path) -> None:
        self._path = path

    def hazards(self, title: str) -> Hazards:
        return xls_hazards.find_hazards(self._path, title)


class _ZipScan:
    def __init__(self, path: Path) -> None:
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


def _unchecked(error: Exception) -> Hazards:
    """What is known where our scan failed: that nobody looked. A wrong checksum proves damage, and is raised again."""
    if "CRC" in str(error):
        raise error
    return Hazards(unchecked=f"it has no {error}" if isinstance(error, KeyError) else str(error)[:100])


def _scan_of(path: Path, kind: FileKind) -> _Scan:
    scans: dict[FileKind, Callable[[Path], _Scan]] = {
        FileKind.XLS: _XlsScan,
        FileKind.XLSX: _XlsxScan,
        FileKind.XLSB: _XlsbScan,
        FileKind.ODS: _OdsScan,
    }
    return scans[kind](path)
