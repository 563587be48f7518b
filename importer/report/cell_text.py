"""Writes any text into a cell of a workbook, as that text and nothing else."""

from __future__ import annotations

from typing import Any, Final

# What a cell can hold, in the UTF-16 units that Excel counts.
LONGEST: Final = 32_767
CUT_NOTE: Final = " ... (cut here; the CSV file holds all of it)"


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
    if len(text) <= LONGEST // 2 or _units(text) <= LONGEST:
        return text
    kept = text.encode("utf-16-le")[: 2 * (LONGEST - len(CUT_NOTE))]
    return kept.decode("utf-16-le", "ignore") + CUT_NOTE


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
