"""One row of a file before its columns are known: what the readers of all formats hand on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from importer.models import Origin, Problem, Row

if TYPE_CHECKING:
    from importer.extract.layout import Layout


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the cell at `index` of a record. The place is added once the columns are known."""

    index: int
    problem: Problem


@dataclass(frozen=True, slots=True)
class Record:
    """The cells of one row as clean text, as many as the file has.

    `number` is the row number that a spreadsheet program shows; `typed` as in Row.
    """

    number: int
    cells: tuple[str, ...]
    typed: frozenset[int] = frozenset()
    flaws: tuple[Flaw, ...] = ()

    @property
    def blank(self) -> bool:
        return not any(self.cells) and not self.flaws

    @property
    def filled(self) -> int:
        """How many cells hold something."""
        return sum(1 for cell in self.cells if cell)

    @property
    def width(self) -> int:
        """The number of cells up to the last that holds something."""
        return max((index + 1 for index, cell in enumerate(self.cells) if cell), default=0)


class RecordSource(Protocol):
    """A file whose encoding, delimiter or sheet is settled, and whose header is still to be found.

    `how` says in a few words how it is read. `even`: every row must have as many cells as the header, as in a CSV; a
    workbook leaves empty cells out. `hidden` are the numbers of the rows that a spreadsheet program does not show.
    """

    @property
    def origin(self) -> Origin: ...

    @property
    def how(self) -> str: ...

    @property
    def lines(self) -> int | None: ...

    @property
    def even(self) -> bool: ...

    @property
    def delimiter(self) -> str: ...

    @property
    def hidden(self) -> frozenset[int]: ...

    def records(self) -> Generator[Record, None, None]:
        """Every row, from row 1 on; blank ones may be left out."""

    def rows(self, layout: Layout) -> Iterator[Row]:
        """The same as `layout.rows(self.records())`, faster."""

    def warnings(self, layout: Layout) -> tuple[Problem, ...]:
        """What a person should know of the file as a whole."""
