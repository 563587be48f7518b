"""Looks through the records of an XLSB worksheet for what calamine (0.9) does not give.

Errors are blank to it; number formats, hidden rows and merged cells of an XLSB it does not know.

The records are those of [MS-XLSB] 2.4: a type and a size of up to two and four bytes, seven bits in each.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile
from collections.abc import Iterator

from importer.extract.cell_flags import (
    BinaryRecord,
    CellFlags,
    DamagedError,
    MergedRange,
    checked_row,
    error_text,
    formats_by_style,
)
from importer.extract.xlsx_package import parsed

_ROW, _SHEET, _FORMAT, _STYLE, _MERGED = 0, 156, 44, 47, 176
_STYLES_BEGIN, _STYLES_END = 617, 618
_ERRORS = (3, 11)  # a cell with an error, a formula that gave one
_CELLS = range(1, 12)
_ROW_HIDDEN = 0x10


def find_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    """The flags of the worksheet with a title.

    Raises:
        DamagedError, BadZipFile: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged too, or written in another way than we know.
    """
    formats = _formats(archive)
    flags = CellFlags()
    row = 0
    for record in _records(archive.read(_path(archive, title))):
        if record.kind == _ROW:
            row = checked_row(struct.unpack_from("<I", record.body)[0] + 1)
            if record.body[11] & _ROW_HIDDEN:
                flags.hidden.add(row)
        elif record.kind == _MERGED:
            top, bottom, left, right = struct.unpack_from("<IIII", record.body)
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        elif record.kind in _CELLS:
            index, style = struct.unpack_from("<II", record.body)
            if record.kind in _ERRORS:
                flags.errors[row][index] = error_text(record.body[8])
            if style & 0xFFFFFF in formats:
                flags.formats[row][index] = formats[style & 0xFFFFFF]
    return flags


def _path(archive: zipfile.ZipFile, title: str) -> str:
    with archive.open("xl/_rels/workbook.bin.rels") as rels:
        targets = {relation.get("Id"): relation.get("Target") or "" for relation in parsed(rels)}
    for record in _records(archive.read("xl/workbook.bin")):
        if record.kind == _SHEET:
            relation = _text(record.body, 8)
            if _text(record.body, 12 + 2 * len(relation)) == title:
                return posixpath.normpath(posixpath.join("/xl", targets[relation])).lstrip("/")
    raise KeyError(title)


def _formats(archive: zipfile.ZipFile) -> dict[int, str]:
    if "xl/styles.bin" not in archive.namelist():
        return {}
    codes: dict[int, str] = {}
    styles: list[int] = []
    in_styles = False
    for record in _records(archive.read("xl/styles.bin")):
        if record.kind == _FORMAT:
            codes[struct.unpack_from("<H", record.body)[0]] = _text(record.body, 2)
        elif record.kind in (_STYLES_BEGIN, _STYLES_END):
            in_styles = record.kind == _STYLES_BEGIN
        elif record.kind == _STYLE and in_styles:
            styles.append(struct.unpack_from("<H", record.body, 2)[0])
    return formats_by_style(codes, styles)


def _records(content: bytes) -> Iterator[BinaryRecord]:
    at = 0
    while at < len(content):
        kind = content[at] & 0x7F
        if content[at] & 0x80:
            at += 1
            kind |= (content[at] & 0x7F) << 7
        at += 1
        size = shift = 0
        while True:
            size |= (content[at] & 0x7F) << shift
            at += 1
            if not content[at - 1] & 0x80 or shift == 21:
                break
            shift += 7
        if at + size > len(content):
            raise DamagedError("a record is cut off")
        yield BinaryRecord(kind, content[at : at + size])
        at += size


def _text(body: bytes, at: int) -> str:
    length = struct.unpack_from("<I", body, at)[0]
    return body[at + 4 : at + 4 + 2 * length].decode("utf-16-le")
