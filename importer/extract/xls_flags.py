"""Scans the records of an XLS worksheet for what calamine (0.9) does not return.

calamine returns error cells as blank, and neither number formats nor hidden rows. It skips formulas in the records of
older programs, and cuts their long texts.

The records follow [MS-XLS] 2.4 (BIFF8): type and size of two bytes each. Those of Excel 5.0 and 95 (BIFF5) differ in
their texts only: one byte per character, in the workbook's code page.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

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
from importer.extract.cell_flags import CellFlags, CellStyles, DamagedError, Fault, MergedRange, UnknownFormError
from importer.extract.cell_text import Value
from importer.extract.compound_file import CompoundFile
from importer.extract.date_cells import corrected_date, date_of
from importer.problems import Problem

_BEGIN, _EOF, _SHEET, _FORMAT, _STYLE, _CODE_PAGE = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x42
_ROW, _ERROR_OR_BOOLEAN, _NUMBER, _RK, _RKS = 0x208, 0x205, 0x203, 0x27E, 0xBD
_OLD_FORMULAS = (0x206, 0x406)  # of Excel 3 and 4, which other programs write into newer workbooks too
_FORMULA = 0x06
_FORMULAS = (_FORMULA, *_OLD_FORMULAS)
_STRING, _CONTINUE, _OF_FORMULAS = 0x207, 0x3C, (0x4BC, 0x221, 0x236)  # the last: shared ones, arrays, tables
_TEXTS = (0xFD, 0x204, 0xD6)  # LABELSST, LABEL, RSTRING
_CELLS = (_ERROR_OR_BOOLEAN, *_FORMULAS, _NUMBER, _RK, _RKS, *_TEXTS)
_MERGED, _PASSWORD, _COLUMNS = 0xE5, 0x2F, 0x7D
_DATE_1904 = 0x22
_OVERWRITTEN = Fault(
    "#UNKNOWN!",
    Problem(
        "cell-error",
        "the text of the cell is not known: the formulas of this workbook have the form of an old program",
        "open the workbook in a spreadsheet program, save it as .xlsx, then import that file",
    ),
)
_ROW_HIDDEN = 0x20
_HIDDEN_FLAGS = re.escape(bytes(flags for flags in range(256) if flags & _ROW_HIDDEN))
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
        self._content = CompoundFile(path.read_bytes()).stream(("Workbook", "Book"))
        self._code_page: str | None = "cp1252"  # None: the texts are those of BIFF8
        self._starts: dict[str, int] = {}
        codes: dict[int, str] = {}
        styles: list[int] = []
        is_1904 = False
        # First, without a look into other records: a damaged one does not hide it.
        if any(kind == _PASSWORD for kind, _ in _records(self._content, 0)):
            raise DamagedError("it is protected with a password")
        for kind, body in _records(self._content, 0):
            if kind == _BEGIN and short(body) >= _BIFF8:
                self._code_page = None
            elif kind == _CODE_PAGE and self._code_page is not None:
                number = short(body)
                self._code_page = _CODE_PAGES.get(number, f"cp{number}")
            elif kind == _FORMAT:
                length_form = "<B" if self._code_page else "<H"
                codes[short(body)] = _text(body, 2, length_form, self._code_page)
            elif kind == _STYLE:
                styles.append(short(body, 2))
            elif kind == _DATE_1904:
                is_1904 = short(body) == 1
            elif kind == _SHEET:
                self._starts[_text(body, 6, "<B", self._code_page)] = long(body)
        self._styles = CellStyles.of(codes, styles, is_1904=is_1904)

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
        plain = _plain_cells(self._styles, are_formulas_plain=are_formulas_plain)
        for kind, body in _records(self._content, self._starts[title], plain):
            if are_formulas_plain and kind in _OLD_FORMULAS:
                raise _OldFormulaError
            texts.note(kind, body)
            _note(kind, body, self._styles, flags)
        texts.end()
        return flags


def _plain_cells(styles: CellStyles, *, are_formulas_plain: bool) -> re.Pattern[bytes]:
    number = plain_number_cell(styles, rb".{8}", DATE_NUMBER)
    rk = plain_number_cell(styles, rb".{4}", DATE_RK)
    cells = (
        rb"\xfd\x00\x0a\x00.{4}" + style_but(styles.formats) + rb".{4}",  # LABELSST
        rb"\x01\x02\x06\x00.{6}",  # BLANK
        rb"\x03\x02\x0e\x00.{4}" + number,
        rb"\x7e\x02\x0a\x00.{4}" + rk,
        rb"\x05\x02\x08\x00.{7}\x00",  # BOOLERR with a boolean
        *(
            rb"\xbd\x00%b\x00.{4}%b{%d}.." % (re.escape(bytes([6 + 6 * count])), rk, count) for count in range(2, 8)
        ),  # MULRK
        rb"\x08\x02\x10\x00.{12}[^" + _HIDDEN_FLAGS + rb"].{3}",  # ROW
        *([_plain_formula(styles)] if are_formulas_plain else []),
    )
    return re.compile(rb"(?:" + rb"|".join(cells) + rb")++", re.DOTALL)


def _plain_formula(styles: CellStyles) -> bytes:
    """A FORMULA whose result is a number or a boolean, without another record that belongs to it."""
    result = plain_number_cell(styles, rb"(?:.{6}(?!\xff\xff)..|\x01.{5}\xff\xff)", DATE_NUMBER)
    sizes = b"|".join(re.escape(bytes([size])) + rb".{%d}" % (1 + size) for size in range(22, 128))
    following = b"|".join(re.escape(kind.to_bytes(2, "little")) for kind in (_STRING, *_OF_FORMULAS))
    return rb"\x06\x00(?=.\x00.{4}" + result + rb")(?:" + sizes + rb")(?!" + following + rb")"


def _note(kind: int, body: bytes, styles: CellStyles, flags: CellFlags) -> None:
    if kind == _ROW:
        if body[12] & _ROW_HIDDEN:
            flags.hidden.add(short(body) + 1)
    elif kind == _COLUMNS:
        if body[8] & COLUMNS_HIDDEN:
            flags.hidden_columns.update(range(short(body), short(body, 2) + 1))
    elif kind == _MERGED:
        for top, bottom, left, right in struct.iter_unpack("<HHHH", body[2 : 2 + 8 * short(body)]):
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
    elif kind in _CELLS:
        row, index = struct.unpack_from("<HH", body)
        row += 1
        if kind == _ERROR_OR_BOOLEAN and body[7]:
            flags.errors[row][index] = error_text(body[6])
        elif kind in _FORMULAS and body[12:14] == b"\xff\xff" and body[6] == 2:
            flags.errors[row][index] = error_text(body[8])
        # One record may hold several numbers, of six bytes each.
        places = range(4, len(body) - 2, 6) if kind == _RKS else (4,)
        for column, at in enumerate(places, index):
            cell_style = short(body, at)
            if cell_style in styles.formats:
                flags.formats[row][column] = styles.formats[cell_style]
            if (
                cell_style in styles.dates
                and kind not in _TEXTS
                and (serial := _number(kind, body, at + 2)) is not None
            ):
                note_date(serial, styles, cell_style, row, column, flags)


@dataclass(slots=True)
class _FormulaTexts:
    """Notes the texts of formulas that calamine cuts or skips: each follows its formula in one or more records.

    calamine gives the text of a formula that it skips to the last one that it does not, or to cell A1.
    """

    flags: CellFlags
    styles: CellStyles
    code_page: str | None
    formula: Record | None = None
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
        if self.parts and len(self._text()) < short(self.parts[0]):
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
    style = short(formula, 4)
    if style not in styles.dates:
        return number
    corrected = corrected_date(number, styles, style)
    return date_of(number, styles, style) if corrected is None else corrected


def _number(kind: int, body: bytes, at: int) -> float | None:
    """The number of a cell, whose content begins at `at`; None if it is an error, a text or a boolean."""
    if kind in (_RK, _RKS):
        return rk_number(long(body, at))
    if kind == _ERROR_OR_BOOLEAN or body[12:14] == b"\xff\xff":
        return None
    number: float = struct.unpack_from("<d", body, at)[0]
    return number


def _records(content: bytes, at: int, skipped: re.Pattern[bytes] = NOTHING) -> Iterator[Record]:
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


def _text(body: bytes, at: int, length_form: str, code_page: str | None) -> str:
    length = struct.unpack_from(length_form, body, at)[0]
    at += struct.calcsize(length_form)
    if code_page is not None:
        return body[at : at + length].decode(code_page, "replace")
    if body[at] & 1:
        return body[at + 1 : at + 1 + 2 * length].decode("utf-16-le")
    return body[at + 1 : at + 1 + length].decode("latin-1")
