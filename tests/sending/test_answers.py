"""The meaning of every status and every missing response for a row."""

from __future__ import annotations

from itertools import product

import pytest

from importer.ledger import State
from importer.models import Operation
from importer.sending.answers import RULES, Disposition, PriorAttempt, classify, state_after
from importer.service import NoReply, Reply

V = Disposition


def expected(status: int) -> Disposition:
    """The rules of the design, written independently."""
    singles = {201: V.CREATED, 401: V.STOP_RUN, 408: V.AMBIGUOUS, 409: V.ALREADY_EXISTS, 425: V.AGAIN, 429: V.AGAIN}
    if status in singles:
        return singles[status]
    if status in (400, 413, 422):
        return V.REJECTED
    if status in (302, 303):
        return V.REDIRECTED
    return {1: V.AMBIGUOUS, 2: V.AMBIGUOUS, 3: V.STOP_RUN, 4: V.STOP_TARGET, 5: V.AMBIGUOUS}[status // 100]


@pytest.mark.parametrize("century", range(1, 6))
def test_every_status(century: int) -> None:
    """Each status from 100 to 599 has the disposition of the design, whatever its body contains."""
    for status, message in product(range(century * 100, century * 100 + 100), ("", "created")):
        assert (status, classify(Reply(status, message))) == (status, expected(status))


@pytest.mark.parametrize("status", [0, 99, 600, 999])
def test_a_status_that_no_standard_knows_is_ambiguous(status: int) -> None:
    """Only a known refusal is a refusal."""
    assert classify(Reply(status)) is Disposition.AMBIGUOUS


@pytest.mark.parametrize(("may_have_arrived", "disposition"), [(False, V.AGAIN), (True, V.AMBIGUOUS)])
def test_no_answer(may_have_arrived: bool, disposition: Disposition) -> None:
    """Only what failed before anything was sent is proven not processed."""
    assert classify(NoReply("whatever", may_have_arrived)) is disposition


def test_every_rule_says_why_and_counts() -> None:
    """No rule of the table is hidden by the ones before it."""
    observed: set[int] = set()
    for rule in RULES:
        statuses = set(rule.statuses)
        assert rule.why
        assert statuses - observed
        observed |= statuses
    assert observed == set(range(100, 600))


WITHOUT_DOUBT = {
    V.CREATED: State.CREATED,
    V.ALREADY_EXISTS: State.ALREADY_EXISTS,
    V.REJECTED: State.REJECTED,
    V.AGAIN: State.PLANNED,
    V.AMBIGUOUS: State.UNCONFIRMED,
    V.STOP_TARGET: State.FAILED,
    V.STOP_RUN: State.FAILED,
    V.REDIRECTED: State.UNCONFIRMED,
}
SETTLES = {V.CREATED: State.CREATED, V.ALREADY_EXISTS: State.ALREADY_EXISTS}


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("disposition", Disposition)
def test_the_state_without_a_doubt(operation: Operation, disposition: Disposition) -> None:
    """The response to a first request is final, for both operations."""
    assert state_after(operation, disposition, PriorAttempt.NONE) is WITHOUT_DOUBT[disposition]


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("disposition", Disposition)
@pytest.mark.parametrize("prior", [PriorAttempt.SAME_BYTES, PriorAttempt.OTHER_BYTES])
def test_the_state_after_a_doubt(operation: Operation, disposition: Disposition, prior: PriorAttempt) -> None:
    """Only 201, 409 and the rejection of the same application confirm an unconfirmed row."""
    same_application = (operation, disposition, prior) == (Operation.APPLY, V.REJECTED, PriorAttempt.SAME_BYTES)
    after = State.REJECTED if same_application else SETTLES.get(disposition, State.UNCONFIRMED)
    assert state_after(operation, disposition, prior) is after
