"""Looks through the XML of a worksheet for what a reader of values does not see: errors, unstored results, formats.

Two ways to the same answer: `_quick` passes over plain rows and searches the bytes of what is left; `_thorough` takes
every cell apart, for the XML of programs that leave addresses out or write it in an unusual way.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from typing import IO
from xml.etree.ElementTree import Element
from xml.parsers import expat

from importer.extract.far_cells import FIRST_FAR
from importer.extract.hazards import DamagedError, Hazards, MergedRange, checked_row
from importer.extract.plain_rows import ROW_END, RowOrder, other_parts
from importer.extract.safe_xml import DOCUMENT_TYPE, elements, local_name

_BLOCK = 1 << 20
_PLAIN_ROOT = re.compile(rb"<worksheet[\s>]")
_ROW = re.compile(rb"<row\b([^>]*)>")
_ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
_CELL_TAG = re.compile(rb"<c\b([^>]*)>")
_VALUE = re.compile(rb"<v[^>]*>([^<]*)</v>")
_STORED = re.compile(rb"<v[^>/]*>[^<]|<is\b")
_FAR_CELL = re.compile(rb'<c\b[^<>]*? r="([A-Z]{3})([0-9]{1,7})"')
_MERGED = re.compile(rb'<mergeCell\b[^<>]*? ref="([^"<>]*)"')
_ADDRESS = re.compile(rb"([A-Z]{1,3})([0-9]+)")
_LONG_ADDRESS = re.compile(rb' r="[A-Z]{1,3}([0-9]{7,})"')
# A tag that is not written in plain double-quoted attributes: then its bytes cannot be searched.
_UNUSUAL_TAG = re.compile(rb"<[^<>\"]*(?:\"[^<>\"]*\"[^<>\"]*)*(?:='|\s=|=\s)")


class _UnusualError(Exception):
    """The XML is written in a way that `_quick` cannot search."""


def find_hazards(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> Hazards:
    """The hazards of the worksheet at `path`. `formats`: the number formats to look for, by style.

    The part is unpacked to its last byte and parsed on the way, so that damage is found wherever it is.

    Raises:
        DamagedError: two rows have the same number, one has a number that no row can have, or a document type.
        ExpatError, ParseError, BadZipFile, zlib.error, EOFError: the part is damaged.
    """
    try:
        with archive.open(path) as part:
            return _quick(part, formats)
    except (_UnusualError, expat.ExpatError, UnicodeDecodeError):
        return find_hazards_thoroughly(archive, path, formats)  # which tells at what place a fault is


def find_hazards_thoroughly(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> Hazards:
    """The same by taking every cell apart, for XML that cannot be searched."""
    with archive.open(path) as part:
        return _thorough(part, formats)


# --- by searching the bytes ---------------------------------------------------------------------


def _quick(part: IO[bytes], formats: dict[int, str]) -> Hazards:
    hazards, order, parser = Hazards(), RowOrder(), _strict_parser()
    styles = tuple(b's="%d"' % style for style in formats)
    for piece in _pieces(part):
        for other in other_parts(piece, order):
            parser.Parse(other, False)
            if _UNUSUAL_TAG.search(other):
                raise _UnusualError
            _note_rows(other, order, hazards)
            _note_cells(other, (b't="e"', b"<f"), formats, hazards)
            _note_far_cells(other, hazards)
            for number in _LONG_ADDRESS.findall(other):
                checked_row(int(number))  # readers go by the addresses of the cells
            for reference in _MERGED.findall(other):
                _note_merged(reference, hazards)
        _note_cells(piece, styles, formats, hazards)
    parser.Parse(b"", True)
    hazards.end = order.last
    return hazards


def _pieces(part: IO[bytes]) -> Iterator[bytes]:
    """The document in pieces that end where a row ends."""
    rest: list[bytes] = []
    first = True
    while block := part.read(_BLOCK):
        if first and not _PLAIN_ROOT.search(block[:4096]):
            raise _UnusualError  # a prefix before each name, or UTF-16
        first = False
        cut = block.rfind(ROW_END) + len(ROW_END)
        if cut < len(ROW_END):
            rest.append(block)
            continue
        yield _checked(b"".join((*rest, block[:cut])))
        rest = [block[cut:]]
    yield _checked(b"".join(rest))


def _checked(piece: bytes) -> bytes:
    if not piece.isascii():
        piece.decode()
    return piece


def _strict_parser() -> expat.XMLParserType:
    """A parser that checks that what is not plain rows is whole and plain; nothing is taken from it."""

    def refuse(*_: object) -> None:
        raise DamagedError(DOCUMENT_TYPE)

    def unusual(*_: object) -> None:
        raise _UnusualError

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartDoctypeDeclHandler = refuse
    parser.CommentHandler = unusual
    parser.StartCdataSectionHandler = unusual
    return parser


def _note_rows(xml: bytes, order: RowOrder, hazards: Hazards) -> None:
    for match in _ROW.finditer(xml):
        attributes = dict(_ATTRIBUTE.findall(match[1]))
        number = int(attributes.get(b"r") or b"0")
        if number == 0:
            raise _UnusualError
        order.note(number)
        if attributes.get(b"hidden") in (b"1", b"true"):
            hazards.hidden.add(number)


def _note_far_cells(xml: bytes, hazards: Hazards) -> None:
    if found := _FAR_CELL.findall(xml):
        indexes = [column_index(letters.decode()) for letters, _ in found]
        hazards.far.note(int(found[0][1]), indexes[0], max(indexes), len(_CELL_TAG.findall(xml)))


def _note_merged(reference: bytes, hazards: Hazards) -> None:
    first, _, last = reference.partition(b":")
    start, end = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(last)
    if start and end:
        left, right = column_index(start[1].decode()), column_index(end[1].decode())
        hazards.merged.append(MergedRange(int(start[2]), left, int(end[2]), right))


def _note_cells(xml: bytes, marks: tuple[bytes, ...], formats: dict[int, str], hazards: Hazards) -> None:
    for start in _starts(xml, marks):
        _note_cell(_cell_at(xml, start), formats, hazards)


def _starts(xml: bytes, marks: tuple[bytes, ...]) -> list[int]:
    """Where the cells begin that hold a mark, each once and in order."""
    seen: set[int] = set()
    for mark in marks:
        at = xml.find(mark)
        while at >= 0:
            seen.add(_cell_before(xml, at))
            at = xml.find(mark, at + 1)
    return sorted(start for start in seen if start >= 0)


def _cell_before(xml: bytes, at: int) -> int:
    """Where the cell begins that `at` lies in, -1 if in none."""
    start = xml.rfind(b"<c", 0, at)
    while start >= 0 and xml[start + 2 : start + 3] not in (b" ", b">"):
        start = xml.rfind(b"<c", 0, start)
    return start


def _cell_at(piece: bytes, start: int) -> bytes:
    tag = _CELL_TAG.match(piece, start)
    if tag is None:
        return b""
    if tag[0].endswith(b"/>"):
        return tag[0]
    end = piece.find(b"</c>", start)
    return piece[start : end if end >= 0 else None]


def _note_cell(cell: bytes, formats: dict[int, str], hazards: Hazards) -> None:
    tag = _CELL_TAG.match(cell)
    if tag is None:
        return
    attributes = dict(_ATTRIBUTE.findall(tag[1]))
    address = _ADDRESS.fullmatch(attributes.get(b"r", b""))
    if address is None:
        raise _UnusualError
    row, index = int(address[2]), column_index(address[1].decode())
    value = _VALUE.search(cell)
    if attributes.get(b"t") == b"e":
        hazards.errors[row][index] = (html.unescape(value[1].decode()) if value else "") or "#N/A"
    elif b"<f" in cell and not _STORED.search(cell) and not (attributes.get(b"t") == b"str" and b"<v" in cell):
        hazards.unstored[row].add(index)
    style = int(attributes.get(b"s") or b"0")
    if style in formats:
        hazards.formats[row][index] = formats[style]


# --- by taking every cell apart -----------------------------------------------------------------


def _thorough(part: IO[bytes], formats: dict[int, str]) -> Hazards:
    hazards, order = Hazards(), RowOrder()
    for element in elements(part):
        if local_name(element) == "mergeCell":
            _note_merged((element.get("ref") or "").encode(), hazards)
        if local_name(element) != "row":
            continue
        number = int(element.get("r") or order.last + 1)
        order.note(number)
        if element.get("hidden") in ("1", "true"):
            hazards.hidden.add(number)
        _note_row(number, element, formats, hazards)
        element.clear()
    hazards.end = order.last
    return hazards


def _note_row(number: int, row: Element, formats: dict[int, str], hazards: Hazards) -> None:
    index = -1
    far: list[int] = []
    cells = [child for child in row if local_name(child) == "c"]
    for cell in cells:
        address = _ADDRESS.fullmatch((cell.get("r") or "").encode())
        index = column_index(address[1].decode()) if address else index + 1
        at = checked_row(int(address[2])) if address else number
        children = {local_name(child): child for child in cell}
        value = children.get("v")
        text = value.text if value is not None else None
        if cell.get("t") == "e":
            hazards.errors[at][index] = text or "#N/A"
        elif "f" in children and not text and not (cell.get("t") == "str" and value is not None):
            hazards.unstored[at].add(index)
        style = int(cell.get("s") or 0)
        if style in formats:
            hazards.formats[at][index] = formats[style]
        if index >= FIRST_FAR:
            far.append(index)
    if far:
        hazards.far.note(number, far[0], max(far), len(cells))


def column_index(letters: str) -> int:
    """The index of a column, from 0, by its letters.

    >>> column_index("A"), column_index("Z"), column_index("AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
