"""Dates of what has happened cannot be in the future; today is an argument."""

from __future__ import annotations

from datetime import date

import pytest

from importer.models import Question
from tests.transform.cells import answer_of, mapping_of, problems_of, question, row

TODAY = date(2026, 11, 23)
BIRTH = question("date", key="birth_date")
LATER = "is in the future; correct the date"
MAY_BE_RIGHT = f"{LATER}, or set future: allow in m.yaml:4"


@pytest.mark.parametrize(
    ("asked", "answer", "cell"),
    [
        pytest.param(BIRTH, "Cell", "2072-05-31", id="birth date by key"),
        pytest.param(Question(7, "Doğum tarihiniz", False, "date"), "Cell", "2072-05-31", id="birth date by text"),
        pytest.param(BIRTH, "Cell", "2026-11-25", id="day after tomorrow"),
        pytest.param(BIRTH, '{column: Cell, dates: "%Y", missing_day: first, missing_month: first}', "2027", id="year"),
        pytest.param(BIRTH, "{column: Cell, dates: excel}", "62000", id="count"),
        pytest.param(question("date"), "{column: Cell, future: error}", "2027-01-01", id="as declared"),
    ],
)
def test_a_date_in_the_future(asked: Question, answer: str, cell: str) -> None:
    """It is a problem at its cell; what may be right, other than a birth date, can be allowed."""
    mapping = mapping_of(answer, asked=asked, today=TODAY)
    hint = MAY_BE_RIGHT if "future" in answer else LATER
    assert problems_of(mapping, row(cell)) == [f"c.csv, row 5, column \"Cell\": '{cell}' {hint}"]


@pytest.mark.parametrize(
    ("asked", "answer", "cell", "sent"),
    [
        pytest.param(BIRTH, "Cell", "2026-11-24", "2026-11-24", id="tomorrow, which is today somewhere"),
        pytest.param(BIRTH, "{column: Cell, future: allow}", "2072-05-31", "2072-05-31", id="allowed"),
        pytest.param(question("date"), "Cell", "2072-05-31", "2072-05-31", id="another question"),
        pytest.param(
            BIRTH, '{column: Cell, dates: "%Y", missing_day: last, missing_month: last}', "2026", "2026-12-31",
            id="this year, read as its last day",
        ),
    ],
)  # fmt: skip
def test_a_date_that_may_be_right(asked: Question, answer: str, cell: str, sent: str) -> None:
    """What may have happened, or may lie ahead, is sent."""
    answer_item = answer_of(mapping_of(answer, asked=asked, today=TODAY), row(cell))
    assert answer_item is not None
    assert answer_item.answer == sent


@pytest.mark.parametrize(
    ("kind", "start", "end", "is_valid"),
    [
        pytest.param("education", "2024-09-01", "2029-06-30", True, id="expected graduation"),
        pytest.param("education", "2024-09-01", "2072-06-30", False, id="graduation in fifty years"),
        pytest.param("education", "2028-09-01", "", False, id="studies that have not begun"),
        pytest.param("experience", "2024-09-01", "2027-06-30", False, id="job that ends later"),
        pytest.param("experience", "2027-09-01", "", False, id="job that has not begun"),
        pytest.param("experience", "2024-09-01", "2026-06-30", True, id="past job"),
    ],
)
def test_entries_in_the_future(kind: str, start: str, end: str, is_valid: bool) -> None:
    """An entry has begun; studies may end within ten years, jobs have ended."""
    name = {"education": "school_name", "experience": "company_name"}[kind]
    answer = f"{{{kind}: {{{name}: Name, start_date: From, end_date: To}}}}"
    mapping = mapping_of(answer, ("Name", "From", "To"), question("long_text"), today=TODAY)
    source = row("Example", start, end)
    if is_valid:
        assert answer_of(mapping, source) is not None
    else:
        wrong = end if end > "2027" else start
        column = "To" if wrong == end else "From"
        assert problems_of(mapping, source) == [f"c.csv, row 5, column \"{column}\": '{wrong}' {MAY_BE_RIGHT}"]


def test_a_range_that_ends_in_the_future() -> None:
    """The start of studies is read, whatever rule its end has."""
    part = '{{column: Cell, part: {}, dates: "%Y", missing_month: first, missing_day: first}}'
    answer = f"{{education: {{school_name: Cell, start_date: {part.format('start')}, end_date: {part.format('end')}}}}}"
    item = answer_of(mapping_of(answer, asked=question("long_text"), today=TODAY), row("2024 - 2028"))
    assert item is not None
    assert item.answer == '[{"school_name": "2024 - 2028", "start_date": "2024-01-01", "end_date": "2028-01-01"}]'
