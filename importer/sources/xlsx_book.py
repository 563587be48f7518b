"""Reads .xlsx and .xlsm workbooks with openpyxl, each sheet in one streaming pass.

openpyxl's reader of worksheets has no public name; it is the one place where its values, formats, hidden rows, merged
cells and links come in one pass. `tests/test_foreign_names.py` names what is used.
"""

from __future__ import annotations

import re
import weakref
import zipfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from openpyxl import load_workbook
from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.packaging.relationship import get_dependents, get_rels_path
from openpyxl.utils.cell import range_boundaries
from openpyxl.worksheet._reader import (
    COL_TAG,
    FORMULA_TAG,
    HYPERLINK_TAG,
    MERGE_TAG,
    ROW_TAG,
    VALUE_TAG,
    WorkSheetParser,
)
from openpyxl.worksheet.hyperlink import HyperlinkList
from openpyxl.worksheet.merge import MergeCells
from openpyxl.xml.functions import iterparse

from importer.problems import Problem, UnusableInput, unusable_file
from importer.sources.number_format import DateKind, changes_text, date_kind
from importer.sources.sheet import ReadingLimits, SheetName
from importer.sources.workbook_cells import (
    Cell,
    DamagedError,
    MergedRange,
    SheetFacts,
    impossible_date,
    too_late,
    unescaped,
    with_error,
    without_result,
)

_OFFSET: Final = re.compile(r".*T.*[+-]\d\d:?\d\d")  # of a date stored as text, which openpyxl leaves out
_LINK_FORMULA: Final = re.compile(r'HYPERLINK\("((?:[^"]|"")+)"(?:,(?:[^"()]|"(?:[^"]|"")*")*)?\)')
_LINKED_CELLS: Final = 10_000  # of one hyperlink; more are most likely a mistake
_HIDDEN: Final = ("1", "true")
_LAST_ROW: Final = 1_048_576
_EAST_ASIAN_DATES: Final = frozenset((*range(27, 37), *range(50, 59)))  # built-in formats that openpyxl does not know
_NO_VALUE: Final = "type the right value into the cell, or clear the cell"


class XlsxBook:
    """An .xlsx or .xlsm workbook. file: its name, in messages.

    Raises:
        UnusableInput: it unpacks to more than the limit, has a part twice, or is in the strict form.
        Exception: of any kind, if it is damaged.
    """

    def __init__(self, path: Path, file: str, limits: ReadingLimits) -> None:
        is_strict = _check(path, file, limits)
        file_object = path.open("rb")
        weakref.finalize(self, file_object.close)  # openpyxl leaves a file open that it cannot read
        self._book = cast(Any, load_workbook(file_object, read_only=True, data_only=True, keep_links=False))
        asian = {at for at, style in enumerate(self._book._cell_styles) if style.numFmtId in _EAST_ASIAN_DATES}
        self._dates = asian.union(self._book._date_formats)
        self.sheets = tuple(SheetName(one.title, one.sheet_state == "visible") for one in self._book.worksheets)
        if is_strict and not self.sheets:
            message = "this is a workbook in the strict form of Open XML, which is not read"
            hint = "open it in a spreadsheet program and save it as an ordinary .xlsx"
            raise unusable_file("file-format-unsupported", message, hint, file)

    def rows(self, title: str, facts: SheetFacts) -> Iterator[tuple[int, list[Cell]]]:
        """The rows of a sheet, with their numbers. `facts` is complete after the last one."""
        sheet = self._book[title]
        code_of = lru_cache(1 << 16)(lambda style: _code(sheet, style))
        with sheet._get_source() as source:
            parser = _Parser(source, sheet, self._book, self._dates, facts, code_of)
            yield from parser.parse()
        for columns in parser.column_dimensions.values():
            if columns.get("hidden") in _HIDDEN:
                facts.hidden_columns.update(range(int(columns["min"]) - 1, int(columns["max"])))
        for merged in parser.merged_cells.mergeCell if parser.merged_cells else ():
            left, top, right, bottom = _bounds(merged.ref)
            facts.merged.append(MergedRange(top, left - 1, bottom, right - 1))
        facts.is_1904 = self._book.epoch.year == 1904
        self._note_links(parser, sheet, facts)

    def _note_links(self, parser: Any, sheet: Any, facts: SheetFacts) -> None:
        if not (links := parser.hyperlinks.hyperlink):
            return
        targets: dict[str, str] = {}
        with suppress(KeyError):  # it has only links inside the workbook
            relations = get_dependents(self._book._archive, get_rels_path(sheet._worksheet_path))  # type: ignore[no-untyped-call]
            targets = {str(one.Id): one.Target for one in relations if one.TargetMode == "External"}
        for link in links:
            left, top, right, bottom = _bounds(link.ref)
            target = targets.get(link.id or "")
            if target and (right - left + 1) * (bottom - top + 1) <= _LINKED_CELLS:
                address = f"{target}#{link.location}" if link.location else target
                for row in range(top, bottom + 1):
                    facts.links.setdefault(row, {}).update(dict.fromkeys(range(left - 1, right), address))


def _bounds(reference: str) -> tuple[int, int, int, int]:
    left, top, right, bottom = range_boundaries(reference)
    return int(left or 1), int(top or 1), int(right or 1), int(bottom or 1)


