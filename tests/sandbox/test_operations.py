"""The three operations of the service description, and the responses to everything else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from importer.sandbox import SHIPPED_QUESTIONS, RunningSandbox, SandboxOptions, running
from tests.sandbox.wire import ADD_TO_POOL, APPLY, QUESTIONS, TOKEN, Client, application, candidate, with_answer

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_the_question_list_is_from_the_file(client: Client) -> None:
    """The questions have exactly the fields of 2.1, without those internal to the sandbox."""
    answer = client.get(QUESTIONS)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["success"] == "OK"
    assert [question["id"] for question in answer.json["content"]] == list(range(101, 121))
    assert answer.json["content"][13] == {
        "id": 114,
        "question_text": "Level",
        "is_required": False,
        "answer_type": "single_choice",
        "options": '["Junior", "Mid", "Senior", "Lead"]',
        "question_key": "level",
        "question_type": None,
    }
    assert "entries" not in answer.text


def test_the_shipped_questions_cover_the_contract(client: Client) -> None:
    """All ten answer types, the special question types, and a question without a key are included."""
    questions = client.get(QUESTIONS).json["content"]
    assert {question["answer_type"] for question in questions} == {
        "date",
        "short_text",
        "long_text",
        "integer",
        "decimal",
        "yes_no",
        "single_choice",
        "multiple_choice",
        "file_upload",
        "url",
    }
    links = {"linkedin_url", "github_url", "portfolio_url", "behance_url", "dribbble_url"}
    kinds = {question["question_type"] for question in questions}
    assert kinds == links | {"photo", "phone", "address", "language", "salary", None}
    assert [question["id"] for question in questions if question["question_key"] is None] == [118]
    assert [question["question_key"] for question in questions if question["is_required"]] == ["phone", "work_permit"]


EDUCATION = {
    "school_name": "Boğaziçi Üniversitesi",
    "degree": "bachelors_degree",
    "major": "Computer Engineering",
    "start_date": "2010-09-01",
    "end_date": "2014-06-30",
    "currently_pursuing": False,
}
EXPERIENCE = {
    "company_name": "Örnek A.Ş.",
    "position_title": "Developer",
    "employment_type": "full_time",
    "start_date": "2014-09-01",
    "currently_employed": True,
}
GOOD_ANSWERS = [
    pytest.param(103, "1 Road, London", id="address"),
    pytest.param(104, "https://www.example.com/in/ayse?x=1#y", id="a link"),
    pytest.param(105, "http://127.0.0.1:8080/", id="a link with a port"),
    pytest.param(102, "+90 (212) 000 00-00", id="a phone with separators"),
    pytest.param(109, "Türkçe, English", id="language"),
    pytest.param(110, "-45000", id="integer"),
    pytest.param(111, "4.5", id="decimal"),
    pytest.param(111, "4", id="decimal without a point"),
    pytest.param(112, "2024-02-29", id="date"),
    pytest.param(113, "no", id="yes_no"),
    pytest.param(114, "Senior", id="single_choice"),
    pytest.param(115, '["Python", "Go"]', id="multiple_choice"),
    pytest.param(116, "two\nlines", id="long_text"),
    pytest.param(118, "x" * 255, id="short_text"),
    pytest.param(119, json.dumps([EDUCATION, {"school_name": "A"}]), id="education"),
    pytest.param(120, json.dumps([EXPERIENCE]), id="experience"),
]


@pytest.mark.parametrize(("question", "answer"), GOOD_ANSWERS)
def test_a_good_answer_of_each_type_is_accepted(
    sandbox: RunningSandbox, client: Client, question: int, answer: str
) -> None:
    """An answer in the documented format gets a 201, and the exact body is stored."""
    body = with_answer(question, answer)
    assert client.post(APPLY, body).status == 201
    assert sandbox.memory.accepted("apply", "4f2c9a") == [body]


FILE_ANSWERS = [
    pytest.param(101, "77", id="photo as a numeric string"),
    pytest.param(101, 77, id="photo as an integer"),
    pytest.param(117, "78", id="file_upload"),
]


@pytest.mark.parametrize(("question", "document"), FILE_ANSWERS)
def test_a_file_is_answered_by_its_document_id(client: Client, question: int, document: Any) -> None:
    """Photo and file_upload questions take answer_file, as an integer or a string of digits."""
    item = {"job_post_question": question, "answer_file": document}
    assert client.post(APPLY, application(answers=[*application()["answers"], item])).status == 201


REFERENCES = [
    pytest.param(110, id="integer"),
    pytest.param({"id": 110, "question_key": "salary"}, id="id and key"),
    pytest.param({"id": 110}, id="id alone"),
    pytest.param({"question_key": "salary"}, id="key alone"),
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_question_reference_in_either_form(client: Client, reference: Any) -> None:
    """job_post_question is an object or an integer: both forms occur in the service description (2.2)."""
    item = {"job_post_question": reference, "answer": "45000"}
    assert client.post(APPLY, application(answers=[*application()["answers"], item])).status == 201


def test_a_reference_to_a_question_without_a_key(client: Client) -> None:
    """The key is null in the object form."""
    item = {"job_post_question": {"id": 118, "question_key": None}, "answer": "From a friend"}
    assert client.post(APPLY, application(answers=[*application()["answers"], item])).status == 201


def test_an_application_is_answered_with_a_message(client: Client) -> None:
    """201 has a message, and nothing else (4.2)."""
    answer = client.post(APPLY, application(terms_of_use=True, cv=8841))
    assert (answer.status, answer.json) == (201, {"message": "the application was received"})


def test_a_pool_addition_is_answered_with_the_full_record(client: Client) -> None:
    """201 has every field of 2.5 with its documented type, presigned URLs included."""
    record = client.post(ADD_TO_POOL, candidate(source_platform="zoho")).json
    assert {name: type(value).__name__ for name, value in record.items()} == {
        **dict.fromkeys(("user", "job_post", "source_job_post", "cv", "photo", "company_pipeline"), "dict"),
        **dict.fromkeys(("education", "work_experience", "tags"), "list"),
        **dict.fromkeys(("id", "score", "total_work_experience"), "int"),
        **dict.fromkeys(("rejected_mail_sended", "error_status"), "bool"),
        **dict.fromkeys(("company", "email", "first_name", "last_name", "phone_number", "address", "city"), "str"),
        **dict.fromkeys(("country", "suitability", "summary", "skills", "seniority", "source_platform"), "str"),
        **dict.fromkeys(("source_type", "created_at", "updated_at"), "str"),
    }
    assert (record["email"], record["first_name"], record["source_platform"]) == ("ayse@example.com", "Ayşe", "zoho")
    assert record["user"].keys() == {"id", "email", "first_name", "last_name", "profile_img"}
    assert record["cv"].keys() == {"id", "path", "name", "type", "file_size", "base", "presigned_url", "uploaded_at"}
    assert record["cv"]["presigned_url"].startswith("https://files.example.com/cvs/8841.pdf?")
    assert record["company_pipeline"].keys() == {"id", "queue", "name", "key", "created_at"}
    assert TIMESTAMP.fullmatch(record["created_at"])


def post_elsewhere(path: str, body: dict[str, Any], message: str) -> Any:
    return pytest.param("POST", path, body, 404, message, id=path)


ELSEWHERE = [
    pytest.param("GET", "/api/v1/client/job-posts/nope/questions/", None, 404, "job post not found", id="questions"),
    post_elsewhere("/api/v1/job-posts/nope/apply/", application(), "job post not found"),
    post_elsewhere("/api/v1/talent-pools/99/add-candidate/", candidate(), "talent pool not found"),
    post_elsewhere("/api/v1/talent-pools/backend/add-candidate/", candidate(), "talent pool not found"),
    post_elsewhere(APPLY.removesuffix("/"), application(), "path not found"),
    post_elsewhere("/api/v2/job-posts/4f2c9a/apply/", application(), "path not found"),
    pytest.param("GET", "/", None, 404, "path not found", id="/"),
    pytest.param("GET", APPLY, None, 405, "GET is not allowed here", id="GET apply"),
    pytest.param("POST", QUESTIONS, {}, 405, "POST is not allowed here", id="POST questions"),
    pytest.param("DELETE", ADD_TO_POOL, None, 405, "DELETE is not allowed here", id="DELETE"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "message"), ELSEWHERE)
def test_unknown_targets_paths_and_methods(
    client: Client, method: str, path: str, body: Any, status: int, message: str
) -> None:
    """Unknown targets and paths get 404, and other methods 405."""
    content = None if body is None else json.dumps(body).encode()
    answer = client.send(method, path, content, {"Content-Type": "application/json"})
    assert (answer.status, answer.json) == (status, {"detail": [message]})


def test_405_lists_the_allowed_methods(client: Client) -> None:
    """405 has an Allow header."""
    assert client.get(APPLY).headers["allow"] == "POST"


TOKENS = [
    pytest.param({}, id="none"),
    pytest.param({"Authorization": "Bearer wrong"}, id="wrong"),
    pytest.param({"Authorization": f"Token {TOKEN}"}, id="another scheme"),
    pytest.param({"Authorization": f"Bearer {TOKEN}x"}, id="longer"),
    pytest.param({"Authorization": "Bearer \xff"}, id="not ASCII"),
]
OPERATIONS = [("GET", QUESTIONS), ("POST", APPLY), ("POST", ADD_TO_POOL)]


@pytest.mark.parametrize("headers", TOKENS)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_missing_or_wrong_token(sandbox: RunningSandbox, headers: dict[str, str], method: str, path: str) -> None:
    """Every operation answers 401 with a body, and stores nothing."""
    body = json.dumps(application() if path == APPLY else candidate()).encode()
    answer = Client(sandbox.base_url, headers).send(method, path, body, {"Content-Type": "application/json"})
    assert (answer.status, answer.json) == (401, {"detail": ["the bearer token is missing or wrong"]})
    assert sandbox.memory.accepted() == []


def test_health_needs_no_token(sandbox: RunningSandbox) -> None:
    """A client without a token can check that the sandbox is running."""
    answer = Client(sandbox.base_url, {}).get("/_sandbox/health")
    assert (answer.status, answer.json) == (200, {"status": "ok"})


CONTENT_TYPES = [
    pytest.param("application/json", 201, id="json"),
    pytest.param("Application/JSON; charset=UTF-8", 201, id="with charset"),
    pytest.param("application/json; charset=latin-1", 415, id="another charset"),
    pytest.param("application/x-www-form-urlencoded", 415, id="form"),
    pytest.param("text/plain", 415, id="text"),
    pytest.param("", 415, id="none"),
]


@pytest.mark.parametrize(("content_type", "status"), CONTENT_TYPES)
def test_only_json_is_accepted(client: Client, content_type: str, status: int) -> None:
    """All request bodies are application/json (part 4); any other content type gets 415."""
    answer = client.send("POST", APPLY, json.dumps(application()).encode(), {"Content-Type": content_type})
    assert answer.status == status


ANSWER_FORMS = [
    pytest.param({"multiple_choice": "comma"}, 115, "Python, Go", id="choices with commas"),
    pytest.param({"multiple_choice": "semicolon"}, 115, "Python;Go", id="choices with semicolons"),
    pytest.param({"multiple_choice": "newline"}, 115, "Python\nGo", id="choices in lines"),
    pytest.param({"yes_no": ["evet", "hayır"]}, 113, "evet", id="other words for yes and no"),
]


@pytest.mark.parametrize(("forms", "question", "answer"), ANSWER_FORMS)
def test_undocumented_formats_are_configurable(
    tmp_path: Path, forms: dict[str, Any], question: int, answer: str
) -> None:
    """The questions file sets the formats of several choices and of yes/no; other formats are rejected."""
    company = json.loads(SHIPPED_QUESTIONS.read_text("utf-8"))
    company["answers"] = forms
    permit = forms.get("yes_no", ["yes"])[0]
    phone = {"job_post_question": 102, "answer": "+44 20 7946 0101"}
    items = {113: permit, question: answer}
    body = application(
        answers=[phone, *({"job_post_question": number, "answer": text} for number, text in items.items())]
    )
    file = tmp_path / "questions.json"
    file.write_text(json.dumps(company), encoding="utf-8")
    with running(SandboxOptions(token=TOKEN, questions=file)) as other:
        assert Client(other.base_url).post(APPLY, body).status == 201
    with running(SandboxOptions(token=TOKEN)) as usual:
        assert Client(usual.base_url).post(APPLY, body).status == 400
