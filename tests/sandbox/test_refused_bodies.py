"""Each reason for a 400."""

from __future__ import annotations

import json
from typing import Any

import pytest

from importer.sandbox import RunningSandbox
from tests.sandbox.wire import ADD_TO_POOL, APPLY, Client, application, candidate, with_answer

DEGREES = (
    "'high_school_diploma', 'associate_degree', 'bachelors_degree', 'masters_degree', 'doctorate_degree' "
    "or 'certificate_or_diploma'"
)
LEVELS = "'Junior', 'Mid', 'Senior', 'Lead'"
SKILLS = "'Python', 'Java', 'Go', 'SQL', 'Docker', 'Kubernetes', 'React', 'TypeScript'"
REQUIRED = "Field required"
ADDRESS = "ayse@example.com"


def of(body: dict[str, Any], reason: str, field: str = "answers", *, name: str = "") -> Any:
    return pytest.param(body, {field: [reason]}, id=name or f"{field}: {reason}"[:90])


def answered(question: int, answer: Any, reason: str) -> Any:
    return of(with_answer(question, answer), reason)


def item(reference: Any, **rest: Any) -> dict[str, Any]:
    """A valid application with one more item."""
    return application(answers=[*application()["answers"], {"job_post_question": reference, **rest}])


def entries(question: int, *listed: Any) -> dict[str, Any]:
    return with_answer(question, json.dumps(listed))


CANDIDATE = [
    of(candidate(email=...), REQUIRED, "email"),
    of(candidate(first_name=...), REQUIRED, "first_name"),
    of(candidate(last_name=...), REQUIRED, "last_name"),
    of(candidate(cv=...), REQUIRED, "cv"),
    of(candidate(email=12), "Input should be a valid string", "email"),
    of(candidate(email=""), "'' is not a valid e-mail address", "email"),
    of(candidate(email="ayse"), "'ayse' is not a valid e-mail address", "email"),
    of(candidate(email="a b@example.com"), "'a b@example.com' is not a valid e-mail address", "email"),
    of(candidate(email="ayse@localhost"), "'ayse@localhost' is not a valid e-mail address", "email"),
    of(candidate(email="a..b@example.com"), "'a..b@example.com' is not a valid e-mail address", "email"),
    of(candidate(first_name=" "), "may not be blank", "first_name"),
    of(candidate(last_name=None), "Input should be a valid string", "last_name"),
    of(candidate(cv=""), "must be an integer or a string that is not blank", "cv"),
    of(candidate(cv=True), "must be an integer or a string that is not blank", "cv"),
    of(candidate(source_platform=3), "Input should be a valid string", "source_platform"),
    of(candidate(tags=[]), "Extra inputs are not permitted", "tags"),
]

APPLICATION = [
    of(application(terms_of_use="yes"), "Input should be a valid boolean", "terms_of_use"),
    of(application(source_platform="zoho"), "Extra inputs are not permitted", "source_platform"),
    of(application(answers=...), REQUIRED),
    of(application(answers={}), "Input should be a valid list"),
    of(application(answers=["x", *application()["answers"]]), "Input should be a valid dictionary", "answers.1"),
    of(
        application(answers=application()["answers"][:1]),
        "question 113 (work_permit): a required question is not answered",
    ),
]

NO_REFERENCE = "item 3: job_post_question must be the id of a question, or an object with its id and question_key"


def unknown(reference: str) -> str:
    return f"item 3: {reference} is not a question of job post 4f2c9a"


REFERENCES = [
    of(application(answers=[*application()["answers"], {"answer": "x"}]), NO_REFERENCE),
    of(item(999, answer="x"), unknown('{"id": 999}')),
    of(item({"id": 999}, answer="x"), unknown('{"id": 999}'), name="object 999"),
    of(item("110", answer="1"), NO_REFERENCE),
    of(item({"id": "110"}, answer="1"), unknown('{"id": "110"}')),
    of(item({}, answer="1"), NO_REFERENCE),
    of(item({"question_key": "wage"}, answer="1"), unknown('{"question_key": "wage"}')),
    of(item({"id": 110, "question_key": "level"}, answer="1"), unknown('{"id": 110, "question_key": "level"}')),
    of(item({"id": 118, "question_key": "x"}, answer="1"), unknown('{"id": 118, "question_key": "x"}')),
    of(item({"id": 110, "text": "x"}, answer="1"), NO_REFERENCE),
    of(item(113, answer="no"), "question 113 (work_permit): answered more than once"),
    of(item(110, answer="1", note="x"), "question 110 (salary): takes answer, not note"),
    of(item(110), "question 110 (salary): answer must be a string that is not blank"),
    of(item(101), "question 101 (photo): 'None' is not a document ID, an integer or a string of digits"),
    of(item(110, answer="1", answer_file="2"), "question 110 (salary): takes answer, not answer_file"),
    of(
        item(117, answer_file="cert.pdf"),
        "question 117 (certificate): 'cert.pdf' is not a document ID, an integer or a string of digits",
    ),
]

