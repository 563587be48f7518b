"""Looks through the records of an XLS or XLSB worksheet for what calamine (0.9) does not give.

Errors are blank to it, number formats and hidden rows unknown. The merged cells of an XLS it knows, those of an XLSB
not.

The records of an XLS are those of [MS-XLS] 2.4 (BIFF8): type and size of two bytes each. Those of Excel 5.0 and 95
(BIFF5) are the same but for their texts, which have a byte for each letter, in the workbook's code page. The records of
an XLSB are those of [MS-XLSB] 2.4: a type and a size of up to two and four bytes, seven bits in each.
"""

from __future__ import annotations

import posixpath
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from importer.extract.cell_flags import CellFlags, DamagedError, MergedRange, checked_row, formats_by_style
from importer.extract.xlsx_package import parsed

# What the binary formats keep for an error, as a person sees it.
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


@dataclass(frozen=True, slots=True)
class _Record:
    """A record of a binary workbook: its type and what it holds."""

    kind: int
    body: bytes


def _error_text(code: int) -> str:
    """The text of an error code of [MS-XLS] 2.5.10."""
    return _ERRORS.get(code, "#N/A")


# --- XLS ----------------------------------------------------------------------------------------


_BEGIN, _EOF, _XLS_SHEET, _XLS_FORMAT, _XLS_STYLE, _CODE_PAGE = 0x809, 0x0A, 0x85, 0x41E, 0xE0, 0x42
_XLS_ROW, _ERROR_OR_BOOLEAN, _FORMULA, _NUMBER, _RK, _RKS = 0x208, 0x205, 0x06, 0x203, 0x27E, 0xBD
_XLS_MERGED = 0xE5
_XLS_ROW_HIDDEN = 0x20
_BIFF8 = 0x600
_CODE_PAGES = {1200: "utf-16-le", 10000: "mac-roman", 32768: "mac-roman", 32769: "cp1252"}  # others are cp and number


def find_xls_flags(path: Path, title: str) -> CellFlags:
    """The flags of the worksheet with a title.

    Raises:
        DamagedError: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged too, or written in another way than we know.
    """
    content = _Container(path.read_bytes()).stream(("Workbook", "Book"))
    codes: dict[int, str] = {}
    styles: list[int] = []
    starts: dict[str, int] = {}
    code_page: str | None = "cp1252"  # None: the texts are those of BIFF8
    for record in _xls_records(content, 0):
        if record.kind == _BEGIN and struct.unpack_from("<H", record.body)[0] >= _BIFF8:
            code_page = None
        elif record.kind == _CODE_PAGE and code_page is not None:
            number = struct.unpack_from("<H", record.body)[0]
            code_page = _CODE_PAGES.get(number, f"cp{number}")
        elif record.kind == _XLS_FORMAT:
            length_form = "<B" if code_page else "<H"
            codes[struct.unpack_from("<H", record.body)[0]] = _xls_text(record.body, 2, length_form, code_page)
        elif record.kind == _XLS_STYLE:
            styles.append(struct.unpack_from("<H", record.body, 2)[0])
        elif record.kind == _XLS_SHEET:
            starts[_xls_text(record.body, 6, "<B", code_page)] = struct.unpack_from("<I", record.body)[0]
    formats = formats_by_style(codes, styles)
    flags = CellFlags()
    for record in _xls_records(content, starts[title]):
        _note(record, formats, flags)
    return flags


