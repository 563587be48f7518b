"""Cells become the answers that the service expects, or problems at their cell."""

from __future__ import annotations

import pytest

from importer.models import Answer
from importer.settings import WireFormat
from tests.transform.cases import BAD, GOOD, PHOTO, SKILLS, Bad, Good
from tests.transform.cells import answer_of, mapping_of, question, row, told


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_a_good_cell_is_sent(case: Good) -> None:
    """A cell is sent in the form that its question wants; a blank one is left out."""
    answer = answer_of(mapping_of(case.answer, asked=case.asked), row(case.cell, typed=[0] if case.typed else []))
    assert (answer and (answer.answer_file or answer.answer)) == case.sent


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_cell_is_told(case: Bad) -> None:
    """A cell that cannot be read is told with its place, what is wrong and what to do."""
    mapping = mapping_of(case.answer, asked=case.asked)
    assert told(mapping, row(case.cell, typed=[0] if case.typed else [])) == [
        f'c.csv, row 5, column "Cell": {case.told}'
    ]


def test_a_blank_answer_to_a_required_question() -> None:
    """A required question that is left open is told, for the service would refuse the row."""
    assert told(mapping_of("Cell", asked=question(required=True)), row(" ")) == [
        'c.csv, row 5, column "Cell": the required question q has no answer; fill it in'
    ]


def test_a_refused_answer_to_a_required_question() -> None:
    """A cell that cannot be read is told once, not as left open as well."""
    assert len(told(mapping_of("Cell", asked=question("date", required=True)), row("soon"))) == 1


def test_a_file_answer_is_sent_as_file() -> None:
    """A document ID goes into answer_file, without an answer beside it."""
    answer = answer_of(mapping_of("Cell", asked=PHOTO), row("42"))
    assert answer == Answer({"id": 7, "question_key": "q"}, answer_file="42")


@pytest.mark.parametrize(
    ("wire", "sent"),
    [
        pytest.param(WireFormat(), '["Go", "C++"]', id="json"),
        pytest.param(WireFormat(multiple_choice="comma"), "Go,C++", id="comma"),
        pytest.param(WireFormat(multiple_choice="semicolon"), "Go;C++", id="semicolon"),
        pytest.param(WireFormat(multiple_choice="newline"), "Go\nC++", id="newline"),
    ],
)
def test_several_choices_in_each_form(wire: WireFormat, sent: str) -> None:
    """How several choices are joined is a setting, for the service description does not show it."""
    answer = answer_of(mapping_of('{column: Cell, split: "/"}', asked=SKILLS, wire=wire), row("Go/C++"))
    assert answer is not None
    assert answer.answer == sent


def test_yes_no_words_of_the_service() -> None:
    """The words that the service is sent are a setting."""
    answer = answer_of(mapping_of("Cell", asked=question("yes_no"), wire=WireFormat(yes_no=("ja", "nej"))), row("no"))
    assert answer is not None
    assert answer.answer == "nej"


@pytest.mark.parametrize(
    ("key", "wire", "reference"),
    [
        pytest.param("q", WireFormat(), {"id": 7, "question_key": "q"}, id="object"),
        pytest.param(None, WireFormat(), {"id": 7}, id="object without a key"),
        pytest.param("q", WireFormat(question_reference="id"), 7, id="id"),
    ],
)
def test_how_a_question_is_named(key: str | None, wire: WireFormat, reference: object) -> None:
    """An answer names its question as an object or as an id; a key that is not there is left out."""
    answer = answer_of(mapping_of("Cell", asked=question(key=key), wire=wire), row("x"))
    assert answer is not None
    assert answer.job_post_question == reference


def test_the_first_valid_alternative_wins() -> None:
    """Of several columns the first that is filled in and valid is taken; bad ones before it are no problem."""
    mapping = mapping_of("{column: [A, B, C], region: TR}", ("A", "B", "C"), question(type="phone"))
    answer = answer_of(mapping, row("", "call me", "0532 123 45 67"))
    assert answer is not None
    assert answer.answer == "+905321234567"


def test_no_valid_alternative() -> None:
    """Where no alternative is valid, each that is filled in is told."""
    mapping = mapping_of("{column: [A, B, C]}", ("A", "B", "C"), question("integer"))
    hint = "write it in digits, or set thousands: in m.yaml:4"
    assert told(mapping, row("x", "", "y")) == [
        f"c.csv, row 5, column \"A\": 'x' is not a whole number; {hint}",
        f"c.csv, row 5, column \"C\": 'y' is not a whole number; {hint}",
    ]


def test_joined_columns_leave_out_blank_ones() -> None:
    """Columns are joined with the sign between those that are filled in."""
    mapping = mapping_of('{join: [A, B, C], with: ", ", missing: "-"}', ("A", "B", "C"))
    assert answer_of(mapping, row("İzmir", "-", " Türkiye ")) == Answer(
        {"id": 7, "question_key": "q"}, answer="İzmir, Türkiye"
    )


def test_columns_joined_in_lines() -> None:
    """`newline` is a line break for `with` as it is for `split`."""
    mapping = mapping_of("{join: [A, B], with: newline}", ("A", "B"), question("long_text"))
    assert answer_of(mapping, row("Ada", "Nur")) == Answer({"id": 7, "question_key": "q"}, answer="Ada\nNur")


def test_reading_twice_gives_the_same() -> None:
    """What is remembered between rows changes nothing, neither for good cells nor for bad ones."""
    mapping = mapping_of("Cell", asked=question("date"))
    assert [answer_of(mapping, row(cell)) for cell in ("2024-01-02", "2024-01-02")][1] is not None
    assert told(mapping, row("soon")) == told(mapping, row("soon"))


def test_a_typed_and_a_plain_cell_of_the_same_text() -> None:
    """A number cell and a text cell that look alike are remembered apart."""
    mapping = mapping_of('{column: Cell, decimal: ","}', asked=question("decimal"))
    assert answer_of(mapping, row("12.5", typed=[0])) is not None
    assert len(told(mapping, row("12.5"))) == 1
