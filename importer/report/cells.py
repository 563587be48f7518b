"""Writes text into the cells of a worksheet, unchanged: cell by cell, or fast whole rows in constant memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Any, Final

from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]  # it ships no types

from importer.text.results_cells import MAX_CELL_LENGTH, truncated

TEXT_CELL_LIMIT: Final = 255  # some versions of Excel show a longer cell of the format Text as ####
LINE_HEIGHT, _MOST_LINES = 15.0, 20  # points, of the workbook's own font
_LINE_FILL = 0.92  # words do not fill lines completely


def row_height(texts_and_widths: Mapping[str, float]) -> float:
    """The row height in points for texts wrapped in cells of these widths (in characters).

    Not every spreadsheet program computes it when it opens a file.
    """
    lines = max((_lines(text, width) for text, width in texts_and_widths.items()), default=1)
    return LINE_HEIGHT * min(lines, _MOST_LINES)


def _lines(text: str, width: float) -> int:
    return sum(max(1, ceil(len(line) / (width * _LINE_FILL))) for line in text.split("\n"))


def finish_table(sheet: Any, rows: int, last_column: int, *, frozen: int = 0, last_printed: int | None = None) -> None:
    """Filter and header of a table, and how it is printed: as wide as a page.

    frozen: the columns that stay visible; last_printed: the columns after this one are not printed.
    """
    sheet.freeze_panes(1, frozen)
    sheet.autofilter(0, 0, rows, last_column)
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    if last_printed is not None:
        sheet.print_area(0, 0, rows, last_printed)
    sheet.set_footer("&L&A&R&P / &N")
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{rows + 1}"})


def write_text(sheet: Any, row: int, column: int, text: str, style: Any) -> None:
    """Write the text into the cell (row and column from 0); an empty text gets only the style.

    Never a formula, a number or a link. Text that is too long for a cell is cut, with a note; invalid Unicode is
    escaped.
    """
    text = truncated(text)
    if not text:
        sheet.write_blank(row, column, None, style)
    elif text.startswith("<r>") and text.endswith("</r>"):
        # XlsxWriter writes such a string unescaped, as its own markup, which could break the workbook. In two fragments
        # it is escaped.
        sheet.write_rich_string(row, column, style, text[:1], style, text[1:], style)
    else:
        sheet.write_string(row, column, text, style)


# What XlsxWriter escapes specially or XML does not allow: control characters, `_x0041_`, invalid Unicode.
_SPECIAL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|_x|<r>")
_MARKUP: Final = re.compile(r"[&<>]")


class TextRows:
    """Writes rows of plain text into a worksheet in constant-memory mode, five times faster than cell by cell.

    A check of 100,000 rows reports two million cells, which would take XlsxWriter longer than the check itself. Only
    rows without special characters are written here; a test compares both ways byte for byte.

    styles, long_styles: for each column, for short texts and for texts of `long_from` characters or more. source: the
    columns whose empty cells are not written; empty cells of the others get their style.
    """

    def __init__(
        self, sheet: Any, styles: Sequence[Any], long_styles: Sequence[Any], long_from: int, source: range
    ) -> None:
        self._sheet = sheet
        self._source = source
        self._long_from = long_from
        self._columns = tuple(
            (f'<c r="{xl_col_to_name(column)}', f'" s="{style._get_xf_index()}"') for column, style in enumerate(styles)
        )
        self._long_styles = tuple(f'" s="{style._get_xf_index()}"' for style in long_styles)

    def write(self, row: int, texts: Sequence[str], styles: Mapping[int, Any] = MappingProxyType({})) -> bool:
        """Write the texts into the row (from 0); returns false, without writing, if a text needs special handling.

        styles: those of single cells, by column; such a cell is written also if it is empty.
        """
        whole = "".join(texts)
        if max(map(len, texts)) > MAX_CELL_LENGTH // 2 or _SPECIAL.search(whole):
            return False  # a longer text may have to be cut
        has_markup = _MARKUP.search(whole) is not None
        number = str(row + 1)
        cells = []
        for column, ((begin, style), text) in enumerate(zip(self._columns, texts, strict=True)):
            if text:
                used = style if len(text) < self._long_from else self._long_styles[column]
                if column in styles:
                    used = f'" s="{styles[column]._get_xf_index()}"'
                keep = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
                shown = _escaped(text) if has_markup else text
                cells.append(f'{begin}{number}{used} t="inlineStr"><is><t{keep}>{shown}</t></is></c>')
            elif column in styles:
                cells.append(f'{begin}{number}" s="{styles[column]._get_xf_index()}"/>')
            elif column not in self._source:
                cells.append(f"{begin}{number}{style}/>")
        sheet = self._sheet
        if row > sheet.previous_row:
            sheet._write_single_row(row)  # the previous row, if it was written cell by cell
        sheet._check_dimensions(row, len(texts) - 1)
        sheet.fh.write(f'<row r="{number}">{"".join(cells)}</row>')
        return True


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
