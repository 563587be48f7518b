"""The fault `refuse`: named people get a reasoned 400, as a service gives for reasons of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from importer.sandbox import SandboxOptions, SandboxUnusable, running
from tests.sandbox.wire import APPLY, TOKEN, Client, application

MESSAGE = "document 8841 was not found"


def faults_file(folder: Path, **fault: Any) -> Path:
    file = folder / "faults.json"
    file.write_text(json.dumps({"faults": [{"kind": "refuse", "emails": ["ayse@example.com"], **fault}]}))
    return file


@pytest.mark.parametrize(
    ("given", "status"), [pytest.param({}, 400, id="400 unless said"), pytest.param({"status": 422}, 422, id="as said")]
)
def test_the_named_are_refused_and_not_remembered(tmp_path: Path, given: dict[str, int], status: int) -> None:
    """A named person gets the status and the message; nothing is remembered of them; others are accepted."""
    faults = faults_file(tmp_path, message=MESSAGE, **given)
    with running(SandboxOptions(token=TOKEN, faults=faults)) as sandbox:
        client = Client(sandbox.base_url)
        refused = client.post(APPLY, application("Ayse@example.com"))
        accepted = client.post(APPLY, application("other@example.com"))
        assert (refused.status, refused.json, accepted.status) == (status, {"detail": [MESSAGE]}, 201)
        assert [body["email"] for body in sandbox.memory.accepted()] == ["other@example.com"]
        assert [request.fault for request in sandbox.requests] == ["refuse", None]


MISTAKES = [
    pytest.param({}, "a refuse needs 'message'", id="no message"),
    pytest.param({"message": " "}, "message ' ' must be a text", id="blank message"),
    pytest.param(
        {"message": MESSAGE, "status": 201},
        "status '201' must be an error status from 400 to 599",
        id="no error status",
    ),
]


@pytest.mark.parametrize(("fault", "mistake"), MISTAKES)
def test_a_refusal_that_is_not_told_right_is_a_mistake(tmp_path: Path, fault: dict[str, Any], mistake: str) -> None:
    """The faults file is refused with the number of the fault and what is wrong with it."""
    file = faults_file(tmp_path, **fault)
    with pytest.raises(SandboxUnusable) as caught, running(SandboxOptions(token=TOKEN, faults=file)):
        pass
    assert caught.value.problems == (f"{file}, fault 1: {mistake}",)
