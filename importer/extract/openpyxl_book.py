"""An XLSX workbook, its values read by openpyxl: slow, but it reads some that calamine refuses."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from importer.extract.cell_text import Value
from importer.extract.sheet_choice import SheetName
from importer.extract.sheet_content import SheetContent
from importer.extract.xlsx_hazards import find_hazards
from importer.extract.xlsx_package import check_parts, read_package

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")


class OpenpyxlXlsx:
    """An XLSX or XLSM workbook."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        check_parts(self._archive)
        self._package = read_package(self._archive)
        self._book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        missing = {sheet.title for sheet in self._package.sheets} - {sheet.title for sheet in self._book.worksheets}
        if missing:
            # In strict workbooks openpyxl sees no sheet at all, and says nothing.
            raise ValueError(f"openpyxl does not see the sheets {sorted(missing)}")

    @property
    def sheets(self) -> tuple[SheetName, ...]:
        """The worksheets in tab order."""
        return self._package.sheets

    def content(self, sheet: SheetName) -> SheetContent:
        """The rows of a worksheet."""
        hazards = find_hazards(self._archive, self._package.paths[sheet.title], self._package.formats)
        worksheet = self._book[sheet.title]
        worksheet.reset_dimensions()  # a wrong <dimension> would hide rows without a word
        return SheetContent(_rows(worksheet.iter_rows(values_only=True)), 0, hazards)


def _rows(rows: Iterator[tuple[Any, ...]]) -> Iterator[Sequence[Value]]:
    for row in rows:
        yield [_value(value) for value in row]


def _value(value: Any) -> Value:
    if value is None:
        return ""
    if isinstance(value, str) and "_x" in value:
        # Workbooks write a control character, and an underscore that begins what looks like one, as `_x000D_`.
        return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)
    return value  # type: ignore[no-any-return]  # one of the types of Value
