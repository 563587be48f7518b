"""Looks through the XML of an ODS sheet for what calamine does not give: errors, formats, formulas, hidden rows."""

from __future__ import annotations

import re
import zipfile
from xml.etree.ElementTree import Element

from importer.extract.cell_flaws import ERROR_TEXTS
from importer.extract.hazards import Hazards, MergedRange, checked_row
from importer.extract.safe_xml import elements, local_name

_ZEROS = re.compile(r"(\+?)(0\d+)")
_COLUMNS = 16_384  # of a sheet


def find_hazards(archive: zipfile.ZipFile, title: str) -> Hazards:
    """The hazards of the sheet with a title.

    Raises:
        DamagedError, ParseError, BadZipFile: the workbook is damaged.
        LookupError, ValueError: it is damaged too, or written in another way than we know.
    """
    hazards, row = Hazards(), 1
    with archive.open("content.xml") as part:
        for element in elements(part):
            name = local_name(element)
            if name == "table-row":
                row = _note_row(element, row, hazards)
                element.clear()
            elif name == "table":
                if _attribute(element, "name") == title:
                    return hazards
                hazards, row = Hazards(), 1
    raise KeyError(title)


def _note_row(element: Element, row: int, hazards: Hazards) -> int:
    """Note a row, which may stand for several; gives the number of the next."""
    repeated = int(_attribute(element, "number-rows-repeated") or 1)
    index, filled = 0, False
    for cell in element:
        count = int(_attribute(cell, "number-columns-repeated") or 1)
        if kinds := _kinds(cell):
            filled = True
            _note_cell(cell, kinds, row, range(index, min(index + count, _COLUMNS)), hazards)
        _note_merged(cell, row, index, hazards)
        index += count
    if filled:  # a blank one mostly stands for all that follow to the end of the sheet
        _note_repeated(range(row, checked_row(row + repeated - 1) + 1), element, hazards)
    return row + repeated


def _note_repeated(rows: range, element: Element, hazards: Hazards) -> None:
    """Note of all rows what was noted of the first. They share it: a file of 800 bytes may say that there are many."""
    first = rows[0]
    if _attribute(element, "visibility") in ("collapse", "filter"):
        hazards.hidden.update(rows)
    if first in hazards.errors:
        hazards.errors.update(dict.fromkeys(rows, hazards.errors[first]))
    if first in hazards.unstored:
        hazards.unstored.update(dict.fromkeys(rows, hazards.unstored[first]))
    if first in hazards.formats:
        hazards.formats.update(dict.fromkeys(rows, hazards.formats[first]))


def _note_merged(cell: Element, row: int, index: int, hazards: Hazards) -> None:
    rows = int(_attribute(cell, "number-rows-spanned") or 1)
    columns = int(_attribute(cell, "number-columns-spanned") or 1)
    if rows > 1 or columns > 1:
        hazards.merged.append(MergedRange(row, index, row + rows - 1, index + columns - 1))


def _kinds(cell: Element) -> list[str]:
    """The kinds that a cell says its value is of; that of a formula without a value is `formula`."""
    kinds = [value for key, value in cell.attrib.items() if key.endswith("}value-type")]
    return [*kinds, "formula"] if _attribute(cell, "formula") is not None else kinds


def _note_cell(cell: Element, kinds: list[str], row: int, indexes: range, hazards: Hazards) -> None:
    text = "\n".join("".join(part.itertext()) for part in cell if local_name(part) == "p")
    if "error" in kinds or ("formula" in kinds and text in ERROR_TEXTS):
        hazards.errors[row].update(dict.fromkeys(indexes, text or "#N/A"))
    elif kinds == ["formula"] and not text:
        hazards.unstored[row].update(indexes)
    elif "percentage" in kinds:
        hazards.formats[row].update(dict.fromkeys(indexes, "0%"))
    elif "float" in kinds and (zeros := _ZEROS.fullmatch(text)):
        # What is shown is kept beside the value: the format need not be looked up.
        shown = ('"+"' if zeros[1] else "") + "0" * len(zeros[2])
        hazards.formats[row].update(dict.fromkeys(indexes, shown))


def _attribute(element: Element, name: str) -> str | None:
    return next((value for key, value in element.attrib.items() if key.endswith("}" + name)), None)
