"""A source as the other rooms see it, what reading it may cost, and its rows before their columns are known."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from importer.models import Column, Origin, Problem, Row

if TYPE_CHECKING:
    from importer.extract.table import Layout
    from importer.settings import Settings


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


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What reading one file may cost, so that a hostile or broken one ends in a message and not in a dead machine.

    `source`: bytes of a file, `standard_input`: those that are taken from there. Of a CSV, `cell_characters`: the
    longest cell, `row`: bytes of the longest row, `columns`: the most cells of a row. The others hold for the child
    process that reads a workbook: `seconds` of time, `memory` in bytes, `unpacked` bytes of what the workbook unpacks
    to.
    """

    source: int = 4 << 30
    standard_input: int = 2 << 30
    cell_characters: int = 16 << 20
    row: int = 16 << 20
    columns: int = 16_384
    seconds: float = 120.0
    memory: int = 2 << 30
    unpacked: int = 2 << 30

    @classmethod
    def of(cls, settings: Settings) -> ReadingLimits:
        """The limits of this machine, for every file that is opened on it.

        They are no part of a mapping or a run: a report that is written again later, where the person has allowed more
        meanwhile, is read with more.
        """
        return cls(
            source=settings.source_megabytes << 20,
            standard_input=settings.standard_input_megabytes << 20,
            row=settings.csv_row_megabytes << 20,
            columns=settings.csv_columns,
            seconds=settings.workbook_seconds,
            memory=settings.workbook_memory_megabytes << 20,
            unpacked=settings.workbook_unpacked_megabytes << 20,
        )


# --- what the readers of all formats hand on ----------------------------------------------------


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
    `delimiter` and `lines` as in Sheet.
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
