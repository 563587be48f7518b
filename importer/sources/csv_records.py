"""The records of a CSV, read by the csv module, strictly.

A record that it refuses is held back alone, if it is one line and the records after it prove that. Else the reading
ends there: nobody can say where the next row begins.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, takewhile
from typing import Any, Final, Literal, NamedTuple

_PROOF: Final = 5  # records that must follow a broken line, or all if fewer are left
_MOST_BROKEN: Final = 20  # other broken lines among these
_FEWEST_CELLS: Final = 3  # of a record that proves anything: two cells are easily a sentence with a comma
_LOOK_AHEAD: Final = 200  # lines of a record that proves something
_SHOWN: Final = 32_000  # characters of a broken line that are kept; a cell of a workbook has at most 32,767
_KINDS: Final = {"unexpected end of data": "unclosed", "field larger": "long", "the record": "record"}


class Fault(NamedTuple):
    """What is wrong with a record: it or a cell is too long, a quote is not closed, or text follows a closing quote.

    line: of the fault, from 1; begins: of the record.
    """

    kind: Literal["record", "long", "unclosed", "misplaced"]
    line: int
    begins: int


class Unreadable(Exception):
    """The rest of the file cannot be read."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault


# A record: its cells and their joined text. With a fault, its line is in the first cell.
Cells = tuple[list[str], str, Fault | None]


