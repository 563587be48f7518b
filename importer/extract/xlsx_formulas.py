"""Finds formulas that have no stored value: a reader sees them as empty cells, a person sees a result."""

from __future__ import annotations

import re
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import iterparse  # type: ignore[import-untyped]  # it has no stubs

from importer.extract.xlsx_package import local_name

_BLOCK = 1 << 20
_LETTERS = re.compile(r"[A-Za-z]+")


def formulas_without_value(archive: zipfile.ZipFile, path: str) -> Mapping[int, frozenset[int]]:
    """The column indexes (from 0) of such cells by row number. Programs that write workbooks often store no values."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    if not _has_formulas(archive, path):
        return {}
    row = column = 0
    with archive.open(path) as part:
        for event, element in iterparse(part, events=("start", "end")):
            name = local_name(element)
            if event == "start" and name == "row":
                row, column = int(element.get("r") or row + 1), 0
            elif event == "end" and name == "c":
                column = _column_number(element.get("r")) or column + 1
                if _lacks_value(element):
                    found[row].add(column - 1)
            elif event == "end" and name == "row":
                element.clear()
    return {number: frozenset(columns) for number, columns in found.items()}


def _has_formulas(archive: zipfile.ZipFile, path: str) -> bool:
    tail = b""
    with archive.open(path) as part:
        while block := part.read(_BLOCK):
            if b"<f" in tail + block or b":f" in tail + block:
                return True
            tail = block[-1:]
    return False


def _lacks_value(cell: Element) -> bool:
    children = {local_name(child): child for child in cell}
    if "f" not in children:
        return False
    value = children.get("v")
    stored = value is not None and bool(value.text)
    # An empty text that a formula gave is stored as t="str" with an empty value.
    return not stored and not (value is not None and cell.get("t") == "str")


def _column_number(address: str | None) -> int:
    letters = _LETTERS.match(address) if address else None
    number = 0
    for letter in letters[0].upper() if letters else "":
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
