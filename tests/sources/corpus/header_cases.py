"""Where the header is, in CSV and in workbook form: found, declared, below titles, in two rows, blank, repeated."""

from __future__ import annotations

from collections.abc import Iterator

from importer.models import SourceOptions
from tests.sources.corpus.case import Case, Expected
from tests.sources.corpus.writers import Table, csv_text, openpyxl_bytes

_COMMA = SourceOptions(delimiter=",")
_PEOPLE = (("Ada", "ada@example.com", "London"), ("Alan", "alan@example.org", "Wilmslow"))
_NAMES = ("Name", "E-mail", "City")
_TITLED: Table = (("Candidates of 2024",), (), _NAMES, *_PEOPLE)
_AT_3 = {4: _PEOPLE[0], 5: _PEOPLE[1]}


def _both(id_: str, promise: str, table: Table, expected: Expected, options: SourceOptions = _COMMA) -> Iterator[Case]:
    """The same table as CSV, each row as wide as the widest as spreadsheet programs write it, and as a workbook."""
    width = max(map(len, table))
    padded = [(*row, *("",) * (width - len(row))) for row in table]
    yield Case(f"{id_}-csv", promise, "a.csv", lambda: csv_text(padded).encode(), expected, options)
    in_sheet = Expected(
        expected.columns,
        expected.rows,
        expected.problems,
        tuple(text.replace("a.csv", "a.xlsx, Sheet") for text in expected.warnings),
        None,
        expected.header_row,
        None,
        tuple(
            text.replace("a.csv, row ", "a.xlsx, Sheet!row ").replace("a.csv", "a.xlsx, Sheet")
            for text in expected.refused
        ),
    )
    yield Case(f"{id_}-xlsx", promise, "a.xlsx", lambda: openpyxl_bytes(table), in_sheet, options)


