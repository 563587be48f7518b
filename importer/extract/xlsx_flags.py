"""Scans the XML of an XLSX worksheet for what the readers of values do not return.

calamine (0.9) returns errors as blank, and neither formats nor hidden rows. It returns merged cells, but openpyxl,
which reads what calamine cannot, does not when it streams.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import unescape
from xml.etree.ElementTree import Element, ParseError

from importer.extract.cell_flags import (
    FIRST_STRAY,
    LAST_COLUMN,
    CellFlags,
    CellStyles,
    DamagedError,
    MergedRange,
    checked_row,
)
from importer.extract.date_cells import corrected_date, is_in_utc, iso_date
from importer.extract.plain_rows import TEXT, UnusualError, scan_rows
from importer.extract.xlsx_package import elements, link_targets, local_name, relation_id
from importer.problems import column_index

_LINK_FORMULA = re.compile(r'HYPERLINK\("((?:[^"]|"")+)"(?:,(?:[^"()]|"(?:[^"]|"")*")*)?\)')
_LINKED_CELLS = 10_000  # of one hyperlink; more are most likely a mistake
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_ADDRESS = re.compile(r"([A-Z]{1,3})([0-9]+)")


def find_xlsx_flags(
    archive: zipfile.ZipFile, path: str, styles: CellStyles, *, is_uncalculated: bool = False
) -> CellFlags:
    """The flags of the worksheet at `path`. `is_uncalculated` as in XlsxPackage.

    The part is unpacked and parsed to its last byte, so that damage is found wherever it is.

    Raises:
        DamagedError: two rows have the same number, a row number is too large, or a document type is declared.
        ParseError, BadZipFile, zlib.error, EOFError: the part is damaged.
    """
    scan = _Scan(styles, is_uncalculated)
    try:
        with archive.open(path) as part:
            scan_rows(part, _ROW, scan)
        return _with_links(scan, archive, path)
    except (UnusualError, ParseError, UnicodeDecodeError):
        return find_xlsx_flags_slowly(
            archive, path, styles, is_uncalculated=is_uncalculated
        )  # its error gives the position of the problem


def find_xlsx_flags_slowly(
    archive: zipfile.ZipFile, path: str, styles: CellStyles, *, is_uncalculated: bool = False
) -> CellFlags:
    """The same by parsing every row, for XML in an unusual form."""
    scan = _Scan(styles, is_uncalculated)
    with archive.open(path) as part:
        for element in elements(part):
            scan.note(element)
    return _with_links(scan, archive, path)


def _with_links(scan: _Scan, archive: zipfile.ZipFile, path: str) -> CellFlags:
    """The flags with the addresses of the hyperlinks, which are in another part of the package."""
    try:
        targets = link_targets(archive, path) if scan.links else {}
    except (ParseError, DamagedError):  # no values are in this part
        scan.flags.unchecked, targets = "the addresses of its hyperlinks are damaged", {}
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

    styles: CellStyles
    is_uncalculated: bool
    flags: CellFlags = field(default_factory=CellFlags)
    links: list[Element] = field(default_factory=list)
    _searches: list[_Search] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._searches = _searches(self)

    def note_plain(self, row: re.Match[bytes]) -> None:
        """Note a plain row."""
        self.note_row_number(int(row[1]))

    def note_between(self, piece: bytes, start: int, end: int) -> None:
        """Note what its cells have in plain rows."""
        for signs, pattern, note in self._searches:
            if any(piece.find(sign, start, end) >= 0 for sign in signs):
                for letters, number, *texts in pattern.findall(piece, start, end):
                    note(int(number), column_index(letters.decode()), *(unescape(each.decode()) for each in texts))

    def note_row_number(self, number: int) -> None:
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
        elif name == "col" and element.get("hidden") in ("1", "true"):
            first, last = int(element.get("min") or 1), int(element.get("max") or 1)
            self.flags.hidden_columns.update(range(first - 1, min(last, LAST_COLUMN)))
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
        self.note_row_number(number)
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
        text = (value.text or "") if value is not None else ""
        kind, style = cell.get("t") or "n", cell.get("s") or "0"
        if kind == "e":
            self.flags.errors[row][index] = text or "#N/A"
        elif "f" in children and "is" not in children and not text and not (kind == "str" and "v" in children):
            self.flags.unstored[row].add(index)
        if kind == "d":
            self.note_iso_date(row, index, text)
        elif kind == "n" and int(style) in self.styles.dates:
            self.note_date(row, index, style, text)
        if "f" in children:
            self.note_formula(row, index, children["f"].text or "")
            if (kind, text) in (("n", "0"), ("str", "")):
                self.note_uncalculated(row, index)
        if int(style) in self.styles.formats:
            self.note_format(row, index, style)

    def note_date(self, row: int, index: int, style: str, text: str) -> None:
        """Note a number in the format of a date if a reader returns it wrongly."""
        if _NUMBER.fullmatch(text) and (value := corrected_date(float(text), self.styles, int(style))) is not None:
            self.flags.set_value(row, index, value)

    def note_iso_date(self, row: int, index: int, text: str) -> None:
        """Note a date stored as text if a reader returns it as text."""
        if text and (value := iso_date(text)) is not None:
            self.flags.set_value(row, index, value)
            if is_in_utc(text):
                self.flags.in_utc[index].append(row)

    def note_uncalculated(self, row: int, index: int) -> None:
        """Note a formula whose result a program may have written without calculating it."""
        if self.is_uncalculated:
            self.flags.uncalculated[index].append(row)

    def note_format(self, row: int, index: int, style: str) -> None:
        """Note the number format of a cell, which changes what a person sees of its value."""
        self.flags.formats[row][index] = self.styles.formats[int(style)]

    def note_formula(self, row: int, index: int, formula: str) -> None:
        """Note the address of a formula that is only a hyperlink to it."""
        if link := _LINK_FORMULA.fullmatch(formula):
            self.flags.links[row][index] = link[1].replace('""', '"')


# --- plain rows -----------------------------------------------------------------------------------

# A row that matches is well-formed and not hidden, and has no error, no formula without a stored result and no stray
# cell. Its cells may have any style.
_ATTRIBUTES = rb'(?: (?!hidden="(?:1|true)")(?:x14ac:)?+\w++="[^"<&]*+")*+'
_TYPE = rb' t="(?:s|n|b|d|str|inlineStr)"'
_STYLE = rb' s="[0-9]{1,6}+"'
_FORMULA = rb"<f" + _ATTRIBUTES + rb"(?:/>|>" + TEXT + rb"</f>)"
_CONTENT = (
    rb"<v>" + TEXT + rb"</v>"
    rb"|<is><t(?: xml:space=\"preserve\")?+>" + TEXT + rb"</t></is>"
    rb"|" + _FORMULA + rb"<v>(?!<)" + TEXT + rb"</v>"
)
_CELL = (
    rb'<c r="[A-Z]{1,2}+(?P=row)"(?:' + _STYLE + rb"(?:" + _TYPE + rb")?+|" + _TYPE + rb"(?:" + _STYLE + rb")?+)?+"
    rb"(?:/>|>(?:" + _CONTENT + rb")?+</c>)"
)
_ROW = re.compile(rb'\s*+<row r="(?P<row>[0-9]{1,7}+)"' + _ATTRIBUTES + rb"(?:/>|>(?:" + _CELL + rb")*+</row>)")
_START = rb'<c r="([A-Z]{1,2})([0-9]{1,7})"'
_LINK_CELL = re.compile(_START + rb"[^>]*><f[^>]*>(HYPERLINK\([^<]*)</f>")
_ISO_CELL = re.compile(_START + rb"(?:" + _STYLE + rb')? t="d"[^>]*>(?:' + _FORMULA + rb")?<v>([^<]*)</v>")
_ZERO_CELL = re.compile(_START + rb"(?:" + _STYLE + rb')?(?: t="n")?(?:' + _STYLE + rb")?>" + _FORMULA + rb"<v>0</v>")
# A number that is perhaps no day: below 1, the 60th, or after the last one.
_ODD_DATE = (
    rb'(?: t="n")?>(?:' + _FORMULA + rb")?<v>(-[^<]*|0[^<]*|\.[^<]*|60(?:\.[^<]*)?|[^<E]*E[^<]*|[0-9]{7,}[^<]*)</v>"
)
_Search = tuple[list[bytes], re.Pattern[bytes], Callable[..., None]]


def _searches(scan: _Scan) -> list[_Search]:
    """What to look for in plain rows: what occurs where it is, the pattern of a cell, and what notes it."""
    return [
        (_signs(scan.styles.formats), _styled_cell(scan.styles.formats, b""), scan.note_format),
        (_signs(scan.styles.dates), _styled_cell(scan.styles.dates, _ODD_DATE), scan.note_date),
        ([b' t="d"'], _ISO_CELL, scan.note_iso_date),
        ([b">HYPERLINK("], _LINK_CELL, scan.note_formula),
        ([b"</f><v>0</v>", b"/><v>0</v>"] if scan.is_uncalculated else [], _ZERO_CELL, scan.note_uncalculated),
    ]


def _signs(styles: Iterable[int]) -> list[bytes]:
    return [b' s="%d"' % style for style in styles]


def _styled_cell(styles: Iterable[int], content: bytes) -> re.Pattern[bytes]:
    """A cell in one of the styles: its letters, its row number, its style, and what `content` captures."""
    return re.compile(
        _START + rb"(?:" + _TYPE + rb')? s="(' + b"|".join(b"%d" % style for style in styles) + rb')"' + content
    )
