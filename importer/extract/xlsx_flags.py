"""Scans the XML of an XLSX worksheet for what the readers of values do not return.

calamine (0.9) returns errors as blank, and neither formats nor hidden rows. It returns merged cells, but openpyxl,
which reads what calamine cannot, does not when it streams.

A parser reads the document, except for plain rows, which nearly all are: one regular expression matches a whole row.
200,000 rows of 12 columns take 1 s, in parallel with calamine's 2 s; without this they take 15 s.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from importer.extract.cell_flags import FIRST_STRAY, CellFlags, DamagedError, MergedRange, checked_row
from importer.extract.xlsx_package import elements, link_targets, local_name, relation_id
from importer.problems import column_index

_BLOCK = 1 << 20
_ROW_END = b"</row>"
_LINK_FORMULA = re.compile(r'HYPERLINK\("((?:[^"]|"")+)"(?:,(?:[^"()]|"(?:[^"]|"")*")*)?\)')
_LINKED_CELLS = 10_000  # of one hyperlink; more are most likely a mistake
_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]+)")


def find_xlsx_flags(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> CellFlags:
    """The flags of the worksheet at `path`. `formats`: the number formats to look for, by style.

    The part is unpacked and parsed to its last byte, so that damage is found wherever it is.

    Raises:
        DamagedError: two rows have the same number, a row number is too large, or a document type is declared.
        ParseError, BadZipFile, zlib.error, EOFError: the part is damaged.
    """
    try:
        with archive.open(path) as part:
            return _with_links(_fast_scan(part, formats), archive, path)
    except (_UnusualError, ParseError, UnicodeDecodeError):
        return find_xlsx_flags_slowly(archive, path, formats)  # its error gives the position of the problem


def find_xlsx_flags_slowly(archive: zipfile.ZipFile, path: str, formats: dict[int, str]) -> CellFlags:
    """The same by parsing every row, for XML in an unusual form."""
    scan = _Scan(formats)
    with archive.open(path) as part:
        for element in elements(part):
            scan.note(element)
    return _with_links(scan, archive, path)


def _with_links(scan: _Scan, archive: zipfile.ZipFile, path: str) -> CellFlags:
    """The flags with the addresses of the hyperlinks, which are in another part of the package."""
    targets = link_targets(archive, path) if scan.links else {}
    for link in scan.links:
        first, _, last = (link.get("ref") or "").partition(":")
        start, end = _ADDRESS.fullmatch(first), _ADDRESS.fullmatch(last or first)
        target = targets.get(relation_id(link) or "")
        if target and start and end:
            address = f"{target}#{location}" if (location := link.get("location")) else target
            rows = range(int(start[2]), int(end[2]) + 1)
            columns = range(column_index(start[1]), column_index(end[1]) + 1)
            if len(rows) * len(columns) <= _LINKED_CELLS:
                for row in rows:
                    scan.flags.links[row].update(dict.fromkeys(columns, address))
    return scan.flags


@dataclass(slots=True)
class _Scan:
    """The flags found in a worksheet so far. `flags.end` is the number of the last row."""

    formats: dict[int, str]
    flags: CellFlags = field(default_factory=CellFlags)
    links: list[Element] = field(default_factory=list)

    def note_number(self, number: int) -> None:
        """Note the number of the next row.

        Raises:
            DamagedError: it is not above the last one, so that readers might keep different rows, or is too large.
        """
        if number <= self.flags.end:
            raise DamagedError(f"row {number} comes after row {self.flags.end}")
        self.flags.end = checked_row(number)

    def note(self, element: Element) -> None:
        """Note an element that has ended, children first."""
        name = local_name(element)
        if name == "mergeCell":
            self._note_merged(element.get("ref") or "")
        elif name == "hyperlink":
            self.links.append(element)
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
        stray: list[int] = []
        cells = [child for child in row if local_name(child) == "c"]
        for cell in cells:
            address = _ADDRESS.fullmatch(cell.get("r") or "")
            index = column_index(address[1]) if address else index + 1
            # Readers go by the addresses of the cells.
            self._note_cell(cell, checked_row(int(address[2])) if address else number, index)
            if index >= FIRST_STRAY:
                stray.append(index)
        if stray:
            self.flags.stray.note(number, stray[0], max(stray), len(cells))

    def _note_cell(self, cell: Element, row: int, index: int) -> None:
        children = {local_name(child): child for child in cell}
        value = children.get("v")
        text = value.text if value is not None else None
        if cell.get("t") == "e":
            self.flags.errors[row][index] = text or "#N/A"
        elif "f" in children and "is" not in children and not text and not (cell.get("t") == "str" and "v" in children):
            self.flags.unstored[row].add(index)
        if "f" in children:
            self.note_formula(row, index, children["f"].text or "")
        style = int(cell.get("s") or 0)
        if style in self.formats:
            self.flags.formats[row][index] = self.formats[style]

    def note_formula(self, row: int, index: int, formula: str) -> None:
        """Note the address of a formula that is only a hyperlink to it."""
        if link := _LINK_FORMULA.fullmatch(formula):
            self.flags.links[row][index] = link[1].replace('""', '"')


# --- the fast scan of plain rows ----------------------------------------------------------------

# A row that matches is well-formed and not hidden, and has no error, no formula without a stored result and no stray
# cell. Its cells may have any style.
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
_ROW = re.compile(rb'\s*+<row r="(?P<row>[0-9]{1,7}+)"' + _ATTRIBUTES + rb"(?:/>|>(?:" + _CELL + rb")*+</row>)")
_LINK_CELL = re.compile(rb'<c r="([A-Z]{1,2})([0-9]{1,7})"[^>]*><f[^>]*>(HYPERLINK\([^<]*)</f>')
_PLAIN_ROOT = re.compile(rb"<worksheet[\s>]")
_UNUSUAL = re.compile(rb"<!|<\?(?!xml )")  # comments and CDATA may contain what looks like a row


class _UnusualError(Exception):
    """Plain rows cannot be recognized in this form of XML."""


def _fast_scan(part: IO[bytes], formats: dict[int, str]) -> _Scan:
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
            if piece.find(b">HYPERLINK(", start, at) >= 0:
                for letters, number, formula in _LINK_CELL.findall(piece, start, at):
                    scan.note_formula(int(number), column_index(letters.decode()), unescape(formula.decode()))
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
    return scan


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
