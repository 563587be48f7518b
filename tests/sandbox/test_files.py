"""The questions file and the faults file: their content, and all problems reported at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from importer.sandbox import SandboxOptions, SandboxUnusable, running
from tests.sandbox.wire import TOKEN, Client, with_answer

KINDS = (
    "'delay', '401', '403', '410', '423', '429', '500', '502', '503', '504', 'reset', 'hang_after', 'cut_head', "
    "'cut_body', 'not_json_201', 'empty_201', 'html', 'redirect' or 'refuse'"
)


def written(folder: Path, value: Any) -> Path:
    file = folder / "file.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


def problems_of(options: SandboxOptions) -> list[str]:
    with pytest.raises(SandboxUnusable) as caught, running(options):
        pass
    return list(caught.value.problems)


def question(**changes: Any) -> dict[str, Any]:
    good = {"id": 1, "question_text": "Name?", "is_required": False, "answer_type": "short_text"}
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def post(*questions: Any, **rest: Any) -> dict[str, Any]:
    return {"job_posts": {"ab": {"questions": list(questions), **rest}}}


AT = "job_posts.ab.questions.1"
QUESTION_PROBLEMS = [
    pytest.param(
        "{",
        "this is not valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1); fix it "
        "there",
    ),
    pytest.param([], "Input should be a valid dictionary or instance of Company"),
    pytest.param(
        {"job_post": "a b", "questions": []}, "job_posts.a b.hash: String should match pattern '^[A-Za-z0-9_-]{1,128}$'"
    ),
    pytest.param({"job_post": "ab"}, "job_posts.ab.questions: Field required"),
    pytest.param({"jobs": {}}, "jobs: Extra inputs are not permitted"),
    pytest.param({"talent_pools": {"x": {}}}, "talent_pools.x.id: String should match pattern '^[0-9]{1,18}$'"),
    pytest.param(post(already_applied=["x"]), "job_posts.ab.already_applied.1: 'x' is not a valid e-mail address"),
    pytest.param(post(question(options=1)), f"{AT}.options: Input should be a valid string"),
    pytest.param(post(question(), question()), "job_posts.ab.questions: the id 1 is used by several questions"),
]


@pytest.mark.parametrize(("value", "message"), QUESTION_PROBLEMS)
def test_a_problem_in_the_questions_file_has_its_place(tmp_path: Path, value: Any, message: str) -> None:
    """One problem in the file is one line with its place and what is expected there."""
    file = written(tmp_path, value)
    separator = ": " if message.startswith(("this is not", "Input")) else ", "
    assert problems_of(SandboxOptions(token=TOKEN, questions=file)) == [f"{file}{separator}{message}"]


def test_all_problems_of_both_files_are_reported_at_once(tmp_path: Path) -> None:
    """Every problem of both files and of the token is reported."""
    questions = written(tmp_path, post(question(id=None, is_required=1), title=0))
    faults = tmp_path / "missing.json"
    assert problems_of(SandboxOptions(token="", questions=questions, faults=faults)) == [
        f"{questions}, job_posts.ab.title: Input should be a valid string",
        f"{questions}, {AT}.id: Input should be a valid integer",
        f"{questions}, {AT}.is_required: Input should be a valid boolean",
        f"{faults}: the file cannot be read: No such file or directory; check the path",
        "the sandbox token must be printable ASCII without spaces, and not empty",
    ]


OPTIONS = [
    pytest.param('["A, or B", "C"]', "A, or B", id="a JSON array"),
    pytest.param("A; or B\nC", "A; or B", id="lines"),
    pytest.param("A, or B; C", "A, or B", id="semicolons"),
    pytest.param("A, or B | C", "A, or B", id="bars"),
    pytest.param("A, B", "A", id="commas"),
    pytest.param("A", "A", id="one option"),
    pytest.param(["A", "B"], "A", id="a list"),
]


@pytest.mark.parametrize(("options", "choice"), OPTIONS)
def test_options_are_read_in_each_form(tmp_path: Path, options: Any, choice: str) -> None:
    """Options are one string, in a format that is not documented; each likely one is read."""
    file = written(tmp_path, post(question(answer_type="single_choice", options=options)))
    with running(SandboxOptions(token=TOKEN, questions=file)) as sandbox:
        client = Client(sandbox.base_url)
        path = "/api/v1/job-posts/ab/apply/"
        item = {"job_post_question": 1, "answer": choice}
        assert client.post(path, {**with_answer(1, ""), "answers": [item]}).status == 201
        shown = client.get("/api/v1/client/job-posts/ab/questions/").json["content"][0]["options"]
        assert shown == (json.dumps(options) if isinstance(options, list) else options)


LIVE_ENTRIES = [
    pytest.param({"question_key": "education"}, "school_name", id="education by key"),
    pytest.param({"question_key": "experience"}, "company_name", id="experience by key"),
    pytest.param({"question_key": "work_experience"}, "company_name", id="work_experience by key"),
    pytest.param({"question_key": "q7", "question_type": "education"}, "school_name", id="education by type"),
    pytest.param({"question_type": "work_experience"}, "company_name", id="work_experience by type"),
]


@pytest.mark.parametrize(("marks", "name"), LIVE_ENTRIES)
def test_live_questions_make_a_sandbox(tmp_path: Path, marks: dict[str, str], name: str) -> None:
    """The questions of a real job post, as the importer prints them, make a sandbox; entries are recognized."""
    live = {"job_post": "c0ffee", "questions": [question(answer_type="long_text", options=None, **marks)]}
    with running(SandboxOptions(token=TOKEN, questions=written(tmp_path, live))) as sandbox:
        client = Client(sandbox.base_url)
        path = "/api/v1/job-posts/c0ffee/apply/"
        good = {"job_post_question": 1, "answer": json.dumps([{name: "A"}])}
        assert client.post(path, {**with_answer(1, ""), "answers": [{**good, "answer": "A"}]}).status == 400
        assert client.post(path, {**with_answer(1, ""), "answers": [good]}).status == 201


def test_a_file_from_windows_is_read(tmp_path: Path) -> None:
    """A byte order mark at the beginning is ignored."""
    file = written(tmp_path, "\ufeff" + json.dumps(post(question())))
    with running(SandboxOptions(token=TOKEN, questions=file)) as sandbox:
        assert Client(sandbox.base_url).get("/api/v1/client/job-posts/ab/questions/").status == 200


def fault(**parts: Any) -> dict[str, Any]:
    return {"faults": [{"kind": "500", "first": 1}, parts]}


ONE_SELECTOR = "faults.2: needs exactly one of 'share', 'first', 'every', 'emails' to select its requests"
FAULT_MISTAKES = [
    pytest.param({"seed": "7"}, "seed: Input should be a valid integer"),
    pytest.param(fault(kind="500"), ONE_SELECTOR),
    pytest.param(fault(kind="500", first=1, share=1), ONE_SELECTOR),
    pytest.param(fault(kind="500", share=5), "faults.2.share: Input should be less than or equal to 1"),
    pytest.param(fault(kind="418", first=1), f"faults.2.kind: Input should be {KINDS}"),
]


@pytest.mark.parametrize(("value", "message"), FAULT_MISTAKES)
def test_a_problem_in_the_faults_file_has_the_number_of_the_fault(tmp_path: Path, value: Any, message: str) -> None:
    """One problem is one line with the number of the fault and what is expected there."""
    file = written(tmp_path, value)
    assert problems_of(SandboxOptions(token=TOKEN, faults=file)) == [f"{file}, {message}"]
