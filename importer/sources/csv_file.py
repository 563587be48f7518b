"""A CSV: scanned once as a whole, then read strictly as a stream of records, one per row, with constant memory."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from importer.problems import CellPlace, Origin, Problem, UnusableInput, file_problem
from importer.sources.cell_text import clean, find_problem, is_plain
from importer.sources.csv_records import CsvFault, CsvRecords, Unreadable
from importer.sources.sheet import CellProblem, ReadingLimits, Record
from importer.sources.table import RecordSource
from importer.text.results_cells import unescape_formula

_FORMULA_TEXT = re.compile(r'="[^"]*"')
_CHUNK = 1 << 16  # characters of the lines that are read at once


@dataclass(frozen=True, slots=True)
class Encoding:
    """A Python codec name, and the name that a person knows."""

    codec: str
    label: str


# --- the whole file -----------------------------------------------------------------------------


_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The first byte that an encoding cannot read: its offset in the file, from 0, and its line, from 1."""

    offset: int
    line: int
    byte: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a scan of a whole CSV found, read in an encoding.

    `size` and `changed` (nanoseconds) show whether the file is still the one that was scanned.
    """

    encoding: Encoding
    undecodable: Undecodable | None
    size: int
    changed: int

    def holds_for(self, path: Path) -> bool:
        """Whether the file still exists and has not changed."""
        try:
            status = path.stat()
        except FileNotFoundError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.changed)


def survey(path: Path, encoding: Encoding) -> Survey:
    """Decode the whole file block by block, up to the first undecodable byte. A million rows take 0.1 s."""
    decoder = codecs.getincrementaldecoder(encoding.codec)()
    undecodable, read, lines = None, 0, 0
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        block = b"-"
        while block and undecodable is None:
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # error.object begins with the undecoded end of the previous block.
                offset = read + len(block) - len(error.object) + error.start
                line = 1 + lines + block[: max(0, offset - read)].count(b"\n")
                undecodable = Undecodable(offset, line, error.object[error.start])
            except UnicodeError:  # UTF-16 without the mark at its beginning
                undecodable = Undecodable(0, 1, block[0])
            read += len(block)
            lines += block.count(b"\n")
    return Survey(encoding, undecodable, status.st_size, status.st_mtime_ns)


# --- its records --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A readable CSV with a known encoding and delimiter.

    `cell_limit` is the longest cell in characters, so that an unclosed quote cannot swallow the rest of the file;
    `limits` has the limits of a row. `has_sep_line`: the first line is `sep=;`, which gives the delimiter and is not
    a row to spreadsheet programs. `delimiter_known`: False if the file has one column and no delimiter was found.
    `formula_escaped`: the file is a results file, where a quote precedes cells that would be read as formulas.
    `warnings`: of its encoding.
    """

    path: Path
    origin: Origin
    survey: Survey
    delimiter: str
    cell_limit: int
    limits: ReadingLimits
    has_sep_line: bool = False
    delimiter_known: bool = True
    formula_escaped: bool = False
    warnings: tuple[Problem, ...] = ()

    def source(self) -> RecordSource:
        """The file as a source of records, for `open_table`."""
        delimiter = f"delimiter {shown_delimiter(self.delimiter)}" if self.delimiter_known else "no delimiter found"
        how = f"CSV, {self.survey.encoding.label}, {delimiter}"
        warnings = self.warnings
        return RecordSource(self.origin, how, self.records, lambda _: warnings, delimiter=self.delimiter)

    def records(self) -> Generator[Record, None, None]:
        """Every row that is not blank; a broken one, held back alone, has its text in its first cell.

        Raises UnusableInput: a quote is misplaced and nothing proves where the next row begins, a cell or row is too
        long, or the file changed.
        """
        number = 0
        try:
            with self._lines() as lines:
                for number, (cells, joined, fault) in enumerate(lines, 1):
                    if fault is not None:
                        problem = CellProblem(None, self._broken(number, fault))
                        yield Record(number, tuple(map(clean, cells)), problems=(problem,))
                    elif joined.strip(" "):
                        yield self.record(number, cells, joined)
        except Unreadable as error:
            raise UnusableInput(self._broken(number + 1, error.fault)) from error

    @contextmanager
    def _lines(self) -> Iterator[CsvRecords]:
        """The records as the csv module reads them. Raises UnusableInput: the file is not the one that was scanned."""
        if not self.survey.holds_for(self.path):
            raise UnusableInput(file_changed(self.origin))
        csv.field_size_limit(self.cell_limit)
        try:
            with self.path.open(encoding=self.survey.encoding.codec, newline="") as file:
                first = 1
                if self.has_sep_line:
                    next(file)
                    first = 2
                yield CsvRecords(_chunks(file, self.limits.row), self.delimiter, self.limits.row, first)
        except UnicodeDecodeError as error:  # the scan could decode all of it
            raise UnusableInput(file_changed(self.origin)) from error

    def record(self, number: int, cells: list[str], joined: str) -> Record:
        """A record from its cells, which are joined in `joined`, as clean text."""
        if len(cells) > self.limits.columns:
            message = f"the row has {len(cells):,} cells; the limit is {self.limits.columns:,}"
            right = f"check that {shown_delimiter(self.delimiter)} is the right delimiter"
            hint = f"{right} and that no line break is missing"
            raise UnusableInput(Problem("limit-exceeded", message, hint, CellPlace(self.origin, number)))
        if self.formula_escaped:
            cells = list(map(unescape_formula, cells))
        if '="' in joined:  # as programs write digits that spreadsheet programs must not change: ="00123"
            cells = [cell[2:-1] if _FORMULA_TEXT.fullmatch(cell) else cell for cell in cells]
        if is_plain(joined):
            return Record(number, tuple(map(str.strip, cells)))
        if "\0" in joined:  # of a preallocated copy, or after a power cut
            message, hint = "the file has NUL bytes: a part of it was never written", "copy or export it again"
            raise UnusableInput(Problem("file-empty", message, hint, CellPlace(self.origin, number)))
        problems = tuple(
            CellProblem(index, problem) for index, cell in enumerate(cells) if (problem := find_problem(cell))
        )
        return Record(number, tuple(map(clean, cells)), problems=problems)

    def _broken(self, row: int, fault: CsvFault) -> Problem:
        place = CellPlace(self.origin, row)
        if fault.kind == "record":
            message = f"a row is longer than {self.limits.row >> 20:,} MB, which is the limit"
            hint = "check that the file is a table and that no line break is missing"
            return Problem("limit-exceeded", message, hint, place)
        if fault.kind == "long":
            message = f"a cell is longer than {self.cell_limit:,} characters (line {fault.line})"
            hint = 'most likely a quote (") is not closed: close it; shorten a text that is really that long'
            return Problem("limit-exceeded", message, hint, place)
        if fault.kind == "hiding":
            message = f"a line within a cell looks like another row (the row begins in line {fault.begins})"
            hint = 'close the quote (") that is open; if the line is part of the cell, write it without line breaks'
            return Problem("quote-unclosed", message, hint, place)
        if fault.kind == "unclosed":
            message = f'a quote (") is not closed (line {fault.line})'
            hint = "close it; write a quote inside a cell twice"
            return Problem("quote-unclosed", message, hint, place)
        begins = f"; the row begins in line {fault.begins}" if fault.begins != fault.line else ""
        message = (
            f'a closing quote (") must be followed by {shown_delimiter(self.delimiter)} or by the end of the line '
            f"(line {fault.line}{begins})"
        )
        hint = 'write a quote inside a quoted cell twice (""), or close the quote that is open'
        return Problem("quote-unclosed", message, hint, place)


def _chunks(file: TextIO, longest: int) -> Iterator[list[str]]:
    """The lines of a file, many at once; the longest has one character more, which shows that it is too long."""
    line = " "
    while line:
        chunk, size = [], 0
        while size < _CHUNK and (line := file.readline(longest + 1)):
            chunk.append(line.removeprefix("\ufeff"))  # of a file that was appended to another one
            size += len(line)
        if chunk:
            yield chunk


def file_changed(origin: Origin) -> Problem:
    """The problem of a file that is not the one that was scanned."""
    message = "the file changed after it was opened"
    hint = "close the program that writes to it, then run the same command again"
    return file_problem("file-changed", message, hint, origin.file)


def shown_delimiter(delimiter: str) -> str:
    """A delimiter in a message."""
    return "tab" if delimiter == "\t" else f'"{delimiter}"'
