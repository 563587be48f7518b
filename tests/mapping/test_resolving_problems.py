"""Everything in a mapping that does not fit is reported before the first row."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from importer.models import Question
from importer.settings import WireFormat
from tests.mapping.mapping_files import HEAD, HEADER, question, resolving_problems

_LEVELS = ("Junior", "Senior")
_DEGREES = (
    "high_school_diploma, associate_degree, bachelors_degree, masters_degree, doctorate_degree, certificate_or_diploma"
)


@pytest.mark.parametrize(
    ("answers", "extra", "questions", "expected"),
    [
        pytest.param(
            "{q: Frst}",
            (),
            [question("q")],
            "m.yaml:4:14: the column 'Frst' does not exist; did you mean 'First'?",
            id="unknown column",
        ),
        pytest.param(
            "{q: Zzz}",
            (),
            [question("q")],
            "m.yaml:4:14: the column 'Zzz' does not exist; the columns are 'E-mail', 'First', 'Last', 'CV'",
            id="no similar column",
        ),
        pytest.param(
            '{q: "=Z"}',
            (),
            [question("q")],
            "m.yaml:4:14: the column '=Z' does not exist; the last column is =D",
            id="letter after the last column",
        ),
        pytest.param(
            "{q: candidate id}",
            ("Candidate Id", "Candidate ID"),
            [question("q")],
            "m.yaml:4:14: 'candidate id' matches several columns: 'Candidate Id' (column E) and 'Candidate ID' "
            '(column F); give the letter of the right column, "=E" or "=F"',
            id="two columns with equal normalized names",
        ),
        pytest.param(
            "{ctiy: First}",
            (),
            [question("city")],
            "m.yaml:4:11: the job post has no question with the key 'ctiy'; did you mean 'city'?",
            id="unknown key",
        ),
        pytest.param(
            "{hear: First}",
            (),
            [question(None, text="How did you hear about us?")],
            "m.yaml:4:11: the job post has no question with the key 'hear'; did you mean 'text: How did you hear "
            "about us?'?",
            id="key that is a text",
        ),
        pytest.param(
            '{"text: Why you": First}',
            (),
            [question("q", text="Why us?")],
            "m.yaml:4:11: the job post has no question with the text 'Why you'; did you mean 'text: Why us?'?",
            id="unknown text",
        ),
        pytest.param(
            '{"id: 99": First}',
            (),
            [question("q", id=7)],
            "m.yaml:4:11: the job post has no question with the id '99'; the keys are q",
            id="unknown ID",
        ),
        pytest.param(
            '{"text: What?": First}',
            (),
            [question("a", id=1), question("b", id=2)],
            'm.yaml:4:11: \'What?\' matches 2 questions; use "id: 1" or "id: 2"',
            id="text of two questions",
        ),
        pytest.param(
            '{q: First, "text: What?": Last}',
            (),
            [question("q")],
            "m.yaml:4:21: q is answered twice; keep one; the other is on line 4",
            id="answered twice",
        ),
        pytest.param(
            "{a: First}",
            (),
            [question("a", id=1), question("phone", required=True, text="Phone number")],
            "m.yaml:4:1: the required question phone ('Phone number'), short_text, has no mapping; add it under "
            "answers:, for example phone: COLUMN",
            id="required question without mapping",
        ),
        pytest.param(
            "{a: First}",
            (),
            [question("a", id=1), question(None, "date", required=True, text="When?")],
            "m.yaml:4:1: the required question When?, date, has no mapping; add it under answers:, for example "
            '"text: When?": COLUMN',
            id="required question without key",
        ),
        pytest.param(
            "{q: First}",
            (),
            [question("q", "video")],
            "m.yaml:4:11: q has the answer type 'video', which this version does not support; remove the question "
            "from answers:, or install a newer importer",
            id="unknown answer type",
        ),
        pytest.param(
            "{q: {column: First, values: {Sr: Seniro}}}",
            (),
            [question("q", "single_choice", options=_LEVELS)],
            "m.yaml:4:43: 'Seniro' is not an option of q; did you mean 'Senior'? use one of Junior, Senior",
            id="value of a table is not an option",
        ),
        pytest.param(
            "{q: {column: First, default: Lead}}",
            (),
            [question("q", "single_choice", options=_LEVELS)],
            "m.yaml:4:39: 'Lead' is not an option of q; use one of Junior, Senior",
            id="default is not an option",
        ),
        pytest.param(
            "{q: {value: Lead}}",
            (),
            [question("q", "multiple_choice", options=_LEVELS)],
            "m.yaml:4:22: 'Lead' is not an option of q; use one of Junior, Senior",
            id="constant is not an option",
        ),
        pytest.param(
            "{q: {column: First, values: {a: Junior}, otherwise: {value: Lead}}}",
            (),
            [question("q", "single_choice", options=_LEVELS)],
            "m.yaml:4:70: 'Lead' is not an option of q; use one of Junior, Senior",
            id="otherwise is not an option",
        ),
        pytest.param(
            '{q: {column: First, dates: ["%d.%m.%Y", "%d.%m.%y"]}}',
            (),
            [question("q", "date")],
            "m.yaml:4:50: %y is a two-digit year, but its century is not set; set the first of the hundred years "
            "it belongs to, for example pivot: 1950, or export four-digit years",
            id="two-digit years without a pivot",
        ),
        pytest.param(
            "{q: {value: ٣٤}}",
            (),
            [question("q", "file_upload")],
            "m.yaml:4:22: '٣٤' is not a valid document ID; give the ID of an uploaded document, in digits",
            id="document ID in other digits",
        ),
        pytest.param(
            "{q: {value: soon}}",
            (),
            [question("q", "date")],
            "m.yaml:4:22: 'soon' is not a valid date; write it as YYYY-MM-DD",
            id="constant is not a date",
        ),
        pytest.param(
            "{q: {value: 1.5}}",
            (),
            [question("q", "integer")],
            "m.yaml:4:22: '1.5' is not a valid whole number; write it in digits",
            id="constant is not a whole number",
        ),
        pytest.param(
            '{q: {value: "1,5"}}',
            (),
            [question("q", "decimal")],
            "m.yaml:4:22: '1,5' is not a valid number; write it like 1234.5",
            id="constant is not a number",
        ),
        pytest.param(
            "{q: {value: maybe}}",
            (),
            [question("q", "yes_no")],
            "m.yaml:4:22: 'maybe' is not a valid yes/no value; write yes or no",
            id="constant is neither yes nor no",
        ),
        pytest.param(
            "{q: {value: example.com}}",
            (),
            [question("q", "url")],
            "m.yaml:4:22: 'example.com' is not a valid web address; write it with https:// in front",
            id="constant is not a web address",
        ),
        pytest.param(
            "{q: {value: cv.pdf}}",
            (),
            [question("q", "file_upload")],
            "m.yaml:4:22: 'cv.pdf' is not a valid document ID; give the ID of an uploaded document, in digits",
            id="constant is not a document ID",
        ),
        pytest.param(
            "{q: {value: 12}}",
            (),
            [question("q", "file_upload", type="photo")],
            "m.yaml:4:14: q would be the same photo for every row; set it to the column that contains the document ID",
            id="constant photo",
        ),
        pytest.param(
            '{q: {column: First, split: ";"}}',
            (),
            [question("q")],
            "m.yaml:4:14: split has no effect on the answer to q, which takes one value; choose a piece with take: "
            "first, or remove split:",
            id="split of one value",
        ),
        pytest.param(
            "{q: {column: First, currency: EUR}}",
            (),
            [question("q")],
            "m.yaml:4:14: currency has no effect on the answer to q, which is not a number; remove currency:",
            id="currency of a text",
        ),
        pytest.param(
            "{q: {column: First, part: last}}",
            (),
            [question("q", "date")],
            "m.yaml:4:14: part: last has no effect on the answer to q, which is not a name; remove part:",
            id="part of a date",
        ),
        pytest.param(
            "{q: {education: {school_name: First, degree: {column: CV, values: {BSc: bachelor}}}}}",
            (),
            [question("q")],
            "m.yaml:4:82: 'bachelor' is not a degree that the service accepts; did you mean 'bachelors_degree'? "
            "use one of "
            f"{_DEGREES}",
            id="unknown degree",
        ),
        pytest.param(
            "{q: {experience: {company_name: First, employment_type: {value: freelance}}}}",
            (),
            [question("q")],
            "m.yaml:4:74: 'freelance' is not an employment type that the service accepts; use one of full_time, "
            "part_time, contract, intern",
            id="unknown employment type",
        ),
        pytest.param(
            "{q: {education: {school_name: First}}}",
            (),
            [question("q", "integer")],
            "m.yaml:4:11: q asks for integer and cannot take education entries; use a short_text or long_text "
            "question for entries",
            id="entries for a number",
        ),
        pytest.param(
            "{q: {education: {school_name: First}}}",
            (),
            [question("q", type="phone")],
            "m.yaml:4:11: q asks for phone and cannot take education entries; use a short_text or long_text "
            "question for entries",
            id="entries for a phone",
        ),
        pytest.param(
            '{q: {education: {school_name: "School {n}"}}}',
            ("School 1",),
            [question("q")],
            "m.yaml:4:40: 'School {n}' is numbered, but repeat: is missing; add repeat: \"{n}\" above it",
            id="numbered without repeat",
        ),
        pytest.param(
            '{q: {education: {repeat: "{n}", school_name: First}}}',
            (),
            [question("q")],
            "m.yaml:4:55: 'First' has no {n}; write {n} in place of the number",
            id="repeat without number",
        ),
        pytest.param(
            '{q: {education: {repeat: "{n}", school_name: "Shcool {n}"}}}',
            ("School 1",),
            [question("q")],
            "m.yaml:4:55: no column matches 'Shcool {n}'; did you mean 'School 1'?",
            id="no group in the header",
        ),
        pytest.param(
            '{q: {education: {repeat: "{n}", school_name: "School {n}"}}}',
            ("School 1", "SCHOOL 1"),
            [question("q")],
            "m.yaml:4:55: 'School 1' matches several columns: 'School 1' (column E) and 'SCHOOL 1' (column F); "
            'give the letter of the right column, "=E" or "=F"',
            id="ambiguous column of a group",
        ),
        pytest.param(
            '{q: {column: First, decimal: ","}}\ndefaults: {thousands: ","}',
            (),
            [question("q", "decimal")],
            "m.yaml:4:14: decimal and thousands are both ','; set both for this column",
            id="identical separators with defaults",
        ),
    ],
)
def test_a_problem_is_reported_at_its_line(
    answers: str, extra: Sequence[str], questions: list[Question], expected: str
) -> None:
    """A problem is reported at its line, with what to do."""
    assert resolving_problems(HEAD + f"answers: {answers}\n", (*HEADER, *extra), questions) == [expected]


def test_all_problems_are_reported_together() -> None:
    """Problems with columns, questions and the filter are reported together, in the order of resolving."""
    text = HEAD.replace("cv: CV", "cv: Resume")
    text += "source: {where: {column: Stage, is: x}}\nanswers: {q: First, r: CV}\n"
    reported = resolving_problems(
        text, HEADER, [question("r", "video"), question("required", "date", required=True, id=9)]
    )
    assert [line.partition(": ")[0] for line in reported] == [
        "m.yaml:3:68", "m.yaml:4:26", "m.yaml:5:11", "m.yaml:5:21", "m.yaml:5:1",
    ]  # fmt: skip


def test_a_constant_email() -> None:
    """The same e-mail address for every row is never intended."""
    reported = resolving_problems(HEAD.replace("email: E-mail", "email: {value: a@example.com}"), HEADER[1:])
    assert reported == [
        "m.yaml:3:20: email would be the same for every row; set it to the column that contains the e-mail address"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            "first_name: {column: First, part: first}, last_name: First",
            [
                "m.yaml:3:81: one of the names gets the whole cell of 'First'; if it has full names, write first_name: "
                "{column: First, part: first} and last_name: {column: First, part: last} (and names: {surname: "
                "last_two_words} under defaults: if people have two last names); otherwise correct one of the columns"
            ],
        ),
    ],
)
def test_a_whole_name_beside_its_part(names: str, expected: list[str]) -> None:
    """A whole full name beside its part is never sent."""
    assert resolving_problems(HEAD.replace("first_name: First, last_name: Last", names), HEADER) == expected


def test_an_address_for_several_rows() -> None:
    """What a value table leaves over cannot get one e-mail address."""
    other = HEAD.replace(
        "email: E-mail", "email: {column: E-mail, values: {a: b@example.com}, otherwise: {value: c@example.com}}"
    )
    (reported,) = resolving_problems(other, HEADER)
    assert "email would be the same for several rows" in reported


def test_words_that_mean_the_opposite() -> None:
    """`no` cannot be declared as a word for yes."""
    reported = resolving_problems(
        HEAD + "answers: {q: {column: First, yes: [no]}}\n", HEADER, [question("q", "yes_no")]
    )
    assert reported == [
        "m.yaml:4:36: 'no' is listed under yes and means the opposite; to exchange them on purpose, write values: "
        "{yes: no, "
        "no: yes}"
    ]


def test_both_names_from_one_whole_cell() -> None:
    """The first and the last name cannot be the same full name."""
    names = "first_name: First, last_name: Last"
    assert names in HEAD
    reported = resolving_problems(HEAD.replace(names, "first_name: First, last_name: First"), HEADER)
    assert reported == [
        "m.yaml:3:58: first_name and last_name both get the whole cell of 'First'; if it has full names, write "
        "first_name: {column: First, part: first} and last_name: {column: First, part: last} (and names: {surname: "
        "last_two_words} under defaults: if people have two last names); otherwise correct one of the columns"
    ]


@pytest.mark.parametrize("rule", ["first", "last"])
def test_the_parts_of_a_full_name_are_split_by_one_rule(rule: str) -> None:
    """With a rule for one part only, a word of the name would be sent twice, or not at all."""
    rules = {rule: ", names: {surname: last_two_words}"}
    first, last = (f"{{column: First, part: {part}{rules.get(part, '')}}}" for part in ("first", "last"))
    names = "first_name: First, last_name: Last"
    reported = resolving_problems(HEAD.replace(names, f"first_name: {first}, last_name: {last}"), HEADER)
    assert [one.partition(": ")[2] for one in reported] == [
        "first_name and last_name split 'First' by different rules; set names: under defaults:, for both"
    ]


def test_unused_columns_can_be_an_error() -> None:
    """A person can require that every column is mapped."""
    assert resolving_problems(HEAD + "defaults: {unused_columns: error}\n", (*HEADER, "Notes")) == [
        "m.yaml: 1 column is not used: 'Notes' (E); map the columns that should be imported, or, "
        "under defaults:, set unused_columns: ignore"
    ]


def test_an_option_that_contains_the_separator() -> None:
    """Choices that would be ambiguous after joining are refused before the first row."""
    questions = [question("q", "multiple_choice", options=("R, S", "T"))]
    reported = resolving_problems(HEAD + "answers: {q: CV}\n", HEADER, questions, WireFormat(multiple_choice="comma"))
    assert reported == [
        "m.yaml:4:11: the option 'R, S' of q contains the separator between choices; set multiple_choice to json "
        "or to another separator"
    ]


def test_a_column_whose_name_ends_as_a_comment() -> None:
    """`Phone #2` without quotes is the column Phone and a comment: the person says which one is meant."""
    reported = resolving_problems(HEAD + "answers:\n  q: Phone #2\n", (*HEADER, "Phone", "Phone #2"), [question("q")])
    assert reported == [
        "m.yaml:5:6: 'Phone' may be 'Phone #2': what follows # is a comment; put the name in quotes, or remove the "
        "comment"
    ]