def _check(path: Path, file: str, limits: ReadingLimits) -> bool:
    """Check the directory of the archive; returns whether the workbook is in the strict form."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > limits.unpacked:
            megabytes, allowed = -(-size >> 20), limits.unpacked >> 20
            message = f"the workbook unpacks to {megabytes:,} MB; the limit is {allowed:,} MB"
            raise unusable_file("limit-exceeded", message, "save the sheet as CSV, which has no such limit", file)
        names = [name.replace("\\", "/").lstrip("/").lower() for name in archive.namelist()]
        if twice := next((name for name in names if names.count(name) > 1 and name.endswith(".xml")), None):
            raise damaged(f"it has the part {twice} twice", file)
        with suppress(KeyError), archive.open("xl/workbook.xml") as part:
            return b"purl.oclc.org/ooxml" in part.read(1 << 16)
    return False


def damaged(reason: str, file: str) -> UnusableInput:
    """The error of a workbook that is proven to be damaged."""
    message = f"the workbook is damaged and cannot be read ({reason})"
    return unusable_file("workbook-damaged", message, "open it in a spreadsheet program and save it again", file)


def _code(sheet: Any, style: int) -> str:
    try:
        code = ReadOnlyCell(sheet, 1, 1, None, style_id=style).number_format
    except (IndexError, KeyError):  # the workbook declares no such style
        return ""
    return code if code and (changes_text(code) or date_kind(code)) else ""


def _is_odd(kind: str, stored: str) -> bool:
    """Whether openpyxl reads something in a stored value that other programs do not: Python's numbers are wider."""
    if kind == "d":
        return bool(_OFFSET.fullmatch(stored))
    return kind in ("n", "s") and ("_" in stored or not stored.isascii() or (kind == "s" and stored.startswith("-")))


class _Parser(WorkSheetParser):
    """Gives the cells of each row with what openpyxl leaves out: formulas without a result, numbers that are no day.

    Raises DamagedError: two rows have the same number, or a cell is in another row: readers might keep different ones.
    """

    def __init__(self, source: Any, sheet: Any, book: Any, dates: set[int], facts: SheetFacts, code_of: Any) -> None:
        super().__init__(source, sheet._shared_strings, data_only=True, epoch=book.epoch, date_formats=dates)
        self.timedelta_formats = book._timedelta_formats
        self._facts, self._code_of = facts, code_of
        self._is_1904 = book.epoch.year == 1904
        calculation = book.calculation
        self._is_uncalculated = calculation is not None and bool(calculation.fullCalcOnLoad)

    def parse(self) -> Generator[Any, None, None]:
        # What a sheet looks like is left out: openpyxl refuses a whole workbook for an odd value there.
        for _, element in iterparse(self.source):
            if element.tag == ROW_TAG:
                yield self.parse_row(element)
            elif element.tag == COL_TAG:
                self.parse_column_dimensions(element)
            elif element.tag == HYPERLINK_TAG:
                self.hyperlinks: Any = HyperlinkList.from_tree(element)
            elif element.tag == MERGE_TAG:
                self.merged_cells = MergeCells.from_tree(element)
            else:
                continue
            element.clear()

    def parse_row(self, row: Any) -> Any:
        number = int(row.get("r") or self.row_counter + 1)
        if number <= self.row_counter:
            raise DamagedError(f"row {number} comes after row {self.row_counter}")
        if number > _LAST_ROW:
            raise DamagedError(f"row {number} is after the last possible one")
        self.row_counter, self.col_counter = number, 0
        if row.get("hidden") in _HIDDEN:
            self._facts.hidden.add(number)
        cells = [cell for element in row if (cell := self._cell(element, number)) is not None]
        if len({cell.at for cell in cells}) < len(cells):
            raise DamagedError(f"row {number} has a cell twice")
        return number, cells

    def _cell(self, element: Any, row: int) -> Cell | None:
        kind, formula = element.get("t", "n"), element.find(FORMULA_TAG)
        stored = element.findtext(VALUE_TAG)
        try:
            if stored and _is_odd(kind, stored):
                self.col_counter = _bounds(element.get("r"))[0] if element.get("r") else self.col_counter + 1
                raise ValueError
            found = self.parse_cell(element)
        except ValueError:  # a date stored as text, or a number, that is none
            index = self.col_counter - 1
            problem = Problem("cell-error", f"'{stored}' is not a value that every program reads alike", _NO_VALUE)
            return Cell(index, stored or "", problem=problem)
        if found["row"] != row:
            raise DamagedError(f"row {row} has the cell {element.get('r')}")
        index, value, code = found["column"] - 1, found["value"], self._code_of(found["style_id"])
        if formula is not None and (link := _LINK_FORMULA.fullmatch(formula.text or "")):
            self._facts.links.setdefault(row, {})[index] = link[1].replace('""', '"')
        if kind == "e":
            return with_error(index, stored or "#N/A")
        is_empty_text = kind == "str" and stored is not None
        if formula is not None and not stored and not is_empty_text and kind != "inlineStr":
            return without_result(index)
        if formula is not None and self._is_uncalculated and stored in ("0", "") and kind in ("n", "str"):
            return without_result(index)
        if found["data_type"] in "de" and kind == "n" and (wrong := self._impossible(index, stored, code)):
            return wrong
        if value is None or value == "":
            return None
        if isinstance(value, time) and date_kind(code) is DateKind.DATE:  # day 0 of 1904
            value = datetime.combine(self.epoch.date(), value)
        return Cell(index, unescaped(value) if isinstance(value, str) else value, code)

    def _impossible(self, index: int, stored: str | None, code: str) -> Cell | None:
        serial = float(stored or 0)
        found = impossible_date(index, serial, code, is_1904=self._is_1904)
        if found is None and (serial >= 2_958_466 - 1_462 * self._is_1904):
            return too_late(index, serial)
        return found
