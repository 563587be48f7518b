"""The meaning of every status and every missing response for a row."""

from __future__ import annotations

from itertools import product

import pytest

from importer.ledger import Known, State
from importer.models import Operation
from importer.sending.answers import RULES, PendingRow, classify, state_after
from importer.service import NoReply, Reply


def expected(status: int) -> tuple[State, bool]:
    """The rules of the design, written independently: the state, and whether the answer is an odd one."""
    if status in (201, 409):
        return (State.CREATED if status == 201 else State.ALREADY_EXISTS), False
    if status in (425, 429):
        return State.PLANNED, False
    if status in (400, 413, 422):
        return State.REJECTED, False
    if status in (302, 303):
        return State.UNCONFIRMED, True
    is_clear = 300 <= status < 500 and status != 408
    return (State.FAILED if is_clear else State.UNCONFIRMED), is_clear


@pytest.mark.parametrize("century", range(1, 6))
def test_every_status(century: int) -> None:
    """Each status from 100 to 599 has the meaning of the design, whatever its body contains."""
    for status, message in product(range(century * 100, century * 100 + 100), ("", "created")):
        rule = classify(Reply(status, message))
        assert (status, rule.state, rule.is_odd) == (status, *expected(status))


@pytest.mark.parametrize("status", [0, 99, 600, 999])
def test_a_status_that_no_standard_knows_is_unclear(status: int) -> None:
    """Only a known refusal is a refusal."""
    rule = classify(Reply(status))
    assert (rule.state, rule.is_odd) == (State.UNCONFIRMED, False)


@pytest.mark.parametrize(("may_have_arrived", "state"), [(False, State.PLANNED), (True, State.UNCONFIRMED)])
def test_no_answer(may_have_arrived: bool, state: State) -> None:
    """Only what failed before anything was sent is proven not processed."""
    assert classify(NoReply("whatever", may_have_arrived)).state is state


def test_every_rule_says_why_and_counts() -> None:
    """No rule of the table is hidden by the ones before it."""
    observed: set[int] = set()
    for rule in RULES:
        statuses = set(rule.statuses)
        assert rule.why
        assert statuses - observed
        observed |= statuses
    assert observed == set(range(100, 600))


ANSWERED = tuple(dict.fromkeys(rule.state for rule in RULES))


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("answered", ANSWERED)
def test_the_state_without_a_doubt(operation: Operation, answered: State) -> None:
    """The response to a first request is final, for both operations."""
    assert state_after(operation, answered, PendingRow(1, b"a", b"{}", b"digest")) is answered


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("answered", ANSWERED)
@pytest.mark.parametrize("before", [None, b"digest", b"another"], ids=["in this run", "the same", "changed"])
def test_the_state_after_a_doubt(operation: Operation, answered: State, before: bytes | None) -> None:
    """Only 201, 409 and the rejection of the same application confirm an unconfirmed row."""
    earlier = None if before is None else Known(State.UNCONFIRMED, None, before, "run", 1)
    pending = PendingRow(1, b"a", b"{}", b"digest", may_exist=True, earlier=earlier)
    is_same = operation is Operation.APPLY and answered is State.REJECTED and before != b"another"
    is_settled = answered in (State.CREATED, State.ALREADY_EXISTS) or is_same
    assert state_after(operation, answered, pending) is (answered if is_settled else State.UNCONFIRMED)
