"""The two scans of a worksheet agree, of XLSX and of ODS: the fast one finds everything that the slow one finds."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.extract.cell_flags import CellFlags, CellStyles, DamagedError
from importer.extract.cell_text import ERROR_TEXTS
from importer.extract.date_cells import corrected_date
from importer.extract.number_format import DateKind
from importer.extract.ods_flags import find_ods_flags, find_ods_flags_slowly
from importer.extract.xls_flags import XlsBook
from importer.extract.xlsb_flags import find_xlsb_flags
from importer.extract.xlsx_flags import find_xlsx_flags, find_xlsx_flags_slowly
from tests.extract.corpus.binary_writers import BinaryCell, Error, Formula, Shown, xls_bytes, xlsb_bytes
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


_ODS_KINDS = (
    "",
    ' office:value-type="string" calcext:value-type="string"',
    ' office:value-type="float" office:value="12"',
    ' office:value-type="float" office:value="12" calcext:value-type="float"',
    ' office:value-type="date" office:date-value="2024-03-05"',
    ' office:value-type="date" office:date-value="2023-02-29"',
    ' calcext:value-type="date"',
    ' office:value-type="date" office:date-value="1899-12-30T00:00:00"',
    ' office:value-type="time" office:time-value="PT30H15M00S"',
    ' office:value-type="boolean" office:boolean-value="true"',
    ' office:value-type="percentage" office:value="0.5"',
    ' office:value-type="currency" office:currency="EUR" office:value="5"',
    ' office:value-type="string" calcext:value-type="error"',
    ' table:formula="of:=A1" office:value-type="float" office:value="12"',
    ' table:formula="of:=A1"',
    ' table:formula="of:=IF([.A1]&gt;1;&quot;a&quot;;1)" office:value-type="string" office:string-value="a"',
    ' office:value-type="date" office:date-value="2024-03-05" table:formula="of:=A1" table:style-name="ce1"',
    ' table:number-columns-spanned="2" table:number-rows-spanned="1" office:value-type="string"',
    ' table:number-columns-repeated="3" office:value-type="float" office:value="7"',
    " office:value-type='float' office:value='12'",
)
_ODS_TEXTS = (
    "",
    *(f"<text:p>{text}</text:p>" for text in ("12", "0012", "+00", "EMP-12", "12 kg", "1,200.50", "0.5", "-3", "1E+5")),
    "<text:p>a &amp; b<text:s/>c</text:p><text:p/>",
    "<text:p/>",
    *(f"<text:p>{error}</text:p>" for error in sorted(ERROR_TEXTS)),
    "<text:p><text:s/>#REF!</text:p>",
    "<text:p>#N/A</text:p><text:p>C#</text:p>",
    '<text:p><text:a xlink:href="https://example.com">a</text:a></text:p>',
    "<office:annotation><text:p>12</text:p></office:annotation><text:p>007</text:p>",
    "<text:p>a &#233;</text:p>",
)
_ODS_ROWS = (*[""] * 5, ' table:style-name="ro1"', ' table:visibility="filter"', ' table:number-rows-repeated="3"')
_ODS_BETWEEN = (*_BETWEEN[:-1] * 5, _BETWEEN[-1])
_ODS_NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:{prefix}"' for prefix in ("office", "table", "text", "calcext", "xlink")
)


@st.composite
def _ods_tables(draw: st.DrawFn) -> bytes:
    """The XML of a workbook with two tables, in the forms of many programs."""
    tables = []
    for title in ("First", "Second"):
        rows = []
        for _ in range(draw(st.integers(1, 6))):
            cells = []
            for _ in range(draw(st.integers(0, 3))):
                cells.append(_ods_cell(draw(st.sampled_from(_ODS_KINDS)), draw(st.sampled_from(_ODS_TEXTS))))
            row = f"<table:table-row{draw(st.sampled_from(_ODS_ROWS))}>{''.join(cells)}</table:table-row>"
            rows.append(row + draw(st.sampled_from(_ODS_BETWEEN)))
        columns = '<table:table-column/><table:table-column table:visibility="collapse"/>'
        tables.append(f'<table:table table:name="{title}">{columns}{"".join(rows)}</table:table>')
    return _ods("".join(tables))


def _ods_cell(kind: str, text: str) -> str:
    return f"<table:table-cell{kind}" + (f">{text}</table:table-cell>" if text else "/>")


def _ods(tables: str) -> bytes:
    return f"<office:document-content {_ODS_NAMESPACES}>{tables}</office:document-content>".encode()


def _outcome_of_ods(xml: bytes, title: str, *, slowly: bool) -> CellFlags | str:
    """The flags of a scan, or "rejected"."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("content.xml", xml)
        try:
            return (find_ods_flags_slowly if slowly else find_ods_flags)(archive, title)
        except (LookupError, ValueError, DamagedError, SyntaxError):
            return "rejected"


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


@settings(max_examples=150)
@given(xml=_ods_tables(), title=st.sampled_from(("First", "Second", "None")), seed=st.integers(0, 9 << 32))
def test_scans_of_ods_agree(xml: bytes, title: str, seed: int) -> None:
    """Both scans of an ODS find the same in every table, and in a damaged one."""
    chance = random.Random(seed)
    damaged = xml if seed % 3 else chance.choice(DAMAGES)(xml, chance)
    fast, slow = (_outcome_of_ods(damaged, title, slowly=slowly) for slowly in (False, True))
    assert fast == slow


def test_scans_of_ods_agree_on_each_cell() -> None:
    """Both scans of an ODS find the same in a row of each kind of cell with each text."""
    cells = [_ods_cell(kind, text) for kind in _ODS_KINDS for text in _ODS_TEXTS]
    rows = "".join(f"<table:table-row>{cell}</table:table-row>" for cell in ("", *cells))
    xml = _ods(f'<table:table table:name="First">{rows}</table:table>')
    fast, slow = (_outcome_of_ods(xml, "First", slowly=slowly) for slowly in (False, True))
    assert fast == slow
    assert isinstance(fast, CellFlags)
    assert fast.formats


_DAYS = (-1, 0, 1, 31, 60, 61, 63, 64, 65, 255, 256, 44270, 1 << 20, 2_883_583, 2_883_584, 2_958_465, 2_958_466)


def test_binary_scans_skip_no_cell_that_is_flagged(tmp_path: Path) -> None:
    """In XLS and XLSB each number with a format, and each date that readers return wrongly, is found."""
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
    (tmp_path / "a.xlsb").write_bytes(xlsb_bytes(table, hidden=hidden, shared={}))
    with zipfile.ZipFile(tmp_path / "a.xlsb") as archive:
        found = [XlsBook(tmp_path / "a.xls").flags("Sheet"), find_xlsb_flags(archive, "Sheet")]
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
    assert found == [expected, expected]
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
