"""What a sheet hides or leaves in doubt: each kind once, with the warning or the refusal that names it."""

from __future__ import annotations

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from importer.models import SourceOptions
from tests.sources.corpus.binary_writers import xls_bytes
from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import edited

_DETECTED = SourceOptions()
_PEOPLE = (("Name", "Phone", "City"), ("Ada", "555-0101", "London"), ("Alan", "555-0102", "Leeds"))
_NAMES, _ROWS = _PEOPLE[0], {2: _PEOPLE[1], 3: _PEOPLE[2]}


_COVER = (("Confidential",), (), ("Prepared by HR",))
_BOTH = "Name;City, Country\nAda;London, UK\nAlan;Leeds, UK\n"


def _csv(id_: str, promise: str, text: str, expected: Expected, options: SourceOptions = _DETECTED) -> Case:
    return Case(f"doubt-{id_}", promise, "a.csv", text.encode, expected, options)


def _add(book: Workbook, title: str, *, hidden: bool = False) -> Worksheet:
    """A new sheet with the people."""
    sheet = book.create_sheet(title)
    sheet.sheet_state = "hidden" if hidden else "visible"
    for row in _PEOPLE:
        sheet.append(row)
    return sheet


def _hide_columns(_: Workbook, sheet: Worksheet) -> None:
    for letter in "BC":
        sheet.column_dimensions[letter].hidden = True


DOUBT_CASES = (
    _csv(
        "error-in-header",
        "reads an error cell in the header as the column's name",
        "Name,#REF!,City\nAda,555-0101,London\nAlan,555-0102,Leeds\n",
        Expected(("Name", "#REF!", "City"), _ROWS),
    ),
    _csv(
        "two-delimiters",
        "takes the delimiter that gives more columns",
        "Name,First;Phone,City\nAda,a;555-0101,London\nAlan,b;555-0102,Leeds\n",
        Expected(
            ("Name", "First;Phone", "City"), {2: ("Ada", "a;555-0101", "London"), 3: ("Alan", "b;555-0102", "Leeds")}
        ),
    ),
    _csv(
        "delimiter-not-found",
        "does not choose between two delimiters that fit equally well",
        _BOTH,
        Expected(
            refused=(
                'a.csv: both "," and ";" give every row 2 columns; set the delimiter under source: in the mapping, '
                'such as `delimiter: ";"`',
            )
        ),
    ),
    _csv(
        "delimiter-by-names",
        "chooses the delimiter by the names that the mapping reads",
        _BOTH,
        Expected(("Name", "City, Country"), {2: ("Ada", "London, UK"), 3: ("Alan", "Leeds, UK")}),
        SourceOptions(names=("Name", "Phone")),
    ),
    _csv(
        "delimiter-of-the-header",
        "takes the delimiter that the header has too",
        "Name;City\n" + "Ada;London, UK\n" * 20,
        Expected(("Name", "City"), dict.fromkeys(range(2, 22), ("Ada", "London, UK"))),
    ),
    _csv(
        "vertical-tabs",
        "reads vertical tabs, the line breaks of word processors, as line breaks",
        "Name,Notes\nAda,1\v2\v3\v4\nAlan,5\v6\v7\v8\n",
        Expected(("Name", "Notes"), {2: ("Ada", "1\n2\n3\n4"), 3: ("Alan", "5\n6\n7\n8")}),
    ),
    Case(
        "doubt-xor",
        "recognizes the oldest encryption of a workbook",
        "a.xls",
        lambda: xls_bytes(_PEOPLE, first=b"\x2f\0\x06\0\0\0\x34\x12\x78\x56"),
        Expected(
            refused=(
                "a.xls: the workbook is protected with a password; open it with its password and save it without a "
                "password",
            )
        ),
    ),
    Case(
        "doubt-macro-sheet",
        "does not take a macro sheet for a table",
        "a.xls",
        lambda: xls_bytes(_PEOPLE, sheet_type=1),
        Expected(
            refused=(
                "a.xls: the workbook has no worksheet; sheets of charts or macros have no rows; copy the rows to a "
                "worksheet, or export them as CSV",
            )
        ),
    ),
    Case(
        "doubt-hidden-column",
        "warns of a hidden column that the mapping reads",
        "a.xlsx",
        lambda: edited(_PEOPLE, _hide_columns),
        Expected(
            _NAMES,
            _ROWS,
            warnings=(
                "a.xlsx, Sheet: a hidden column is read like the others (B 'Phone'); show the columns and check their "
                "values, or map other columns",
            ),
        ),
        SourceOptions(names=("Name", "Phone")),
    ),
    Case(
        "doubt-cover",
        "reads the only sheet with a table behind a cover, with a warning",
        "a.xlsx",
        lambda: edited(_COVER, lambda book, _: _add(book, "People")),
        Expected(
            _NAMES,
            _ROWS,
            warnings=(
                "a.xlsx: the first sheet 'Sheet' has no table; the sheet 'People' is read; to read another sheet, set "
                "sheet: under source: in the mapping",
            ),
        ),
    ),
    Case(
        "doubt-cover-title",
        "reads the only sheet with a table behind a title alone, and mentions a hidden one",
        "a.xlsx",
        lambda: edited((("Export of 2024",),), lambda book, _: (_add(book, "People"), _add(book, "Old", hidden=True))),
        Expected(
            _NAMES,
            _ROWS,
            warnings=(
                "a.xlsx: the first sheet 'Sheet' has no table; the sheet 'People' is read; to read another sheet, set "
                "sheet: under source: in the mapping",
                "a.xlsx: a hidden sheet has rows with the same columns and will not be read: 'Old'; to read one, set "
                "sheet: under source: in the mapping to its name",
            ),
        ),
    ),
    Case(
        "doubt-cover-of-two",
        "does not choose between two tables behind a cover",
        "a.xlsx",
        lambda: edited(_COVER, lambda book, _: (_add(book, "2023"), _add(book, "2024"))),
        Expected(
            refused=(
                "a.xlsx: the first sheet 'Sheet' has no table, but '2023', '2024' have one; set sheet: under source: "
                "in the mapping to one of them",
            )
        ),
    ),
)
