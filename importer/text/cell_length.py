"""The text that fits into a cell of a workbook."""

from __future__ import annotations

from typing import Final

MAX_CELL_LENGTH: Final = 32_767  # in UTF-16 units, as Excel counts
CUT_NOTE: Final = " ... (cut here; see the CSV file for the full text)"


def truncated(text: str) -> str:
    """The text, cut to the length of a cell, with a note. What a workbook cannot hold is replaced."""
    if not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        text = text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")  # XML does not allow them
    if len(text) <= MAX_CELL_LENGTH // 2 or len(text.encode("utf-16-le")) // 2 <= MAX_CELL_LENGTH:
        return text
    kept = text.encode("utf-16-le")[: 2 * (MAX_CELL_LENGTH - len(CUT_NOTE))]
    return kept.decode("utf-16-le", "ignore") + CUT_NOTE
