"""Writes the workbook of a template: a header with notes, dropdowns, and cell formats that preserve input."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]  # no type hints

from importer.mapping import Kind
from importer.problems import column_letter
from importer.template.columns import SHEET, TemplateColumn
from importer.text.dates import FIRST_YEAR, LAST_YEAR

_LISTS = "Lists"  # hidden: the options behind the dropdowns
_LAST_ROW = 20_000  # of the dropdowns, counted from 0
_MAX_INLINE = 255  # characters of a list inside a dropdown, including commas: the limit of the format
_NUMBERS = {"criteria": "between", "minimum": -(10**12), "maximum": 10**12}
_DAYS = {"criteria": "between", "minimum": date(FIRST_YEAR, 1, 1), "maximum": date(LAST_YEAR, 12, 31)}


def _rule(validate: str, criteria: dict[str, Any], title: str, message: str) -> dict[str, Any]:
    return {"validate": validate, **criteria, "error_title": title, "error_message": message}


_YES_NO = _rule("list", {"source": ["yes", "no"]}, "yes or no", "Choose yes or no.")
_RULES: dict[Kind, dict[str, Any]] = {
    Kind.YES_NO: _YES_NO,
    Kind.FLAG: _YES_NO,
    Kind.DATE: _rule("date", _DAYS, "Not a date", "Enter a date, for example 2024-12-31."),
    Kind.INTEGER: _rule("integer", _NUMBERS, "Not a whole number", "Enter a whole number."),
    Kind.DECIMAL: _rule("decimal", _NUMBERS, "Not a number", "Enter a number."),
}


def write_workbook(path: Path, columns: Sequence[TemplateColumn]) -> None:
    """Write the workbook, replacing an existing file.

    Raises:
        OSError: it cannot be written.
    """
    # in_memory: with temporary files, the library reports a full disk with an error class of its own.
    with path.open("wb") as file:
        workbook: Any = xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_formulas": False})
        sheet, lists = workbook.add_worksheet(SHEET), _Lists(workbook)
        required = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#FFE699", "text_wrap": True})
        optional = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#DDEBF7", "text_wrap": True})
        text = workbook.add_format({"num_format": "@"})
        day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        for index, column in enumerate(columns):
            sheet.set_column(index, index, _width(column), _cell_format(column, text, day))
            sheet.write_string(0, index, column.header, required if column.spec.required else optional)
            sheet.write_comment(0, index, column.note[:2000], {"x_scale": 2, "y_scale": _note_height(column)})
            _validate(sheet, index, column, lists)
        sheet.freeze_panes(1, 0)
        lists.hide()
        workbook.close()


class _Lists:
    """The hidden sheet with lists of options that do not fit into a dropdown; added when first needed."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheet: Any = None  # a worksheet, if one was needed
        self._ranges: dict[tuple[str, ...], str] = {}

    def source(self, options: Sequence[str]) -> list[str] | str:
        """The source of a dropdown: the options, or their cell range."""
        # A comma would split an option.
        if sum(len(option) + 1 for option in options) <= _MAX_INLINE and not any("," in o for o in options):
            return list(options)
        key = tuple(options)
        if key not in self._ranges:
            self._ranges[key] = self._write(key)
        return self._ranges[key]

    def _write(self, options: tuple[str, ...]) -> str:
        if self._sheet is None:
            self._sheet = self._workbook.add_worksheet(_LISTS)
        column = len(self._ranges)
        for row, option in enumerate(options):
            self._sheet.write_string(row, column, option)
        letter = column_letter(column)
        return f"={_LISTS}!${letter}$1:${letter}${len(options)}"

    def hide(self) -> None:
        if self._sheet is not None:
            self._sheet.hide()


def _cell_format(column: TemplateColumn, text: Any, day: Any) -> Any:
    if column.spec.kind is Kind.DATE:
        return day
    # Text keeps leading zeros and +; a number stays a number, so that its decimal separator is not ambiguous.
    return None if column.spec.kind in (Kind.INTEGER, Kind.DECIMAL) else text


def _validate(sheet: Any, index: int, column: TemplateColumn, lists: _Lists) -> None:
    kind = column.spec.kind
    if kind is Kind.CHOICE and column.spec.options:
        options = {"source": lists.source(column.spec.options)}
        rule = _rule("list", options, "Not in the list", "Choose one from the list.")
    elif kind in _RULES:
        rule = _RULES[kind]
    else:
        return
    sheet.data_validation(1, index, _LAST_ROW, index, rule)


def _width(column: TemplateColumn) -> int:
    return min(max(len(column.header) + 2, 14), 40)


def _note_height(column: TemplateColumn) -> float:
    return min(max(column.note.count("\n") / 4, 1), 6)
