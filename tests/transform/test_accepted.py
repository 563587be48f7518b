"""A service that follows the published contract accepts what transform makes of valid cells."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from importer.models import Application, Question
from importer.sandbox import RunningSandbox, SandboxOptions, running
from importer.transform import transform_row
from tests.transform.cases import GOOD, Good
from tests.transform.cells import mapping_of, question, row

_SENT = [case for case in GOOD if case.sent is not None]
_DAYS = "start_date: C, end_date: {column: D, present: now}"
_ENTRIES = {
    "education": f"{{education: {{school_name: A, degree: B, {_DAYS}}}}}",
    "experience": f"{{experience: {{company_name: A, employment_type: B, {_DAYS}}}}}",
}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """A sandbox with a job post for each case, with the question of the case."""
    posts = {f"post{n}": _post(case.asked) for n, case in enumerate(_SENT)}
    posts |= {kind: _post(question("long_text"), entries=kind) for kind in _ENTRIES}
    path = tmp_path_factory.mktemp("sandbox") / "questions.json"
    path.write_text(json.dumps({"company": "Example", "job_posts": posts, "talent_pools": {}}), encoding="utf-8")
    with running(SandboxOptions(token="secret", questions=path)) as sandbox:
        yield sandbox


def _post(asked: Question, **more: str) -> dict[str, Any]:
    listed = {
        "id": asked.id,
        "question_text": asked.text,
        "is_required": True,  # so that a missing answer is rejected
        "answer_type": asked.answer_type,
        "options": json.dumps(asked.options) if asked.options else None,
        "question_key": asked.key,
        "question_type": asked.type,
    }
    return {"title": "Post", "questions": [listed | more]}


def _apply(sandbox: RunningSandbox, post: str, application: Application) -> tuple[int, str]:
    address = urlsplit(sandbox.base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {"Authorization": f"Bearer {sandbox.token}", "Content-Type": "application/json"}
    body = json.dumps(application.payload()).encode()
    connection.request("POST", f"{address.path}/api/v1/job-posts/{post}/apply/", body, headers)
    with connection.getresponse() as answer:
        found = (answer.status, answer.read().decode())
    connection.close()
    return found


@pytest.mark.parametrize(("number", "case"), list(enumerate(_SENT)), ids=[case.name for case in _SENT])
def test_a_valid_cell_is_accepted(sandbox: RunningSandbox, number: int, case: Good) -> None:
    """A valid cell of each kind is a valid answer by the published contract."""
    asked = replace(case.asked, required=True)
    result = transform_row(row(case.cell, typed=[0] if case.typed else []), mapping_of(case.answer, asked=asked))
    assert isinstance(result, Application)
    status, body = _apply(sandbox, f"post{number}", result)
    assert status == 201, body


@pytest.mark.parametrize(
    ("kind", "code"), [("education", "masters_degree"), ("experience", "intern")], ids=["education", "experience"]
)
def test_entries_are_accepted(sandbox: RunningSandbox, kind: str, code: str) -> None:
    """Packed entries are valid answers by the published contract."""
    mapping = mapping_of(_ENTRIES[kind], ("A", "B", "C", "D"), question("long_text", required=True))
    result = transform_row(row("Örnek", code, "2020-01-01", "NOW"), mapping)
    assert isinstance(result, Application)
    status, body = _apply(sandbox, kind, result)
    assert status == 201, body
