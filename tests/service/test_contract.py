"""What is sent fits the service description, part 2, and so does what the sandbox answers."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from pydantic import ValidationError

from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.patience import PATIENCE
from tests.samples.sample import LEGACY, NIGHTLY
from tests.service import contract


def golden_bodies(sample: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (sample.golden / "bodies.jsonl").read_text("utf-8").splitlines()]


def test_every_golden_application_fits_the_body_of_4_2() -> None:
    """No field too many, every answer an item of 2.2, every entry one of 2.3 or 2.4 with allowed values."""
    entries = 0
    for body in golden_bodies(LEGACY):
        application = contract.ApplicationBody.model_validate(body)
        for item in application.answers:
            reference = item.job_post_question
            assert isinstance(reference, contract.QuestionReference)
            assert (item.answer is None) != (item.answer_file is None)
            kind = {"education": contract.EducationEntry, "experience": contract.ExperienceEntry}
            if reference.question_key in kind:
                assert item.answer is not None
                for entry in json.loads(item.answer):
                    parsed = kind[reference.question_key].model_validate(entry)
                    assert parsed.model_extra == {}
                    entries += 1
    assert entries > 300


def test_every_golden_pool_candidate_fits_the_body_of_4_3() -> None:
    """No field too many, none missing."""
    bodies = golden_bodies(NIGHTLY)
    assert len([contract.PoolCandidateBody.model_validate(body) for body in bodies]) == len(bodies) > 20


def test_the_check_finds_a_degree_that_may_not_be_sent() -> None:
    """The check can fail: `bachelor` occurs in a candidate record (2.5) but is not a degree of an entry (2.3)."""
    assert contract.RecordedEducation.model_validate({"degree": "bachelor"}).degree == "bachelor"
    with pytest.raises(ValidationError):
        contract.EducationEntry.model_validate({"degree": "bachelor"})


@pytest.fixture
def sandbox() -> Any:
    with running(SandboxOptions(token="t")) as served:
        yield served


def test_the_sandbox_answers_with_a_whole_record(sandbox: RunningSandbox) -> None:
    """Every field of 2.5 is in it and no other, and its dates and files are such."""
    body = json.dumps(golden_bodies(NIGHTLY)[0]).encode()
    headers = {"Authorization": "Bearer t", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{sandbox.base_url}/api/v1/talent-pools/17/add-candidate/", body, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        record = contract.CandidateRecord.model_validate_json(answer.read())
    assert record.model_extra == {}
    assert set(record.model_fields_set) == set(contract.CandidateRecord.model_fields)
    assert record.created_at is not None
    assert record.cv is not None
    assert (record.cv.presigned_url or "").startswith("https://")
