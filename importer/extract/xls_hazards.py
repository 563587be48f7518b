"""Looks through the records of an XLS worksheet for what calamine does not give: errors, formats, hidden rows.

The records are those of [MS-XLS] 2.4 (BIFF8): type and size of two bytes each. Those of Excel 5.0 and 95 (BIFF5) are
the same but for their texts, which have a byte for each letter, in the workbook's code page.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from importer.extract.binary_errors import error_text
from importer.extract.hazards import DamagedError, Hazards, MergedRange
from importer.extract.number_format import changes_text
from importer.extract.ole_stream import read_stream

_BEGIN, _EOF, _SHEET, _FORMAT, _STYLE, _CODE_PAGE = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x42
_ROW, _ERROR_OR_BOOLEAN, _FORMULA, _NUMBER, _RK, _RKS = 0x208, 0x205, 0x06, 0x203, 0x27E, 0xBD
_MERGED = 0xE5
_ROW_HIDDEN = 0x20
_BUILT_IN = {9: "0%", 10: "0.00%"}
_BIFF8 = 0x600
_CODE_PAGES = {1200: "utf-16-le", 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252"}  # others are cp and number


@dataclass(frozen=True, slots=True)
class _Record:
    """A record: its type and what it holds."""

    kind: int
    body: bytes


def find_hazards(path: Path, title: str) -> Hazards:
    """The hazards of the worksheet with a title.

    Raises:
        DamagedError: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged too, or written in another way than we know.
    """
    content = read_stream(path, ("Workbook", "Book"))
    codes = dict(_BUILT_IN)
    styles: list[int] = []
    starts: dict[str, int] = {}
    code_page: str | None = "cp1252"  # None: the texts are those of BIFF8
    for record in _records(content, 0):
        if record.kind == _BEGIN and struct.unpack_from("<H", record.body)[0] >= _BIFF8:
            code_page = None
        elif record.kind == _CODE_PAGE and code_page is not None:
            number = struct.unpack_from("<H", record.body)[0]
            code_page = _CODE_PAGES.get(number, f"cp{number}")
        elif record.kind == _FORMAT:
            length_form = "<B" if code_page else "<H"
            codes[struct.unpack_from("<H", record.body)[0]] = _text(record.body, 2, length_form, code_page)
        elif record.kind == _STYLE:
            styles.append(struct.unpack_from("<H", record.body, 2)[0])
        elif record.kind == _SHEET:
            starts[_text(record.body, 6, "<B", code_page)] = struct.unpack_from("<I", record.body)[0]
    named = {style: codes.get(number, "") for style, number in enumerate(styles)}
    formats = {style: code for style, code in named.items() if changes_text(code)}
    hazards = Hazards()
    for record in _records(content, starts[title]):
        _note(record, formats, hazards)
    return hazards


def _note(record: _Record, formats: dict[int, str], hazards: Hazards) -> None:
    body = record.body
    if record.kind == _ROW:
        if body[12] & _ROW_HIDDEN:
            hazards.hidden.add(struct.unpack_from("<H", body)[0] + 1)
        return
    if record.kind == _MERGED:
        for top, bottom, left, right in struct.iter_unpack(
            "<HHHH", body[2 : 2 + 8 * struct.unpack_from("<H", body)[0]]
        ):
            hazards.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        return
    if record.kind not in (_ERROR_OR_BOOLEAN, _FORMULA, _NUMBER, _RK, _RKS):
        return
    row, index, style = struct.unpack_from("<HHH", body)
    row += 1
    if record.kind == _ERROR_OR_BOOLEAN and body[7]:
        hazards.errors[row][index] = error_text(body[6])
    elif record.kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2:
        hazards.errors[row][index] = error_text(body[8])
    elif record.kind == _RKS:
        for at in range(4, len(body) - 2, 6):
            _note_format(row, index + (at - 4) // 6, struct.unpack_from("<H", body, at)[0], formats, hazards)
        return
    _note_format(row, index, style, formats, hazards)


def _note_format(row: int, index: int, style: int, formats: dict[int, str], hazards: Hazards) -> None:
    if style in formats:
        hazards.formats[row][index] = formats[style]


def _records(content: bytes, at: int) -> Iterator[_Record]:
    """The records of a substream: the globals at 0, a worksheet at its own start."""
    while at + 4 <= len(content):
        kind, size = struct.unpack_from("<HH", content, at)
        if at + 4 + size > len(content):
            raise DamagedError("a record is cut off")
        if kind == _EOF:
            return
        yield _Record(kind, content[at + 4 : at + 4 + size])
        at += 4 + size
    raise ValueError("the workbook is cut off")


def _text(body: bytes, at: int, length_form: str, code_page: str | None) -> str:
    length = struct.unpack_from(length_form, body, at)[0]
    at += struct.calcsize(length_form)
    if code_page is not None:
        return body[at : at + length].decode(code_page, "replace")
    if body[at] & 1:
        return body[at + 1 : at + 1 + 2 * length].decode("utf-16-le")
    return body[at + 1 : at + 1 + length].decode("latin-1")
