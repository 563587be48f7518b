"""The life of one row, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from importer.ledger import Ledger
from importer.load.budget import RetryBudget
from importer.load.job import Finding, Job
from importer.load.pace import Pace
from importer.load.sender import Means, begin, send
from importer.models import Target
from importer.service import Patience, Reply
from tests.load.given import CREATED, JOB_POST, Answer, House, Scripted, applications, in_turn


class Life:
    """One row, and what happens to it in order: `judged` by its status, `free` when another may go."""

    def __init__(self, ledger: Ledger, house: House, *answers: Answer) -> None:
        self.happened: list[str] = []
        house.loader(ledger, Scripted(in_turn(*answers)))  # begins the run
        halt = house.time.halt()
        pace = Pace(halt, in_flight=1)
        pace.call_when_free(lambda: self.happened.append("free"))
        service = Scripted(in_turn(*answers))
        patience = Patience(attempts=3, sleep=halt.sleep)
        budget = RetryBudget(1.0)
        target = JOB_POST.target
        self.means = Means(service, self._submit, ledger, "run-1", target, patience, pace, halt, budget, self._judge)
        self._service = service
        (row,) = applications([2])
        prints = ledger.fingerprints
        self.job = Job(row.row, prints.identity(JOB_POST, row.email), row.body, prints.body_digest(row.body))

    def _submit(self, target: Target, body: bytes, then: Callable[[Answer | BaseException], None]) -> None:
        then(self._service.submit(target, body))

    def _judge(self, finding: Finding) -> None:
        self.happened.append(f"judged {finding.status}")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize(
    ("answers", "happened"),
    [
        pytest.param((Reply(401),), ["judged 401", "free"], id="at once"),
        pytest.param((Reply(429), Reply(401)), ["free", "judged 401", "free"], id="after another attempt"),
        pytest.param((Reply(429),), ["free", "free", "free", "judged 429"], id="all attempts used up"),
    ],
)
def test_what_may_stop_the_run_is_judged_before_the_next_row_goes(
    house: House, answers: tuple[Answer, ...], happened: list[str]
) -> None:
    """An answer that leaves the row as it is is judged once, while nobody else can be let in."""
    with house.ledger() as ledger:
        life = Life(ledger, house, *answers)
        send(life.job, life.means)
    assert life.happened == happened


@pytest.mark.parametrize(
    ("answer", "happened"),
    [
        pytest.param(CREATED, ["judged 201", "free", "told"], id="final"),
        pytest.param(Reply(429), ["free", "told"], id="to be tried again"),
    ],
)
def test_a_first_attempt_without_waiting_is_judged_before_the_next_row_goes(
    house: House, answer: Answer, happened: list[str]
) -> None:
    """And told after that; what asks for another attempt is not judged yet."""
    with house.ledger() as ledger:
        life = Life(ledger, house, answer)
        entered = life.means.pace.enter_at_once()
        assert isinstance(entered, float)
        begin(life.job, life.means, entered, lambda finding: life.happened.append("told"))
    assert life.happened == happened


def test_what_cannot_be_sent_leaves_its_place(house: House) -> None:
    """A service that breaks when it is asked keeps nobody else from being sent."""
    with house.ledger() as ledger:
        life = Life(ledger, house, CREATED)
        entered = life.means.pace.enter_at_once()
        assert isinstance(entered, float)

        def broken(*_: object) -> None:
            raise RuntimeError("ours")

        means = replace(life.means, submit_then=broken)
        with pytest.raises(RuntimeError, match="ours"):
            begin(life.job, means, entered, lambda finding: None)
        assert life.happened == ["free"]
        assert isinstance(life.means.pace.enter_at_once(), float)
