"""Cells become the answers that the service expects, or problems at the cell."""

from __future__ import annotations

import pytest

from importer.models import Answer, Question
from importer.settings import WireFormat
from importer.transform import Invalid, transform_row
from tests.transform.cases import BAD, GOOD, PHOTO, SKILLS, Bad, Good
from tests.transform.cells import answer_of, mapping_of, problems_of, question, row


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_a_valid_cell(case: Good) -> None:
    """A cell is sent in the format of its question; a blank one is not sent."""
    answer = answer_of(mapping_of(case.answer, asked=case.asked), row(case.cell, typed=[0] if case.typed else []))
    assert (answer and (answer.answer_file or answer.answer)) == case.sent


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_an_invalid_cell(case: Bad) -> None:
    """The problem has the place, what is wrong and what to do."""
    mapping = mapping_of(case.answer, asked=case.asked)
    assert problems_of(mapping, row(case.cell, typed=[0] if case.typed else [])) == [
        f'c.csv, row 5, column "Cell": {case.problem}'
    ]


def test_a_blank_answer_to_a_required_question() -> None:
    """A required question without an answer is a problem, as the service would reject the row."""
    assert problems_of(mapping_of("Cell", asked=question(required=True)), row(" ")) == [
        'c.csv, row 5, column "Cell": the required question q has no answer; fill it in, or '
        "set default: for all blank cells in m.yaml:4"
    ]


@pytest.mark.parametrize(
    ("asked", "cell", "hint"),
    [
        (
            question("single_choice", options=["A"], required=True), "B",
            "use one of A, or add it under values: in m.yaml:4",
        ),
        (question("yes_no", required=True), "B", "write yes or no, or add the word under yes: or no: in m.yaml:4"),
        (question("integer", required=True), "B", "write it in digits"),
        (question(type="phone", required=True), "", "fill it in"),
        (question("date", required=True, key="birth_date"), "", "fill it in"),
        (
            question("date", required=True), "soon",
            "write it as YYYY-MM-DD, or give it a date under values: (with otherwise: keep) in m.yaml:4",
        ),
    ],
)  # fmt: skip
def test_a_required_answer_cannot_be_left_out(asked: Question, cell: str, hint: str) -> None:
    """The hint of a required answer does not propose to leave it out: the row could still not be sent."""
    (problem,) = problems_of(mapping_of("Cell", asked=asked), row(cell))
    assert problem.endswith(f"; {hint}")


def test_a_word_that_is_read_as_an_empty_cell() -> None:
    """If a word in the cell is read as an empty cell, the problem says so."""
    mapping = mapping_of("{column: Cell, missing: unbekannt}", asked=question(required=True))
    assert problems_of(mapping, row("unbekannt")) == [
        "c.csv, row 5, column \"Cell\": the required question q has no answer: 'unbekannt' is read as an empty cell; "
        "fill it in, or change missing: or values: for it in m.yaml:4"
    ]


def test_an_invalid_answer_to_a_required_question() -> None:
    """An invalid cell is one problem; the answer is not reported as missing too."""
    assert len(problems_of(mapping_of("Cell", asked=question("date", required=True)), row("soon"))) == 1


def test_a_file_answer_is_sent_as_file() -> None:
    """A document ID goes into answer_file, without `answer`."""
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
    """How several choices are joined is a setting, as the service description does not show it."""
    answer = answer_of(mapping_of('{column: Cell, split: "/"}', asked=SKILLS, wire=wire), row("Go/C++"))
    assert answer is not None
    assert answer.answer == sent


def test_yes_no_words_of_the_service() -> None:
    """The words that are sent are a setting."""
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
def test_the_reference_to_a_question(key: str | None, wire: WireFormat, reference: object) -> None:
    """An answer refers to its question by an object or an id; a missing key is left out."""
    answer = answer_of(mapping_of("Cell", asked=question(key=key), wire=wire), row("x"))
    assert answer is not None
    assert answer.job_post_question == reference


def test_the_first_valid_alternative_wins() -> None:
    """The first column that is filled in and valid is used; invalid ones before it are not a problem."""
    mapping = mapping_of("{column: [A, B, C], region: TR}", ("A", "B", "C"), question(type="phone"))
    answer = answer_of(mapping, row("", "call me", "0532 123 45 67"))
    assert answer is not None
    assert answer.answer == "+905321234567"


def test_no_valid_alternative() -> None:
    """Where no alternative is valid, each filled one is a problem."""
    mapping = mapping_of("{column: [A, B, C]}", ("A", "B", "C"), question("integer"))
    hint = "write it in digits; to leave it out, add it under missing: in m.yaml:4"
    assert problems_of(mapping, row("x", "", "y")) == [
        f"c.csv, row 5, column \"A\": 'x' is not a whole number; {hint}",
        f"c.csv, row 5, column \"C\": 'y' is not a whole number; {hint}",
    ]


def test_joined_columns_leave_out_blank_ones() -> None:
    """Columns are joined with the separator between filled ones."""
    mapping = mapping_of('{join: [A, B, C], with: ", ", missing: "-"}', ("A", "B", "C"))
    assert answer_of(mapping, row("İzmir", "-", " Türkiye ")) == Answer(
        {"id": 7, "question_key": "q"}, answer="İzmir, Türkiye"
    )


