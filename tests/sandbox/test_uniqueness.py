"""One application per person and job post, one candidate per e-mail address and pool."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.sandbox.wire import ADD_TO_POOL, APPLY, TOKEN, Client, application, candidate

APPLIED = {"detail": ["the user has already applied to this job post"]}
IN_POOL = {"email": ["a candidate with this e-mail address is already in this talent pool"]}


def test_a_second_application_is_a_conflict(sandbox: RunningSandbox, client: Client) -> None:
    """The same person gets 409, whatever the letter case of the e-mail address, and the first body stays."""
    client.post(APPLY, application("Ayse@example.com"))
    answer = client.post(APPLY, application("AYSE@EXAMPLE.COM", first_name="Other"))
    assert (answer.status, answer.json) == (409, APPLIED)
    assert sandbox.memory.accepted() == [application("Ayse@example.com")]


@pytest.mark.parametrize("status", [409, 400])
def test_a_second_addition_to_a_pool_gets_the_configured_status(status: Literal[409, 400]) -> None:
    """The status for a duplicate in a pool is not documented, so it can be 409 or 400."""
    with running(SandboxOptions(token=TOKEN, pool_duplicate_status=status)) as sandbox:
        client = Client(sandbox.base_url)
        assert client.post(ADD_TO_POOL, candidate()).status == 201
        answer = client.post(ADD_TO_POOL, candidate())
        assert (answer.status, answer.json) == (status, IN_POOL)
        assert len(sandbox.memory) == 1


def test_targets_are_independent(client: Client) -> None:
    """One person may apply to a job post and be in two pools."""
    answers = [
        client.post(APPLY, application()),
        client.post(ADD_TO_POOL, candidate()),
        client.post("/api/v1/talent-pools/17/add-candidate/", candidate()),
    ]
    assert [answer.status for answer in answers] == [201, 201, 201]


ALREADY = [
    pytest.param(APPLY, application("Deniz.Yalcin@example.com"), id="an applicant"),
    pytest.param(APPLY, application("omer.oz@example.org"), id="another applicant"),
    pytest.param("/api/v1/talent-pools/17/add-candidate/", candidate("elif.sahin@example.com"), id="in a pool"),
]


@pytest.mark.parametrize(("path", "body"), ALREADY)
def test_people_listed_in_the_questions_file_already_exist(client: Client, path: str, body: dict[str, str]) -> None:
    """People listed in the questions file exist from the start."""
    assert client.post(path, body).status == 409


def test_of_many_concurrent_requests_one_is_accepted(sandbox: RunningSandbox, client: Client) -> None:
    """The same application on many connections at once gets one 201, and 409 for the rest."""
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: client.post(APPLY, application()).status, range(40)))
    assert sorted(statuses) == [201] + [409] * 39
    assert len(sandbox.memory.accepted("apply", "4f2c9a")) == 1


def test_a_rejected_body_does_not_count_as_applied(client: Client) -> None:
    """After a 400 the person can apply with a corrected body."""
    assert client.post(APPLY, application(cv=...)).status == 400
    assert client.post(APPLY, application()).status == 201