ANSWERS = [
    answered(110, 45000, "question 110 (salary): answer must be a string that is not blank"),
    answered(118, "", "question 118 (How did you hear about us?): answer must be a string that is not blank"),
    answered(118, "a\nb", "question 118 (How did you hear about us?): answer may not contain a line break"),
    answered(118, "x" * 256, "question 118 (How did you hear about us?): answer has 256 characters, 255 are allowed"),
    answered(116, " \n ", "question 116 (cover_letter): answer must be a string that is not blank"),
    answered(110, "45.000", "question 110 (salary): '45.000' is not an integer"),
    answered(110, "٤٥", "question 110 (salary): '٤٥' is not an integer"),
    answered(111, "1,5", "question 111 (notice_weeks): '1,5' is not a decimal number"),
    answered(111, ".5", "question 111 (notice_weeks): '.5' is not a decimal number"),
    answered(112, "01.02.2025", "question 112 (available_from): '01.02.2025' is not a valid date (YYYY-MM-DD)"),
    answered(112, "2025-02-29", "question 112 (available_from): '2025-02-29' is not a valid date (YYYY-MM-DD)"),
    answered(113, "evet", "question 113 (work_permit): 'evet' is not one of 'yes', 'no'"),
    answered(114, "Sr", f"question 114 (level): 'Sr' is not one of {LEVELS}"),
    answered(115, "Python, Go", "question 115 (skills): 'Python, Go' does not list different options in the form json"),
    answered(115, "[]", "question 115 (skills): '[]' does not list different options in the form json"),
    answered(115, '["Cobol"]', f"question 115 (skills): 'Cobol' is not one of {SKILLS}"),
    answered(
        115, '["Go", "Go"]', 'question 115 (skills): \'["Go", "Go"]\' does not list different options in the form json'
    ),
    answered(104, "example.com/in/x", "question 104 (linkedin): 'example.com/in/x' is not an http or https address"),
    answered(104, "ftp://example.com", "question 104 (linkedin): 'ftp://example.com' is not an http or https address"),
    answered(104, "https://", "question 104 (linkedin): 'https://' is not an http or https address"),
    answered(102, "ask me", "question 102 (phone): 'ask me' is not a valid phone number of 7 to 15 digits"),
    answered(102, "123456", "question 102 (phone): '123456' is not a valid phone number of 7 to 15 digits"),
]

ENTRIES = [
    answered(119, "Boğaziçi", "question 119 (education): the answer is not a JSON array of education entries"),
    answered(
        119, '{"school_name": "A"}', "question 119 (education): the answer is not a JSON array of education entries"
    ),
    of(
        entries(119), "question 119 (education): the answer is not a JSON array of education entries", name="no entries"
    ),
    of(
        entries(119, "A"),
        "question 119 (education): education entry 1: Input should be a valid dictionary or instance of Education",
    ),
    of(entries(119, {}), "question 119 (education): education entry 1, school_name: Field required"),
    of(entries(119, {"school_name": ""}), "question 119 (education): education entry 1, school_name: may not be blank"),
    of(
        entries(119, {"school_name": "A"}, {"school_name": "B", "degree": "bachelor"}),
        f"question 119 (education): education entry 2, degree: Input should be {DEGREES}",
    ),
    of(
        entries(119, {"school_name": "A", "gpa": "3.1"}),
        "question 119 (education): education entry 1, gpa: Extra inputs are not permitted",
    ),
    of(
        entries(119, {"school_name": "A", "major": None}),
        "question 119 (education): education entry 1, major: Input should be a valid string",
    ),
    of(
        entries(119, {"school_name": "A", "start_date": "2012"}),
        "question 119 (education): education entry 1, start_date: '2012' is not a valid date (YYYY-MM-DD)",
    ),
    of(
        entries(119, {"school_name": "A", "currently_pursuing": "true"}),
        "question 119 (education): education entry 1, currently_pursuing: Input should be a valid boolean",
    ),
    of(
        entries(119, {"school_name": "A", "currently_pursuing": True, "end_date": "2020-06-30"}),
        "question 119 (education): education entry 1: end_date is not allowed in a current entry",
    ),
    of(
        entries(119, {"school_name": "A", "start_date": "2020-09-01", "end_date": "2019-06-30"}),
        "question 119 (education): education entry 1: start_date 2020-09-01 is after end_date 2019-06-30",
    ),
    of(
        entries(120, {"position_title": "x"}),
        "question 120 (experience): experience entry 1, company_name: Field required",
    ),
    of(
        entries(120, {"company_name": "A", "employment_type": "Full time"}),
        "question 120 (experience): experience entry 1, employment_type: Input should be "
        "'full_time', 'part_time', 'contract' or 'intern'",
    ),
    of(
        entries(120, {"company_name": "A", "currently_pursuing": False}),
        "question 120 (experience): experience entry 1, currently_pursuing: Extra inputs are not permitted",
    ),
]


