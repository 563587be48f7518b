"""The fault `refuse`: certain people get a 400 with a reason, as from a check of the service itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from importer.sandbox import SandboxOptions, running
from tests.sandbox.wire import APPLY, TOKEN, Client, application

MESSAGE = "document 8841 was not found"


def faults_file(folder: Path, **fault: Any) -> Path:
    file = folder / "faults.json"
    file.write_text(json.dumps({"faults": [{"kind": "refuse", "emails": ["ayse@example.com"], **fault}]}))
    return file


@pytest.mark.parametrize(
    ("given", "status"), [pytest.param({}, 400, id="400 by default"), pytest.param({"status": 422}, 422, id="as given")]
)
def test_listed_people_are_rejected_and_not_stored(tmp_path: Path, given: dict[str, int], status: int) -> None:
    """A listed person gets the status and the message and is not stored; others are accepted."""
    faults = faults_file(tmp_path, message=MESSAGE, **given)
    with running(SandboxOptions(token=TOKEN, faults=faults)) as sandbox:
        client = Client(sandbox.base_url)
        rejected = client.post(APPLY, application("Ayse@example.com"))
        accepted = client.post(APPLY, application("other@example.com"))
        assert (rejected.status, rejected.json, accepted.status) == (status, {"detail": [MESSAGE]}, 201)
        assert [body["email"] for body in sandbox.memory.accepted()] == ["other@example.com"]
        assert [request.fault for request in sandbox.requests] == ["refuse", None]
