"""Looks through the XML of a worksheet for what a reader of values does not see: errors, unstored results, formats.

Two ways to the same answer: `_quick` searches the bytes, which costs little more than unpacking them; `_thorough` takes
every cell apart, for the XML of programs that leave addresses out or write it in an unusual way.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from operator import lt
from typing import IO
from xml.etree.ElementTree import Element
from xml.parsers import expat

from importer.extract.hazards import Hazards
from importer.extract.safe_xml import elements, local_name

_BLOCK = 1 << 20
_PLAIN_ROOT = re.compile(rb"<worksheet[\s>]")
_ROW_END = b"</row>"
_NUMBERED_ROW = re.compile(rb'<row r="([0-9]{1,7})"')
_ROW = re.compile(rb"<row\b([^>]*)>")
_ATTRIBUTE = re.compile(rb'([\w:]+)="([^"]*)"')
_CELL_TAG = re.compile(rb"<c\b([^>]*)>")
_VALUE = re.compile(rb"<v[^>]*>([^<]*)</v>")
_STORED = re.compile(rb"<v[^>/]*>[^<]|<is\b")
_ADDRESS = re.compile(rb"([A-Z]{1,3})([0-9]{1,7})")
# Signs that the XML is not written in plain double-quoted attributes: then its bytes cannot be searched. A program
# that writes so does it from the first row on.
_UNUSUAL = (b"='", b" =")


class _UnusualError(Exception):
    """The XML is written in a way that `_quick` cannot search."""


class DuplicateRowError(ValueError):
    """A worksheet holds the same row twice: a reader would keep one of them without a word."""


def find_hazards(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> Hazards:
    """The hazards of the worksheet at `path`. `formats`: the number formats to look for, by style.

    The part is unpacked to its last byte and parsed on the way, so that damage is found wherever it is.

    Raises:
        DuplicateRowError: two rows have the same number.
        ExpatError, ParseError, DefusedXmlException, BadZipFile, zlib.error, EOFError: the part is damaged.
    """
    try:
        with archive.open(path) as part:
            return _quick(part, formats)
    except _UnusualError:
        return find_hazards_thoroughly(archive, path, formats)


def find_hazards_thoroughly(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> Hazards:
    """The same by taking every cell apart, for XML that cannot be searched."""
    with archive.open(path) as part:
        return _thorough(part, formats)


# --- by searching the bytes ---------------------------------------------------------------------


def _quick(part: IO[bytes], formats: dict[int, str]) -> Hazards:
    hazards = Hazards()
    marks = (b't="e"', b"<f", *(b's="%d"' % style for style in formats))
    last_row = 0
    for piece in _pieces(part):
        last_row = _note_rows(piece, last_row, hazards)
        for start in _starts(piece, marks):
            _note_cell(_cell_at(piece, start), formats, hazards)
    return hazards


def _pieces(part: IO[bytes]) -> Iterator[bytes]:
    """The document in pieces that end where a row ends, each parsed so that damage does not go unseen."""
    parser = _strict_parser()
    rest = b""
    first = True
    while block := part.read(_BLOCK):
        parser.Parse(block, False)
        rest += block
        if first and (not _PLAIN_ROOT.search(block[:4096]) or any(sign in block for sign in _UNUSUAL)):
            raise _UnusualError  # a prefix before each name, or UTF-16, or unusual attributes
        first = False
        cut = rest.rfind(_ROW_END)
        if cut >= 0:
            yield rest[: cut + len(_ROW_END)]
            rest = rest[cut + len(_ROW_END) :]
    parser.Parse(b"", True)
    yield rest


def _strict_parser() -> expat.XMLParserType:
    """A parser that checks the XML is whole and plain; nothing is taken from it, which keeps it fast."""

    def refuse(*_: object) -> None:
        raise expat.ExpatError("a document type is declared")

    def unusual(*_: object) -> None:
        raise _UnusualError

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.CommentHandler = unusual
    parser.StartCdataSectionHandler = unusual
    return parser


def _note_rows(piece: bytes, last_row: int, hazards: Hazards) -> int:
    """Note hidden rows and refuse repeated ones; gives the last row number."""
    if b"hidden=" not in piece:
        numbers = [last_row, *map(int, _NUMBERED_ROW.findall(piece))]
        if len(numbers) == piece.count(b"<row") + 1 and all(map(lt, numbers, numbers[1:])):
            return numbers[-1]
    for match in _ROW.finditer(piece):
        attributes = dict(_ATTRIBUTE.findall(match[1]))
        number = int(attributes.get(b"r", b"0"))
        if number == 0:
            raise _UnusualError
        if number <= last_row:
            raise DuplicateRowError(f"row {number} comes after row {last_row}")
        last_row = number
        if attributes.get(b"hidden") in (b"1", b"true"):
            hazards.hidden.add(number)
    return last_row


def _starts(piece: bytes, marks: tuple[bytes, ...]) -> Iterator[int]:
    """Where the cells begin that hold a mark, each once and in order."""
    seen: set[int] = set()
    for mark in marks:
        at = piece.find(mark)
        while at >= 0:
            seen.add(max(piece.rfind(b"<c ", 0, at), piece.rfind(b"<c>", 0, at)))
            at = piece.find(mark, at + 1)
    return iter(sorted(start for start in seen if start >= 0))


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
        hazards.errors[row][index] = value[1].decode() if value else "#N/A"
    elif b"<f" in cell and not _STORED.search(cell) and not (attributes.get(b"t") == b"str" and b"<v" in cell):
        hazards.unstored[row].add(index)
    style = int(attributes.get(b"s", b"0"))
    if style in formats:
        hazards.formats[row][index] = formats[style]


# --- by taking every cell apart -----------------------------------------------------------------


def _thorough(part: IO[bytes], formats: dict[int, str]) -> Hazards:
    hazards = Hazards()
    last_row = 0
    for element in elements(part):
        if local_name(element) != "row":
            continue
        number = int(element.get("r") or last_row + 1)
        if number <= last_row:
            raise DuplicateRowError(f"row {number} comes after row {last_row}")
        last_row = number
        if element.get("hidden") in ("1", "true"):
            hazards.hidden.add(number)
        _note_row(number, element, formats, hazards)
        element.clear()
    return hazards


def _note_row(number: int, row: Element, formats: dict[int, str], hazards: Hazards) -> None:
    index = -1
    for cell in (child for child in row if local_name(child) == "c"):
        address = _ADDRESS.fullmatch((cell.get("r") or "").encode())
        index = column_index(address[1].decode()) if address else index + 1
        children = {local_name(child): child for child in cell}
        value = children.get("v")
        text = value.text if value is not None else None
        if cell.get("t") == "e":
            hazards.errors[number][index] = text or "#N/A"
        elif "f" in children and not text and not (cell.get("t") == "str" and value is not None):
            hazards.unstored[number].add(index)
        style = int(cell.get("s") or 0)
        if style in formats:
            hazards.formats[number][index] = formats[style]


def column_index(letters: str) -> int:
    """The index of a column, from 0, by its letters.

    >>> column_index("A"), column_index("Z"), column_index("AA")
    (0, 25, 26)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
