"""The values that a cell of an invented spreadsheet can have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class ErrorCell:
    """A formula that failed: what a lookup without a match leaves in an export."""

    formula: str = "=NA()"
    shown: str = "#N/A"


Cell = str | int | float | date | ErrorCell | None
Record = dict[str, Cell]  # header text to cell; a column that is not named is blank
