"""Writes small workbooks in the format that our libraries do not write: XLS."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from tests.sources.corpus.writers import Cell, Table

Merged = tuple[int, int, int, int]  # first row, last row, first column, last column, each from 0

_ERRORS = {"#NULL!": 0x00, "#DIV/0!": 0x07, "#VALUE!": 0x0F, "#REF!": 0x17, "#NAME?": 0x1D, "#NUM!": 0x24, "#N/A": 0x2A}
_EPOCH = date(1899, 12, 30)
_STYLES = {"General": 0, "00000": 1, "0%": 2, "date": 3, '"EMP-"@': 4}
_FORMATS = {"00000": 164, '"EMP-"@': 165}  # the others are built-in
_NUMBERS = (0, 164, 9, 14, 165)  # of the formats of _STYLES


@dataclass(frozen=True)
class Error:
    """A cell that shows an error; `formula`: as the result of one."""

    text: str
    formula: bool = False


@dataclass(frozen=True)
class Shown:
    """A number or text with a format, one of _STYLES; `short`: a whole number in the short form (RK)."""

    value: float | str
    number_format: str
    short: bool = False


@dataclass(frozen=True)
class Formula:
    """A formula with a number, boolean or text as its result; `kind`: of its record; a short `longest`
    divides a text into several records."""

    value: float | bool | str
    kind: int = 0x06
    number_format: str = "General"
    longest: int = 8224


BinaryCell = Cell | Error | Shown | Formula
BinaryTable = list[list[BinaryCell]]


def _style(cell: BinaryCell) -> int:
    return _STYLES[
        "date" if isinstance(cell, date) else cell.number_format if isinstance(cell, Shown | Formula) else "General"
    ]


def _value(cell: BinaryCell) -> BinaryCell:
    return cell.value if isinstance(cell, Shown) else cell


def _number(cell: BinaryCell) -> float:
    if isinstance(cell, date):
        return float((cell - _EPOCH).days)
    return float(cell.value if isinstance(cell, Shown) else cell)  # type: ignore[arg-type]  # a number


def _filled(table: BinaryTable | Table) -> Iterator[tuple[int, list[tuple[int, BinaryCell]]]]:
    for row, cells in enumerate(table):
        yield row, [(index, cell) for index, cell in enumerate(cells) if cell is not None and cell != ""]


# --- XLS ----------------------------------------------------------------------------------------


def xls_bytes(
    table: BinaryTable | Table,
    title: str = "Sheet",
    hidden: frozenset[int] = frozenset(),
    merged: Sequence[Merged] = (),
    stream: str = "Workbook",
    beside: bytes | None = None,
    first: bytes = b"",
    sheet_type: int = 0,
) -> bytes:
    """A table as BIFF8 in an OLE2 container; `hidden` are the numbers of hidden rows.

    `first` is the first record of the workbook; `sheet_type` 1 is a macro sheet, 2 a chart. `stream` is
    the name of the stream; `beside` the content of one named Book before it, as for older programs.
    """
    begin = _biff(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + first
    formats = b"".join(_biff(0x41E, struct.pack("<H", number) + _biff_text(code)) for code, number in _FORMATS.items())
    styles = b"".join(_biff(0xE0, struct.pack("<HH16x", 0, number)) for number in _NUMBERS)
    end = _biff(0x0A, b"")
    sheet_name = b"\x00" + title.encode("latin-1")
    start = len(begin + formats + styles + end) + 4 + 6 + 1 + len(sheet_name)
    listed = _biff(0x85, struct.pack("<IBB", start, 0, sheet_type) + bytes([len(title)]) + sheet_name)
    sheet = _biff(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    for row, cells in _filled(table):
        grbit = 0x120 if row + 1 in hidden else 0x100
        sheet += _biff(0x208, struct.pack("<HHHHHHHH", row, 0, 256, 255, 0, 0, grbit, 0))
        for is_short, run in groupby(cells, lambda pair: isinstance(pair[1], Shown) and pair[1].short):
            some = list(run)
            sheet += _short_numbers(row, some) if is_short else b"".join(_xls_cells(row, some))
    if merged:
        ranges = b"".join(struct.pack("<HHHH", *each) for each in merged)
        sheet += _biff(0xE5, struct.pack("<H", len(merged)) + ranges)
    streams = {"Book": beside} if beside is not None else {}
    return _ole(streams | {stream: begin + formats + styles + listed + end + sheet + end})


def xls5_bytes(table: BinaryTable | Table, hidden: frozenset[int] = frozenset()) -> bytes:
    """A table as Excel 5.0 and 95 write it, in Turkish; `hidden` are the numbers of hidden rows."""
    return _ole({"Book": xls5_stream(table, hidden)})


def xls5_stream(table: BinaryTable | Table, hidden: frozenset[int] = frozenset()) -> bytes:
    """The stream of such a workbook: BIFF5, whose texts have one byte per character."""
    begin = _biff(0x809, struct.pack("<HHHH", 0x500, 5, 0, 0)) + _biff(0x42, struct.pack("<H", 1254))
    formats = b"".join(
        _biff(0x41E, struct.pack("<HB", number, len(code)) + code.encode()) for code, number in _FORMATS.items()
    )
    styles = b"".join(_biff(0xE0, struct.pack("<HH12x", 0, number)) for number in _NUMBERS)
    end = _biff(0x0A, b"")
    start = len(begin + formats + styles + end) + 4 + 7 + len("Sheet")
    sheet = _biff(0x85, struct.pack("<IHB", start, 0, 5) + b"Sheet") + end
    sheet += _biff(0x809, struct.pack("<HHHH", 0x500, 0x10, 0, 0))
    for row, cells in _filled(table):
        grbit = 0x120 if row + 1 in hidden else 0x100
        sheet += _biff(0x208, struct.pack("<HHHHHHHH", row, 0, 256, 255, 0, 0, grbit, 0))
        for index, cell in cells:
            head = struct.pack("<HHH", row, index, _style(cell))
            if isinstance(cell, str):
                text = cell.encode("cp1254")
                sheet += _biff(0x204, head + struct.pack("<H", len(text)) + text)
            else:
                sheet += _xls_cell(head, _value(cell))
    return begin + formats + styles + sheet + end


def _short_numbers(row: int, cells: Sequence[tuple[int, BinaryCell]]) -> bytes:
    """One record (RK), or one for cells that follow each other (MULRK), as Excel writes them."""
    numbers = b"".join(struct.pack("<Hi", _style(cell), int(_number(cell)) << 2 | 2) for _, cell in cells)
    head = struct.pack("<HH", row, cells[0][0])
    return (
        _biff(0x27E, head + numbers)
        if len(cells) == 1
        else _biff(0xBD, head + numbers + struct.pack("<H", cells[-1][0]))
    )


def _xls_cells(row: int, cells: Sequence[tuple[int, BinaryCell]]) -> Iterator[bytes]:
    for index, cell in cells:
        yield _xls_cell(struct.pack("<HHH", row, index, _style(cell)), _value(cell))


def _xls_formula(head: bytes, formula: Formula) -> bytes:
    code = struct.pack("<HIH", 0, 0, 3) + b"\x1e\x01\x00"
    if isinstance(formula.value, bool):
        return _biff(formula.kind, head + bytes([1, 0, formula.value, 0, 0, 0, 0xFF, 0xFF]) + code)
    if isinstance(formula.value, float):
        return _biff(formula.kind, head + struct.pack("<d", formula.value) + code)
    text = formula.value.encode("utf-16-le")
    parts = [text[at : at + formula.longest] for at in range(0, len(text), formula.longest)]
    length = struct.pack("<H", len(text) // 2)
    records = [_biff(0x3C if at else 0x207, (b"" if at else length) + b"\x01" + part) for at, part in enumerate(parts)]
    return _biff(formula.kind, head + bytes(6) + b"\xff\xff" + code) + b"".join(records)


def _xls_cell(head: bytes, cell: BinaryCell) -> bytes:
    if isinstance(cell, Formula):
        return _xls_formula(head, cell)
    if isinstance(cell, Error) and cell.formula:
        return _biff(0x06, head + bytes([2, 0, _ERRORS[cell.text], 0, 0, 0, 0xFF, 0xFF]) + bytes(8))
    if isinstance(cell, Error):
        return _biff(0x205, head + bytes([_ERRORS[cell.text], 1]))
    if isinstance(cell, bool):
        return _biff(0x205, head + bytes([cell, 0]))
    if isinstance(cell, str):
        return _biff(0x204, head + _biff_text(cell))
    return _biff(0x203, head + struct.pack("<d", _number(cell)))


def _biff(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _biff_text(text: str) -> bytes:
    return struct.pack("<HB", len(text.encode("utf-16-le")) // 2, 1) + text.encode("utf-16-le")


def _ole(streams: dict[str, bytes]) -> bytes:
    """A container with streams, each long enough to lie in whole sectors."""
    fat, entries, sectors = [0xFFFFFFFD, 0xFFFFFFFE], _entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1), b""
    for name, stream in streams.items():
        content = stream.ljust(4096, b"\0").ljust(-(-len(stream) // 512) * 512, b"\0")
        start = len(fat)
        fat += [*range(start + 1, start + len(content) // 512), 0xFFFFFFFE]
        is_last = name == [*streams][-1]
        right = 0xFFFFFFFF if is_last else len(entries) // 128 + 1  # the next one
        entries += _entry(name, 2, start, max(len(stream), 4096), right=right)
        sectors += content
    assert len(fat) <= 128, "one FAT sector is enough for the corpus"
    fat += [0xFFFFFFFF] * (128 - len(fat))
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", 0) + b"\xff" * (108 * 4)
    return header + struct.pack("<128I", *fat) + entries.ljust(512, b"\0") + sectors


def _entry(name: str, kind: int, start: int, size: int, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF) -> bytes:
    coded = (name + "\0").encode("utf-16-le")
    none = 0xFFFFFFFF
    entry = coded.ljust(64, b"\0") + struct.pack("<HBBIII", len(coded), kind, 1, none, right, child)
    return entry + bytes(36) + struct.pack("<IQ", start, size)
