"""Workbooks as XLS: the same values, errors and formats as in XLSX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

from importer.models import SourceOptions
from tests.sources.corpus.binary_writers import BinaryTable, Error, Shown, xls5_bytes, xls5_stream, xls_bytes
from tests.sources.corpus.case import Case, Expected

_TABLE: BinaryTable = [
    ["Name", "Phone", "Born", "Code", "Share", "Ok"],
    [],
    ["Gül Şen", 442079460001, date(2021, 3, 15), Shown(42, "00000"), Shown(0.5, "0%"), True],
    ["İpek", "0044 20", None, 1234.5, -12, False],
]
_EXPECTED = Expected(
    ("Name", "Phone", "Born", "Code", "Share", "Ok"),
    {
        3: ("Gül Şen", "442079460001", "2021-03-15", "00042", "50%", "TRUE"),
        4: ("İpek", "0044 20", "", "1234.5", "-12", "FALSE"),
    },
    typed={3: {1, 2, 3, 4, 5}, 4: {3, 4, 5}},
)
_ERRORS: BinaryTable = [
    ["Name", "City"],
    ["Ada", Error("#N/A")],
    [Error("#REF!", formula=True), "Rome"],
    ["", Error("#DIV/0!")],
]


def _cases() -> Iterator[Case]:
    def case(
        id_: str, promise: str, expected: Expected, table: BinaryTable, options: SourceOptions, **how: Any
    ) -> Case:
        return Case(f"xls-{id_}", promise, "a.xls", lambda: xls_bytes(table, **how), expected, options)

    none = SourceOptions()
    yield case("values", "shows stored values as a person sees them", _EXPECTED, _TABLE, none)
    yield case("errors", "reports error cells", _ERRORS_EXPECTED, _ERRORS, none)
    hidden = Expected(
        ("Name", "City"),
        {3: ("Alan", "Oslo")},
        reading="XLS, sheet 'Sheet', header found in row 1, 1 hidden row left out, 2 columns",
    )
    people: BinaryTable = [["Name", "City"], ["Ada", "Rome"], ["Alan", "Oslo"]]
    yield case(
        "hidden", "recognizes hidden rows", hidden, people, SourceOptions(hidden_rows="skip"), hidden=frozenset({2})
    )
    merged = Expected(
        ("Name", "City"),
        {2: ("Ada", "Rome"), 3: ("Alan", "")},
        (
            "a.xls, Sheet!B3: the cell is merged with B2: its value may be meant for this row too; "
            "unmerge the cells (B2:B3), and fill in each row",
        ),
        warnings=(
            "a.xls, Sheet: a range of cells is merged (B2:B3); only the first cell of each has the value, the "
            "others are blank; unmerge the cells and fill them in, unless blank is correct",
        ),
    )
    people = [["Name", "City"], ["Ada", "Rome"], ["Alan", ""]]
    yield case("merged", "reports merged cells", merged, people, none, merged=[(1, 2, 1, 1)])
    lines: BinaryTable = [["Name", "City"], ["A\nB", "𝒜da 🙂"]]
    yield case(
        "lines",
        "keeps line breaks and rare characters",
        Expected(("Name", "City"), {2: ("A\nB", "𝒜da 🙂")}),
        lines,
        none,
    )
    cut = (
        "a.xls: the workbook cannot be read: it is damaged, or has a form that importer does not know; open it in a "
        "spreadsheet program and save it again"
    )
    yield Case(
        "xls-cut",
        "reports a workbook that was cut off",
        "a.xls",
        lambda: xls_bytes(_TABLE)[:2000],
        Expected(refused=(cut,)),
    )


def _error(address: str, error: str) -> str:
    return f"a.xls, Sheet!{address}: the cell contains the error {error}; fix the formula or clear the cell"


_ERRORS_EXPECTED = Expected(
    ("Name", "City"),
    {2: ("Ada", "#N/A"), 3: ("#REF!", "Rome"), 4: ("", "#DIV/0!")},
    (_error("B2", "#N/A"), _error("A3", "#REF!"), _error("B4", "#DIV/0!")),
)


def _xls(id_: str, promise: str, content: Callable[[BinaryTable], bytes]) -> Iterator[Case]:
    """The same values and errors in another kind of XLS."""
    yield Case(f"xls-{id_}-values", promise, "a.xls", lambda: content(_TABLE), _EXPECTED)
    yield Case(f"xls-{id_}-errors", promise, "a.xls", lambda: content(_ERRORS), _ERRORS_EXPECTED)


_OLDER: BinaryTable = [["Name"], ["for older programs"]]

BINARY_CASES = (
    *_cases(),
    *_xls("excel-95", "reads what Excel 5.0 and 95 wrote", xls5_bytes),
    *_xls("capitals", "finds the workbook under an upper-case name", partial(xls_bytes, stream="WORKBOOK")),
    *_xls(
        "two-streams",
        "reads the newer of two workbooks in one file",
        lambda table: xls_bytes(table, beside=xls5_stream(_OLDER)),
    ),
)
