"""The two readers of XLSX agree, wherever both can read: which of them was used can be seen in nothing."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest

from importer.extract.sheet import FileKind
from importer.extract.sheet_content import Batch, Batches
from importer.extract.workbook_readers import CalamineBook, OpenpyxlBook
from importer.extract.xlsx_package import read_package
from importer.extract.xml_flags import find_xlsx_flags, find_xlsx_flags_slowly
from tests.extract.corpus import CASES, Case

XLSX = [case for case in CASES if case.file.endswith(".xlsx") and not case.expected.refused]
# What openpyxl reads otherwise, and wrongly; it is asked only where calamine fails.
OPENPYXL_CANNOT = {
    "xlsx-backslashes": "it finds no part",
    "xlsx-unchecked": "it finds no sheet, nor does our own scan",
    "xlsx-strict": "it sees no sheet",
    "xlsx-escapes": "it takes the escape of an escape off by itself, and what is left looks like an escape",
}


@pytest.mark.parametrize("case", [case for case in XLSX if case.id not in OPENPYXL_CANNOT], ids=lambda case: case.id)
def test_openpyxl_agrees_with_calamine(case: Case, tmp_path: Path) -> None:
    """openpyxl, the reader for what calamine refuses, gives the same texts, types and problems in every sheet."""
    path = tmp_path / case.file
    path.write_bytes(case.content())
    calamine = CalamineBook(path, FileKind.XLSX)
    with warnings.catch_warnings(action="ignore"):
        openpyxl = OpenpyxlBook(path)
        assert openpyxl.sheets == calamine.sheets
        for sheet in calamine.sheets:
            by_calamine, by_openpyxl = Batches(calamine.content(sheet)), Batches(openpyxl.content(sheet))
            assert _cells(by_openpyxl) == _cells(by_calamine)
            assert by_openpyxl.lost_digits == by_calamine.lost_digits


def _cells(batches: Iterable[Batch]) -> dict[tuple[int, int], tuple[str, bool, list[str]]]:
    """Text, type and problems of each cell that holds something, by row number and column."""
    cells = {}
    for batch in batches:
        problems: dict[tuple[int, int], list[str]] = {}
        for flaw in batch.problems:
            problems.setdefault((flaw.offset, flaw.index), []).append(flaw.code)
        for index, (texts, typed) in enumerate(zip(batch.columns, batch.typed, strict=True)):
            for offset, text in enumerate(texts):
                told = problems.get((offset, index), [])
                if text or told:
                    is_typed = typed if isinstance(typed, bool) else bool(typed[offset])
                    cells[batch.first + offset, index] = (text, is_typed, told)
    return cells


def test_openpyxl_does_not_lose_strict_sheets(tmp_path: Path) -> None:
    """Where openpyxl sees no sheet, and says nothing, it counts as failed."""
    case = next(case for case in CASES if case.id == "xlsx-strict")
    path = tmp_path / case.file
    path.write_bytes(case.content())
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match=r"^openpyxl does not see the sheets \['Sheet'\]$"),
    ):
        OpenpyxlBook(path)


@pytest.mark.parametrize("case", [case for case in XLSX if case.id != "xlsx-unchecked"], ids=lambda case: case.id)
def test_both_scans_agree(case: Case) -> None:
    """Searching the bytes of a sheet finds what taking every cell apart finds."""
    with zipfile.ZipFile(BytesIO(case.content())) as archive:
        package = read_package(archive)
        for path in package.paths.values():
            quick = find_xlsx_flags(archive, path, package.formats)
            assert quick == find_xlsx_flags_slowly(archive, path, package.formats)
