"""What the process that reads a workbook is asked, and answers: a head, batches of rows, an end; or its problems."""

from __future__ import annotations

import marshal
import struct
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import IO, Any

from importer.extract.cell_flags import MergedRange
from importer.models import Problem

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Request:
    """What the parent asks for. `engine` names the reader; `name` is how the person knows the file."""

    path: str
    name: str
    kind: str
    engine: str
    sheet: str | None
    memory: int
    seconds: float
    unpacked: int

    def to_bytes(self) -> bytes:
        return marshal.dumps(astuple(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Request:
        return cls(*marshal.loads(data))


@dataclass(frozen=True, slots=True)
class SheetHead:
    """The sheet that is read, the visible ones that are not, the numbers of its hidden rows, and its merged cells.

    `unchecked` as in CellFlags.
    """

    title: str
    others: Sequence[str]
    hidden: Sequence[int]
    merged: Sequence[MergedRange]
    unchecked: str


@dataclass(frozen=True, slots=True)
class CellFlaw:
    """A flaw at a position of a batch: `offset` is the row's, `index` the column's, both from 0."""

    offset: int
    index: int
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows, column by column. `first` is the number of the first row; `typed` as in ColumnText."""

    first: int
    columns: Sequence[Sequence[str]]
    typed: Sequence[bool | bytes]
    flaws: Sequence[CellFlaw]


@dataclass(frozen=True, slots=True)
class SheetEnd:
    """The sheet was read to its end.

    `lost_digits`: by column index, the row of the first number that has more digits than a spreadsheet keeps.
    """

    lost_digits: dict[int, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The workbook cannot be used, and the child knows why."""

    problems: Sequence[Problem]


Message = SheetHead | Batch | SheetEnd | Refusal


def frame(message: Message) -> bytes:
    """The bytes of a message: their length, then themselves."""
    body: Any
    match message:
        case SheetHead():
            kind, body = "head", astuple(message)
        case Batch(first, columns, typed, flaws):
            kind, body = "batch", (first, columns, typed, list(map(astuple, flaws)))
        case SheetEnd(lost_digits):
            kind, body = "end", lost_digits
        case Refusal(problems):
            kind, body = "refusal", [(each.code, each.message, each.hint) for each in problems]
    data = marshal.dumps((kind, body))
    return _LENGTH.pack(len(data)) + data


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next message as it came, without its length; None where the pipe ends, if need be inside a message."""
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    data = pipe.read(size)
    return data if len(data) == size else None


def decoded(data: bytes) -> Message:
    """The message that `read_frame` gave."""
    kind, body = marshal.loads(data)
    if kind == "head":
        title, others, hidden, merged, unchecked = body
        return SheetHead(title, others, hidden, [MergedRange(*each) for each in merged], unchecked)
    if kind == "batch":
        first, columns, typed, flaws = body
        return Batch(first, columns, typed, [CellFlaw(*flaw) for flaw in flaws])
    if kind == "end":
        return SheetEnd(body)
    return Refusal([Problem(*problem) for problem in body])
