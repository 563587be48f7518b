"""importer/sandbox/openapi.json: the sandbox answers as it says, and what importer sends fits it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from jsonschema import Draft202012Validator, FormatChecker

import importer
from importer.sandbox import SandboxOptions, running
from tests.samples.sample import ROOT

DOCUMENT: dict[str, Any] = json.loads((files("importer.sandbox") / "openapi.json").read_text("utf-8"))
TARGETS = {"job_post_id": ["4f2c9a", "unknown"], "talent_pool_id": [17, 99]}
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
    "unsupported_method",
    "missing_required_header",
)


def violations(body: dict[str, Any]) -> list[str]:
    """What a request body has that the document does not allow, also in the entries inside its answers."""
    found = _violations("Application" if "answers" in body else "PoolCandidate", body)
    for item in body.get("answers", ()):
        for name, kind in (("education", "EducationEntries"), ("experience", "ExperienceEntries")):
            reference = item["job_post_question"]
            if isinstance(reference, dict) and reference.get("question_key") == name:
                found += _violations(kind, json.loads(item["answer"]))
    return found


def _violations(schema: str, value: Any) -> list[str]:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}
    checked = Draft202012Validator(whole, format_checker=FormatChecker())
    return [error.message for error in checked.iter_errors(value)]


def test_every_golden_request_fits_the_document() -> None:
    """The bodies of all golden imports are as the service description says."""
    bodies = [
        json.loads(line)
        for file in sorted((ROOT / "tests" / "samples" / "golden").glob("*/bodies.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    assert len(bodies) >= 300
    assert [(body["email"], found) for body in bodies if (found := violations(body))] == []


WRONG: dict[str, dict[str, Any]] = {
    "no e-mail address": {"email": "ada", "first_name": "Ada", "last_name": "Nur", "cv": "1"},
    "an unknown field": {"email": "a@example.com", "first_name": "Ada", "last_name": "Nur", "cv": "1", "phone": "1"},
    "an answer that is a number": {
        "email": "a@example.com",
        "first_name": "Ada",
        "last_name": "Nur",
        "cv": "1",
        "answers": [{"job_post_question": {"id": 1, "question_key": "age"}, "answer": 5}],
    },
    "a degree that the service has not": {
        "email": "a@example.com",
        "first_name": "Ada",
        "last_name": "Nur",
        "cv": "1",
        "answers": [
            {
                "job_post_question": {"id": 1, "question_key": "education"},
                "answer": '[{"school_name": "X", "degree": "bachelor"}]',
            }
        ],
    },
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_body_is_found(body: dict[str, Any]) -> None:
    """The check above can fail."""
    assert violations(body)


@pytest.mark.net
def test_the_sandbox_answers_as_the_document_says(tmp_path: Path) -> None:
    """schemathesis sends valid and broken requests to each operation; each answer is one that the document lists."""
    document = json.loads(json.dumps(DOCUMENT))
    for parameters in (
        *(one.get("parameters", ()) for path in document["paths"].values() for one in path.values()),
        document["components"]["parameters"].values(),
    ):
        for parameter in parameters:
            if parameter.get("name") in TARGETS:  # else nearly all would be unknown
                parameter["schema"] = {"enum": TARGETS[parameter["name"]]}
    (tmp_path / "openapi.json").write_text(json.dumps(document), "utf-8")
    with running(SandboxOptions(token="t0ken")) as sandbox:
        words = ("run", "openapi.json", "--url", sandbox.base_url, "--header", "Authorization: Bearer t0ken")
        options = ("--checks", ",".join(CHECKS), "--max-examples", "200", "--seed", "1", "--no-color")
        ran = subprocess.run(
            [Path(sys.executable).with_name("schemathesis"), *words, *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout[-4000:]
        assert len(sandbox.requests) >= 1_000
        assert {201, 200, 400, 401, 404, 405, 415} <= {request.status for request in sandbox.requests}


MAPPING = """\
version: 1
target: {job_post: 4f2c9a}
defaults: {dates: ["%d.%m.%Y"], region: TR}
candidate: {email: E-mail, first_name: {column: Name, part: first}, last_name: {column: Name, part: last}, cv: CV}
answers:
  phone: Phone
  work_permit: Permit
  salary: Salary
  notice_weeks: Notice
  available_from: From
  level: {column: Level, values: {Sr: Senior}}
  skills: {column: Skills, split: ";"}
  github: {column: GitHub, before: "https://github.com/"}
  certificate: Certificate
  "text: How did you hear about us?": Source
  education: {education: {repeat: "{n}", school_name: "School {n}", start_date: "School {n} from"}}
  experience: {experience: {company_name: Company, start_date: Since, currently_employed: Still}}
"""


@pytest.mark.net
def test_a_thousand_requests_fit_the_document(tmp_path: Path) -> None:
    """Rows with every kind of answer, some of them blank: each request is as the document says."""
    random = Random(48)
    choices = {
        "CV": ["77", "a-78"],
        "Phone": ["0555 000 09 01", "+44 20 7946 0123"],
        "Permit": ["evet", "no", "x"],
        "Salary": ["45000", ""],
        "Notice": ["4", "2.5", ""],
        "From": ["03.09.2020", "2026-01-02", ""],
        "Level": ["Sr", "junior", ""],
        "Skills": ["Python;SQL", "Go", ""],
        "GitHub": ["ada", ""],
        "Certificate": ["4711", ""],
        "Source": ["a friend", "a «fair»", ""],
        "School 1": ["Example Üniversitesi", "Lycée d’Exemple"],
        "School 1 from": ["01.09.2010"],
        "School 2": ["Example School", ""],
        "School 2 from": [""],
        "Company": ["Example A.Ş.", 'Ex "Q" & Co'],
        "Since": ["01.02.2019", ""],
        "Still": ["yes", "no"],
    }
    rows = [
        {"E-mail": f"person{number}@example.com", "Name": random.choice(["Ada Nur", "Ömer Şen", "Jean-Luc d'Arc"])}
        | {name: random.choice(cells) for name, cells in choices.items()}
        for number in range(1_000)
    ]
    mapping = tmp_path / "people.yaml"
    mapping.write_text(MAPPING, "utf-8")
    with running(SandboxOptions(token="t0ken")) as sandbox:
        settings = {"base_url": sandbox.base_url, "token": "t0ken"}
        done = importer.run(pd.DataFrame(rows), mapping, out=tmp_path / "results", settings=settings)
        bodies = sandbox.memory.accepted()
    assert (done.summary.outcomes["created"], len(bodies)) == (1_000, 1_000), done.summary.problems[:3]
    assert [found for body in bodies if (found := violations(body))] == []
