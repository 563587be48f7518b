"""How high a row must be for its wrapped texts: not every spreadsheet program works that out when it opens a file."""

from __future__ import annotations

from math import ceil
from typing import Final

LINE: Final = 15.0  # points, of the workbook's own font
_MOST_LINES = 20
_NARROWER = 0.92  # words do not fill a line to its end


def row_height(texts_and_widths: dict[str, float]) -> float:
    """The height in points for texts that are wrapped in cells of these widths (in characters)."""
    lines = max((_lines(text, width) for text, width in texts_and_widths.items()), default=1)
    return LINE * min(lines, _MOST_LINES)


def _lines(text: str, width: float) -> int:
    return sum(max(1, ceil(len(line) / (width * _NARROWER))) for line in text.split("\n"))
