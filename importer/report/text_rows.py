"""Writes a row of plain text into a worksheet at a fifth of the cost of writing it cell by cell.

A report of 20,000 rows is a million cells, and XlsxWriter's way from a cell to its XML costs more than sending the rows
does. Only rows without anything special come here; all others go cell by cell, and a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]  # it ships no types

from importer.report.cell_text import LONGEST

# What XlsxWriter escapes in ways of its own, or what XML cannot hold: signs that steer, `_x0041_`, no Unicode.
_SPECIAL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|_x|<r>")
_LONGEST: Final = LONGEST // 2  # characters; a longer text may have to be cut
_MARKUP: Final = re.compile(r"[&<>]")
_INLINE: Final = ' t="inlineStr"><is><t>'
_INLINE_ENDS: Final = "</t></is></c>"


class TextRows:
    """The rows of one worksheet in constant-memory mode, whose every column has one style, and one for long texts.

    long_from: the number of characters from which a text is long.
    """

    def __init__(self, sheet: Any, styles: Sequence[Any], long_styles: Sequence[Any], long_from: int) -> None:
        self._sheet = sheet
        self._long_from = long_from
        self._begins = tuple(f'<c r="{xl_col_to_name(column)}' for column in range(len(styles)))
        self._middles = _style_attributes(styles)
        self._long_middles = _style_attributes(long_styles)
        self._plain_middles = tuple(f"{middle}{_INLINE}" for middle in self._middles)

    def write(self, row: int, texts: Sequence[str], blank_from: int) -> bool:
        """Write the texts into the row (from 0), unless there is something special among them: then false.

        Of empty texts only those from column `blank_from` on get a cell, for its style's sake.
        """
        whole = "".join(texts)
        longest = max(map(len, texts))
        number = str(row + 1)
        if longest < self._long_from and _is_plain(whole) and list(map(str.strip, texts)) == list(texts):
            pieces = self._plain_cells(number, texts, blank_from)
        elif longest <= _LONGEST and not _SPECIAL.search(whole):
            pieces = self._cells(number, texts, blank_from)
        else:
            return False
        sheet = self._sheet
        if row > sheet.previous_row:
            sheet._write_single_row(row)  # the row before, if it went cell by cell
        sheet._check_dimensions(row, len(texts) - 1)
        sheet.fh.write(f'<row r="{number}">{"".join(pieces)}</row>')
        return True

    def _plain_cells(self, number: str, texts: Sequence[str], blank_from: int) -> list[str]:
        """Of a row whose every text goes into XML as it is: most are, and told so all at once."""
        cells = zip(self._begins, self._plain_middles, texts[:blank_from], strict=False)
        pieces = [f"{begin}{number}{middle}{text}{_INLINE_ENDS}" for begin, middle, text in cells if text]
        for column in range(blank_from, len(texts)):
            text = texts[column]
            if text:
                pieces.append(f"{self._begins[column]}{number}{self._plain_middles[column]}{text}{_INLINE_ENDS}")
            else:
                pieces.append(f"{self._begins[column]}{number}{self._middles[column]}/>")
        return pieces

    def _cells(self, number: str, texts: Sequence[str], blank_from: int) -> list[str]:
        pieces = []
        for column, text in enumerate(texts):
            if text:
                middle = (self._middles if len(text) < self._long_from else self._long_middles)[column]
                pieces.append(f"{self._begins[column]}{number}{middle}{_inline(text)}")
            elif column >= blank_from:
                pieces.append(f"{self._begins[column]}{number}{self._middles[column]}/>")
        return pieces


def _is_plain(text: str) -> bool:
    """Whether there is nothing in it that `_SPECIAL` or `_MARKUP` would find; false where that is not sure."""
    return text.isprintable() and not any(sign in text for sign in ("&", "<", ">", "_x"))


def _style_attributes(styles: Sequence[Any]) -> tuple[str, ...]:
    return tuple(f'" s="{style._get_xf_index()}"' for style in styles)


def _inline(text: str) -> str:
    keep = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
    if _MARKUP.search(text):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f' t="inlineStr"><is><t{keep}>{text}{_INLINE_ENDS}'
