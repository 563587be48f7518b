"""Scans the records of an XLS or XLSB worksheet for what calamine (0.9) does not return.

calamine returns error cells as blank, and neither number formats nor hidden rows. It returns the merged cells of an
XLS, but not those of an XLSB. In an XLS it skips formulas in the records of older programs, and cuts their long texts.

The records of an XLS follow [MS-XLS] 2.4 (BIFF8): type and size of two bytes each. Those of Excel 5.0 and 95 (BIFF5)
differ in their texts only: one byte per character, in the workbook's code page. The records of an XLSB follow
[MS-XLSB] 2.4: a type of up to two bytes and a size of up to four, seven bits in each.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from importer.extract.cell_flags import (
    LAST_COLUMN,
    CellFlags,
    CellStyles,
    DamagedError,
    Fault,
    MergedRange,
    UnknownFormError,
    checked_row,
)
from importer.extract.cell_text import Value
from importer.extract.date_cells import corrected_date, date_of
from importer.extract.xlsx_package import parsed
from importer.problems import Problem

# The error codes of the binary formats, as a person sees them.
_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}


_Record = tuple[int, bytes]  # type and content


def _short(body: bytes, at: int = 0) -> int:
    number: int = struct.unpack_from("<H", body, at)[0]
    return number


def _long(body: bytes, at: int = 0) -> int:
    number: int = struct.unpack_from("<I", body, at)[0]
    return number


def _error_text(code: int) -> str:
    """The text of an error code of [MS-XLS] 2.5.10."""
    return _ERRORS.get(code, "#N/A")


# --- plain cells ----------------------------------------------------------------------------------

# Cells that calamine returns as they are need no look. One expression finds where a run of them ends: 100,000 rows of
# 40 columns take 1 s instead of 4 s.
_DATE_NUMBER = rb".{6}(?:[\x50-\xff]\x40|[\x00-\x45]\x41)"  # from 64 to 2,883,583: a day for every reader
_NOTHING = re.compile(rb"(?!)")
_WHOLE = b"[" + re.escape(bytes(range(2, 256, 4))) + b"]"
_DATE_RK = _WHOLE + rb"(?!\x00\x00).[\x00-\xaf]\x00"  # the same as a whole number in the short form


def _plain_number(styles: CellStyles, width: int, flags: bytes, number: bytes, date: bytes) -> bytes:
    """The style of a cell, what is between, and its number: any one without a format, or a date."""
    undated, unformatted = _none_of((*styles.formats, *styles.dates), width), _none_of(styles.formats, width)
    return rb"(?:" + undated + flags + number + rb"|" + unformatted + flags + date + rb")"


def _none_of(styles: Iterable[int], width: int) -> bytes:
    """A style that is none of these, as a number of this width."""
    listed = b"|".join(re.escape(style.to_bytes(width, "little")) for style in styles)
    return (b"(?!" + listed + b")" if listed else b"") + b".{%d}" % width


# --- XLS ----------------------------------------------------------------------------------------


_BEGIN, _EOF, _XLS_SHEET, _XLS_FORMAT, _XLS_STYLE, _CODE_PAGE = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x42
_XLS_ROW, _ERROR_OR_BOOLEAN, _NUMBER, _RK, _RKS = 0x208, 0x205, 0x203, 0x27E, 0xBD
_OLD_FORMULAS = (0x206, 0x406)  # of Excel 3 and 4, which other programs write into newer workbooks too
_FORMULA = 0x06
_FORMULAS = (_FORMULA, *_OLD_FORMULAS)
_STRING, _CONTINUE, _OF_FORMULAS = 0x207, 0x3C, (0x4BC, 0x221, 0x236)  # the last: shared ones, arrays, tables
_XLS_TEXTS = (0xFD, 0x204, 0xD6)  # LABELSST, LABEL, RSTRING
_XLS_CELLS = (_ERROR_OR_BOOLEAN, *_FORMULAS, _NUMBER, _RK, _RKS, *_XLS_TEXTS)
_XLS_MERGED, _XLS_PASSWORD, _XLS_COLUMNS = 0xE5, 0x2F, 0x7D
_DATE_1904 = 0x22
_OVERWRITTEN = Fault(
    "#UNKNOWN!",
    Problem(
        "cell-error",
        "the text of the cell is not known: the formulas of this workbook have the form of an old program",
        "open the workbook in a spreadsheet program, save it as .xlsx, then import that file",
    ),
)
_XLS_ROW_HIDDEN = 0x20
_XLS_HIDDEN_FLAGS = re.escape(bytes(flags for flags in range(256) if flags & _XLS_ROW_HIDDEN))
_COLUMNS_HIDDEN = 0x01
_BIFF8 = 0x600
_CODE_PAGES = {1200: "utf-16-le", 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252"}  # others: cp + number


class _OldFormulaError(Exception):
    """All formulas must be looked at: calamine gives the text of an old one to another formula before it."""


class XlsBook:
    """An XLS workbook.

    Raises:
        DamagedError: it is encrypted, or damaged. calamine reads the oldest encryption (XOR) as if it were plain.
        LookupError, ValueError, struct.error: it is damaged, or has a form that this scan does not support.
    """

    def __init__(self, path: Path) -> None:
        self._content = _Container(path.read_bytes()).stream(("Workbook", "Book"))
        self._code_page: str | None = "cp1252"  # None: the texts are those of BIFF8
        self._starts: dict[str, int] = {}
        codes: dict[int, str] = {}
        styles: list[int] = []
        is_1904 = False
        for kind, body in _xls_records(self._content, 0):
            if kind == _XLS_PASSWORD:
                raise DamagedError("it is protected with a password")
            if kind == _BEGIN and _short(body) >= _BIFF8:
                self._code_page = None
            elif kind == _CODE_PAGE and self._code_page is not None:
                number = _short(body)
                self._code_page = _CODE_PAGES.get(number, f"cp{number}")
            elif kind == _XLS_FORMAT:
                length_form = "<B" if self._code_page else "<H"
                codes[_short(body)] = _xls_text(body, 2, length_form, self._code_page)
            elif kind == _XLS_STYLE:
                styles.append(_short(body, 2))
            elif kind == _DATE_1904:
                is_1904 = _short(body) == 1
            elif kind == _XLS_SHEET:
                self._starts[_xls_text(body, 6, "<B", self._code_page)] = _long(body)
        self._styles = CellStyles.of(codes, styles, is_1904=is_1904)

    @property
    def titles(self) -> Sequence[str]:
        """The titles of the sheets, in tab order."""
        return tuple(self._starts)

    def flags(self, title: str) -> CellFlags:
        """The flags of the worksheet with this title.

        Raises: as the class does.
        """
        try:
            return self._flags(title, are_formulas_plain=True)
        except _OldFormulaError:
            return self._flags(title, are_formulas_plain=False)

    def _flags(self, title: str, *, are_formulas_plain: bool) -> CellFlags:
        flags = CellFlags()
        texts = _FormulaTexts(flags, self._styles, self._code_page)
        plain = _plain_xls_cells(self._styles, are_formulas_plain=are_formulas_plain)
        for kind, body in _xls_records(self._content, self._starts[title], plain):
            if are_formulas_plain and kind in _OLD_FORMULAS:
                raise _OldFormulaError
            texts.note(kind, body)
            _note(kind, body, self._styles, flags)
        texts.end()
        return flags


def _plain_xls_cells(styles: CellStyles, *, are_formulas_plain: bool) -> re.Pattern[bytes]:
    number, rk = (_plain_number(styles, 2, b"", *forms) for forms in ((rb".{8}", _DATE_NUMBER), (rb".{4}", _DATE_RK)))
    cells = (
        rb"\xfd\x00\x0a\x00.{4}" + _none_of(styles.formats, 2) + rb".{4}",  # LABELSST
        rb"\x01\x02\x06\x00.{6}",  # BLANK
        rb"\x03\x02\x0e\x00.{4}" + number,
        rb"\x7e\x02\x0a\x00.{4}" + rk,
        rb"\x05\x02\x08\x00.{7}\x00",  # BOOLERR with a boolean
        *(
            rb"\xbd\x00%b\x00.{4}%b{%d}.." % (re.escape(bytes([6 + 6 * count])), rk, count) for count in range(2, 8)
        ),  # MULRK
        rb"\x08\x02\x10\x00.{12}[^" + _XLS_HIDDEN_FLAGS + rb"].{3}",  # ROW
        *([_plain_xls_formula(styles)] if are_formulas_plain else []),
    )
    return re.compile(rb"(?:" + rb"|".join(cells) + rb")++", re.DOTALL)


def _plain_xls_formula(styles: CellStyles) -> bytes:
    """A FORMULA whose result is a number or a boolean, without another record that belongs to it."""
    result = _plain_number(styles, 2, b"", rb"(?:.{6}(?!\xff\xff)..|\x01.{5}\xff\xff)", _DATE_NUMBER)
    sizes = b"|".join(re.escape(bytes([size])) + rb".{%d}" % (1 + size) for size in range(22, 128))
    following = b"|".join(re.escape(kind.to_bytes(2, "little")) for kind in (_STRING, *_OF_FORMULAS))
    return rb"\x06\x00(?=.\x00.{4}" + result + rb")(?:" + sizes + rb")(?!" + following + rb")"


def _note(kind: int, body: bytes, styles: CellStyles, flags: CellFlags) -> None:
    if kind == _XLS_ROW:
        if body[12] & _XLS_ROW_HIDDEN:
            flags.hidden.add(_short(body) + 1)
    elif kind == _XLS_COLUMNS:
        if body[8] & _COLUMNS_HIDDEN:
            flags.hidden_columns.update(range(_short(body), _short(body, 2) + 1))
    elif kind == _XLS_MERGED:
        for top, bottom, left, right in struct.iter_unpack("<HHHH", body[2 : 2 + 8 * _short(body)]):
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
    elif kind in _XLS_CELLS:
        row, index = struct.unpack_from("<HH", body)
        row += 1
        if kind == _ERROR_OR_BOOLEAN and body[7]:
            flags.errors[row][index] = _error_text(body[6])
        elif kind in _FORMULAS and body[12:14] == b"\xff\xff" and body[6] == 2:
            flags.errors[row][index] = _error_text(body[8])
        # One record may hold several numbers, of six bytes each.
        places = range(4, len(body) - 2, 6) if kind == _RKS else (4,)
        for column, at in enumerate(places, index):
            cell_style = _short(body, at)
            if cell_style in styles.formats:
                flags.formats[row][column] = styles.formats[cell_style]
            if (
                cell_style in styles.dates
                and kind not in _XLS_TEXTS
                and (serial := _xls_number(kind, body, at + 2)) is not None
            ):
                _note_date(serial, styles, cell_style, row, column, flags)


@dataclass(slots=True)
class _FormulaTexts:
    """Notes the texts of formulas that calamine cuts or skips: each follows its formula in one or more records.

    calamine gives the text of a formula that it skips to the last one that it does not, or to cell A1.
    """

    flags: CellFlags
    styles: CellStyles
    code_page: str | None
    formula: _Record | None = None
    parts: list[bytes] = field(default_factory=list)
    overwritten: tuple[int, int, Value | Fault] = (1, 0, _OVERWRITTEN)

    def note(self, kind: int, body: bytes) -> None:
        """Note a record of the worksheet."""
        if (kind == _STRING and self.formula) or (kind == _CONTINUE and self.parts):
            self.parts.append(body)
        elif kind not in _OF_FORMULAS:
            self.end()
            self.formula = (kind, body) if kind in _FORMULAS else None

    def end(self) -> None:
        """Note the formula that has ended, with its text."""
        if self.formula is None:
            return
        kind, body = self.formula
        row, index = struct.unpack_from("<HH", body)
        value = self._text() if self.parts else _result(body, self.styles)
        if kind == _FORMULA:
            self.overwritten = (row + 1, index, value)
        elif self.parts:
            self.flags.set_value(*self.overwritten)
        if self.parts and len(self._text()) < _short(self.parts[0]):
            self.flags.unstored[row + 1].add(index)
        elif kind != _FORMULA or len(self.parts) > 1:
            self.flags.set_value(row + 1, index, value)
        self.formula, self.parts = None, []

    def _text(self) -> str:
        first, *others = self.parts
        if self.code_page is not None:
            return b"".join((first[2:], *others)).decode(self.code_page, "replace")
        pieces = (first[2:], *others)  # each begins with the width of its characters
        return "".join(piece[1:].decode("utf-16-le" if piece[:1] == b"\1" else "latin-1") for piece in pieces)


def _result(formula: bytes, styles: CellStyles) -> Value | Fault:
    """The result of a formula, if it is not a text; "" for an error, which is noted elsewhere."""
    if formula[12:14] == b"\xff\xff":
        return bool(formula[8]) if formula[6] == 1 else ""
    number: float = struct.unpack_from("<d", formula, 6)[0]
    style = _short(formula, 4)
    if style not in styles.dates:
        return number
    corrected = corrected_date(number, styles, style)
    return date_of(number, styles, style) if corrected is None else corrected


def _note_date(serial: float, styles: CellStyles, style: int, row: int, index: int, flags: CellFlags) -> None:
    if (value := corrected_date(serial, styles, style)) is not None:
        flags.set_value(row, index, value)


def _xls_number(kind: int, body: bytes, at: int) -> float | None:
    """The number of a cell, whose content begins at `at`; None if it is an error, a text or a boolean."""
    if kind in (_RK, _RKS):
        return _rk_number(_long(body, at))
    if kind == _ERROR_OR_BOOLEAN or body[12:14] == b"\xff\xff":
        return None
    number: float = struct.unpack_from("<d", body, at)[0]
    return number


def _rk_number(coded: int) -> float:
    """A number in the short form of [MS-XLS] 2.5.217."""
    is_whole, is_cents = coded & 2, coded & 1
    if is_whole:
        number = float((coded - (1 << 32) if coded >> 31 else coded) >> 2)
    else:
        (number,) = struct.unpack("<d", struct.pack("<II", 0, coded & ~3))
    return number / 100 if is_cents else number


def _xls_records(content: bytes, at: int, skipped: re.Pattern[bytes] = _NOTHING) -> Iterator[_Record]:
    """The records of a substream: the globals at 0, a worksheet at its own offset; without those that are skipped."""
    while at + 4 <= len(content):
        if run := skipped.match(content, at):
            at = run.end()
            continue
        kind, size = struct.unpack_from("<HH", content, at)
        if at + 4 + size > len(content):
            raise DamagedError("a record is cut off")
        if kind == _EOF:
            return
        yield kind, content[at + 4 : at + 4 + size]
        at += 4 + size
    raise UnknownFormError("the workbook is cut off")


def _xls_text(body: bytes, at: int, length_form: str, code_page: str | None) -> str:
    length = struct.unpack_from(length_form, body, at)[0]
    at += struct.calcsize(length_form)
    if code_page is not None:
        return body[at : at + length].decode(code_page, "replace")
    if body[at] & 1:
        return body[at + 1 : at + 1 + 2 * length].decode("utf-16-le")
    return body[at + 1 : at + 1 + length].decode("latin-1")


# --- XLSB ---------------------------------------------------------------------------------------


_XLSB_ROW, _XLSB_SHEET, _XLSB_FORMAT, _XLSB_STYLE, _XLSB_MERGED = 0, 156, 44, 47, 176
_STYLES_BEGIN, _STYLES_END = 617, 618
_XLSB_ERRORS = (3, 11)  # an error cell, a formula with an error as its result
_XLSB_CELLS = range(1, 12)
_XLSB_RK, _XLSB_BOOK = 2, 153
_XLSB_NUMBERS = (_XLSB_RK, 5, 9)  # also the result of a formula
_XLSB_ROW_HIDDEN = 0x10
_XLSB_COLUMNS = 60


def find_xlsb_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    """The flags of the worksheet with this title.

    Raises:
        DamagedError, BadZipFile: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged, or has a form that this scan does not support.
    """
    path, is_1904 = _xlsb_sheet(archive, title)
    styles = _xlsb_styles(archive, is_1904=is_1904)
    flags = CellFlags()
    row = 0
    for kind, body in _xlsb_records(archive.read(path), _plain_xlsb_cells(styles)):
        if kind == _XLSB_ROW:
            row = checked_row(_long(body) + 1)
            if body[11] & _XLSB_ROW_HIDDEN:
                flags.hidden.add(row)
        elif kind == _XLSB_COLUMNS:
            if body[16] & _COLUMNS_HIDDEN:
                flags.hidden_columns.update(range(_long(body), min(_long(body, 4) + 1, LAST_COLUMN)))
        elif kind == _XLSB_MERGED:
            top, bottom, left, right = struct.unpack_from("<IIII", body)
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        elif kind in _XLSB_CELLS:
            index, style = struct.unpack_from("<II", body)
            if kind in _XLSB_ERRORS:
                flags.errors[row][index] = _error_text(body[8])
            style &= 0xFFFFFF
            if style in styles.formats:
                flags.formats[row][index] = styles.formats[style]
            if style in styles.dates and kind in _XLSB_NUMBERS:
                serial = _rk_number(_long(body, 8)) if kind == _XLSB_RK else struct.unpack_from("<d", body, 8)[0]
                _note_date(serial, styles, style, row, index, flags)
    return flags


def _plain_xlsb_cells(styles: CellStyles) -> re.Pattern[bytes]:
    number, rk = (_plain_number(styles, 3, b".", *forms) for forms in ((rb".{8}", _DATE_NUMBER), (rb".{4}", _DATE_RK)))
    unformatted = _none_of(styles.formats, 3) + b"."
    cells = (
        rb"\x07\x0c.{4}" + unformatted + rb".{4}",  # BrtCellIsst
        rb"\x01\x08.{4}" + unformatted,  # BrtCellBlank
        rb"\x05\x10.{4}" + number,
        rb"\x02\x0c.{4}" + rk,
        rb"\x04\x09.{9}",  # BrtCellBool
    )
    return re.compile(rb"(?:" + rb"|".join(cells) + rb")++", re.DOTALL)


def _xlsb_sheet(archive: zipfile.ZipFile, title: str) -> tuple[str, bool]:
    """The path of a worksheet, and whether the workbook counts days from 1904."""
    is_1904 = False
    with archive.open("xl/_rels/workbook.bin.rels") as rels:
        targets = {relation.get("Id"): relation.get("Target") or "" for relation in parsed(rels)}
    for kind, body in _xlsb_records(archive.read("xl/workbook.bin")):
        if kind == _XLSB_BOOK:
            is_1904 = bool(body[0] & 1)
        elif kind == _XLSB_SHEET:
            relation = _xlsb_text(body, 8)
            if _xlsb_text(body, 12 + 2 * len(relation)) == title:
                return posixpath.normpath(posixpath.join("/xl", targets[relation])).lstrip("/"), is_1904
    raise KeyError(title)


def _xlsb_styles(archive: zipfile.ZipFile, *, is_1904: bool) -> CellStyles:
    if "xl/styles.bin" not in archive.namelist():
        return CellStyles(is_1904=is_1904)
    codes: dict[int, str] = {}
    styles: list[int] = []
    in_styles = False
    for kind, body in _xlsb_records(archive.read("xl/styles.bin")):
        if kind == _XLSB_FORMAT:
            codes[_short(body)] = _xlsb_text(body, 2)
        elif kind in (_STYLES_BEGIN, _STYLES_END):
            in_styles = kind == _STYLES_BEGIN
        elif kind == _XLSB_STYLE and in_styles:
            styles.append(_short(body, 2))
    return CellStyles.of(codes, styles, is_1904=is_1904)


def _xlsb_records(content: bytes, skipped: re.Pattern[bytes] = _NOTHING) -> Iterator[_Record]:
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


def _xlsb_text(body: bytes, at: int) -> str:
    length = _long(body, at)
    return body[at + 4 : at + 4 + 2 * length].decode("utf-16-le")


# --- the container ([MS-CFB]) of an XLS -----------------------------------------------------------

_END = 0xFFFFFFFA  # sector numbers from here on are markers
_IN_HEADER = 109  # FAT sectors that the header lists


class _Container:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._size = 1 << _short(content, 30)
        self._small_size = 1 << _short(content, 32)
        if not 64 <= self._size <= 4096 or not 16 <= self._small_size <= 4096:
            raise UnknownFormError("the container's header is damaged")
        self._fat = self._numbers(b"".join(map(self._sector, self._fat_sectors())))
        self._directory = self._chain(_long(content, 48))
        self._cutoff = _long(content, 56)

    def stream(self, names: tuple[str, ...]) -> bytes:
        """The stream with the first of the names that exists, in any case.

        Raises:
            DamagedError: its end is missing.
            KeyError: no stream has one of the names.
            ValueError, struct.error: the container is damaged.
        """
        entries = [self._directory[at : at + 128] for at in range(0, len(self._directory) - 127, 128)]
        named = {_name(entry): entry for entry in reversed(entries)}  # the first entry of each name wins
        entry = next((named[name.lower()] for name in names if name.lower() in named), None)
        if entry is None:
            raise KeyError(names[0])
        start, size = struct.unpack_from("<II", entry, 116)
        content = self._small(entries[0], start) if size < self._cutoff else self._chain(start)
        if len(content) < size:
            raise DamagedError("the file is cut off")
        return content[:size]

    def _small(self, root: bytes, start: int) -> bytes:
        """A short stream, stored in small sectors of the root's stream."""
        container = self._chain(_long(root, 116))
        small_fat = self._numbers(self._chain(struct.unpack_from("<I", self._content, 60)[0]))
        parts = [container[n * self._small_size : (n + 1) * self._small_size] for n in _followed(small_fat, start)]
        return b"".join(parts)

    def _chain(self, start: int) -> bytes:
        sectors = _followed(self._fat, start)
        ends = [at for at, (one, other) in enumerate(pairwise(sectors), 1) if other != one + 1]
        runs = pairwise((0, *ends, len(sectors)))  # mostly one, or few
        return b"".join(
            self._content[(sectors[first] + 1) * self._size : (sectors[end - 1] + 2) * self._size]
            for first, end in runs
            if first < end
        )

    def _sector(self, number: int) -> bytes:
        return self._content[(number + 1) * self._size : (number + 2) * self._size]

    def _fat_sectors(self) -> list[int]:
        listed = list(struct.unpack_from(f"<{_IN_HEADER}I", self._content, 76))
        following, count = struct.unpack_from("<II", self._content, 68)
        for _ in range(min(count, len(self._content) // self._size)):
            if following >= _END:
                break
            *more, following = self._numbers(self._sector(following))
            listed.extend(more)
        return [number for number in listed if number < _END]

    def _numbers(self, content: bytes) -> tuple[int, ...]:
        count = len(content) // 4
        return struct.unpack(f"<{count}I", content[: 4 * count])


def _name(entry: bytes) -> str:
    length = _short(entry, 64)
    return entry[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()


def _followed(table: tuple[int, ...], start: int) -> list[int]:
    """The sectors of a chain.

    Raises:
        ValueError: the chain is circular or leaves the table.
    """
    chain: list[int] = []
    while start < _END:
        if start >= len(table) or len(chain) > len(table):
            raise UnknownFormError("a chain of sectors is damaged")
        chain.append(start)
        start = table[start]
    return chain
