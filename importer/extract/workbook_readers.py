"""The readers of workbooks: calamine; openpyxl, which is slow, for an XLSX that calamine cannot read.

Our own scan finds what they do not return. It rejects a workbook that is proven to be damaged. If the scan does not
support the form of a workbook, calamine's values are used, and `CellFlags.unchecked` gives the reason.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from importer.extract.cell_flags import CellFlags, UnknownFormError
from importer.extract.cell_text import Value
from importer.extract.sheet import FileKind, SheetName
from importer.extract.sheet_content import SheetContent
from importer.extract.xls_flags import XlsBook
from importer.extract.xlsx_flags import find_xlsx_flags
from importer.extract.xlsx_package import check_parts, read_package

# What our scan raises for a form that it does not support. DamagedError proves damage instead.
_UNSUPPORTED = (LookupError, ValueError, struct.error, NotImplementedError, RuntimeError, zipfile.BadZipFile)
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")

# From the title of a sheet to its flags.
_Scan = Callable[[str], CellFlags]


class CalamineBook:
    """A workbook. calamine runs outside the interpreter lock, in parallel with our scan."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        with ThreadPoolExecutor(1) as calamine:
            opening = calamine.submit(CalamineWorkbook.from_path, str(path))
            # The scan comes first: for a damaged workbook it gives the better reason.
            try:
                self._scan = _scan_of(path, kind)
            except _UNSUPPORTED as error:
                unchecked = _unchecked(error)
                self._scan = lambda _: unchecked
            self._book = opening.result()
        self.sheets = tuple(
            SheetName(sheet.name, sheet.visible is SheetVisibleEnum.Visible)
            for sheet in self._book.sheets_metadata
            if sheet.typ is SheetTypeEnum.WorkSheet
        )

    def values(self, title: str) -> SheetContent:
        """The rows of a worksheet, without what only our scan finds."""
        values = self._book.get_sheet_by_name(title)
        return SheetContent(values.iter_rows(), values.start[1] if values.start else 0, CellFlags())

    def content(self, sheet: SheetName) -> SheetContent:
        """The rows of a worksheet."""
        with ThreadPoolExecutor(1) as calamine:
            reading = calamine.submit(self.values, sheet.title)
            try:
                flags = self._scan(sheet.title)
            except _UNSUPPORTED as error:
                flags = _unchecked(error)
            flags.stray.check_area(flags.end)
            return replace(reading.result(), flags=flags)


def _scan_of(path: Path, kind: FileKind) -> _Scan:
    if kind is FileKind.XLS:
        return XlsBook(path).flags
    archive = zipfile.ZipFile(path)
    check_parts(archive)
    return partial(_xlsx_flags, archive)


def _xlsx_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    package = read_package(archive)
    return find_xlsx_flags(archive, package.paths[title], package.styles, is_uncalculated=package.is_uncalculated)


def _unchecked(error: Exception) -> CellFlags:
    """Flags that only give the reason why the scan failed. A wrong checksum proves damage and is raised again."""
    if "CRC" in str(error):
        raise error
    if isinstance(error, KeyError):
        return CellFlags(unchecked=f"it has no {error}")
    is_ours = isinstance(error, UnknownFormError)  # else the words of a library
    return CellFlags(unchecked=str(error)[:100] if is_ours else "it has a form that importer does not know")


class OpenpyxlBook:
    """An XLSX or XLSM workbook."""

    def __init__(self, path: Path) -> None:
        from openpyxl import load_workbook  # not imported where calamine is enough

        self._archive = zipfile.ZipFile(path)
        check_parts(self._archive)
        self._package = read_package(self._archive)
        self._book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        missing = {sheet.title for sheet in self._package.sheets} - {sheet.title for sheet in self._book.worksheets}
        if missing:
            # In strict workbooks openpyxl silently finds no sheet.
            raise ValueError(f"openpyxl does not see the sheets {sorted(missing)}")

    @property
    def sheets(self) -> tuple[SheetName, ...]:
        """The worksheets in tab order."""
        return self._package.sheets

    def values(self, title: str) -> SheetContent:
        """The rows of a worksheet, without what only our scan finds."""
        worksheet = self._book[title]
        worksheet.reset_dimensions()  # a wrong <dimension> would silently hide rows
        return SheetContent(_rows(worksheet.iter_rows(values_only=True)), 0, CellFlags())

    def content(self, sheet: SheetName) -> SheetContent:
        """The rows of a worksheet."""
        return replace(self.values(sheet.title), flags=_xlsx_flags(self._archive, sheet.title))


def _rows(rows: Iterator[tuple[Any, ...]]) -> Iterator[Sequence[Value]]:
    for row in rows:
        yield [_value(value) for value in row]


def _value(value: Any) -> Value:
    if value is None:
        return ""
    if isinstance(value, str) and "_x" in value:
        # Workbooks escape control characters as `_x000D_`, and the underscore of a text that looks like that escape.
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)
    return value  # type: ignore[no-any-return]  # one of the types of Value
