"""Reads .xls workbooks (Excel 5 to 2003) with xlrd."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import xlrd  # type: ignore[import-untyped]  # it has no stubs

from importer.problems import unusable_file
from importer.sources.number_format import DateKind, changes_text, date_kind
from importer.sources.sheet import SheetName
from importer.sources.workbook_cells import Cell, MergedRange, SheetFacts, impossible_date, too_late, with_error

_UNKNOWN_ERROR: Final = "#N/A"


class XlsBook:
    """An .xls workbook. file: its name, in messages.

    Raises:
        UnusableInput: it is protected with a password.
        Exception: of any kind, if it is damaged.
    """

    def __init__(self, path: Path, file: str) -> None:
        try:
            self._book: Any = xlrd.open_workbook(str(path), logfile=io.StringIO(), formatting_info=True, on_demand=True)
        except xlrd.XLRDError as failure:
            if "encrypted" in str(failure).lower():
                hint = "open it with its password and save it without a password"
                message = "the workbook is protected with a password"
                raise unusable_file("workbook-encrypted", message, hint, file) from None
            raise
        names = self._book.sheet_names()
        shown = self._book._sheet_visibility
        self.sheets = tuple(SheetName(name, not shown[at]) for at, name in enumerate(names))

    def rows(self, title: str, facts: SheetFacts) -> Iterator[tuple[int, list[Cell]]]:
        """The rows of a sheet, with their numbers. `facts` is complete after the last one."""
        sheet = self._book.sheet_by_name(title)
        codes = [self._book.format_map[xf.format_key].format_str for xf in self._book.xf_list]
        codes = [code if changes_text(code) or date_kind(code) else "" for code in codes]
        for number in range(sheet.nrows):
            cells = [
                self._cell(index, cell, codes[cell.xf_index])
                for index, cell in enumerate(sheet.row(number))
                if cell.ctype not in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK)
            ]
            if cells:
                yield number + 1, cells
        facts.is_1904 = bool(self._book.datemode)
        facts.hidden.update(row + 1 for row, info in sheet.rowinfo_map.items() if info.hidden)
        facts.hidden_columns.update(index for index, info in sheet.colinfo_map.items() if info.hidden)
        for top, bottom, left, right in sheet.merged_cells:
            facts.merged.append(MergedRange(top + 1, left, bottom, right - 1))

    def _cell(self, index: int, cell: Any, code: str) -> Cell:
        if cell.ctype == xlrd.XL_CELL_ERROR:
            return with_error(index, xlrd.error_text_from_code.get(cell.value, _UNKNOWN_ERROR))
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return Cell(index, bool(cell.value))
        if cell.ctype == xlrd.XL_CELL_DATE:
            return self._date(index, cell.value, code)
        return Cell(index, cell.value, code)

    def _date(self, index: int, serial: float, code: str) -> Cell:
        is_1904 = bool(self._book.datemode)
        if found := impossible_date(index, serial, code, is_1904=is_1904):
            return found
        try:
            value = xlrd.xldate.xldate_as_datetime(serial, self._book.datemode)
        except (ValueError, OverflowError):
            return too_late(index, serial)
        kind = date_kind(code)
        if kind is DateKind.DURATION:
            return Cell(index, value - xlrd.xldate.xldate_as_datetime(0, self._book.datemode))
        return Cell(index, value.time() if kind is DateKind.TIME and serial < 1 else value, code)
