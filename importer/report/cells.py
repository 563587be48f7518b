"""The cells of report.xlsx: how they look, and how any text gets into one as that text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Final

from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]  # it ships no types

# What a cell can hold, in the UTF-16 units that Excel counts.
LONGEST: Final = 32_767
CUT_NOTE: Final = " ... (cut here; the CSV file holds all of it)"
LINE: Final = 15.0  # points, of the workbook's own font

_INK, _FAINT, _RULE = "#1F2933", "#7B8794", "#CBD2D9"
_MOST_LINES = 20
_NARROWER = 0.92  # words do not fill a line to its end


class Styles:
    """The formats of one workbook: few, calm colors, and the same one for the same thing.

    Source cells are text (`@`), so that a phone or a date that a person fixes in the sheet stays as it was typed;
    `long` is for what is longer than a text cell can show.
    """

    def __init__(self, workbook: Any) -> None:
        def style(**properties: Any) -> Any:
            return workbook.add_format({"valign": "top", "font_color": _INK, **properties})

        heading = {"bold": True, "bottom": 1, "bottom_color": _RULE}
        self.header = style(**heading, bg_color="#E4E9EE", text_wrap=True)
        self.import_header = style(**heading, bg_color="#F3DFC1", text_wrap=True)
        self.text = style(num_format="@")
        self.long = style()
        self.highlighted = style(num_format="@", bg_color="#F8D3C5", border=1, border_color="#D98E73")
        self.short_import = style(bg_color="#FDF8EF")
        self.wrapped_import = style(bg_color="#FDF8EF", text_wrap=True)
        self.note = style(italic=True, font_color=_FAINT)

        self.title = style(bold=True, font_size=16)
        self.headline = style(font_size=12)
        self.section = style(bold=True, font_size=12, bottom=2, bottom_color="#8FA3B5")
        self.label = style(font_color=_FAINT)
        self.wrapped = style(text_wrap=True)
        self.number = style(num_format="#,##0", align="right", indent=1)
        self.total = style(num_format="#,##0", align="right", indent=1, bold=True, top=1, top_color=_RULE)
        self.total_label = style(bold=True, top=1, top_color=_RULE)
        self.link = style(font_color="#2B6CB0", underline=1)
        self.faint = style(font_color=_FAINT)
        self.faint_number = style(font_color=_FAINT, num_format="#,##0", align="right", indent=1)
        self.command = style(font_name="Consolas", bg_color="#F1F4F7")


def row_height(texts_and_widths: Mapping[str, float]) -> float:
    """The height in points for texts that are wrapped in cells of these widths (in characters).

    Not every spreadsheet program works that out when it opens a file.
    """
    lines = max((_lines(text, width) for text, width in texts_and_widths.items()), default=1)
    return LINE * min(lines, _MOST_LINES)


def _lines(text: str, width: float) -> int:
    return sum(max(1, ceil(len(line) / (width * _NARROWER))) for line in text.split("\n"))


def write_text(sheet: Any, row: int, column: int, text: str, style: Any) -> None:
    """Write the text into the cell (row and column from 0); an empty one gets the style alone.

    Never a formula, a number or a link. A text that is too long for a cell is cut with a note; one that is no Unicode
    is escaped.
    """
    text = fitting(text)
    if not text:
        sheet.write_blank(row, column, None, style)
    elif text.startswith("<r>") and text.endswith("</r>"):
        # XlsxWriter takes such a string for markup of its own and writes it unescaped: a candidate's text could break
        # the workbook or say something else. In two fragments it is escaped.
        sheet.write_rich_string(row, column, style, text[:1], style, text[1:], style)
    else:
        sheet.write_string(row, column, text, style)


def fitting(text: str) -> str:
    """The text as far as a cell can hold it."""
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= LONGEST // 2 or len(text.encode("utf-16-le")) // 2 <= LONGEST:
        return text
    kept = text.encode("utf-16-le")[: 2 * (LONGEST - len(CUT_NOTE))]
    return kept.decode("utf-16-le", "ignore") + CUT_NOTE


# What XlsxWriter escapes in ways of its own, or what XML cannot hold: control characters, `_x0041_`, no Unicode.
_SPECIAL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|_x|<r>")
_MARKUP: Final = re.compile(r"[&<>]")


class TextRows:
    """Writes rows of plain text into a worksheet in constant-memory mode, at a fifth of the cost of cell by cell.

    A check of 100,000 rows reports two million cells, and XlsxWriter's way from a cell to its XML takes longer than
    the check. Only rows without anything special are written here; a test compares both ways byte for byte.

    styles, long_styles: of each column, for its texts and for those of `long_from` characters or more.
    """

    def __init__(self, sheet: Any, styles: Sequence[Any], long_styles: Sequence[Any], long_from: int) -> None:
        self._sheet = sheet
        self._long_from = long_from
        self._columns = tuple(
            (f'<c r="{xl_col_to_name(column)}', f'" s="{style._get_xf_index()}"') for column, style in enumerate(styles)
        )
        self._long_styles = tuple(f'" s="{style._get_xf_index()}"' for style in long_styles)

    def write(self, row: int, texts: Sequence[str], blank_from: int) -> bool:
        """Write the texts into the row (from 0), unless there is something special among them: then false.

        Of empty texts only those from column `blank_from` on get a cell, for its style's sake.
        """
        if max(map(len, texts)) > LONGEST // 2 or _SPECIAL.search("".join(texts)):
            return False  # a longer text may have to be cut
        number = str(row + 1)
        cells = []
        for column, ((begin, style), text) in enumerate(zip(self._columns, texts, strict=True)):
            if text:
                used = style if len(text) < self._long_from else self._long_styles[column]
                cells.append(f"{begin}{number}{used}{_inline_string(text)}")
            elif column >= blank_from:
                cells.append(f"{begin}{number}{style}/>")
        sheet = self._sheet
        if row > sheet.previous_row:
            sheet._write_single_row(row)  # the row before, if it went cell by cell
        sheet._check_dimensions(row, len(texts) - 1)
        sheet.fh.write(f'<row r="{number}">{"".join(cells)}</row>')
        return True


def _inline_string(text: str) -> str:
    keep = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
    if _MARKUP.search(text):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f' t="inlineStr"><is><t{keep}>{text}</t></is></c>'
