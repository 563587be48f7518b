"""Rows written as a whole equal those that XlsxWriter writes cell by cell, byte for byte."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import xlsxwriter  # type: ignore[import-untyped]  # it ships no types
from hypothesis import example, given
from hypothesis import strategies as st

from importer.report.cells import TextRows, write_text

COLUMNS, BLANK_FROM, LONG_FROM = 4, 2, 256
Write = Callable[[Any, list[Any], list[list[str]]], None]

plain = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
anything = st.text(max_size=300)
rows = st.lists(st.lists(plain | anything, min_size=COLUMNS, max_size=COLUMNS), min_size=1, max_size=4)


def sheet_xml(write: Write, texts: list[list[str]]) -> bytes:
    """The rows of the worksheet in the file."""
    file = io.BytesIO()
    workbook = xlsxwriter.Workbook(file, {"constant_memory": True})
    styles = [workbook.add_format({"num_format": "@"}), workbook.add_format({"bold": True})] * (COLUMNS // 2)
    styles += [workbook.add_format({"italic": True})] * COLUMNS  # those of long texts
    write(workbook.add_worksheet(), styles, texts)
    workbook.close()
    with zipfile.ZipFile(file) as members:
        return members.read("xl/worksheets/sheet1.xml").partition(b"<sheetData")[2]


def cell_by_cell(sheet: Any, styles: list[Any], texts: list[list[str]]) -> None:
    for style in styles:
        style._get_xf_index()  # styles are numbered as they are used
    for row, cells in enumerate(texts):
        write_cells(sheet, styles, row, cells)


def write_cells(sheet: Any, styles: list[Any], row: int, cells: list[str]) -> None:
    for column, text in enumerate(cells):
        if text or column >= BLANK_FROM:
            write_text(sheet, row, column, text, styles[column + (COLUMNS if len(text) >= LONG_FROM else 0)])


def whole(sheet: Any, styles: list[Any], texts: list[list[str]]) -> None:
    """Like the report: special rows are written cell by cell."""
    text_rows = TextRows(sheet, styles[:COLUMNS], styles[COLUMNS:], LONG_FROM, range(BLANK_FROM))
    for row, cells in enumerate(texts):
        if not text_rows.write(row, cells):
            write_cells(sheet, styles, row, cells)


@given(rows)
@example([["<b>&amp;", " leading", "trailing ", "a\N{NO-BREAK SPACE}"], ["_x0041_", "<r>x</r>", "", "\x07"]])
@example([["ab"] * 4, ["\n"] * 4, ["", "", "", ""], ["zğış"] * 4, ["\ud800"] * 4])
@example([["a\nb", "\n", "a\t", "\tb\n"], ["a\r\nb", "\x0b", "\x1f", "\x85"]])
@example([["x" * 255] * 4, ["x" * 256] * 4, ["=1+1", "012", "1e5", "'q"]])
def test_a_row_written_whole_is_the_row_written_cell_by_cell(texts: list[list[str]]) -> None:
    """Whatever the texts are, both ways give the same bytes."""
    assert sheet_xml(whole, texts) == sheet_xml(cell_by_cell, texts)


def test_plain_rows_do_not_go_cell_by_cell() -> None:
    """Umlauts, ampersands, line breaks and spaces around a name are plain; other control characters are not."""
    workbook = xlsxwriter.Workbook(io.BytesIO(), {"constant_memory": True})
    styles = [workbook.add_format()] * 2
    text_rows = TextRows(workbook.add_worksheet(), styles, styles, LONG_FROM, range(0))
    assert text_rows.write(0, ["Müller & Söhne <x> ", "İstanbul"])
    assert text_rows.write(1, ["two\nlines", "a tab\t"])
    assert text_rows.write(2, ["", "x" * 256])
    assert not text_rows.write(3, ["", "x" * 20_000])
    assert not text_rows.write(4, ["a\rb", ""])
    workbook.close()
