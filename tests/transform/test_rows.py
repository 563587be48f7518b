"""A row becomes a body, or all its problems."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from importer.mapping import ResolvedMapping, read_mapping, resolve
from importer.models import Application, PoolCandidate, Row
from importer.problems import Column, Origin, Problem
from importer.settings import WireFormat
from importer.transform import Filtered, Invalid, place_of_address, same_address, transform_row
from tests.transform.cells import FILE, FILLED, ORIGIN, PERSON, mapping_of, problems_of, question, row


def _person(**cells: str) -> Row:
    values = dict(zip(("email", "first", "last", "cv"), FILLED, strict=True)) | cells
    return Row(ORIGIN, 5, (*values.values(), "x"))


def _pool(candidate: str) -> ResolvedMapping:
    FILE.write_text(f"version: 1\ntarget: {{talent_pool: 17}}\ncandidate: {candidate}\n", encoding="utf-8")
    columns = tuple(Column(i, chr(65 + i), name) for i, name in enumerate(PERSON))
    return resolve(read_mapping(FILE), columns, (), WireFormat())


def test_an_application() -> None:
    """A row is the body of service description 4.2, its keys in a fixed order."""
    result = transform_row(_person(email=" Ada.Nur@EXAMPLE.com "), mapping_of("Cell"))
    assert isinstance(result, Application)
    assert list(result.payload().items()) == [
        ("email", "Ada.Nur@example.com"),
        ("first_name", "Ada"),
        ("last_name", "Nur"),
        ("cv", "70001"),
        ("answers", [{"job_post_question": {"id": 7, "question_key": "q"}, "answer": "x"}]),
    ]


def test_a_month_of_a_workbook_is_no_document() -> None:
    """A program may have made it of the ID 2-30; as text it may be one."""
    month = _person(cv="2030-02")
    mapping = mapping_of("Cell")
    assert isinstance(transform_row(month, mapping), Application)
    (problem,) = problems_of(mapping, replace(month, typed=frozenset({3})))
    assert "'2030-02' is not a valid document ID" in problem


def test_a_pool_candidate() -> None:
    """A row is the body of service description 4.3, with a constant source_platform."""
    mapping = _pool("{email: E-mail, first_name: First, last_name: Last, cv: CV, source_platform: {value: zoho}}")
    result = transform_row(Row(ORIGIN, 5, FILLED), mapping)
    assert result == PoolCandidate(5, "ada@example.com", "Ada", "Nur", "70001", "zoho")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        pytest.param(
            {"email": "ada(at)example.com"},
            "\"E-mail\": 'ada(at)example.com' is not a valid e-mail address: an email address must have an @-sign; "
            "write one "
            "address like name@example.com",
            id="e-mail without @",
        ),
        pytest.param(
            {"email": "ada@example.c"},
            "\"E-mail\": 'ada@example.c' is not a valid e-mail address: the part after the last dot is too short; "
            "write one address like name@example.com",
            id="e-mail that ends too early",
        ),
        pytest.param(
            {"email": f"{'x' * 65}@example.com"},
            f"\"E-mail\": '{'x' * 65}@example.com' is not a valid e-mail address: the email address is too long "
            "before the @-sign (1 character too many); write one address like name@example.com",
            id="e-mail with a long name",
        ),
        pytest.param(
            {"email": "ada@example.com; nur@example.com"},
            "\"E-mail\": 'ada@example.com; nur@example.com' contains several e-mail addresses; write one address, or "
            "set split: and take: first_valid in m.yaml:3",
            id="two e-mail addresses",
        ),
        pytest.param({"email": ""}, '"E-mail": the e-mail address is missing; fill it in', id="no e-mail"),
        pytest.param({"first": " "}, '"First": the first name is missing; fill it in', id="no first name"),
        pytest.param({"last": ""}, '"Last": the last name is missing; fill it in', id="no last name"),
        pytest.param(
            {"last": "***"}, "\"Last\": '***' is not a valid name; write the name in letters", id="name of separators"
        ),
        pytest.param({"cv": ""}, '"CV": the CV\'s document ID is missing; fill it in', id="no CV"),
        pytest.param(
            {"cv": "CV new (2).pdf"},
            "\"CV\": 'CV new (2).pdf' is not a valid document ID; enter the ID of one uploaded document",
            id="CV by file name",
        ),
        pytest.param(
            {"cv": "٣٤"},
            "\"CV\": '٣٤' is not a valid document ID; enter the ID of one uploaded document",
            id="CV in other digits",
        ),
    ],
)
def test_a_missing_or_invalid_field_of_the_candidate(cells: dict[str, str], message: str) -> None:
    """A missing or invalid field of the candidate is a problem at its cell."""
    assert problems_of(mapping_of("Cell"), _person(**cells)) == [f"c.csv, row 5, column {message}"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        *(("Ay?e", "?"), ("?mer", "?"), ("Zo?", "?"), ("M&uuml;ller", "&uuml;"), ("<i>Ada</i>", "<i>")),
        ("O\\'Neil", "\\'"),
        *((name, name) for name in ("\\N", "(null)", "<null>", "undefined", "[object Object]")),
    ],
)  # fmt: skip
def test_a_name_that_a_program_wrote(name: str, code: str) -> None:
    """A name with a question mark, an entity, a tag or an escape is refused, and so is what stands for no name."""
    what = "letters" if code == "?" else "the name"
    assert problems_of(mapping_of("Cell"), _person(last=name)) == [
        f"c.csv, row 5, column \"Last\": '{name}' has '{code}', which a program wrote in place of {what}; write the "
        "name as a person reads it"
    ]


def test_a_name_of_a_boolean_cell() -> None:
    """TRUE in a cell that a workbook stores as a boolean is no name; a person may have it as a text."""
    mapping, person = mapping_of("Cell"), _person(last="TRUE")
    assert isinstance(transform_row(person, mapping), Application)
    (problem,) = problems_of(mapping, replace(person, typed=frozenset({2})))
    assert problem.startswith("c.csv, row 5, column \"Last\": 'TRUE' has 'TRUE', which a program wrote")


@pytest.mark.parametrize("cell", ["2012-11-23", "23-Nov", "Nov-23", "05:30:00", "TRUE", "false"])
def test_a_cv_that_a_spreadsheet_program_changed(cell: str) -> None:
    """A date, a time and a boolean are no document IDs; IDs with dates and months in them are."""
    mapping = mapping_of("Cell")
    assert problems_of(mapping, _person(cv=cell)) == [
        f"c.csv, row 5, column \"CV\": '{cell}' is not a valid document ID; enter the ID of one uploaded document"
    ]
    for token in ("2012-11-23-7", "doc-12", "12-nova", "nov-2312", "a:30", "truth"):
        assert isinstance(transform_row(_person(cv=token), mapping), Application), token


def test_an_address_in_capitals_of_another_language() -> None:
    """`İPEK@` is what a program made of `ipek@`: as it is, one person would be two."""
    (problem,) = problems_of(mapping_of("Cell"), _person(email="İPEK@EXAMPLE.COM"))
    assert "'İPEK@EXAMPLE.COM' is not a valid e-mail address: its capitals may" in problem


def test_an_internationalized_address() -> None:
    """An address with non-ASCII letters is valid; its domain becomes lower case."""
    result = transform_row(_person(email="ayşe@ÖRNEK.example"), mapping_of("Cell"))
    assert isinstance(result, Application)
    assert result.email == "ayşe@örnek.example"


def test_all_problems_of_a_row_at_once() -> None:
    """All problems of a row are reported at once, those of reading first."""
    mapping = mapping_of("Cell", asked=question("date"))
    column = Column(3, "D", "CV")
    plain = row("soon")
    read = Problem("cell-error", "the cell contains the error #N/A", "fix the formula", plain.place(column))
    source = replace(plain, cells=("x@", "Ada", "", "#N/A x", "soon"), problems=(read,))
    invalid = transform_row(source, mapping)
    assert isinstance(invalid, Invalid)
    assert [(p.code, p.column) for p in invalid.problems] == [
        ("cell-error", "CV"), ("email-invalid", "E-mail"), ("required-value-missing", "Last"),
        ("date-invalid", "Cell"),
    ]  # fmt: skip


def test_a_problem_of_reading_alone_makes_a_row_invalid() -> None:
    """A row with a problem of reading is not sent, whatever its cells look like."""
    problem = Problem("row-broken", "the row has a cell too many", "take it out", row("x").place())
    result = transform_row(row("x", problems=[problem]), mapping_of("Cell"))
    assert result == Invalid(5, (problem,))


@pytest.mark.parametrize(
    ("where", "cell", "counts"),
    [
        pytest.param("is: [Active, Interview]", "ACTIVE ", True, id="is"),
        pytest.param("is: [Active, Interview]", "Old", False, id="is another"),
        pytest.param("is_not: Old", "old", False, id="is not"),
        pytest.param("is_not: Old", "", True, id="is not, blank"),
        pytest.param('is: [Active, ""]', "", True, id="blank named"),
    ],
)
def test_where(where: str, cell: str, counts: bool) -> None:
    """Rows are filtered by the normalized text of the filter column."""
    mapping = mapping_of("Cell", ("Cell", "Status"), extra=f"source: {{where: {{column: Status, {where}}}}}\n")
    assert isinstance(transform_row(row("x", cell), mapping), Application if counts else Filtered)


def test_why_a_row_is_excluded() -> None:
    """The message shows the cell that excluded the row."""
    mapping = mapping_of("Cell", ("Cell", "Status"), extra="source: {where: {column: Status, is: Active}}\n")
    result = transform_row(row("x", "Old"), mapping)
    assert isinstance(result, Filtered)
    assert str(result.problem) == "c.csv, row 5, column \"Status\": excluded by `where:` (Status is 'Old')"


def test_a_filter_cell_with_a_problem() -> None:
    """A row is not excluded silently because of a cell that cannot be read."""
    mapping = mapping_of("Cell", ("Cell", "Status"), extra="source: {where: {column: Status, is: Active}}\n")
    problem = Problem(
        "cell-error", "the cell contains the error #N/A", "", row("x", "").place(Column(5, "F", "Status"))
    )
    assert isinstance(transform_row(row("x", "#N/A", problems=[problem]), mapping), Invalid)


@pytest.mark.parametrize(
    ("becomes", "which"),
    [
        ("valid", "which is imported instead; remove"),
        ("invalid", "which has problems of its own; fix row 14, or remove"),
        ("neither", "and neither row is sent; remove"),
    ],
)
def test_a_second_row_with_the_same_email_address(becomes: Literal["valid", "invalid", "neither"], which: str) -> None:
    """The problem has its row number, and says what becomes of the other one."""
    email = Column(0, "A", "E-mail")
    assert str(same_address(row("x", number=20).place(email), row("x", number=14).place(email), becomes)) == (
        f'c.csv, row 20, column "E-mail": the e-mail address is the same as in row 14, {which} one of the two rows in '
        "your own file, or correct the address if they are two people"
    )


PLACES = [
    pytest.param([("ada@example.com", "")], "A20", id="the column"),
    pytest.param([("none", "Ada@Example.com ")], "B20", id="another column"),
    pytest.param([("", ""), ("", "ada@example.com")], "B21", id="another row of the candidate"),
    pytest.param([("mailto:ada@example.com", "")], "A20", id="the only cell"),
    pytest.param([("Ada <ada@example.com>", "none")], "row 20", id="not surely one"),
]


@pytest.mark.parametrize(("cells", "expected"), PLACES)
def test_the_cell_with_the_same_email_address(cells: list[tuple[str, ...]], expected: str) -> None:
    """A cell is named only if it has the address: a person would correct another one."""
    rows = [Row(Origin("c.xlsx", "People"), 20 + at, each) for at, each in enumerate(cells)]
    columns = [Column(0, "A", "E-mail"), Column(1, "B", "Other")]
    place = place_of_address(rows, columns, "ada@example.com")
    assert place.address == expected
    assert same_address(place, place, "valid").message.startswith(f"the e-mail address is the same as in {expected},")


def test_the_email_address_of_an_invalid_row() -> None:
    """An invalid row keeps its e-mail address, so that another row with the same one is noticed."""
    mapping = mapping_of("Cell", asked=question("date"))
    invalid = transform_row(row("soon"), mapping)
    assert isinstance(invalid, Invalid)
    assert invalid.email == "ada@example.com"
