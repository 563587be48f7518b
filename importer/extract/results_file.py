"""How to tell one of our own results files that is fed back, so that it is read by its own rules."""

from __future__ import annotations

from collections.abc import Sequence

IMPORT_COLUMNS = ("import_row", "import_status", "import_problem", "import_hint")


def added_columns(header: Sequence[str]) -> int:
    """How many cells at the end of a header row are what our report added; 0 if it is no results file."""
    end = len(header)
    while end and not header[end - 1]:
        end -= 1
    start = end - len(IMPORT_COLUMNS)
    return len(header) - start if start >= 0 and tuple(header[start:end]) == IMPORT_COLUMNS else 0
