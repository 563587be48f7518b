"""The two scans of a worksheet agree: the fast one finds everything that the slow one finds."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Sequence
from io import BytesIO

from hypothesis import given, settings
from hypothesis import strategies as st

from importer.extract.cell_flags import CellFlags, CellStyles, DamagedError
from importer.extract.xlsx_flags import find_xlsx_flags, find_xlsx_flags_slowly
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
