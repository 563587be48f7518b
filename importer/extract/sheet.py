"""What other rooms see of a source: its columns, how it was read, and its rows as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from importer.models import Column, Origin, Problem, Row


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a source, opened and ready to be read.

    `header_row` is the number that a spreadsheet program shows. `columns` are the source's own, without the `import_*`
    columns of a results file. `reading` says in one line how the file was read, for a person to verify. `delimiter`
    is that of a CSV, "," for a workbook: what result CSVs are written with. `lines` is about how many a CSV has, None
    for a workbook, which is in memory. `knows_types`: its rows say which cells a workbook kept as values.
    """

    origin: Origin
    header_row: int
    columns: tuple[Column, ...]
    reading: str
    warnings: tuple[Problem, ...]
    delimiter: str
    lines: int | None
    knows_types: bool
    _read: Callable[[], Iterator[Row]] = field(repr=False)

    def rows(self) -> Iterator[Row]:
        """Stream the rows below the header; may be called again. Wholly blank rows are left out, and keep their number.

        Raises:
            UnusableInput: the file breaks off on the way (a quote that is never closed, a damaged workbook).
        """
        return self._read()
