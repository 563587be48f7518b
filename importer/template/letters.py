"""The letters by which a spreadsheet program names a column."""

from __future__ import annotations


def letters(index: int) -> str:
    """The letters of a column counted from 0: 0 is A, 26 is AA."""
    found = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        found = chr(ord("A") + rest) + found
    return found