@pytest.mark.parametrize(("body", "reasons"), [*APPLICATION, *REFERENCES, *ANSWERS, *ENTRIES])
def test_an_application_is_rejected_for_each_documented_reason(
    sandbox: RunningSandbox, client: Client, body: dict[str, Any], reasons: dict[str, list[str]]
) -> None:
    """A body with one error gets a 400 with exactly this error, and nothing is stored."""
    answer = client.post(APPLY, body)
    assert (answer.status, answer.json) == (400, reasons)
    assert sandbox.memory.accepted() == []


@pytest.mark.parametrize(("body", "reasons"), CANDIDATE)
def test_a_pool_addition_is_rejected_for_each_reason(
    sandbox: RunningSandbox, client: Client, body: dict[str, Any], reasons: dict[str, list[str]]
) -> None:
    """A pool body with one error gets a 400 with exactly this error, and nothing is stored."""
    answer = client.post(ADD_TO_POOL, body)
    assert (answer.status, answer.json) == (400, reasons)
    assert sandbox.memory.accepted() == []


NOT_AN_OBJECT = [
    pytest.param(b"", "the body is not valid JSON: Expecting value: line 1 column 1", id="no body"),
    pytest.param(b"{", "the body is not valid JSON: Expecting property name enclosed in double", id="half an object"),
    pytest.param(b'{"cv": "\xff"}', "the body is not valid JSON: 'utf-8' codec can't decode byte", id="not UTF-8"),
    pytest.param(b'{"cv": NaN}', "the body is not valid JSON: NaN is not a JSON value", id="NaN"),
    pytest.param(
        b'{"a": 1, "a": 2}', "the body is not valid JSON: a name occurs twice in one object", id="a name twice"
    ),
    pytest.param(b"[" * 100_000, "the body is not valid JSON: maximum recursion depth", id="a deep nest"),
    pytest.param(b'{"cv": %s}' % (b"9" * 5000), "the body is not valid JSON: Exceeds the limit", id="digits"),
    pytest.param(b"[]", "the body must be a JSON object", id="an array"),
]


@pytest.mark.parametrize(("body", "reason"), NOT_AN_OBJECT)
def test_a_body_that_is_not_a_json_object_is_rejected(client: Client, body: bytes, reason: str) -> None:
    """A body that is not a JSON object gets a 400 with the reason."""
    answer = client.send("POST", APPLY, body, {"Content-Type": "application/json"})
    assert answer.status == 400
    assert answer.json["detail"][0].startswith(reason)


def test_all_errors_of_a_body_are_reported_at_once(client: Client) -> None:
    """A body with many errors gets one 400 with all of them."""
    body = application("nobody", cv=..., answers=[{"job_post_question": 114, "answer": "Sr"}])
    assert client.post(APPLY, body).json == {
        "email": ["'nobody' is not a valid e-mail address"],
        "cv": ["Field required"],
        "answers": [
            f"question 114 (level): 'Sr' is not one of {LEVELS}",
            "question 102 (phone): a required question is not answered",
            "question 113 (work_permit): a required question is not answered",
        ],
    }


def test_a_long_value_is_shortened_in_the_message(client: Client) -> None:
    """A message never contains a whole long answer."""
    answer = client.post(APPLY, with_answer(110, "9" * 500 + "x"))
    assert answer.json == {"answers": [f"question 110 (salary): '{'9' * 60}...' is not an integer"]}
