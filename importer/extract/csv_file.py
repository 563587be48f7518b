"""A CSV: looked through once, whole, then read as a stream of records: strictly, one record one row, memory flat."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from importer.extract.cell_text import clean, flaw_of, is_plain
from importer.extract.sheet import Flaw, ReadingLimits, Record
from importer.extract.table import RecordSource
from importer.problems import CellPlace, FilePlace, LinePlace, Origin, Place, Problem, UnusableInput

if TYPE_CHECKING:
    import _csv

_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_SOME = 1 << 16  # characters


@dataclass(frozen=True, slots=True)
class Encoding:
    """A Python codec name, and how a person knows it."""

    codec: str
    label: str


# --- the whole file -----------------------------------------------------------------------------


_BLOCK = 1 << 18
_LONG = 1 << 20  # bytes: no line that lies in one block of any reader is longer


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The first bytes that an encoding cannot read: their offset in the file, from 0, and line, from 1."""

    offset: int
    line: int
    byte: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a whole CSV is like, read in an encoding.

    `lines`: about how many there are. `longest`: about how many bytes the longest has, as UTF-8, and `longest_line` its
    number; 0 where none is longer than a block. `size` and `changed` (nanoseconds) tell whether the file is still the
    one that was looked at.
    """

    encoding: Encoding
    undecodable: Undecodable | None
    lines: int
    longest: int
    longest_line: int
    size: int
    changed: int

    def holds_for(self, path: Path) -> bool:
        """Whether the file is still there, and the same."""
        try:
            status = path.stat()
        except FileNotFoundError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


def survey(path: Path, encoding: Encoding) -> Survey:
    """Decode the whole file, a block at a time: 0.1 s for a million rows; no further than the first wrong byte."""
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    is_utf8 = encoding.codec.startswith("utf-8")
    undecodable = None
    read = raw_lines = 0
    lengths = _LineLengths()
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        block = b"-"
        while block and undecodable is None:
            block = file.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # What is left of the block before goes ahead of this one.
                offset = read + len(block) - len(error.object) + error.start
                line = 1 + raw_lines + block[: max(0, offset - read)].count(b"\n")
                undecodable = Undecodable(offset, line, error.object[error.start])
            else:
                lengths.measure(block if is_utf8 else text.encode("utf-8", "surrogatepass"))
            read += len(block)
            raw_lines += block.count(b"\n")
    size, changed = status.st_size, status.st_mtime_ns
    return Survey(encoding, undecodable, lengths.lines, lengths.longest, lengths.longest_line, size, changed)


class _LineLengths:
    """The lines of a text so far, and the longest."""

    def __init__(self) -> None:
        self.lines = self.longest = self.longest_line = 0
        self._open = 0  # bytes of the line that the last block did not end

    def measure(self, text: bytes) -> None:
        end = b"\n" if b"\n" in text else b"\r"
        first, last = text.find(end), text.rfind(end)
        length = self._open + (first if first >= 0 else len(text))
        if length > max(self.longest, _LONG):
            self.longest, self.longest_line = length, self.lines + 1
        self._open = len(text) - 1 - last if last >= 0 else length
        self.lines += text.count(b"\n")


# --- its records --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV whose encoding and delimiter are settled; `survey` found it readable.

    `cell_limit` in characters: a quote that is never closed swallows no more. `limits` are those of a row. `marked`:
    the first line is `sep=;`, which names the delimiter to a spreadsheet program and is no row to it. `delimited`: the
    delimiter was declared or seen, and not only taken because there is one column. `guarded`: the file is one of our
    results, where a cell that a spreadsheet program would take for a formula carries a quote.

    Raises:
        UnusableInput: one of its rows is too long.
    """

    path: Path
    origin: Origin
    survey: Survey
    delimiter: str
    cell_limit: int
    limits: ReadingLimits
    marked: bool = False
    delimited: bool = True
    guarded: bool = False

    def __post_init__(self) -> None:
        if self.survey.longest > self.limits.row:
            raise UnusableInput(_row_too_long(LinePlace(self.origin.file, self.survey.longest_line), self.limits))

    def source(self) -> RecordSource:
        """What the file is to one who looks for its table."""
        delimiter = f"delimiter {_shown_delimiter(self.delimiter)}" if self.delimited else "no delimiter found"
        how = f"CSV, {self.survey.encoding.label}, {delimiter}"
        return RecordSource(self.origin, how, self.records, delimiter=self.delimiter, lines=self.survey.lines)

    def records(self) -> Generator[Record, None, None]:
        """Every row that is not blank.

        Raises:
            UnusableInput: a quote is wrong, a cell or the row too long, or the file changed.
        """
        number = 0
        with self._reading(lambda: number) as reader:
            try:
                for number, cells in enumerate(reader, 1):
                    joined = "".join(cells)
                    if joined.strip(" "):
                        yield self._record(number, cells, joined)
            except csv.Error as error:
                raise UnusableInput(self._broken(number + 1, str(error))) from error

    @contextmanager
    def _reading(self, rows_read: Callable[[], int]) -> Iterator[_csv.Reader]:
        if not self.survey.holds_for(self.path):
            raise UnusableInput(self._changed())
        csv.field_size_limit(self.cell_limit)
        try:
            with self.path.open(encoding=self.survey.encoding.codec, newline="") as file:
                if self.marked:
                    next(file)
                lines = chain.from_iterable(self._lines(file, rows_read))
                yield csv.reader(lines, delimiter=self.delimiter, strict=True)
        except UnicodeDecodeError as error:  # all could be decoded when it was looked through
            raise UnusableInput(self._changed()) from error

    def _lines(self, file: TextIO, rows_read: Callable[[], int]) -> Iterator[list[str]]:
        """The lines of the file, some at a time; a row of many must not be too long. None is by itself."""
        read = length = 0
        while lines := file.readlines(_SOME):
            yield lines
            length = length + sum(map(len, lines)) if read == rows_read() else 0
            read = rows_read()
            if length > self.limits.row:
                raise UnusableInput(_row_too_long(CellPlace(self.origin, read + 1), self.limits))

    def _record(self, number: int, cells: list[str], joined: str) -> Record:
        if len(cells) > self.limits.columns:
            raise UnusableInput(
                Problem(
                    "too-many-columns",
                    f"the row has {len(cells):,} cells; the limit is {self.limits.columns:,}",
                    f"check that {_shown_delimiter(self.delimiter)} is the right delimiter and that no line break "
                    "is missing, "
                    "or raise IMPORTER_CSV_COLUMNS",
                    CellPlace(self.origin, number),
                )
            )
        if self.guarded:
            cells = list(map(unguarded, cells))
        if is_plain(joined):
            return Record(number, tuple(map(str.strip, cells)))
        flaws = tuple(Flaw(index, problem) for index, cell in enumerate(cells) if (problem := flaw_of(cell)))
        return Record(number, tuple(map(clean, cells)), flaws=flaws)

    def _changed(self) -> Problem:
        return Problem(
            "file-changed",
            "the file changed after it was opened",
            "close the program that writes to it, then run the same command again",
            FilePlace(self.origin.file),
        )

    def _broken(self, row: int, reason: str) -> Problem:
        place = CellPlace(self.origin, row)
        if "field larger" in reason:
            return Problem(
                "cell-too-long",
                f"a cell is longer than {self.cell_limit:,} characters",
                'most likely a quote (") is not closed; if the cell is really that long, allow more characters with '
                "longest_cell: under source: in the mapping",
                place,
            )
        if "unexpected end" in reason:
            return Problem(
                "quote-unclosed",
                'a quote (") is not closed',
                "close it; write a quote inside a cell twice",
                place,
            )
        return Problem(
            "quote-misplaced",
            f'a closing quote (") must be followed by {_shown_delimiter(self.delimiter)} or by the end of the line',
            'write a quote inside a quoted cell twice (""), or close the quote that is open',
            place,
        )


def unguarded(cell: str) -> str:
    """A cell of a results file without the quote that keeps it from being taken for a formula."""
    return cell[1:] if _GUARDED.match(cell) else cell


def _shown_delimiter(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else f'"{delimiter}"'


def _row_too_long(place: Place, limits: ReadingLimits) -> Problem:
    """The problem of a row that would fill the memory."""
    return Problem(
        "row-too-long",
        f"a row is longer than {limits.row >> 20:,} MB, which is the limit",
        "check that the file is a table and that no line break is missing, or raise IMPORTER_CSV_ROW_MEGABYTES",
        place,
    )
