"""Writes a row of plain text into a worksheet at a fifth of the cost of writing it cell by cell.

A report of 20,000 rows is a million cells, and XlsxWriter's way from a cell to its XML costs more than sending the rows
does. Only rows without anything special come here; all others go cell by cell, and a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from xlsxwriter.utility import xl_col_to_name  # type: ignore[import-untyped]  # it ships no types

# What XlsxWriter escapes in ways of its own, or what XML cannot hold: signs that steer, `_x0041_`, no Unicode.
_SPECIAL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|_x|<r>")
_MARKUP: Final = re.compile(r"[&<>]")


class TextRows:
    """The rows of one worksheet in constant-memory mode, whose every column has one style.

    longest: the most characters that a cell's style shows well; a longer one makes the row special.
    """

    def __init__(self, sheet: Any, styles: Sequence[Any], longest: int) -> None:
        self._sheet = sheet
        self._longest = longest
        self._begins = tuple(f'<c r="{xl_col_to_name(column)}' for column in range(len(styles)))
        self._middles = tuple(f'" s="{style._get_xf_index()}"' for style in styles)

    def write(self, row: int, texts: Sequence[str], blank_from: int) -> bool:
        """Write the texts into the row (from 0), unless there is something special among them: then false.

        Of empty texts only those from column `blank_from` on get a cell, for its style's sake.
        """
        if _SPECIAL.search("".join(texts)) or max(map(len, texts)) > self._longest:
            return False
        number = str(row + 1)
        pieces = [f'<row r="{number}">']
        for column, text in enumerate(texts):
            cell = f"{self._begins[column]}{number}{self._middles[column]}"
            if text:
                pieces.append(f"{cell}{_inline(text)}</c>")
            elif column >= blank_from:
                pieces.append(f"{cell}/>")
        pieces.append("</row>")
        sheet = self._sheet
        if row > sheet.previous_row:
            sheet._write_single_row(row)  # the row before, if it went cell by cell
        sheet._check_dimensions(row, len(texts) - 1)
        sheet.fh.write("".join(pieces))
        return True


def _inline(text: str) -> str:
    keep = ' xml:space="preserve"' if text[0].isspace() or text[-1].isspace() else ""
    if _MARKUP.search(text):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f' t="inlineStr"><is><t{keep}>{text}</t></is>'
