"""Round trips: any table, written in any dialect and encoding, gives the same cells and row numbers."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importer.models import SourceOptions
from importer.sources import open_sheet
from importer.sources.cell_text import find_problem
from tests.sources.corpus.writers import csv_text, openpyxl_bytes, xlsxwriter_bytes

Table = list[list[str]]

_BLANKS = (
    " \t\n\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u00ad\u180e"
    "\u200b-\u200f\u202a-\u202d\u2060\u2066-\u2069\ufeff"
)
_OUTER = re.compile(rf"\A[{_BLANKS}]+|[{_BLANKS}]+\Z")
# Line end, and whether every cell is quoted: a CR in an unquoted cell would be a line end.
_STYLES = (("\r\n", False), ("\r\n", True), ("\n", True), ("\r", True))
_CODECS = ("utf-8", "utf-8-sig", "utf-16", "utf-32")


def as_read(cell: str) -> str:
    """A text as it is read: NFC, line breaks as LF, no outer blanks."""
    return _OUTER.sub("", unicodedata.normalize("NFC", re.sub("\r\n?", "\n", cell)))


def tables(alphabet: st.SearchStrategy[str]) -> st.SearchStrategy[Table]:
    """Tables of one width, without characters that are problems in a cell; rows may be blank."""
    cell = st.text(alphabet, max_size=12).filter(lambda text: find_problem(text) is None)
    return st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=12)
    )


_ANY = st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\r\t\",;|' =+-@#E0")
_OF_CP1254 = st.sampled_from([bytes([n]).decode("cp1254") for n in (10, 13, *range(32, 127), *range(160, 256))])


def read_back(content: bytes, file: str, options: SourceOptions) -> dict[int, tuple[str, ...]]:
    """The rows of a file by their numbers; no row may have a problem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_bytes(content)
        rows = list(open_sheet(path, options).rows())
    assert [problem for row in rows for problem in row.problems] == []
    return {row.number: row.cells for row in rows}


def expected(table: Table) -> dict[int, tuple[str, ...]]:
    """The expected rows of a table below a header."""
    cells = {number: tuple(map(as_read, row)) for number, row in enumerate(table, 2)}
    return {number: row for number, row in cells.items() if any(row)}


def with_header(table: Table) -> Sequence[Sequence[str]]:
    return [[f"Column of {index}" for index in range(len(table[0]))], *table]


quick = settings(max_examples=100)
with_child = settings(max_examples=8)


@quick
@given(
    table=tables(_ANY) | tables(st.sampled_from('"" ,;\na')),  # often quotes, blanks and delimiters side by side
    delimiter=st.sampled_from(",;\t|"),
    style=st.sampled_from(_STYLES),
    codec=st.sampled_from(_CODECS),
)
def test_csv_in_every_dialect(table: Table, delimiter: str, style: tuple[str, bool], codec: str) -> None:
    """A table of any text comes back from a CSV of every delimiter, line end and Unicode encoding."""
    content = csv_text(with_header(table), delimiter, *style).encode(codec)
    options = SourceOptions(header_row=1, delimiter=delimiter)
    assert read_back(content, "a.csv", options) == expected(table)


@quick
@given(table=tables(_OF_CP1254), delimiter=st.sampled_from(",;\t|"))
def test_csv_in_a_declared_encoding(table: Table, delimiter: str) -> None:
    """A table of Turkish text comes back from a CSV in cp1254, with a character that is not UTF-8."""
    header, *rows = with_header(table)
    content = csv_text([[*header[:-1], "Şehir"], *rows], delimiter).encode("cp1254")
    options = SourceOptions(header_row=1, delimiter=delimiter, encoding="cp1254")
    assert read_back(content, "a.csv", options) == expected(table)


@pytest.mark.parametrize("write", [openpyxl_bytes, xlsxwriter_bytes], ids=["openpyxl", "xlsxwriter"])
def test_xlsx_by_two_writers(write: Callable[[Sequence[Sequence[str]]], bytes]) -> None:
    """A table of any text comes back from a workbook, whichever program wrote it."""

    @with_child
    @given(table=tables(_ANY))
    def comes_back(table: Table) -> None:
        assert read_back(write(with_header(table)), "a.xlsx", SourceOptions(header_row=1)) == expected(table)

    comes_back()