def test_a_joined_amount_whose_cell_shows_another_currency() -> None:
    """The currency of the number format is part of the text: two of them are no amount."""
    mapping = mapping_of("{join: [A, B], currency: [EUR]}", ("A", "B"), question("integer"))
    (problem,) = problems_of(mapping, row("48000 $", "EUR", typed=(0,)))
    assert problem.startswith("c.csv, row 5, column \"A\": '48000 $ EUR' is not a whole number")


def test_columns_joined_in_lines() -> None:
    """`newline` means a line break in `with`, as in `split`."""
    mapping = mapping_of("{join: [A, B], with: newline}", ("A", "B"), question("long_text"))
    assert answer_of(mapping, row("Ada", "Nur")) == Answer({"id": 7, "question_key": "q"}, answer="Ada\nNur")


def test_reading_twice_gives_the_same() -> None:
    """The cache changes nothing, neither for valid cells nor for invalid ones."""
    mapping = mapping_of("Cell", asked=question("date"))
    assert [answer_of(mapping, row(cell)) for cell in ("2024-01-02", "2024-01-02")][1] is not None
    assert problems_of(mapping, row("soon")) == problems_of(mapping, row("soon"))


def test_a_number_cell_and_a_text_cell_with_the_same_text() -> None:
    """A number cell and a text cell with the same text are cached separately."""
    mapping = mapping_of('{column: Cell, decimal: ","}', asked=question("decimal"))
    assert answer_of(mapping, row("12.5", typed=[0])) is not None
    assert len(problems_of(mapping, row("12.5"))) == 1


def test_a_short_text_longer_than_the_setting() -> None:
    """With IMPORTER_SHORT_TEXT_LIMIT, a longer answer to a short-text question is a problem of its cell."""
    wire = WireFormat(short_text_limit=3)
    assert problems_of(mapping_of("Cell", wire=wire), row("abcd")) == [
        'c.csv, row 5, column "Cell": the text has 4 characters, and IMPORTER_SHORT_TEXT_LIMIT allows 3; shorten it'
    ]
    for asked, text in ((question(), "abc"), (question("long_text"), "abcd")):
        answer = answer_of(mapping_of("Cell", asked=asked, wire=wire), row(text))
        assert answer is not None
        assert answer.answer == text


@pytest.mark.parametrize("typed", [(), (0,)], ids=["text", "number cell"])
def test_a_month_that_lost_its_last_zero(typed: tuple[int, ...]) -> None:
    """2023.1 may be 2023.10 that a program took for a number, so it is refused; all other months are read."""
    mapping = mapping_of('{column: Cell, dates: ["%Y.%m"], missing_day: first}', asked=question("date"))
    for month in (2, 9, 10, 11, 12):
        found = answer_of(mapping, row(f"2023.{month}", typed=typed))
        assert found is not None
        assert found.answer == f"2023-{month:02}-01"
    assert problems_of(mapping, row("2023.1", typed=typed)) == [
        "c.csv, row 5, column \"Cell\": '2023.1' can be read as January and, as a number without its last zero, as "
        "October; write it as 2023-01 or as 2023-10"
    ]


def test_a_month_of_a_short_year_and_one_in_a_cell_of_its_own() -> None:
    """A month beside its year has lost nothing, but only another sign between them shows that."""
    short = mapping_of("{column: Cell, dates: '%y.%m', pivot: 1950, missing_day: first}", asked=question("date"))
    assert problems_of(short, row("19.1"))[0].endswith("write it as 19.01 or as 19.10")
    joined = "{join: [Y, M], with: 'SIGN', dates: '%YSIGN%m', missing_day: first}"
    source, ways = (
        row("2019", "1"),
        [mapping_of(joined.replace("SIGN", sign), ("Y", "M"), question("date")) for sign in ".-"],
    )
    assert problems_of(ways[0], source)[0].endswith(
        "join its cells by another sign, with: '-' and dates: '%Y-%m' in m.yaml:4"
    )
    found = answer_of(ways[1], source)
    assert found is not None
    assert found.answer == "2019-01-01"


@pytest.mark.parametrize("time", ["9:05", "0:00:00", "10:00 AM", "00:00:00 UTC", "21:00:00.000Z"])
def test_a_date_with_any_time_of_day(time: str) -> None:
    found = answer_of(mapping_of("Cell", asked=question("date")), row(f"2024-05-31 {time}"))
    assert found is not None
    assert found.answer == "2024-05-31"


@pytest.mark.parametrize("cell", ["2024-02-01", "05:30:00", "2024-02-01 10:00:00"])
def test_a_date_cell_is_no_option(cell: str) -> None:
    """For a date that a spreadsheet program made of an option, no other option is proposed."""
    asked = question("single_choice", options=("1-2", "3-5", "2024"))
    result = transform_row(row(cell, typed=[0]), mapping_of("Cell", asked=asked))
    assert isinstance(result, Invalid)
    (problem,) = result.problems
    assert (problem.message, problem.hint, problem.unread) == (
        f"'{cell}' is not an option of q",
        "type the option again, in a cell with the format Text: a spreadsheet program has changed it",
        None,
    )


def test_a_text_has_the_currency_that_its_cell_shows() -> None:
    """Never the plain number."""
    paid = row("48000.5 USD", typed=(0,))
    for answer, text in (("Cell", "48000.5 USD"), ("{join: [Cell, Cell], with: ' '}", "48000.5 USD 48000.5 USD")):
        assert answer_of(mapping_of(answer), paid) == Answer({"id": 7, "question_key": "q"}, answer=text)
