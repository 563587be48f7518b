"""Scans the XML of an ODS worksheet for what calamine (0.9) does not return: errors, formats, hidden rows, merges."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from xml.etree.ElementTree import Element, ParseError

from importer.extract.cell_flags import LAST_COLUMN, CellFlags, MergedRange, checked_row
from importer.extract.cell_text import ERROR_TEXTS
from importer.extract.date_cells import iso_date
from importer.extract.plain_rows import TEXT, PlainRows, UnusualError, scan_rows
from importer.extract.xlsx_package import elements, local_name

_OFTEN = 1000  # elements between two checkpoints
_ZEROS = re.compile(r"(\+?)(0\d+)")
_NUMBER = re.compile(r"(\D*)([\d.,'\s]*(?:E[+-]\d+)?)(.*)", re.DOTALL)
_JOINED = re.compile(r"\d[^\d.,'\s]+\d")  # a code has more than blanks between its digits
# Values that a person may see in another form than they are stored.
_FLAGGED_TYPES = frozenset(("error", "float", "percentage", "currency", "time", "date"))


def first_table(archive: zipfile.ZipFile) -> str:
    """The title of the first sheet.

    Raises:
        ParseError, LookupError, BadZipFile: the workbook is damaged, or has no sheet.
    """
    with archive.open("content.xml") as part:
        for element in elements(part, "start"):
            if local_name(element) == "table":
                return _attributes(element)["name"]
    raise LookupError("table")


def find_ods_flags(archive: zipfile.ZipFile, title: str, checkpoint: Callable[[], None] = lambda: None) -> CellFlags:
    """The flags of the sheet with this title. `checkpoint` as in `scan_rows`.

    Raises:
        DamagedError, ParseError, BadZipFile: the workbook is damaged.
        LookupError, ValueError: it is damaged, or has a form that this scan does not support.
    """
    scan = _Scan(title)
    try:
        with archive.open("content.xml") as part:
            scan_rows(part, _rows(), scan, checkpoint)
    except (UnusualError, ParseError, UnicodeDecodeError):
        return find_ods_flags_slowly(archive, title, checkpoint)  # its error gives the position of the problem
    if not scan.is_over:
        raise KeyError(title)
    return scan.flags


def find_ods_flags_slowly(
    archive: zipfile.ZipFile, title: str, checkpoint: Callable[[], None] = lambda: None
) -> CellFlags:
    """The same by parsing every row, for XML in an unusual form."""
    scan = _Scan(title)
    with archive.open("content.xml") as part:
        for count, element in enumerate(elements(part)):
            if count % _OFTEN == 0:
                checkpoint()
            scan.note(element)
            if scan.is_over:
                return scan.flags
    raise KeyError(title)


@dataclass(slots=True)
class _Scan:
    """The flags of the table that is scanned. It is over at the end of the one with the title."""

    title: str
    flags: CellFlags = field(default_factory=CellFlags)
    row: int = 1  # the next one
    column: int = 0  # the index of the next one that is declared
    is_over: bool = False

    def note_plain(self, row: re.Match[bytes]) -> None:
        """Note a plain row, in which every cell is what calamine returns."""
        self.row = checked_row(self.row) + 1

    def note_between(self, piece: bytes, start: int, end: int) -> None:
        """Plain rows have nothing else."""

    def note(self, element: Element) -> None:
        """Note an element that has ended, children first."""
        name = local_name(element)
        if name == "table-row":
            self.row = _note_row(element, self.row, self.flags)
            element.clear()
        elif name == "table-column":
            self._note_columns(_attributes(element))
        elif name == "table" and _attributes(element).get("name") == self.title:
            self.is_over = True
        elif name == "table":
            self.flags, self.row, self.column = CellFlags(), 1, 0

    def _note_columns(self, named: dict[str, str]) -> None:
        end = min(self.column + int(named.get("number-columns-repeated") or 1), LAST_COLUMN)
        if named.get("visibility") in ("collapse", "filter"):
            self.flags.hidden_columns.update(range(self.column, end))
        self.column = end


def _note_row(element: Element, row: int, flags: CellFlags) -> int:
    """Note a row, which may be repeated; returns the number of the next row."""
    named = _attributes(element)
    repeated = int(named.get("number-rows-repeated") or 1)
    index, filled = 0, False
    for cell in element:
        of_cell = _attributes(cell)
        count = int(of_cell.get("number-columns-repeated") or 1)
        if "value-type" in of_cell or "formula" in of_cell:
            filled = True
            if len(found := [link for part in cell for link in part if local_name(link) == "a"]) == 1:
                flags.links[row][index] = _attributes(found[0]).get("href", "")
            _note_cell(cell, of_cell, row, range(index, min(index + count, LAST_COLUMN)), flags)
        _note_merged(of_cell, row, index, flags)
        index += count
    if filled:  # a blank row is mostly repeated to the end of the sheet
        rows = range(row, checked_row(row + repeated - 1) + 1)
        if named.get("visibility") in ("collapse", "filter"):
            flags.hidden.update(rows)
        _note_repeated(rows, flags)
    return row + repeated


def _note_repeated(rows: range, flags: CellFlags) -> None:
    """Give all rows the flags of the first one, as shared objects: a file of 800 bytes can declare millions of rows."""
    first = rows[0]
    if first in flags.errors:
        flags.errors.update(dict.fromkeys(rows, flags.errors[first]))
    if first in flags.unstored:
        flags.unstored.update(dict.fromkeys(rows, flags.unstored[first]))
    if first in flags.formats:
        flags.formats.update(dict.fromkeys(rows, flags.formats[first]))
    if first in flags.values:
        flags.values.update(dict.fromkeys(rows, flags.values[first]))
    if first in flags.faults:
        flags.faults.update(dict.fromkeys(rows, flags.faults[first]))


def _note_merged(named: dict[str, str], row: int, index: int, flags: CellFlags) -> None:
    rows = int(named.get("number-rows-spanned") or 1)
    columns = int(named.get("number-columns-spanned") or 1)
    if rows > 1 or columns > 1:
        flags.merged.append(MergedRange(row, index, row + rows - 1, index + columns - 1))


def _note_cell(cell: Element, named: dict[str, str], row: int, indexes: range, flags: CellFlags) -> None:
    kinds, formula = named.get("value-type", "").split(), "formula" in named
    if not formula and not _FLAGGED_TYPES.intersection(kinds):
        return
    text = "\n".join("".join(part.itertext()) for part in cell if local_name(part) == "p")
    if "error" in kinds or (formula and text in ERROR_TEXTS):
        flags.errors[row].update(dict.fromkeys(indexes, text or "#N/A"))
    elif not kinds and not text:
        flags.unstored[row].update(indexes)
    elif "time" in kinds or "date" in kinds:
        if (value := iso_date(named.get("time-value") or named.get("date-value") or text)) is not None:
            for index in indexes:
                flags.set_value(row, index, value)
    elif "currency" in kinds:
        flags.formats[row].update(dict.fromkeys(indexes, f"[${named.get('currency', '')}]0"))
    elif "percentage" in kinds:
        flags.formats[row].update(dict.fromkeys(indexes, "0%"))
    elif "float" in kinds and (zeros := _ZEROS.fullmatch(text)):
        # The file has the displayed text too, so the format is not needed.
        shown = ('"+"' if zeros[1] else "") + "0" * len(zeros[2])
        flags.formats[row].update(dict.fromkeys(indexes, shown))
    elif "float" in kinds and (shown := _format_of(text)):
        flags.formats[row].update(dict.fromkeys(indexes, shown))


@lru_cache(maxsize=65_536)
def _format_of(text: str) -> str:
    """A format that shows a number as this text, if it is a code or has a unit; "" if it is only a number."""
    before, _, after = _NUMBER.fullmatch(text.replace('"', "")).groups()  # type: ignore[union-attr]  # any text matches
    if not after and not before.strip(" -+("):
        return ""
    is_code = any(map(str.isalnum, before)) or _JOINED.search(text)
    return f'"{before}{_}{after}"' if is_code else f'0"{after}"'


def _attributes(element: Element) -> dict[str, str]:
    """The attributes by their names without namespace. There may be two value-types, and one may be `error`."""
    named: dict[str, str] = {}
    for key, value in element.attrib.items():
        name = _local(key)
        named[name] = f"{named[name]} {value}" if name in named else value
    return named


@cache
def _local(key: str) -> str:
    return key.rpartition("}")[2]


# --- plain rows ----------------------------------------------------------------------------------

# A row that matches is well-formed, not hidden and not repeated. Its cells are blank, texts, booleans, days, or numbers
# that are shown as numbers.
_VALUE = rb'="[^"<&]*+"'
_OTHERS = rb"(?:table:(?:style-name|content-validation-name|number-columns-repeated)|xml:id)" + _VALUE
_COMMON = rb"(?: " + _OTHERS + rb")*+"
_GAP = rb'<text:(?:s|tab|line-break)(?: text:c="[0-9]++")?+/>'
_NO_ERROR = TEXT.replace(b"[^", b"[^#")
_FORMULA = rb'table:formula="[^"<&]*+(?:&(?:amp|lt|gt|quot|apos);[^"<&]*+)*+"'
_SHOWN_NUMBER = rb"<text:p>-?(?:0(?:[.,][0-9.,]*+)?+|[1-9][0-9.,]*+)(?:E[+-]?[0-9]++)?+</text:p>"
_MONTH_AND_DAY = rb"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30))"
_DAY = rb' office:date-value="[1-9][0-9]{3}-' + _MONTH_AND_DAY + rb'"'


def _lines(text: bytes) -> bytes:
    line = text + rb"(?:" + _GAP + text + rb")*+"
    return rb"(?:<text:p(?: text:style-name" + _VALUE + rb")?+(?:/>|>" + line + rb"</text:p>))*+"


def _filled(between: bytes, lines: bytes) -> bytes:
    """The rest of cells with a value, after what all cells have: other attributes, and the lines of a text."""

    def attributes(kinds: bytes, more: bytes) -> bytes:
        return rb'(?: (?:(?:office|calcext):value-type="(?:' + kinds + rb')"|' + more + between + rb"))*+"

    text_value = rb"office:(?:string|boolean)-value" + _VALUE + rb"|"
    text, number, day = (
        attributes(rb"string|boolean", text_value),
        attributes(rb"float", b""),
        attributes(rb"date", b""),
    )
    return rb"|".join(
        (
            rb"%b>%b</table:table-cell>" % (text, lines),
            rb"%b office:value%b%b>%b</table:table-cell>" % (number, _VALUE, number, _SHOWN_NUMBER),
            rb"%b%b%b>%b</table:table-cell>" % (day, _DAY, day, lines),
        )
    )


# A formula has a result that is no error.
_RESULT = rb"(?=[^<>]* (?:office|calcext):value-type=)(?:%b)" % _filled(_OTHERS + rb"|" + _FORMULA, _lines(_NO_ERROR))
_FILLED = _filled(_OTHERS, _lines(TEXT)) + rb"|" + _RESULT
_CELL = rb"<table:(?:table-cell%b(?:/>|%b)|covered-table-cell%b/>)" % (_COMMON, _FILLED, _COMMON)
_ROW = rb"\s*+<table:table-row(?: table:style-name%b)?+>(?:%b)*+</table:table-row>" % (_VALUE, _CELL)


@cache  # the child processes of other formats do not wait for it
def _rows() -> PlainRows:
    return PlainRows(re.compile(rb"<office:document-content\s"), re.compile(_ROW), b"</table:table-row>")
