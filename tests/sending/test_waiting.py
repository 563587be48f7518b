"""Rows that wait to be sent again, or for their turn: a limited number, in time, and not for ever."""

from __future__ import annotations

from itertools import pairwise

import pytest

from importer.models import OutcomeKind
from importer.sending import LoadOptions, Paused
from importer.service import Reply
from tests.sending.given import BROKEN, CREATED, Answer, Harness, Scripted, applications, by_outcome, email_of

TOO_MANY = Reply(429, "too many")


def sent_at(harness: Harness, times: list[float], answer: Answer = CREATED) -> Answer:
    times.append(harness.time.elapsed)
    return answer


@pytest.mark.parametrize("unwell", [BROKEN, Reply(403, "closed")], ids=["inconclusive", "odd"])
def test_after_bad_answers_refused_rows_are_as_few_as_usual(harness: Harness, unwell: Answer) -> None:
    """A row that waits for its Retry-After makes no room for a new one, or the whole file is refused."""

    def answer(email: str, _: int) -> Answer:
        row = int(email[len("person") : -len("@example.com")])
        return CREATED if row < 20 else unwell if row < 30 else Reply(429, retry_after=30)

    service = Scripted(answer)
    harness.time.later(25, harness.time.set)
    harness.load(service, applications(range(2, 1000)), LoadOptions(concurrency=4))
    assert len(set(service.emails)) <= 28 + 6


@pytest.mark.parametrize("is_paused", [True, False], ids=["a pause", "a hold"])
def test_turns_that_passed_unused_are_lost(harness: Harness, is_paused: bool) -> None:
    """A rate holds when sending goes on: two rows at most are made up for."""
    times: list[float] = []
    if is_paused:
        harness.time.later(8, harness.time.pause)
        harness.time.later(60, harness.time.resume)
    service = Scripted(
        lambda *_: sent_at(harness, times, BROKEN if not is_paused and 20 < harness.time.elapsed < 100 else CREATED)
    )
    with harness.ledger() as ledger:
        options = LoadOptions(concurrency=8, rate=0.5)
        is_well = lambda: not 20 < harness.time.elapsed < 100  # noqa: E731
        loader = harness.loader(ledger, service, options, probe=is_well)
        outcomes = by_outcome(loader.load(applications(range(2, 42))))
    assert {outcome.kind for outcome in outcomes.values()} == {OutcomeKind.CREATED}
    assert max(sum(at <= other < at + 4 for other in times) for at in times) <= 4


@pytest.mark.parametrize("begin", [1.2, 2.6, 7.3])
def test_a_pause_begins_patience_with_a_row_anew(harness: Harness, begin: float) -> None:
    """Rows that were refused before and after a pause have not been refused all the time."""
    harness.time.later(begin, harness.time.pause)
    harness.time.later(400, harness.time.resume)

    def answer(email: str, _: int) -> Answer:
        is_refused = harness.time.elapsed < 420 and email not in map(email_of, range(2, 7))
        return TOO_MANY if is_refused else CREATED

    outcomes = harness.load(Scripted(answer), applications(range(2, 32)), LoadOptions(give_up_after=120))
    assert {outcome.kind for outcome in outcomes.values()} == {OutcomeKind.CREATED}


def test_each_wait_is_twice_as_long(harness: Harness) -> None:
    """Half a second, one, two, four, and up to a quarter of a second, whoever waits: the sender or the loop."""
    times: list[float] = []
    harness.time.later(100, harness.time.set)
    harness.load(Scripted(lambda *_: sent_at(harness, times, TOO_MANY)), applications([2]))
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert [2**n / 2 <= wait <= 2**n / 2 + 0.3 for n, wait in enumerate(waits[:6])] == [True] * 6


@pytest.mark.parametrize("retry_after", [0.2, 1, 5])
def test_a_row_that_is_always_refused_fails_although_others_are_accepted(harness: Harness, retry_after: float) -> None:
    """Even if each wait is short."""
    refused: list[float] = []

    def answer(email: str, _: int) -> Answer:
        return sent_at(harness, refused, Reply(429, retry_after=retry_after)) if email == email_of(9) else CREATED

    options = LoadOptions(resend_delay=30, give_up_after=60, rate=1)
    outcomes = harness.load(Scripted(answer), applications(range(2, 182)), options)
    failed = {row for row, outcome in outcomes.items() if outcome.kind is OutcomeKind.FAILED}
    assert failed == {9}
    assert 60 <= refused[-1] - refused[0] < 75


def test_a_low_rate_of_ones_own_is_not_reported(harness: Harness) -> None:
    """It is what the person asked for, and rows are completed."""
    reported: list[Paused | None] = []
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, Scripted(lambda *_: CREATED), LoadOptions(rate=0.2), on_waiting=reported.append)
        by_outcome(loader.load(applications(range(2, 12))))
    assert reported == []