class CsvRecords:
    """The records of a CSV. Can be iterated once; a blank line is a record without cells.

    `chunks` are its lines, with their line ends; the first of them is line `first`. `longest` limits a record, in
    characters; csv.field_size_limit a cell.

    Raises:
        Unreadable: where the iteration comes to a record whose end nothing proves.
    """

    def __init__(self, chunks: Iterator[list[str]], delimiter: str, longest: int, first: int = 1) -> None:
        self._chunks = chunks
        self._delimiter, self._longest = delimiter, longest
        blank = "[ ]" if delimiter == "\t" else "[ \t]"
        self._after = re.compile(rf'("+){blank}+(?={re.escape(delimiter)}|[\r\n]|\Z)')
        self._before = re.compile(rf'(?:\A|(?<={re.escape(delimiter)})){blank}+(?=")')
        self._lines: list[str] = []  # from the record that is being read on, or a few lines before it
        self._lines_before = first - 1  # of the file, before these
        self._record = first - 1  # lines of the file before the record that is being read

    def __iter__(self) -> Iterator[Cells]:
        width = 0
        while True:
            before = self._record
            reader = self._reader(chain.from_iterable(self._rest()))
            kind, hiding = "unclosed", 0  # of a row whose open quote hides others, and its lines
            try:
                for cells in reader:
                    end = before + reader.line_num
                    if end - self._record > 1 and self._contains_row(cells, end - self._record):
                        hiding = end - self._record
                        break
                    self._record, width = end, len(cells)
                    yield cells, "".join(cells), None
                else:
                    return
            except csv.Error as error:
                kind = _kind_of(error)
            yield self._held_back(kind, before + reader.line_num, width, hiding)

    def _reader(self, lines: Iterator[str]) -> Any:
        # Without the blanks around a quoted cell: those around every cell are stripped.
        plain = (self._plain(line) if '"' in line and (" " in line or "\t" in line) else line for line in lines)
        return csv.reader(plain, delimiter=self._delimiter, strict=True)

    def _plain(self, line: str) -> str:
        """A line without the blanks before and after its quoted cells."""
        line = self._before.sub(lambda found: found[0] if _is_within(found) else "", line)
        return self._after.sub(self._closing, line)

    def _closing(self, found: re.Match[str]) -> str:
        """Quotes and blanks before the end of a cell, without the blanks if they close it: an even number of quotes is
        a whole cell, or part of its text.
        """
        is_even, start = len(found[1]) % 2 == 0, found.string[: found.start()]
        is_cell = is_even and (not start or start.endswith(self._delimiter)) and not _is_within(found)
        return found[1] if is_cell or not is_even else found[0]

    def _rest(self) -> Iterator[list[str]]:
        """The lines from the current record on, in chunks."""
        chunk = self._lines[self._record - self._lines_before :]
        while chunk or (chunk := self._fetch()):
            if max(map(len, chunk)) > self._longest:
                yield list(takewhile(lambda line: len(line) <= self._longest, chunk))
                raise csv.Error("the record is too long")
            yield chunk
            if sum(map(len, self._lines[self._record - self._lines_before :])) > self._longest:
                raise csv.Error("the record is too long")
            chunk = []

    def _fetch(self) -> list[str]:
        """One more chunk; the lines before the current record are forgotten."""
        del self._lines[: self._record - self._lines_before]
        self._lines_before = self._record
        chunk = next(self._chunks, [])
        self._lines += chunk
        return chunk

    def _line(self, at: int) -> str | None:
        """A line after the start of the current record, from 0; None after the end of the file."""
        while self._record - self._lines_before + at >= len(self._lines):
            if not self._fetch():
                return None
        return self._lines[self._record - self._lines_before + at]

    # --- a record that is not read ---

    def _held_back(self, kind: str, at: int, width: int, hiding: int) -> Cells:
        """The current record, which is its first line alone. kind, at: what is wrong, and the line where it shows.

        hiding: the lines of one that ends, but has another row in it. If nothing proves that this is one, it is text.
        """
        begins, line, lines = self._record + 1, self._line(0) or "", 1
        if kind == "record" or ('"' in line and not self._is_alone(width)):
            lines = hiding
        if not lines:
            raise Unreadable(Fault(kind, at if kind == "misplaced" else begins, begins))  # type: ignore[arg-type]
        alone = self._cells_of(line)
        text = "".join(self._line(number) or "" for number in range(lines))[:_SHOWN].rstrip("\r\n")
        self._record += lines
        fault = Fault(alone if isinstance(alone, str) else kind, begins, begins)  # type: ignore[arg-type]
        return [text, *[""] * (width - 1)], text, fault

    def _is_alone(self, width: int) -> bool:
        """Whether the records after the first line of the current one prove that it is a row of its own."""
        if width < _FEWEST_CELLS:
            return False
        proven, broken, at = 0, 0, 1
        while proven < _PROOF and broken < _MOST_BROKEN:
            line = self._line(at)
            if line is None:  # a file that ends within a quoted cell is perhaps cut
                return proven > 0 or (not broken and self._cells_of(self._line(0) or "") != "unclosed")
            if not line.strip():
                at += 1
                continue
            found = self._cells_of(*(each for up in range(_LOOK_AHEAD) if (each := self._line(at + up)) is not None))
            if isinstance(found, str):  # as broken as the first line, if it has as many cells
                broken, at = broken + 1, at + 1
                if line.count(self._delimiter) < width - 1:
                    return False
                continue
            cells, lines = found
            if len(cells) != width:
                return False
            proven, at = proven + 1, at + lines
        return proven > 0

    def _contains_row(self, cells: list[str], lines: int) -> bool:
        """Whether a line of a record is a row of its own, which an open quote would hide.

        It has as many cells, and another e-mail address in the same one: hardly any text has such a line. The quotes of
        the first line may be those that are open, so it is read without them.
        """
        for at in range(lines):
            line = self._line(at) or ""
            plain = line if at else line.replace('"', "")
            found = self._cells_of(plain) if "@" in line else ""
            if not isinstance(found, str) and len(found[0]) == len(cells):
                pairs = [(one.strip(), other.strip()) for one, other in zip(found[0], cells, strict=True)]
                if any("@" in one and "@" in other and "\n" not in other and one != other for one, other in pairs):
                    return True
        return False

    def _cells_of(self, *lines: str) -> tuple[list[str], int] | str:
        """The first record of these lines with its number of lines, or what is wrong with it."""
        reader = self._reader(iter(lines))
        try:
            return next(reader, []), reader.line_num
        except csv.Error as error:
            return _kind_of(error)


def _is_within(found: re.Match[str]) -> bool:
    """Whether it is within a quoted cell of its line."""
    return found.string.count('"', 0, found.start()) % 2 == 1


def _kind_of(error: csv.Error) -> str:
    return next((kind for start, kind in _KINDS.items() if str(error).startswith(start)), "misplaced")