def _note(record: _Record, formats: dict[int, str], flags: CellFlags) -> None:
    body = record.body
    if record.kind == _XLS_ROW:
        if body[12] & _XLS_ROW_HIDDEN:
            flags.hidden.add(struct.unpack_from("<H", body)[0] + 1)
        return
    if record.kind == _XLS_MERGED:
        for top, bottom, left, right in struct.iter_unpack(
            "<HHHH", body[2 : 2 + 8 * struct.unpack_from("<H", body)[0]]
        ):
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        return
    if record.kind not in (_ERROR_OR_BOOLEAN, _FORMULA, _NUMBER, _RK, _RKS):
        return
    row, index, style = struct.unpack_from("<HHH", body)
    row += 1
    if record.kind == _ERROR_OR_BOOLEAN and body[7]:
        flags.errors[row][index] = _error_text(body[6])
    elif record.kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2:
        flags.errors[row][index] = _error_text(body[8])
    elif record.kind == _RKS:
        for at in range(4, len(body) - 2, 6):
            _note_format(row, index + (at - 4) // 6, struct.unpack_from("<H", body, at)[0], formats, flags)
        return
    _note_format(row, index, style, formats, flags)


def _note_format(row: int, index: int, style: int, formats: dict[int, str], flags: CellFlags) -> None:
    if style in formats:
        flags.formats[row][index] = formats[style]


def _xls_records(content: bytes, at: int) -> Iterator[_Record]:
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
_XLSB_ERRORS = (3, 11)  # a cell with an error, a formula that gave one
_XLSB_CELLS = range(1, 12)
_XLSB_ROW_HIDDEN = 0x10


def find_xlsb_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    """The flags of the worksheet with a title.

    Raises:
        DamagedError, BadZipFile: the workbook is damaged.
        LookupError, ValueError, struct.error: it is damaged too, or written in another way than we know.
    """
    formats = _xlsb_formats(archive)
    flags = CellFlags()
    row = 0
    for record in _xlsb_records(archive.read(_xlsb_path(archive, title))):
        if record.kind == _XLSB_ROW:
            row = checked_row(struct.unpack_from("<I", record.body)[0] + 1)
            if record.body[11] & _XLSB_ROW_HIDDEN:
                flags.hidden.add(row)
        elif record.kind == _XLSB_MERGED:
            top, bottom, left, right = struct.unpack_from("<IIII", record.body)
            flags.merged.append(MergedRange(top + 1, left, bottom + 1, right))
        elif record.kind in _XLSB_CELLS:
            index, style = struct.unpack_from("<II", record.body)
            if record.kind in _XLSB_ERRORS:
                flags.errors[row][index] = _error_text(record.body[8])
            if style & 0xFFFFFF in formats:
                flags.formats[row][index] = formats[style & 0xFFFFFF]
    return flags


def _xlsb_path(archive: zipfile.ZipFile, title: str) -> str:
    with archive.open("xl/_rels/workbook.bin.rels") as rels:
        targets = {relation.get("Id"): relation.get("Target") or "" for relation in parsed(rels)}
    for record in _xlsb_records(archive.read("xl/workbook.bin")):
        if record.kind == _XLSB_SHEET:
            relation = _xlsb_text(record.body, 8)
            if _xlsb_text(record.body, 12 + 2 * len(relation)) == title:
                return posixpath.normpath(posixpath.join("/xl", targets[relation])).lstrip("/")
    raise KeyError(title)


def _xlsb_formats(archive: zipfile.ZipFile) -> dict[int, str]:
    if "xl/styles.bin" not in archive.namelist():
        return {}
    codes: dict[int, str] = {}
    styles: list[int] = []
    in_styles = False
    for record in _xlsb_records(archive.read("xl/styles.bin")):
        if record.kind == _XLSB_FORMAT:
            codes[struct.unpack_from("<H", record.body)[0]] = _xlsb_text(record.body, 2)
        elif record.kind in (_STYLES_BEGIN, _STYLES_END):
            in_styles = record.kind == _STYLES_BEGIN
        elif record.kind == _XLSB_STYLE and in_styles:
            styles.append(struct.unpack_from("<H", record.body, 2)[0])
    return formats_by_style(codes, styles)


def _xlsb_records(content: bytes) -> Iterator[_Record]:
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
        yield _Record(kind, content[at : at + size])
        at += size


def _xlsb_text(body: bytes, at: int) -> str:
    length = struct.unpack_from("<I", body, at)[0]
    return body[at + 4 : at + 4 + 2 * length].decode("utf-16-le")


# --- the container ([MS-CFB]) in which an XLS lies -----------------------------------------------

_END = 0xFFFFFFFA  # from here on the numbers of sectors mean something else
_IN_HEADER = 109  # FAT sectors that the header lists


class _Container:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._size = 1 << struct.unpack_from("<H", content, 30)[0]
        self._small_size = 1 << struct.unpack_from("<H", content, 32)[0]
        if not 64 <= self._size <= 4096 or not 16 <= self._small_size <= 4096:
            raise ValueError("the container's header is damaged")
        self._fat = self._numbers(b"".join(map(self._sector, self._fat_sectors())))
        self._directory = self._chain(struct.unpack_from("<I", content, 48)[0])
        self._cutoff = struct.unpack_from("<I", content, 56)[0]

    def stream(self, names: tuple[str, ...]) -> bytes:
        """The stream that has the first of the names that is there, in capitals or not.

        Raises:
            DamagedError: its end is missing.
            KeyError: there is none.
            ValueError, struct.error: the container is damaged.
        """
        entries = [self._directory[at : at + 128] for at in range(0, len(self._directory) - 127, 128)]
        named = {_name(entry): entry for entry in reversed(entries)}  # the first of a name counts
        entry = next((named[name.lower()] for name in names if name.lower() in named), None)
        if entry is None:
            raise KeyError(names[0])
        start, size = struct.unpack_from("<II", entry, 116)
        content = self._small(entries[0], start) if size < self._cutoff else self._chain(start)
        if len(content) < size:
            raise DamagedError("the file is cut off")
        return content[:size]

    def _small(self, root: bytes, start: int) -> bytes:
        """A short stream: it lies in small sectors of the root's own stream."""
        container = self._chain(struct.unpack_from("<I", root, 116)[0])
        small_fat = self._numbers(self._chain(struct.unpack_from("<I", self._content, 60)[0]))
        parts = [container[n * self._small_size : (n + 1) * self._small_size] for n in _followed(small_fat, start)]
        return b"".join(parts)

    def _chain(self, start: int) -> bytes:
        return b"".join(map(self._sector, _followed(self._fat, start)))

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
    length = struct.unpack_from("<H", entry, 64)[0]
    return entry[: max(length - 2, 0)].decode("utf-16-le", "replace").lower()


def _followed(table: tuple[int, ...], start: int) -> list[int]:
    """The sectors of a chain; a chain that bites its tail is damage."""
    chain: list[int] = []
    while start < _END:
        if start >= len(table) or len(chain) > len(table):
            raise ValueError("a chain of sectors is damaged")
        chain.append(start)
        start = table[start]
    return chain
