"""Looks through the XML of an XLSX or ODS worksheet for what a reader of values does not see.

No reader gives it: calamine (0.9) makes errors blank and knows neither formats nor hidden rows, nor the merged cells of
an ODS; those of an XLSX it knows, but openpyxl, which reads what calamine refuses, does not where it streams.

A parser takes the document apart, but for plain rows of an XLSX, as nearly all are written: one regular expression
takes a whole one. 200,000 rows of 12 columns take 1 s so, beside calamine's 2 s, and 15 s without.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from importer.extract.cell_flags import FIRST_FAR, CellFlags, DamagedError, MergedRange, checked_row
from importer.extract.cell_text import ERROR_TEXTS
from importer.extract.xlsx_package import elements, local_name
from importer.problems import column_index

_BLOCK = 1 << 20
_ROW_END = b"</row>"
_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]+)")


def find_xlsx_flags(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> CellFlags:
    """The flags of the worksheet at `path`. `formats`: the number formats to look for, by style.

    The part is unpacked to its last byte and parsed on the way, so that damage is found wherever it is.

    Raises:
        DamagedError: two rows have the same number, one has a number that no row can have, or a document type.
        ParseError, BadZipFile, zlib.error, EOFError: the part is damaged.
    """
    try:
        with archive.open(path) as part:
            return _fast_scan(part, formats)
    except (_UnusualError, ParseError, UnicodeDecodeError):
        return find_xlsx_flags_thoroughly(archive, path, formats)  # which tells at what place a fault is


def find_xlsx_flags_thoroughly(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> CellFlags:
    """The same by taking every row apart, for XML that is written in an unusual way."""
    scan = _Scan(formats)
    with archive.open(path) as part:
        for element in elements(part):
            scan.note(element)
    return scan.flags


@dataclass(slots=True)
class _Scan:
    """What was found in a worksheet so far. `flags.end` is the number of the last row."""

    formats: dict[int, str]
    flags: CellFlags = field(default_factory=CellFlags)

    def note_number(self, number: int) -> None:
        """Note the number of the next row.

        Raises:
            DamagedError: it is not after the last, so that a reader might keep one of two, or no sheet has so many.
        """
        if number <= self.flags.end:
            raise DamagedError(f"row {number} comes after row {self.flags.end}")
        self.flags.end = checked_row(number)

    def note(self, element: Element) -> None:
        """Note an element that has ended, children first."""
        name = local_name(element)
        if name == "mergeCell":
            self._note_merged(element.get("ref") or "")
        elif name == "row":
            self._note_row(element)
            element.clear()

    def _note_merged(self, reference: str) -> None:
        first, _, last = reference.partition(":")
        start, end = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(last)
        if start and end:
            left, right = column_index(start[1]), column_index(end[1])
            self.flags.merged.append(MergedRange(int(start[2]), left, int(end[2]), right))

    def _note_row(self, row: Element) -> None:
        number = int(row.get("r") or self.flags.end + 1)
        self.note_number(number)
        if row.get("hidden") in ("1", "true"):
            self.flags.hidden.add(number)
        index = -1
        far: list[int] = []
        cells = [child for child in row if local_name(child) == "c"]
        for cell in cells:
            address = _ADDRESS.fullmatch(cell.get("r") or "")
            index = column_index(address[1]) if address else index + 1
            # Readers go by the addresses of the cells.
            self._note_cell(cell, checked_row(int(address[2])) if address else number, index)
            if index >= FIRST_FAR:
                far.append(index)
        if far:
            self.flags.stray.note(number, far[0], max(far), len(cells))

    def _note_cell(self, cell: Element, row: int, index: int) -> None:
        children = {local_name(child): child for child in cell}
        value = children.get("v")
        text = value.text if value is not None else None
        if cell.get("t") == "e":
            self.flags.errors[row][index] = text or "#N/A"
        elif "f" in children and "is" not in children and not text and not (cell.get("t") == "str" and "v" in children):
            self.flags.unstored[row].add(index)
        style = int(cell.get("s") or 0)
        if style in self.formats:
            self.flags.formats[row][index] = self.formats[style]


# --- passing over plain rows --------------------------------------------------------------------

# What these take is well-formed, has no error, no formula without a stored result and no cell far to the right, and is
# not hidden. Its cells may have any style.
_TEXT = rb"[^<&\x00-\x08\x0b\x0c\x0e-\x1f]*+(?:&(?:amp|lt|gt|quot|apos);[^<&\x00-\x08\x0b\x0c\x0e-\x1f]*+)*+"
_ATTRIBUTES = rb'(?: (?!hidden="(?:1|true)")(?:x14ac:)?+\w++="[^"<&]*+")*+'
_TYPE = rb' t="(?:s|n|b|d|str|inlineStr)"'
_STYLE = rb' s="[0-9]{1,6}+"'
_FORMULA = rb"<f" + _ATTRIBUTES + rb"(?:/>|>" + _TEXT + rb"</f>)"
_CONTENT = (
    rb"<v>" + _TEXT + rb"</v>"
    rb"|<is><t(?: xml:space=\"preserve\")?+>" + _TEXT + rb"</t></is>"
    rb"|" + _FORMULA + rb"<v>(?!<)" + _TEXT + rb"</v>"
)
_CELL = (
    rb'<c r="[A-Z]{1,2}+(?P=row)"(?:' + _STYLE + rb"(?:" + _TYPE + rb")?+|" + _TYPE + rb"(?:" + _STYLE + rb")?+)?+"
    rb"(?:/>|>(?:" + _CONTENT + rb")?+</c>)"
)
_ROW = re.compile(
    rb'\s*+<row r="(?P<row>[0-9]{1,7}+)"' + _ATTRIBUTES + rb"(?:/>|>(?:" + _CELL + rb")*+</row>)",
)
_PLAIN_ROOT = re.compile(rb"<worksheet[\s>]")
_UNUSUAL = re.compile(rb"<!|<\?(?!xml )")  # comments and CDATA may hold what looks like a row


class _UnusualError(Exception):
    """The XML is written in a way in which plain rows cannot be recognized."""


def _fast_scan(part: IO[bytes], formats: dict[int, str]) -> CellFlags:
    scan = _Scan(formats)
    parser: XMLPullParser[Any] = XMLPullParser(("end",))
    styles = [b' s="%d"' % style for style in formats]
    styled_cell = re.compile(
        rb'<c r="([A-Z]{1,2})([0-9]{1,7})"(?:' + _TYPE + rb')? s="(%s)"' % b"|".join(b"%d" % style for style in formats)
    )

    def note_parsed() -> None:
        for _, element in parser.read_events():  # type: ignore[misc]  # pairs, but for namespaces
            scan.note(element)  # type: ignore[arg-type]  # likewise

    for piece in _pieces(part):
        at = 0
        while at < len(piece):
            start = at
            while row := _ROW.match(piece, at):
                scan.note_number(int(row[1]))
                at = row.end()
            if any(piece.find(style, start, at) >= 0 for style in styles):
                for letters, number, style in styled_cell.findall(piece, start, at):
                    scan.flags.formats[int(number)][column_index(letters.decode())] = formats[int(style)]
            if at < len(piece):
                end = piece.find(_ROW_END, at)
                end = end + len(_ROW_END) if end >= 0 else len(piece)
                if _UNUSUAL.search(piece, at, end):
                    raise _UnusualError
                parser.feed(piece[at:end])
                note_parsed()
                at = end
    parser.close()
    note_parsed()
    return scan.flags


def _pieces(part: IO[bytes]) -> Iterator[bytes]:
    """The document in pieces that end where a row ends, each UTF-8."""
    rest: list[bytes] = []
    first = True
    while block := part.read(_BLOCK):
        if first and not _PLAIN_ROOT.search(block[:4096]):
            raise _UnusualError  # a prefix before each name, or UTF-16
        first = False
        cut = block.rfind(_ROW_END) + len(_ROW_END)
        if cut < len(_ROW_END):
            rest.append(block)
            continue
        yield _checked(b"".join((*rest, block[:cut])))
        rest = [block[cut:]]
    yield _checked(b"".join(rest))


def _checked(piece: bytes) -> bytes:
    if not piece.isascii():
        piece.decode()
    return piece


# --- ODS ----------------------------------------------------------------------------------------


_ZEROS = re.compile(r"(\+?)(0\d+)")
_ODS_COLUMNS = 16_384  # of a sheet
_LOOKED_AT = {"error", "float", "percentage"}  # the kinds of values that may be shown otherwise than they are stored


def find_ods_flags(archive: zipfile.ZipFile, title: str) -> CellFlags:
    """The flags of the sheet with a title.

    Raises:
        DamagedError, ParseError, BadZipFile: the workbook is damaged.
        LookupError, ValueError: it is damaged too, or written in another way than we know.
    """
    flags, row = CellFlags(), 1
    with archive.open("content.xml") as part:
        for element in elements(part):
            name = local_name(element)
            if name == "table-row":
                row = _note_row(element, row, flags)
                element.clear()
            elif name == "table":
                if _attributes(element).get("name") == title:
                    return flags
                flags, row = CellFlags(), 1
    raise KeyError(title)


def _note_row(element: Element, row: int, flags: CellFlags) -> int:
    """Note a row, which may stand for several; gives the number of the next."""
    named = _attributes(element)
    repeated = int(named.get("number-rows-repeated") or 1)
    index, filled = 0, False
    for cell in element:
        of_cell = _attributes(cell)
        count = int(of_cell.get("number-columns-repeated") or 1)
        if "value-type" in of_cell or "formula" in of_cell:
            filled = True
            _note_cell(cell, of_cell, row, range(index, min(index + count, _ODS_COLUMNS)), flags)
        _note_merged(of_cell, row, index, flags)
        index += count
    if filled:  # a blank one mostly stands for all that follow to the end of the sheet
        rows = range(row, checked_row(row + repeated - 1) + 1)
        if named.get("visibility") in ("collapse", "filter"):
            flags.hidden.update(rows)
        _note_repeated(rows, flags)
    return row + repeated


def _note_repeated(rows: range, flags: CellFlags) -> None:
    """Note of all rows what was noted of the first. They share it: a file of 800 bytes may say that there are many."""
    first = rows[0]
    if first in flags.errors:
        flags.errors.update(dict.fromkeys(rows, flags.errors[first]))
    if first in flags.unstored:
        flags.unstored.update(dict.fromkeys(rows, flags.unstored[first]))
    if first in flags.formats:
        flags.formats.update(dict.fromkeys(rows, flags.formats[first]))


def _note_merged(named: dict[str, str], row: int, index: int, flags: CellFlags) -> None:
    rows = int(named.get("number-rows-spanned") or 1)
    columns = int(named.get("number-columns-spanned") or 1)
    if rows > 1 or columns > 1:
        flags.merged.append(MergedRange(row, index, row + rows - 1, index + columns - 1))


def _note_cell(cell: Element, named: dict[str, str], row: int, indexes: range, flags: CellFlags) -> None:
    kinds, formula = named.get("value-type", "").split(), "formula" in named
    if not formula and not _LOOKED_AT.intersection(kinds):
        return
    text = "\n".join("".join(part.itertext()) for part in cell if local_name(part) == "p")
    if "error" in kinds or (formula and text in ERROR_TEXTS):
        flags.errors[row].update(dict.fromkeys(indexes, text or "#N/A"))
    elif not kinds and not text:
        flags.unstored[row].update(indexes)
    elif "percentage" in kinds:
        flags.formats[row].update(dict.fromkeys(indexes, "0%"))
    elif "float" in kinds and (zeros := _ZEROS.fullmatch(text)):
        # What is shown is kept beside the value: the format need not be looked up.
        shown = ('"+"' if zeros[1] else "") + "0" * len(zeros[2])
        flags.formats[row].update(dict.fromkeys(indexes, shown))


def _attributes(element: Element) -> dict[str, str]:
    """The attributes by their names without namespace. Of value-type there are two, of which one may say `error`."""
    named: dict[str, str] = {}
    for key, value in element.attrib.items():
        name = _local(key)
        named[name] = f"{named[name]} {value}" if name in named else value
    return named


@cache
def _local(key: str) -> str:
    return key.rpartition("}")[2]
