"""The fast scan of an XLSX finds everything that the slow one finds; that of an XLS skips no cell that is flagged."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.extract.cell_flags import CellFlags, CellStyles, DamagedError
from importer.extract.date_cells import corrected_date
from importer.extract.number_format import DateKind
from importer.extract.xls_flags import XlsBook
from importer.extract.xlsx_flags import find_xlsx_flags, find_xlsx_flags_slowly
from tests.extract.corpus.binary_writers import BinaryCell, Error, Formula, Shown, xls_bytes
from tests.extract.mutate import DAMAGES

_FORMATS = CellStyles({3: "0%"})
_CONTENTS = (
    "<v>12</v>",
    "<v>a &amp; b</v>",
    "<v></v>",
    "",
    "<f>A1</f>",
    "<f>A1&lt;2</f><v>1</v>",
    '<f t="shared" si="0"/><v>1</v>',
    '<f t="shared" si="0"/><v></v>',
    '<is><t xml:space="preserve"> Gül&quot;</t></is>',
    "<is><r><t>a</t></r></is>",
    "<v>#N/A</v>",
)
_CELL_ATTRIBUTES = ("", ' t="s"', ' t="e"', ' t="str"', ' s="3"', ' s="1" t="e"', ' t="n" s="3"', " t='e'", ' cm="1"')
_ROW_ATTRIBUTES = ("", ' spans="1:3"', ' hidden="1"', ' hidden="0" ht="15"', " hidden='1'", ' x14ac:dyDescent="0.25"')
_BETWEEN = ("", "", "", "\n", "<!-- <row -->")


@st.composite
def _sheets(draw: st.DrawFn, row_attributes: Sequence[str] = _ROW_ATTRIBUTES) -> bytes:
    """The XML of a sheet, in the forms of many programs."""
    parts = []
    for number in range(1, draw(st.integers(1, 8))):
        cells = []
        for letter in ("A", "ZZ", "AAA")[: draw(st.integers(0, 3))]:
            attributes, content = draw(st.sampled_from(_CELL_ATTRIBUTES)), draw(st.sampled_from(_CONTENTS))
            cells.append(f'<c r="{letter}{number}"{attributes}' + (f">{content}</c>" if content else "/>"))
        row = f'<row r="{number}"{draw(st.sampled_from(row_attributes))}'
        parts.append(row + (f">{''.join(cells)}</row>" if cells else "/>") + draw(st.sampled_from(_BETWEEN)))
    merged = draw(st.sampled_from(("", '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>')))
    root = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:x14ac="urn:x"'
    return f"<worksheet {root}><sheetData>{''.join(parts)}</sheetData>{merged}</worksheet>".encode()


def _outcome(xml: bytes, *, slowly: bool) -> CellFlags | str:
    """The flags of a scan, or "rejected"."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("sheet.xml", xml)
        find = find_xlsx_flags_slowly if slowly else find_xlsx_flags
        try:
            return find(archive, "sheet.xml", _FORMATS)
        except (ValueError, DamagedError, SyntaxError):  # of which the errors of XML are kinds
            return "rejected"


@settings(max_examples=150)
@given(xml=_sheets())
def test_scans_agree(xml: bytes) -> None:
    """Both scans find the same in every sheet."""
    assert _outcome(xml, slowly=False) == _outcome(xml, slowly=True)


@settings(max_examples=150)
@given(xml=_sheets(_ROW_ATTRIBUTES[:-1]), seed=st.integers(0, 1 << 32))
def test_scans_agree_on_damaged_sheets(xml: bytes, seed: int) -> None:
    """Both scans reject a damaged sheet, or find the same in it."""
    chance = random.Random(seed)
    damaged = chance.choice(DAMAGES)(xml, chance)
    assert _outcome(damaged, slowly=False) == _outcome(damaged, slowly=True)


_DAYS = (-1, 0, 1, 31, 60, 61, 63, 64, 65, 255, 256, 44270, 1 << 20, 2_883_583, 2_883_584, 2_958_465, 2_958_466)


def test_scan_of_xls_skips_no_cell_that_is_flagged(tmp_path: Path) -> None:
    """In XLS each number with a format, and each date that readers return wrongly, is found."""
    serials = [(float(day), short) for day in (*_DAYS, 1 << 28) for short in (False, True)] + [
        (0.5, False),
        (60.5, False),
        (1e20, False),
    ]
    code = Shown("7", '"EMP-"@')
    table: list[list[BinaryCell]] = [["a", None, 7, True]]
    for of in ("date", "00000", "0%", "General"):
        for serial, short in serials:
            number = Shown(serial, of, short)
            table.append([number, "a", 7.5, True, code if of == "General" else "a", *[number] * (len(table) % 9)])
    hidden = frozenset((3, 7))
    (tmp_path / "a.xls").write_bytes(xls_bytes(table, hidden=hidden))
    found = XlsBook(tmp_path / "a.xls").flags("Sheet")
    styles = CellStyles(dates={0: DateKind.DATE})
    expected = CellFlags(hidden=set(hidden))
    for row, cells in enumerate(table, 1):
        for index, cell in enumerate(cells):
            of = cell.number_format if isinstance(cell, Shown) else "General"
            if of not in ("General", "date"):
                expected.formats[row][index] = of
            serial = cell.value if isinstance(cell, Shown) and of == "date" else None
            value = corrected_date(serial, styles, 0) if isinstance(serial, float) else None
            if value is not None:
                expected.set_value(row, index, value)
    assert found == expected
    assert len(expected.faults) > 10


def test_scan_of_xls_skips_no_formula_that_is_flagged(tmp_path: Path) -> None:
    """Of formulas, too, each number with a format, date that readers return wrongly, error and cut text is found."""
    table: list[list[BinaryCell]] = [["a", Formula(True), Formula("short"), Formula(1.5)]]
    for of in ("date", "00000", "General"):
        for serial in map(float, (*_DAYS, 0.5, 1e20)):
            number = Formula(serial, number_format=of)
            table.append([number, Formula(True, number_format=of), number, Formula("ab", longest=2), number])
            table.append([Error("#N/A", formula=True), number, Formula("abc"), Formula(2.5), number])
    (tmp_path / "a.xls").write_bytes(xls_bytes(table))
    found = XlsBook(tmp_path / "a.xls").flags("Sheet")
    styles = CellStyles(dates={0: DateKind.DATE})
    expected = CellFlags()
    for row, cells in enumerate(table, 1):
        for index, cell in enumerate(cells):
            if isinstance(cell, Error):
                expected.errors[row][index] = cell.text
            elif isinstance(cell, Formula):
                if cell.number_format == "00000":
                    expected.formats[row][index] = cell.number_format
                if cell.number_format == "date" and not isinstance(cell.value, bool | str):
                    value = corrected_date(cell.value, styles, 0)
                    if value is not None:
                        expected.set_value(row, index, value)
                if cell.longest == 2:
                    expected.set_value(row, index, "ab")
    assert found == expected
    assert len(expected.faults) > 10
    (tmp_path / "a.xls").write_bytes(xls_bytes([*table, [Formula("old", kind=0x406)]]))
    found = XlsBook(tmp_path / "a.xls").flags("Sheet")
    last = len(table)
    expected.set_value(last, 4, 1e20)  # calamine gives the text to the formula before
    expected.set_value(last + 1, 0, "old")
    assert found == expected
