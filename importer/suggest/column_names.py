"""How a mapping file names a column: by its header, or by its letter where the header is blank or not its own."""

from __future__ import annotations

from collections.abc import Sequence

from importer.mapping import Header
from importer.models import Column


class ColumnNames:
    """The names by which the columns of one sheet are found again."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._header = Header(columns)

    def of(self, column: Column) -> str:
        """The header where it means this column only, else the letter as `=C`."""
        name = " ".join(column.name.split())
        return name if self._header.candidates(name) == (column,) else f"={column.letter}"
