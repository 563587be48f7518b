"""One application for each person and job post, one candidate for each e-mail and pool."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from importer.sandbox import RunningSandbox, SandboxOptions, running
from tests.sandbox.wire import ADD_TO_POOL, APPLY, TOKEN, Client, application, candidate

APPLIED = {"detail": ["the user has already applied to this job post"]}
IN_POOL = {"email": ["a candidate with this e-mail address is in the talent pool already"]}


def test_a_second_application_is_a_conflict(sandbox: RunningSandbox, client: Client) -> None:
    """The same person gets 409, whatever the letter case of the address, and the first body stays."""
    client.post(APPLY, application("Ayse@example.com"))
    answer = client.post(APPLY, application("AYSE@EXAMPLE.COM", first_name="Other"))
    assert (answer.status, answer.json) == (409, APPLIED)
    assert sandbox.memory.accepted() == [application("Ayse@example.com")]


@pytest.mark.parametrize("status", [409, 400])
def test_a_second_addition_to_a_pool_gets_the_chosen_status(status: Literal[409, 400]) -> None:
    """What a pool says to a duplicate is not shown, so it can be 409 or 400."""
    with running(SandboxOptions(token=TOKEN, pool_duplicate_status=status)) as sandbox:
        client = Client(sandbox.base_url)
        assert client.post(ADD_TO_POOL, candidate()).status == 201
        answer = client.post(ADD_TO_POOL, candidate())
        assert (answer.status, answer.json) == (status, IN_POOL)
        assert len(sandbox.memory) == 1


def test_targets_do_not_know_each_other(client: Client) -> None:
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
def test_the_company_knows_people_from_before(client: Client, path: str, body: dict[str, str]) -> None:
    """Those whom the questions file names are there from the start."""
    assert client.post(path, body).status == 409


def test_of_many_at_once_one_wins(sandbox: RunningSandbox, client: Client) -> None:
    """The same application from many connections at once gets one 201 and otherwise 409."""
    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(lambda _: client.post(APPLY, application()).status, range(40)))
    assert sorted(statuses) == [201] + [409] * 39
    assert len(sandbox.memory.accepted("apply", "4f2c9a")) == 1


def test_a_refused_body_does_not_take_the_place(client: Client) -> None:
    """A 400 leaves the person free to apply with a better body."""
    assert client.post(APPLY, application(cv=...)).status == 400
    assert client.post(APPLY, application()).status == 201
