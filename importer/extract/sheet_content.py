"""A worksheet as batches of clean text with their problems, and the protocol with the process that reads workbooks.

The parent sends a request. The child answers with batches of rows and then the facts of the sheet, or with problems.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, zip_longest
from typing import IO, TypeVar

from importer.extract.cell_flags import CellFlags
from importer.extract.cell_text import (
    DURATION,
    NO_RESULT,
    Value,
    cell_text,
    clean,
    duration_text,
    error_cell,
    find_problem,
    formatted_number,
    formula_without_value,
    has_lost_digits,
    is_plain,
)
from importer.problems import Problem
from importer.text.currencies import currency_of_format

_T = TypeVar("_T")
_ROWS = 250  # in a batch: few enough for the processor's cache
_WIDE = 1000  # cells: wider rows get their own batch, so that they do not widen others


@dataclass(frozen=True, slots=True)
class SheetContent:
    """The values of a worksheet from row 1, including blank rows. The first value of a row is in `first_column`."""

    rows: Iterator[Sequence[Value]]
    first_column: int
    flags: CellFlags


Texts = tuple[str, str, str]
"""The code, the message and the hint of a problem."""
BatchProblem = tuple[int, int, Texts]
"""A problem in a batch: the offset of its row and the index of its column, both from 0."""


@dataclass(slots=True)
class Batch:
    """Consecutive rows, column by column: the number of the first row, and how many they are; `typed` as in ColumnText.

    `links`: the addresses of hyperlinks, by row number and column index; `currencies`: likewise, what formats show.
    """

    first: int
    count: int
    columns: list[list[str]] = field(default_factory=list)
    typed: list[bool | bytes] = field(default_factory=list)
    problems: list[BatchProblem] = field(default_factory=list)
    links: dict[int, dict[int, str]] = field(default_factory=dict)
    currencies: dict[int, dict[int, str]] = field(default_factory=dict)

    def widen(self, width: int) -> None:
        while len(self.columns) < width:
            self.columns.append([""] * self.count)
            self.typed.append(False)

    def write_problem(self, row: int, index: int, text: str, problem: Problem) -> None:
        self.widen(index + 1)
        self.columns[index][row - self.first] = text
        self.add_problem(row, index, problem)

    def add_problem(self, row: int, index: int, problem: Problem) -> None:
        self.problems.append((row - self.first, index, (problem.code, problem.message, problem.hint)))

    def own(self, flags: dict[int, _T]) -> Iterator[tuple[int, _T]]:
        """The flags of the rows of this batch."""
        if flags:
            for row in range(self.first, self.first + self.count):
                if row in flags:
                    yield row, flags[row]


class Batches:
    """The batches of a worksheet. `lost_digits`, as in SheetFacts, is complete after the last batch."""

    def __init__(self, content: SheetContent) -> None:
        self._content = content
        self.lost_digits: dict[int, int] = {}

    def __iter__(self) -> Iterator[Batch]:
        first, last_flagged = 1, self._content.flags.last_row
        while rows := list(islice(self._content.rows, _ROWS)):
            for _, alike in groupby(rows, lambda row: len(row) > _WIDE):
                some = list(alike)
                yield self._batch(first, list(zip_longest(*some, fillvalue="")), len(some))
                first += len(some)
        # Errors and formulas may follow the reader's last value.
        while first <= last_flagged:
            count = min(_ROWS, last_flagged - first + 1)
            yield self._batch(first, [], count)
            first += count

    def _batch(self, first: int, values: Sequence[Sequence[Value]], count: int) -> Batch:
        batch = Batch(first, count)
        batch.widen(self._content.first_column)
        for index, column in enumerate(values, self._content.first_column):
            text = column_text(column)
            batch.columns.append(text.cells)
            batch.typed.append(text.typed)
            errors = self._content.flags.errors
            for at, problem in text.problems:
                if index not in errors.get(first + at, ()):
                    batch.add_problem(first + at, index, problem)
            if text.lost_digits is not None:
                self.lost_digits.setdefault(index, first + text.lost_digits)
        self._note_formats(batch, values)
        self._note_problems(batch)
        batch.links = dict(batch.own(self._content.flags.links))
        return batch

    def _note_formats(self, batch: Batch, values: Sequence[Sequence[Value]]) -> None:
        for row, formats in batch.own(self._content.flags.formats):
            for index, number_format in formats.items():
                at = index - self._content.first_column
                value = values[at][row - batch.first] if 0 <= at < len(values) else ""
                if isinstance(value, int | float) and not isinstance(value, bool):
                    if currency := currency_of_format(number_format):
                        batch.currencies.setdefault(row, {})[index] = currency
                    batch.columns[index][row - batch.first] = formatted_number(value, number_format)
                elif number_format == DURATION and isinstance(value, str):
                    batch.columns[index][row - batch.first] = duration_text(value)

    def _note_problems(self, batch: Batch) -> None:
        for row, errors in batch.own(self._content.flags.errors):
            for index, error in errors.items():
                batch.write_problem(row, index, error, error_cell(error))
        for row, indexes in batch.own(self._content.flags.unstored):
            for index in sorted(indexes):
                batch.write_problem(row, index, NO_RESULT, formula_without_value())


# --- the texts of a column ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnText:
    """The texts of some cells of one column.

    `typed`: which of them the workbook stores as a number, date or boolean: all, none, or one byte for each cell.
    `problems`: positions with their problems. `lost_digits`: the position of the first number with too many digits.
    """

    cells: list[str]
    typed: bool | bytes
    problems: Sequence[tuple[int, Problem]] = ()
    lost_digits: int | None = None


def column_text(values: Sequence[Value]) -> ColumnText:
    """The texts of a column's values (at least one); "" for an empty cell.

    A column mostly has one type, and then many cells are checked at once. This saves 0.5 s of 3 s for 200,000 rows of
    12 columns.
    """
    kinds = set(map(type, values))
    if kinds == {str}:
        if is_plain("".join(values)):  # type: ignore[arg-type]  # all are str
            return ColumnText(list(map(str.strip, values)), False)  # type: ignore[arg-type]  # likewise
    elif str not in kinds:
        return ColumnText(list(map(cell_text, values)), True, lost_digits=_lost_digits(values))
    texts = [clean(value) if isinstance(value, str) else cell_text(value) for value in values]
    typed = kinds != {str} and bytes([type(value) is not str for value in values])
    is_text = (isinstance(value, str) for value in values)
    problems = [(at, problem) for at, text in enumerate(texts) if next(is_text) and (problem := find_problem(text))]
    return ColumnText(texts, typed, problems, _lost_digits(values))


def _lost_digits(values: Sequence[Value]) -> int | None:
    kinds = (int, float)
    return next((at for at, value in enumerate(values) if type(value) in kinds and has_lost_digits(value)), None)  # type: ignore[arg-type]  # a number


# --- the messages between parent and child ------------------------------------------------------


_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Request:
    """The parent's request. `engine` is the reader; `name` is the file name for messages."""

    path: str
    name: str
    kind: str
    engine: str
    sheet: str | None
    memory: int
    seconds: float
    unpacked: int


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """What is known of a sheet after all its rows were read.

    `others`: the visible sheets that are not read; `visible`: all of them. `hidden`: the numbers of the hidden rows.
    `merged`: the merged cells, each as the fields of a MergedRange. `unchecked` as in CellFlags. `lost_digits`: by
    column index, the row of the first number with more digits than a spreadsheet stores. `has_links`: whether cells
    have hyperlinks to web addresses. `copy_of` as in Sheet.
    """

    title: str
    others: Sequence[str]
    visible: Sequence[str]
    hidden: Sequence[int]
    merged: Sequence[tuple[int, int, int, int]]
    unchecked: str
    lost_digits: dict[int, int]
    has_links: bool
    copy_of: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the workbook cannot be used."""

    problems: Sequence[Texts]


Message = Request | Batch | SheetFacts | Refusal
_KINDS = {kind.__name__: kind for kind in (Request, Batch, SheetFacts, Refusal)}


def frame(message: Message) -> bytes:
    """A message as bytes, preceded by their length. Its fields are values that marshal knows."""
    return with_length(encoded(message))


def encoded(message: Message) -> bytes:
    """The bytes that `decoded` reads."""
    return marshal.dumps((type(message).__name__, [getattr(message, name) for name in message.__slots__]))


def with_length(data: bytes) -> bytes:
    """What `read_frame` reads."""
    return _LENGTH.pack(len(data)) + data


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The bytes of the next message, without the length; None if the pipe ends before or inside the message."""
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    data = pipe.read(size)
    return data if len(data) == size else None


def decoded(data: bytes) -> Message:
    """The message in the bytes that `read_frame` returns."""
    kind, fields = marshal.loads(data)
    return _KINDS[kind](*fields)
