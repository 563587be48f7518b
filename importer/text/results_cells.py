"""The cells of results files: quoted where they look like a formula, cut to what a cell holds."""

from __future__ import annotations

import re
from typing import Final

# --- cells that a spreadsheet program could run -----------------------------------------------------

_FORMULA: Final = re.compile(r"'*[=+\-@＝＋－＠\t\r]")
_ESCAPED: Final = re.compile(r"'+[=+\-@＝＋－＠\t\r]")


def escape_formula(text: str) -> str:
    """The text for a results CSV, so that no spreadsheet program reads it as a formula.

    A cell that begins with `=`, `+`, `-`, `@` (also full-width), tab or CR gets a leading `'`. One with quotes before
    such a character gets one more, so that removing one quote is the exact inverse.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """A cell of a results file without that quote."""
    return text[1:] if _ESCAPED.match(text) else text


# --- texts that are too long ------------------------------------------------------------------------

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
