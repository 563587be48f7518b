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


class CsvFault(NamedTuple):
    """What is wrong with a record: it or a cell is too long, a quote is not closed, or text follows a closing quote.
    hiding: it ends, but has another row in it.

    line: of the fault, from 1; begins: of the record.
    """

    kind: Literal["record", "long", "unclosed", "hiding", "misplaced"]
    line: int
    begins: int


class Unreadable(Exception):
    """The rest of the file cannot be read."""

    def __init__(self, fault: CsvFault) -> None:
        super().__init__()
        self.fault = fault


# A record: its cells and their joined text. With a fault, its line is in the first cell.
CsvRecord = tuple[list[str], str, CsvFault | None]


class CsvRecords:
    """The records of a CSV. Can be iterated once; a blank line is a record without cells.

    `chunks` are its lines, with their line ends; the first of them is line `first`. `longest` limits a record, in
    characters; csv.field_size_limit a cell.

    Raises Unreadable: where the iteration comes to a record whose end nothing proves.
    """

    def __init__(self, chunks: Iterator[list[str]], delimiter: str, longest: int, first: int = 1) -> None:
        self._chunks = chunks
        self._delimiter, self._longest = delimiter, longest
        blank = "[ ]" if delimiter == "\t" else "[ \t]"
        self._closing = re.compile(rf'("+){blank}+(?={re.escape(delimiter)}|[\r\n]|\Z)')
        self._lines: list[str] = []  # from the record that is being read on, or a few lines before it
        self._lines_before = first - 1  # of the file, before these
        self._record = first - 1  # lines of the file before the record that is being read

    def __iter__(self) -> Iterator[CsvRecord]:
        width = 0
        while True:
            before = self._record
            reader = self._reader(chain.from_iterable(self._rest()), before)
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

    def _reader(self, lines: Iterator[str], first: int | None = None) -> Any:
        """A reader of lines; `first`: the number of lines before them, if they are those of `_rest`."""

        def plain() -> Iterator[str]:  # without the blanks after a quoted cell; those before it, the csv module skips
            for at, line in enumerate(lines):
                begins = at == 0 if first is None else first + at == self._record
                yield self._plain(line, begins) if '" ' in line or '"\t' in line else line

        return csv.reader(plain(), delimiter=self._delimiter, strict=True, skipinitialspace=self._delimiter != " ")

    def _plain(self, line: str, begins: bool) -> str:
        """A line without the blanks after its quoted cells. begins: it is the first of its record; any other begins
        within a quoted cell.
        """

        def closed(found: re.Match[str]) -> str:
            before = line[: found.start()]
            is_within = (before.count('"') % 2 == 0) is not begins
            is_at_start = not is_within and (not before.strip() or before.rstrip(" ").endswith(self._delimiter))
            # Two quotes are a whole cell; after a text, they are a part of it.
            is_end = (len(found[1]) % 2 == 0) is is_at_start
            return found[1] if is_end else found[0]

        return self._closing.sub(closed, line)

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

    def _held_back(self, kind: str, at: int, width: int, hiding: int) -> CsvRecord:
        """The current record, which is its first line alone. kind, at: what is wrong, and the line where it shows.

        hiding: the lines of one that ends, but has another row in it. If nothing proves that this is one, it is text.
        """
        begins, line, lines = self._record + 1, self._line(0) or "", 1
        is_proven = kind != "record" and ('"' not in line or self._is_alone(width))
        if not is_proven and hiding:
            kind, lines = "hiding", hiding
        elif not is_proven:
            raise Unreadable(CsvFault(kind, at if kind == "misplaced" else begins, begins))  # type: ignore[arg-type]
        alone = self._cells_of(line) if kind != "hiding" else None
        text = "".join(self._line(number) or "" for number in range(lines))[:_SHOWN].rstrip("\r\n")
        self._record += lines
        fault = CsvFault(alone if isinstance(alone, str) else kind, begins, begins)  # type: ignore[arg-type]
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


def _kind_of(error: csv.Error) -> str:
    return next((kind for start, kind in _KINDS.items() if str(error).startswith(start)), "misplaced")