HEADER_CASES = (
    *_both(
        "header-first",
        "finds the header in row 1",
        (_NAMES, *_PEOPLE),
        Expected(_NAMES, {2: _PEOPLE[0], 3: _PEOPLE[1]}),
    ),
    *_both("header-below-title", "finds the header below a title", _TITLED, Expected(_NAMES, _AT_3, header_row=3)),
    *_both(
        "header-below-settings",
        "finds the header below a list of settings",
        (("Exported by", "admin"), ("On", "2024-01-01"), (), _NAMES, *_PEOPLE),
        Expected(_NAMES, {5: _PEOPLE[0], 6: _PEOPLE[1]}, header_row=4),
    ),
    *_both(
        "header-below-address",
        "does not detect a row with an e-mail address as the header",
        (("Export", "of", "admin@example.com"), _NAMES, *_PEOPLE),
        Expected(
            _NAMES,
            {3: _PEOPLE[0], 4: _PEOPLE[1]},
            header_row=2,
            warnings=(
                "a.csv: row 1 looks like data, but the header was found below, in row 2: not imported; if the header "
                "is another row, set header_row: under source: in the mapping",
            ),
        ),
    ),
    *_both(
        "header-below-placeholders",
        "passes over a row of placeholders",
        (("Column1", "Column2", "Column3"), _NAMES, *_PEOPLE),
        Expected(_NAMES, {3: _PEOPLE[0], 4: _PEOPLE[1]}, header_row=2),
    ),
    *_both(
        "header-declared",
        "uses the declared row, whatever it looks like",
        (("a", "1", "2"), _NAMES, *_PEOPLE),
        Expected(("a", "1", "2"), {2: _NAMES, 3: _PEOPLE[0], 4: _PEOPLE[1]}),
        SourceOptions(header_row=1, delimiter=","),
    ),
    *_both(
        "header-declared-person",
        "refuses a declared row with an e-mail address: its candidate would be lost",
        _PEOPLE,
        Expected(
            refused=(
                "a.csv, row 1: the header row that the mapping gives has 'ada@example.com': this candidate would not "
                "be imported; correct header_row: under source: in the mapping, or add a row with the names of the "
                "columns above the first candidate; the first rows are row 1: 'Ada', 'ada@example.com', 'London'; "
                "row 2: 'Alan', 'alan@example.org', 'Wilmslow'",
            )
        ),
        SourceOptions(header_row=1, delimiter=","),
    ),
    *_both(
        "header-declared-below",
        "uses a declared row below others",
        _TITLED,
        Expected(_NAMES, _AT_3, header_row=3),
        SourceOptions(header_row=3, delimiter=","),
    ),
    *_both(
        "header-declared-blank",
        "rejects a blank declared row and shows the first rows",
        _TITLED,
        Expected(
            refused=(
                "a.csv, row 2: the header row that the mapping gives is blank; correct header_row: under source: in "
                "the mapping; the first rows are row 1: 'Candidates of 2024'; row 3: 'Name', 'E-mail', 'City'; row "
                "4: 'Ada', 'ada@example.com', 'London'; row 5: 'Alan', 'alan@example.org', 'Wilmslow'",
            )
        ),
        SourceOptions(header_row=2, delimiter=","),
    ),
    *_both(
        "header-declared-beyond",
        "rejects a declared row beyond the last",
        (_NAMES, _PEOPLE[0]),
        Expected(
            refused=(
                "a.csv, row 40: the header row that the mapping gives is blank; correct header_row: under source: in "
                "the mapping; the first rows are row 1: 'Name', 'E-mail', 'City'; row 2: 'Ada', 'ada@example.com', "
                "'London'",
            )
        ),
        SourceOptions(header_row=40, delimiter=","),
    ),
    *_both(
        "header-none",
        "asks for the header if no row looks like one",
        _PEOPLE,
        Expected(
            refused=(
                "a.csv, row 1: none of the first 40 rows looks like a header; set header_row: under source: in the "
                "mapping to its row number, or add a row with the names of the columns above the first candidate; the "
                "first rows are row 1: 'Ada', 'ada@example.com', 'London'; row 2: 'Alan', 'alan@example.org', "
                "'Wilmslow'",
            )
        ),
    ),
    *_both(
        "header-two-rows",
        "joins a header of two rows, the upper one merged over several columns",
        (("Name", "Balance", "", "City"), ("", "Opening", "Ending", ""), ("Ada", "1", "2", "London")),
        Expected(
            ("Name", "Balance / Opening", "Balance / Ending", "City"), {3: ("Ada", "1", "2", "London")}, header_row=2
        ),
        SourceOptions(header_row=1, header_rows=2, delimiter=","),
    ),
    *_both(
        "header-two-rows-found",
        "finds a header of two rows, the upper one naming groups of columns",
        (
            ("Candidates", "", "", ""),
            ("Person", "", "School", ""),
            ("Name", "E-mail", "Name", "From"),
            ("Ada", "ada@example.com", "Ege", "2019"),
            ("Alan", "alan@example.org", "ETH", "2020"),
        ),
        Expected(
            ("Person / Name", "Person / E-mail", "School / Name", "School / From"),
            {4: ("Ada", "ada@example.com", "Ege", "2019"), 5: ("Alan", "alan@example.org", "ETH", "2020")},
            header_row=3,
        ),
        SourceOptions(delimiter=","),
    ),
    *_both(
        "header-one-row-declared",
        "reads one row, that of the columns, where the mapping says that the header has one",
        (("Person", "", "School"), ("Name", "E-mail", "Name"), ("Ada", "ada@example.com", "Ege")),
        Expected(("Name", "E-mail", "Name"), {3: ("Ada", "ada@example.com", "Ege")}, header_row=2),
        SourceOptions(header_rows=1, delimiter=","),
    ),
    *_both(
        "header-row-of-texts-below",
        "does not take a row of texts for the second row of a header",
        (("Name", "", "City"), ("Ada", "x", "London"), ("Alan", "y", "Wilmslow")),
        Expected(("Name", "=B", "City"), {2: ("Ada", "x", "London"), 3: ("Alan", "y", "Wilmslow")}),
        SourceOptions(delimiter=","),
    ),
    *_both(
        "header-two-rows-undeclared",
        "asks where a header of two rows begins",
        (_NAMES, _NAMES, *_PEOPLE),
        Expected(
            refused=(
                "a.csv: a header of 2 rows cannot be detected; set header_row: under source: in the mapping to its "
                "first row",
            )
        ),
        SourceOptions(header_rows=2, delimiter=","),
    ),
    *_both(
        "header-blank-name",
        "reaches a column without a name by its letter",
        (("Name", "", "City"), *_PEOPLE),
        Expected(("Name", "=B", "City"), {2: _PEOPLE[0], 3: _PEOPLE[1]}),
    ),
    *_both(
        "header-repeated-name",
        "keeps several columns with the same name",
        (("id", "name", "id"), ("1", "Ada", "2"), ("3", "Alan", "4")),
        Expected(("id", "name", "id"), {2: ("1", "Ada", "2"), 3: ("3", "Alan", "4")}),
    ),
    *_both(
        "header-line-break",
        "makes one line of a header name with line breaks",
        (("Full\nname", " E-mail\u00a0", "City"), *_PEOPLE),
        Expected(("Full name", "E-mail", "City"), {2: _PEOPLE[0], 3: _PEOPLE[1]}),
    ),
    *_both(
        "header-instructions-below",
        "leaves out the instruction rows that the mapping skips",
        (_NAMES, ("required", "required", ""), ("Jane", "jane@example.com", "Rome"), *_PEOPLE),
        Expected(_NAMES, {4: _PEOPLE[0], 5: _PEOPLE[1]}),
        SourceOptions(skip_rows=(2, 3), delimiter=","),
    ),
    *_both(
        "header-title-skipped",
        "finds the header below rows that the mapping skips",
        (("First", "junk", "row"), _NAMES, *_PEOPLE),
        Expected(_NAMES, {3: _PEOPLE[0], 4: _PEOPLE[1]}, header_row=2),
        SourceOptions(skip_rows=(1,), delimiter=","),
    ),
)
