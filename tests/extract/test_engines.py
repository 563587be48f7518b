"""The readers of workbooks: the two of XLSX give the same result, and our scan makes no file unreadable."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path

import pytest

from importer.extract.sheet import FileKind
from importer.extract.sheet_content import Batch, Batches
from importer.extract.workbook_readers import CalamineBook, OpenpyxlBook
from importer.extract.xlsx_flags import find_xlsx_flags, find_xlsx_flags_slowly
from importer.extract.xlsx_package import read_package
from tests.extract.corpus import CASES, Case
from tests.extract.corpus.binary_writers import BinaryTable, xls5_bytes, xls_bytes
from tests.extract.corpus.writers import edited, zipped

XLSX = [case for case in CASES if case.file.endswith(".xlsx") and not case.expected.refused]
# What openpyxl cannot read or reads wrongly; it is used only if calamine fails.
OPENPYXL_CANNOT = {
    "xlsx-backslashes": "it finds no part",
    "xlsx-unchecked": "it finds no sheet, and our scan does not support it",
    "xlsx-strict": "it finds no sheet",
    "xlsx-escapes": "it removes the escape of an escape, and the rest looks like an escape",
}


@pytest.mark.parametrize("case", [case for case in XLSX if case.id not in OPENPYXL_CANNOT], ids=lambda case: case.id)
def test_openpyxl_agrees_with_calamine(case: Case, tmp_path: Path) -> None:
    """openpyxl, the reader for what calamine cannot read, gives the same texts, types and problems in every sheet."""
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
    """Text, type and problems of each cell that is not empty, by row number and column."""
    cells = {}
    for batch in batches:
        problems: dict[tuple[int, int], list[str]] = {}
        for offset, index, (code, *_) in batch.problems:
            problems.setdefault((offset, index), []).append(code)
        for index, (texts, typed) in enumerate(zip(batch.columns, batch.typed, strict=True)):
            for offset, text in enumerate(texts):
                codes = problems.get((offset, index), [])
                if text or codes:
                    is_typed = typed if isinstance(typed, bool) else bool(typed[offset])
                    cells[batch.first + offset, index] = (text, is_typed, codes)
    return cells


def test_openpyxl_does_not_lose_strict_sheets(tmp_path: Path) -> None:
    """If openpyxl silently finds no sheet, it has failed."""
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
    """The fast scan of a sheet finds the same as the slow one."""
    with zipfile.ZipFile(BytesIO(case.content())) as archive:
        package = read_package(archive)
        for path in package.paths.values():
            fast = find_xlsx_flags(archive, path, package.styles)
            assert fast == find_xlsx_flags_slowly(archive, path, package.styles)


_TABLE: BinaryTable = [["Name", "Points"], ["Ada", 7], ["Grace", 12]]


def _linked(table: BinaryTable) -> bytes:
    """An XLSX with a hyperlink."""
    return edited(table, lambda _, sheet: setattr(sheet["A2"], "hyperlink", "https://example.com"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "write", "part", "found", "damage"),
    [
        (FileKind.XLSX, _linked, "xl/worksheets/sheet1.xml", b'r="B3"', b'r="B3" s="many"'),
        (FileKind.XLSX, _linked, "xl/worksheets/_rels/sheet1.xml.rels", b"<Relationships", b"<"),
        (FileKind.XLS, xls_bytes, "", bytes.fromhex("1e040f00a400050001"), bytes.fromhex("1e04000099000b0001")),
        (FileKind.XLS, xls5_bytes, "", bytes.fromhex("1e040800a4000530"), bytes.fromhex("1e04000099000400")),
    ],
)
def test_a_scan_that_fails_makes_no_workbook_unreadable(
    kind: FileKind, write: Callable[[BinaryTable], bytes], part: str, found: bytes, damage: bytes, tmp_path: Path
) -> None:
    """A form that only our scan does not know leaves all values, and the reason why the rest is not known."""
    content = write(_TABLE)
    if part:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        damaged = zipped(parts | {part: parts[part].replace(found, damage, 1)})
    else:
        damaged = content.replace(found, damage, 1)
    reasons, values = [], []
    for each in (content, damaged):
        path = tmp_path / f"a.{kind.value}"
        path.write_bytes(each)
        book = CalamineBook(path, kind)
        sheet = book.content(book.sheets[0])
        reasons.append(bool(sheet.flags.unchecked))
        values.append([list(row) for row in sheet.rows])
    assert reasons == [False, True]
    assert values == values[:1] * 2
