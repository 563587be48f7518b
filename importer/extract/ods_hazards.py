"""Looks through the XML of an ODS sheet for what calamine does not give: errors, formats, formulas, hidden rows."""

from __future__ import annotations

import re
import zipfile
from xml.etree.ElementTree import Element

from importer.extract.cell_flaws import ERROR_TEXTS
from importer.extract.hazards import Hazards, MergedRange
from importer.extract.safe_xml import elements, local_name

_ZEROS = re.compile(r"(\+?)(0\d+)")
_REPEATED = 10_000  # rows and cells that are the same are kept once, with a number; few of the large ones are real


def find_hazards(archive: zipfile.ZipFile, title: str) -> Hazards:
    """The hazards of the sheet with a title.

    Raises:
        KeyError, ValueError, ParseError, DocumentTypeError, BadZipFile: the workbook is damaged.
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
    for number in range(row, row + min(repeated, _REPEATED)):
        if _attribute(element, "visibility") in ("collapse", "filter"):
            hazards.hidden.add(number)
        index = 0
        for cell in element:
            count = int(_attribute(cell, "number-columns-repeated") or 1)
            for at in range(index, index + min(count, _REPEATED)):
                _note_cell(cell, number, at, hazards)
            _note_merged(cell, row, index, hazards)
            index += count
    return row + repeated


def _note_merged(cell: Element, row: int, index: int, hazards: Hazards) -> None:
    rows = int(_attribute(cell, "number-rows-spanned") or 1)
    columns = int(_attribute(cell, "number-columns-spanned") or 1)
    if rows > 1 or columns > 1:
        hazards.merged.append(MergedRange(row, index, row + rows - 1, index + columns - 1))


def _note_cell(cell: Element, row: int, index: int, hazards: Hazards) -> None:
    kinds = [value for key, value in cell.attrib.items() if key.endswith("}value-type")]
    if not kinds and _attribute(cell, "formula") is None:
        return
    text = "\n".join("".join(part.itertext()) for part in cell if local_name(part) == "p")
    if "error" in kinds or (_attribute(cell, "formula") is not None and text in ERROR_TEXTS):
        hazards.errors[row][index] = text or "#N/A"
    elif not kinds and not text:
        hazards.unstored[row].add(index)
    elif "percentage" in kinds:
        hazards.formats[row][index] = "0%"
    elif "float" in kinds and (zeros := _ZEROS.fullmatch(text)):
        # What is shown is kept beside the value: the format need not be looked up.
        hazards.formats[row][index] = ('"+"' if zeros[1] else "") + "0" * len(zeros[2])


def _attribute(element: Element, name: str) -> str | None:
    return next((value for key, value in element.attrib.items() if key.endswith("}" + name)), None)
