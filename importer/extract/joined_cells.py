"""The texts of some cells of one column as one text: writing and sending it is half the work of many."""

from __future__ import annotations

from collections.abc import Iterable

SEPARATOR = "\x1f"
Cells = str | list[str]  # one text, or a list where a cell may hold the separator itself


def joined(texts: Iterable[str]) -> str:
    """Texts without the separator as one. There must be at least one."""
    return SEPARATOR.join(texts)


def is_joined(text: str, count: int) -> bool:
    """Whether a text, joined of so many, can be taken apart again: none of them held the separator itself."""
    return text.count(SEPARATOR) == count - 1


def compact(cells: Cells) -> Cells:
    """Cells as one text where they can be."""
    if isinstance(cells, str):
        return cells
    text = joined(cells)
    return text if is_joined(text, len(cells)) else cells


def blank_cells(count: int) -> Cells:
    """So many empty cells, at least one."""
    return SEPARATOR * (count - 1)


def taken_apart(cells: Cells) -> list[str]:
    """The text of each cell."""
    return cells.split(SEPARATOR) if isinstance(cells, str) else cells
