"""One row of a file before its columns are known: what the readers of all formats hand on."""

from __future__ import annotations

from dataclasses import dataclass

from importer.models import Problem


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
