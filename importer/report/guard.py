"""The guard quote: keeps a spreadsheet program from taking text for a formula in a CSV file.

A cell that begins with `=`, `+`, `-`, `@`, tab or CR is a formula to a spreadsheet program, so it gets one leading `'`.
A cell that already begins with quotes before such a character gets one more, so that taking one off is exactly the
inverse for every text: `extract` takes one off a cell that begins with quotes before such a character, when a results
file is fed back.
"""

from __future__ import annotations

import re

_TAKEN_FOR_FORMULA = re.compile(r"'*[=+\-@\t\r]")
FIRST_SIGNS = frozenset("'=+-@\t\r")
"""Texts that begin otherwise need no guard: nearly all, and quicker told than by asking for each."""


def guarded(text: str) -> str:
    """The text as a result CSV holds it."""
    return f"'{text}" if _TAKEN_FOR_FORMULA.match(text) else text
