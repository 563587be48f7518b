"""The quote that protects a cell of a results file from being run as a formula."""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED: Final = re.compile(r"'+[=+\-@\t\r]")


def escape_formula(text: str) -> str:
    """The text for a results CSV, so that no spreadsheet program reads it as a formula.

    A cell that begins with `=`, `+`, `-`, `@`, tab or CR gets a leading `'`. A cell with quotes before such a character
    gets one more, so that removing one quote is the exact inverse.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """A cell of a results file without that quote."""
    return text[1:] if _ESCAPED.match(text) else text
