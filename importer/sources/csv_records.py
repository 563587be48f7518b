"""The records of a CSV: read by the csv module, strictly; what it refuses is read here as far as the text proves it.

Blanks around a quoted cell are read (`"a" ,"b"`). A record with another error is held back alone, if the records after
it prove where the next one begins. Anything else ends the reading.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Final, Literal, NamedTuple

_SPACED_QUOTE = re.compile(r'[ \t]+"')
_PROOF: Final = 5  # records that must follow a broken one, or all if fewer are left
_FEWEST_CELLS: Final = 3  # of a record that proves anything: two cells are easily a sentence with a comma
_MOST_LINES: Final = 200  # of a broken record
_MOST_QUOTES: Final = 1_000  # lines with quotes in a record that the csv module refuses
_SHOWN: Final = 32_000  # characters of a broken record that are kept; a cell of a workbook has at most 32,767


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a record: a cell is too long, its quote is not closed, or text follows a closing quote.

    `line` and `column` (both from 1; at first within the record) are of that text, or of the cell; `opened` is the line
    and column of the quote that was open there.
    """

    kind: Literal["long", "unclosed", "misplaced"]
    line: int
    column: int
    opened: tuple[int, int]

    def below(self, lines: int) -> Fault:
        """The same, counted from the start of the file, which has so many lines before the record."""
        return replace(self, line=self.line + lines, opened=(self.opened[0] + lines, self.opened[1]))


class Unreadable(Exception):
    """The rest of the file cannot be read: a record has a fault, or too many characters (then `fault` is None)."""

    def __init__(self, fault: Fault | None = None) -> None:
        super().__init__()
        self.fault = fault


# A record: its cells and their joined text. With a fault, the text of the record is in its first cell.
Cells = tuple[list[str], str, Fault | None]


class CsvRecords:
    """The records of a CSV. Can be iterated once; a blank line is a record without cells.

    `chunks` are its lines, with their line ends; the first of them is line `first`. `longest_cell` and `longest` limit
    a cell and a record, in characters.

    Raises:
        Unreadable: where the iteration comes to a fault that does not prove where the next record begins.
    """

    def __init__(
        self, chunks: Iterator[list[str]], delimiter: str, longest_cell: int, longest: int, first: int = 1
    ) -> None:
        self._chunks = chunks
        self._delimiter = delimiter
        self._longest_cell, self._longest = longest_cell, longest
        self._lines: list[str] = []  # from the record that is being read on, or a few lines before it
        self._lines_before = first - 1  # of the file, before these
        self._record = first - 1  # lines of the file before the record that is being read
        self._grammar = _Grammar(delimiter)

    def __iter__(self) -> Iterator[Cells]:
        last: list[str] = []
        while True:
            before = self._record
            reader = csv.reader(chain.from_iterable(self._rest()), delimiter=self._delimiter, strict=True)
            reason, spaced = "", None
            try:
                for cells in reader:
                    joined, end = "".join(cells), before + reader.line_num
                    if ('"' in joined and any(map(_SPACED_QUOTE.match, cells))) or (
                        end - self._record > 1 and self._contains_row(cells, end - self._record)
                    ):
                        spaced = cells
                        break
                    self._record = end
                    yield cells, joined, None
                    last = cells
                else:
                    return
            except csv.Error as error:
                reason = str(error)
            (cells, joined, fault), lines = self._mended(spaced, reason, len(last))
            self._record += lines
            yield cells, joined, fault
            last = cells

    def _rest(self) -> Iterator[list[str]]:
        """The lines from the current record on, in chunks."""
        chunk = self._lines[self._record - self._lines_before :]
        while chunk or (chunk := self._fetch()):
            if max(map(len, chunk)) > self._longest:
                yield list(takewhile(lambda line: len(line) <= self._longest, chunk))
                raise Unreadable
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

    # --- a record that the csv module refuses, or reads with its quotes ---

    def _mended(self, spaced: list[str] | None, reason: str, width: int) -> tuple[Cells, int]:
        """The current record, and its number of lines."""
        found, lines = self._read(0)
        if isinstance(found, _Read):
            if self._contains_row(found.cells, lines):
                alone = self._grammar.read(self._text(1))
                fault = alone if isinstance(alone, Fault) else Fault("unclosed", 1, 1, (1, 1))
                return self._held_back(fault, lines, len(found.cells)), lines
            if max(map(len, found.cells), default=0) <= self._longest_cell:
                return (found.cells, "".join(found.cells), None), lines
            return self._held_back(Fault("long", 1, 1, (1, 1)), lines, width), lines
        if spaced is not None:
            alone = self._grammar.read(self._text(1))
            if not isinstance(alone, Fault) or alone.kind != "unclosed":
                return (spaced, "".join(spaced), None), 1  # quotes inside a text, such as ` "The" company`
            return self._held_back(alone, 1, width), 1
        lines = self._provable_lines(found, width)
        if not lines:
            raise Unreadable(None if "record" in reason else self._of_file(found, reason))
        alone = self._grammar.read(self._text(lines))
        return self._held_back(alone if isinstance(alone, Fault) else found, lines, width, reason), lines

    def _of_file(self, fault: Fault, reason: str) -> Fault:
        if "field larger" in reason:
            fault = replace(fault, kind="long")
        return fault.below(self._record)

    def _held_back(self, fault: Fault, lines: int, width: int, reason: str = "") -> Cells:
        text = self._text(lines)[:_SHOWN].rstrip("\r\n")
        return [text, *[""] * (width - 1)], text, self._of_file(fault, reason)

    def _text(self, lines: int) -> str:
        return "".join(self._line(at) or "" for at in range(lines))

    def _read(self, at: int) -> tuple[_Read | Fault, int]:
        """The record that begins so many lines after the current one, and its number of lines."""
        text, lines = self._line(at) or "", 1
        for _ in range(_MOST_QUOTES):
            found = self._grammar.read(text)
            if not isinstance(found, Fault) or found.kind != "unclosed":
                break
            more, size = [""], len(text)
            # Only a line with a quote can close it.
            while '"' not in more[-1] and size <= self._longest_cell and (line := self._line(at + lines)) is not None:
                more.append(line)
                lines += 1
                size += len(line)
            if '"' not in more[-1]:
                break
            text += "".join(more)
        return found, lines

    def _contains_row(self, cells: list[str], lines: int) -> bool:
        """Whether a line after the first of a record is a row of its own, which an open quote would hide.

        It has as many cells, and another e-mail address in the same one: hardly any text has such a line.
        """
        for at in range(1, lines):
            line = self._line(at) or ""
            if "@" in line and isinstance(found := self._grammar.read(line), _Read) and len(found.cells) == len(cells):
                pairs = zip(found.cells, cells, strict=True)
                if any("@" in one and "@" in other and "\n" not in other and one != other for one, other in pairs):
                    return True
        return False

    def _provable_lines(self, fault: Fault, width: int) -> int:
        """How many lines the broken record has; 0 if nothing proves it."""
        if width < _FEWEST_CELLS or (fault.kind == "unclosed" and self._line(1) is None):
            return 0
        text = self._line(0) or ""
        if self._is_followed(1, width, loosely=self._grammar.loose_width(text) == width):
            return 1
        for count in range(2, _MOST_LINES):
            if (line := self._line(count - 1)) is None or self._is_followed(count - 1, width, most=1):
                return 0  # a row of its own would be lost in the broken one
            text += line
            if '"' in line and self._grammar.loose_width(text) == width:
                return count if self._is_followed(count, width, loosely=True) else 0
        return 0

    def _is_followed(self, at: int, width: int, *, loosely: bool = False, most: int = _PROOF) -> bool:
        """Whether records of the usual width follow, as far as is looked.

        loosely: the record before ends where its last cell ends, so that the next one may have a misplaced quote too.
        """
        for proven in range(most):
            while (line := self._line(at)) is not None and not line.strip():
                at += 1
            if line is None:
                return True
            found, lines = self._read(at)
            if isinstance(found, Fault):
                if not loosely or self._grammar.loose_width(line) != width:
                    return proven > 0
                lines = 1
            elif found.strays or len(found.cells) != width:
                return False
            at += lines
        return True


