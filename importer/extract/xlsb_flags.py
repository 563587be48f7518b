"""Scans the records of an XLSB worksheet for what calamine (0.9) does not return.

calamine returns error cells as blank, and neither number formats, nor hidden rows, nor merged cells.

The records follow [MS-XLSB] 2.4: a type of up to two bytes and a size of up to four, seven bits in each.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
from collections.abc import Iterator

from importer.extract.binary_cells import (
    COLUMNS_HIDDEN,
    DATE_NUMBER,
    DATE_RK,
    NOTHING,
    Record,
    error_text,
    long,
    note_date,
    plain_number_cell,
    rk_number,
    short,
    style_but,
)
from importer.extract.cell_flags import LAST_COLUMN, CellFlags, CellStyles, DamagedError, MergedRange, checked_row
from importer.extract.xlsx_package import parsed

_ROW, _SHEET, _FORMAT, _STYLE, _MERGED = 0, 156, 44, 47, 176
_STYLES_BEGIN, _STYLES_END = 617, 618
_ERRORS = (3, 11)  # an error cell, a formula with an error as its result
_CELLS = range(1, 12)
_RK, _BOOK = 2, 153
_NUMBERS = (_RK, 5, 9)  # also the result of a formula
_ROW_HIDDEN = 0x10
_COLUMNS = 60


def find_xlsb_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    """The flags of the worksheet with this title.

    Raises:
        DamagedError, BadZipFile: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged, or has a form that this scan does not support.
    """
    path, is_1904 = _sheet(archive, title)
    styles = _styles(archive, is_1904=is_1904)
    flags = CellFlags()
    row = 0
    for kind, body in _records(archive.read(path), _plain_cells(styles)):
        if kind == _ROW:
            row = checked_row(long(body) + 1)
            if body[11] & _ROW_HIDDEN:
                flags.hidden.add(row)
        elif kind == _COLUMNS:
            if body[16] & COLUMNS_HIDDEN:
                flags.hidden_columns.update(range(long(body), min(long(body, 4) + 1, LAST_COLUMN)))
        elif kind == _MERGED:
            top, bottom, left, right = struct.unpack_from("<IIII", body)
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        elif kind in _CELLS:
            index, style = struct.unpack_from("<II", body)
            if kind in _ERRORS:
                flags.errors[row][index] = error_text(body[8])
            style &= 0xFFFFFF
            if style in styles.formats:
                flags.formats[row][index] = styles.formats[style]
            if style in styles.dates and kind in _NUMBERS:
                serial = rk_number(long(body, 8)) if kind == _RK else struct.unpack_from("<d", body, 8)[0]
                note_date(serial, styles, style, row, index, flags)
    return flags


def _plain_cells(styles: CellStyles) -> re.Pattern[bytes]:
    number, rk = (
        plain_number_cell(styles, 3, b".", *forms) for forms in ((rb".{8}", DATE_NUMBER), (rb".{4}", DATE_RK))
    )
    unformatted = style_but(styles.formats, 3) + b"."
    cells = (
        rb"\x07\x0c.{4}" + unformatted + rb".{4}",  # BrtCellIsst
        rb"\x01\x08.{4}" + unformatted,  # BrtCellBlank
        rb"\x05\x10.{4}" + number,
        rb"\x02\x0c.{4}" + rk,
        rb"\x04\x09.{9}",  # BrtCellBool
    )
    return re.compile(rb"(?:" + rb"|".join(cells) + rb")++", re.DOTALL)


def _sheet(archive: zipfile.ZipFile, title: str) -> tuple[str, bool]:
    """The path of a worksheet, and whether the workbook counts days from 1904."""
    is_1904 = False
    with archive.open("xl/_rels/workbook.bin.rels") as rels:
        targets = {relation.get("Id"): relation.get("Target") or "" for relation in parsed(rels)}
    for kind, body in _records(archive.read("xl/workbook.bin")):
        if kind == _BOOK:
            is_1904 = bool(body[0] & 1)
        elif kind == _SHEET:
            relation = _text(body, 8)
            if _text(body, 12 + 2 * len(relation)) == title:
                return posixpath.normpath(posixpath.join("/xl", targets[relation])).lstrip("/"), is_1904
    raise KeyError(title)


def _styles(archive: zipfile.ZipFile, *, is_1904: bool) -> CellStyles:
    if "xl/styles.bin" not in archive.namelist():
        return CellStyles(is_1904=is_1904)
    codes: dict[int, str] = {}
    styles: list[int] = []
    in_styles = False
    for kind, body in _records(archive.read("xl/styles.bin")):
        if kind == _FORMAT:
            codes[short(body)] = _text(body, 2)
        elif kind in (_STYLES_BEGIN, _STYLES_END):
            in_styles = kind == _STYLES_BEGIN
        elif kind == _STYLE and in_styles:
            styles.append(short(body, 2))
    return CellStyles.of(codes, styles, is_1904=is_1904)


def _records(content: bytes, skipped: re.Pattern[bytes] = NOTHING) -> Iterator[Record]:
    at = 0
    while at < len(content):
        if run := skipped.match(content, at):
            at = run.end()
            continue
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
        yield kind, content[at : at + size]
        at += size


def _text(body: bytes, at: int) -> str:
    length = long(body, at)
    return body[at + 4 : at + 4 + 2 * length].decode("utf-16-le")
