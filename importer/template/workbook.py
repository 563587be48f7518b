"""Writes the workbook of a template: a header with notes, dropdowns, and formats that keep what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types

from importer.mapping import Kind
from importer.template.columns import TemplateColumn
from importer.template.letters import letters

SHEET = "Candidates"
LISTS = "Lists"  # hidden: the options behind the dropdowns
_LAST_ROW = 20_000  # dropdowns reach down to here, counted from 0
_LONGEST_INLINE = 255  # characters of a list inside a dropdown, its commas included: what the format allows
_YES_NO = ("yes", "no")


def write_workbook(path: Path, columns: Sequence[TemplateColumn]) -> None:
    """Write the workbook at this path, replacing what is there.

    Raises:
        OSError: it cannot be written.
    """
    # in_memory: the library reports a full disk by its own error class when it collects temporary files.
    with path.open("wb") as file:
        workbook: Any = xlsxwriter.Workbook(file, {"in_memory": True, "strings_to_formulas": False})
        sheet, lists = workbook.add_worksheet(SHEET), _Lists(workbook)
        required = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#FFE699", "text_wrap": True})
        optional = workbook.add_format({"bold": True, "bottom": 1, "bg_color": "#DDEBF7", "text_wrap": True})
        text = workbook.add_format({"num_format": "@"})
        day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        for index, column in enumerate(columns):
            sheet.set_column(index, index, _width(column), _cell_format(column, text, day))
            sheet.write_string(0, index, column.header, required if column.required else optional)
            sheet.write_comment(0, index, column.note[:2000], {"x_scale": 2, "y_scale": _note_height(column)})
            _validate(sheet, index, column, lists)
        sheet.freeze_panes(1, 0)
        lists.hide()
        workbook.close()


class _Lists:
    """The hidden sheet with the options that are too long for a dropdown of their own; made when first needed."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheet: Any = None  # a worksheet, where one was needed
        self._ranges: dict[tuple[str, ...], str] = {}

    def source(self, options: Sequence[str]) -> list[str] | str:
        """What a dropdown takes for its source: the options, or where they lie."""
        # A comma would part an option in two.
        if sum(len(option) + 1 for option in options) <= _LONGEST_INLINE and not any("," in o for o in options):
            return list(options)
        key = tuple(options)
        if key not in self._ranges:
            self._ranges[key] = self._write(key)
        return self._ranges[key]

    def _write(self, options: tuple[str, ...]) -> str:
        if self._sheet is None:
            self._sheet = self._workbook.add_worksheet(LISTS)
        column = len(self._ranges)
        for row, option in enumerate(options):
            self._sheet.write_string(row, column, option)
        letter = letters(column)
        return f"={LISTS}!${letter}$1:${letter}${len(options)}"

    def hide(self) -> None:
        if self._sheet is not None:
            self._sheet.hide()


def _cell_format(column: TemplateColumn, text: Any, day: Any) -> Any:
    if column.wanted.kind is Kind.DATE:
        return day
    # Text keeps leading zeros and +; a number stays a number, so that its decimal sign is never in doubt.
    return None if column.wanted.kind in (Kind.INTEGER, Kind.DECIMAL) else text


def _validate(sheet: Any, index: int, column: TemplateColumn, lists: _Lists) -> None:
    kind = column.wanted.kind
    rules: dict[str, object] | None = None
    if kind is Kind.CHOICE and column.wanted.options:
        rules = {"validate": "list", "source": lists.source(column.wanted.options)}
        rules |= {"error_title": "Not in the list", "error_message": "Choose one from the list."}
    elif kind in (Kind.YES_NO, Kind.FLAG):
        rules = {"validate": "list", "source": list(_YES_NO)}
        rules |= {"error_title": "yes or no", "error_message": "Choose yes or no."}
    elif kind is Kind.DATE:
        rules = {"validate": "date", "criteria": "between", "minimum": date(1900, 1, 1), "maximum": date(2100, 12, 31)}
        rules |= {"error_title": "No date", "error_message": "Type a date, as 2024-12-31."}
    elif kind is Kind.INTEGER:
        rules = {"validate": "integer", "criteria": "between", "minimum": -(10**12), "maximum": 10**12}
        rules |= {"error_title": "No whole number", "error_message": "Type a whole number."}
    elif kind is Kind.DECIMAL:
        rules = {"validate": "decimal", "criteria": "between", "minimum": -(10**12), "maximum": 10**12}
        rules |= {"error_title": "No number", "error_message": "Type a number."}
    if rules is not None:
        sheet.data_validation(1, index, _LAST_ROW, index, rules)


def _width(column: TemplateColumn) -> int:
    return min(max(len(column.header) + 2, 14), 40)


def _note_height(column: TemplateColumn) -> float:
    return min(max(column.note.count("\n") / 4, 1), 6)