class _Read(NamedTuple):
    """The cells of a record; `strays`: whether an unquoted cell contains a quote."""

    cells: list[str]
    strays: bool


class _Grammar:
    """Reads the text of one record: blanks may surround a quoted cell."""

    def __init__(self, delimiter: str) -> None:
        blank = "[ \t]*+" if delimiter not in " \t" else "[ ]*+" if delimiter == "\t" else "\t*+"
        end = rf"(?:({re.escape(delimiter)})|(?:\r\n?|\n)?\Z)"
        opened = rf'{blank}"[^"]*+(?:""[^"]*+)*+'
        plain = rf'(?!{blank}")[^{re.escape(delimiter)}\r\n]*+'
        self._cell = re.compile(rf'(?:{blank}"([^"]*+(?:""[^"]*+)*+)"{blank}|({plain})){end}')
        self._opened = re.compile(rf'({opened})("{blank})?')
        self._loose_cell = re.compile(rf'(?:{blank}".*?"{blank}|{plain}){end}', re.DOTALL)

    def read(self, text: str) -> _Read | Fault:
        """The cells of a record, or its first fault."""
        cells, strays, at = [], False, 0
        while match := self._cell.match(text, at):
            quoted, plain, more = match.groups()
            cells.append(plain if quoted is None else quoted.replace('""', '"'))
            strays = strays or (quoted is None and '"' in plain)
            at = match.end()
            if not more:
                return _Read(cells, strays)
        return self._fault(text, at)

    def loose_width(self, text: str) -> int:
        """The number of cells if a quote closes only before a delimiter or a line end; 0 if one is not closed."""
        width = at = 0
        while match := self._loose_cell.match(text, at):
            width += 1
            at = match.end()
            if not match[1]:
                return width
        return 0

    def _fault(self, text: str, at: int) -> Fault:
        match = self._opened.match(text, at)
        if match is None:  # a line end in an unquoted cell
            line, column = _position(text, at)
            return Fault("misplaced", line, column, (line, column))
        opened = _position(text, text.index('"', at))
        if match[2] is None:
            return Fault("unclosed", *opened, opened)
        return Fault("misplaced", *_position(text, match.end()), opened)


_LINE_END = re.compile(r"\r\n?|\n")


def _position(text: str, at: int) -> tuple[int, int]:
    """The line and the column, both from 1, of an index of a text."""
    ends = [end.end() for end in _LINE_END.finditer(text, 0, at)]
    return len(ends) + 1, at - (ends[-1] if ends else 0) + 1
