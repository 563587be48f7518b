"""What the child that reads a workbook tells its parent: a head, batches of rows, an end; or the problems it met."""

from __future__ import annotations

import marshal
import struct
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import IO, Any

from importer.extract.hazards import MergedRange
from importer.extract.joined_cells import Cells, compact, taken_apart
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


@dataclass(frozen=True, slots=True)
class SheetHead:
    """The sheet that is read, the visible ones that are not, the numbers of its hidden rows, and its merged cells.

    `unchecked` as in Hazards.
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
class BatchDraft:
    """A batch as it is written, its columns as compact as they could be made."""

    first: int
    columns: Sequence[Cells]
    typed: Sequence[bool | bytes]
    flaws: Sequence[CellFlaw]


@dataclass(frozen=True, slots=True)
class LostDigits:
    """The first cell of a column whose number has more digits than a spreadsheet keeps."""

    row: int
    index: int


@dataclass(frozen=True, slots=True)
class SheetEnd:
    """The sheet was read to its end."""

    lost_digits: Sequence[LostDigits]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The workbook cannot be used, and the child knows why."""

    problems: Sequence[Problem]


def write_request(request: Request) -> bytes:
    """The bytes of a request."""
    return marshal.dumps(astuple(request))


def read_request(data: bytes) -> Request:
    """The request in such bytes."""
    return Request(*marshal.loads(data))


def write_head(head: SheetHead) -> bytes:
    merged = list(map(astuple, head.merged))
    return _framed("head", (head.title, list(head.others), list(head.hidden), merged, head.unchecked))


def write_batch(batch: BatchDraft) -> bytes:
    flaws = [(flaw.offset, flaw.index, flaw.code, flaw.message, flaw.hint) for flaw in batch.flaws]
    return _framed("batch", (batch.first, list(map(compact, batch.columns)), batch.typed, flaws))


def write_end(end: SheetEnd) -> bytes:
    return _framed("end", [(lost.row, lost.index) for lost in end.lost_digits])


def write_refusal(refusal: Refusal) -> bytes:
    return _framed("refusal", [(each.code, each.message, each.hint) for each in refusal.problems])


def read_frame(pipe: IO[bytes]) -> bytes | None:
    """The next frame as it came; None where the pipe ends, if need be inside a frame."""
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    frame = pipe.read(size)
    return frame if len(frame) == size else None


def decoded(frame: bytes) -> SheetHead | Batch | SheetEnd | Refusal:
    """What a frame says."""
    kind, body = marshal.loads(frame)
    if kind == "head":
        title, others, hidden, merged, unchecked = body
        return SheetHead(title, others, hidden, [MergedRange(*each) for each in merged], unchecked)
    if kind == "batch":
        first, columns, typed, flaws = body
        return Batch(first, list(map(taken_apart, columns)), typed, [CellFlaw(*flaw) for flaw in flaws])
    if kind == "end":
        return SheetEnd([LostDigits(*lost) for lost in body])
    return Refusal([Problem(*problem) for problem in body])


def _framed(kind: str, body: Any) -> bytes:
    data = marshal.dumps((kind, body))
    return _LENGTH.pack(len(data)) + data
