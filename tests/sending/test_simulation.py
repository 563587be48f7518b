"""A run finishes by itself: hours of faults on a simulated clock; `python -m benchmarks faults` shows more."""

from __future__ import annotations

import random

import pytest

from importer.models import OutcomeKind
from importer.sending import ErrorLimit, LoadOptions
from importer.service import Reply
from tests.sending.simulation import (
    OUTAGES,
    RANDOM,
    Answer,
    Fate,
    Simulated,
    at_random,
    simulate,
    simulate_outage,
    within,
)

_FOREVER = 250e9  # seconds: a Retry-After of the year 9999


def _has_finished(found: Simulated, rows: int) -> bool:
    """Every row is complete, none was sent again after a clear response, and the run did not stop early."""
    completed = found.kinds[OutcomeKind.CREATED] + found.kinds[OutcomeKind.ALREADY_EXISTS]
    return (completed, found.missing, found.twice, found.stop) == (rows, 0, 0, None)


@pytest.mark.parametrize("pool", [False, True], ids=["job post", "pool"])
@pytest.mark.parametrize("seconds", [30.0, 600.0])
@pytest.mark.parametrize("kind", OUTAGES)
def test_an_outage_is_waited_for(kind: str, seconds: float, pool: bool) -> None:
    """An outage delays the run by its length plus at most two and a half minutes, and loses no row."""
    found = simulate_outage(300, OUTAGES[kind], lambda now: 0.1 <= now < 0.1 + seconds, pool=pool)
    assert _has_finished(found, 300)
    assert seconds < found.seconds < seconds + 150


@pytest.mark.parametrize("pool", [False, True], ids=["job post", "pool"])
def test_a_service_that_fails_every_half_minute(pool: bool) -> None:
    """Five seconds of 502 in every 30 do not stop a run, and resends do not coincide with them."""
    found = simulate_outage(1500, OUTAGES["502"], lambda now: now % 30 < 5, pool=pool)
    assert _has_finished(found, 1500)


@pytest.mark.parametrize("kind", RANDOM)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.3])
def test_random_faults(kind: str, share: float) -> None:
    """With random faults in up to 30 % of the requests, every row is complete at the end."""
    assert _has_finished(simulate(300, at_random(share, RANDOM[kind])), 300)


def test_a_row_that_always_fails() -> None:
    """It is sent 6 times, ends as unconfirmed, and does not delay other rows."""
    found = simulate(300, _only(5, Reply(500)))
    assert found.kinds == {OutcomeKind.CREATED: 299, OutcomeKind.UNCONFIRMED: 1}
    assert (found.requests, found.stop) == (299 + 6, None)
    assert 5 * 60 < found.seconds < 7 * 60


@pytest.mark.parametrize(("status", "kind"), [(429, OutcomeKind.FAILED), (503, OutcomeKind.UNCONFIRMED)])
def test_a_retry_after_of_the_year_2999(status: int, kind: OutcomeKind) -> None:
    """It delays only its own row, until the run gives up."""
    found = simulate(300, _only(5, Reply(status, "", _FOREVER)))
    assert found.kinds == {OutcomeKind.CREATED: 299, kind: 1}
    assert found.seconds < 15 * 60 + 5


@pytest.mark.parametrize("every", [1, 3])
def test_many_retry_afters_of_the_year_2999(every: int) -> None:
    """The run gives up after 15 minutes without progress."""

    def draw(row: int, _: float, __: random.Random) -> tuple[Answer, float, bool]:
        return (Reply(429, "", _FOREVER), 0.005, False) if row % every == 0 else (Reply(201), 0.005, True)

    found = simulate(300, draw)
    assert found.stop is not None
    assert found.stop.reason == ("no row was completed for 15 minutes: the service refuses too many requests (429)")
    assert found.seconds < 35 * 60


def test_a_service_that_never_comes_back() -> None:
    """The run stops after 15 minutes; for an address that never responded, within 30 seconds."""
    gone = simulate(300, within(lambda now: now > 0.1, OUTAGES["process down"]))
    assert gone.stop is not None
    assert gone.stop.code == "run-stalled"
    assert 900 < gone.seconds < 910
    never = simulate(300, within(lambda _: True, OUTAGES["process down"]), has_answered=False)
    assert never.stop is not None
    assert (never.stop.code, never.requests) == ("service-unreachable", 6)
    assert never.seconds < 32


def _only(row: int, answer: Reply) -> Fate:
    def draw(one: int, _: float, __: random.Random) -> tuple[Answer, float, bool]:
        return (answer, 0.005, False) if one == row else (Reply(201), 0.005, True)

    return draw


@pytest.mark.parametrize("status", [403, 404, 415, 423, 451])
def test_one_row_that_is_refused_while_all_others_are_accepted(status: int) -> None:
    """It is sent once more at the end, and rejected with the service's words; the run does not stop at it."""
    found = simulate(200, _only(50, Reply(status, "blocked country")))
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 199, OutcomeKind.REJECTED: 1}, None)
    assert (found.requests, found.twice) == (201, 0)
    waited, *_ = found.waits
    assert f"reason='rows that the service refused ({status}) are sent again'" in waited


@pytest.mark.parametrize("status", [401, 405, 410, 307])
def test_one_row_whose_refusal_may_mean_the_token_or_the_address(status: int) -> None:
    """It has failed at the end, so that the next run sends it again; the run does not stop at it."""
    found = simulate(200, _only(50, Reply(status)))
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 199, OutcomeKind.FAILED: 1}, None)
    assert found.requests <= 199 + 6
    assert found.seconds < 40


@pytest.mark.parametrize("status", [302, 303])
def test_one_row_that_is_redirected_after_it_may_have_been_accepted(status: int) -> None:
    """It stays unconfirmed, since a redirect may follow an accepted request."""
    found = simulate(200, _only(50, Reply(status)))
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 199, OutcomeKind.UNCONFIRMED: 1}, None)


@pytest.mark.parametrize("status", [401, 302, 403, 404, 423])
@pytest.mark.parametrize(("rows", "from_"), [(300, 0.1), (30, 0.02), (40, 0.025)])
def test_one_odd_second_is_no_verdict(status: int, rows: int, from_: float) -> None:
    """A second of refusals, in the middle of a run or at its end, delays the run; every row is created in it."""
    found = simulate(rows, within(lambda now: from_ <= now < from_ + 1, lambda _: (Reply(status), 0.005, False)))
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: rows}, None)
    assert found.seconds < 30


@pytest.mark.parametrize(
    ("status", "code"), [(401, "token-refused"), (404, "target-not-found"), (403, "target-forbidden")]
)
def test_a_token_or_a_target_that_is_really_gone(status: int, code: str) -> None:
    """The run waits less than a minute, then stops; no row is rejected."""
    found = simulate(200, within(lambda now: now > 0.1, lambda _: (Reply(status), 0.005, False)))
    assert found.stop is not None
    assert found.stop.code == code
    assert found.seconds < 60
    assert found.kinds.keys() <= {OutcomeKind.CREATED, OutcomeKind.FAILED, OutcomeKind.NOT_SENT}
    assert found.kinds[OutcomeKind.FAILED] <= 8 + 7


@pytest.mark.parametrize("rows", [1, 2])
def test_a_target_that_is_closed_before_the_last_rows(rows: int) -> None:
    """No row was accepted after them, so they have failed and the next run sends them again: none is rejected."""

    def draw(row: int, _: float, __: random.Random) -> tuple[Answer, float, bool]:
        return (Reply(403), 0.005, False) if row > 51 - rows else (Reply(201), 0.005, True)

    found = simulate(50, draw)
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 50 - rows, OutcomeKind.FAILED: rows}, None)
    assert found.seconds < 60


@pytest.mark.parametrize("options", [LoadOptions(max_attempts=1), LoadOptions(max_errors=ErrorLimit(0))])
def test_a_token_that_is_gone_stops_a_run_with_any_options(options: LoadOptions) -> None:
    """Few attempts or errors that are allowed neither send every row to it nor hide the reason."""
    found = simulate(300, within(lambda now: now > 0.1, lambda _: (Reply(401), 0.005, False)), options=options)
    assert (found.stop.code if found.stop else None) == "token-refused"
    assert (found.seconds < 60, found.kinds[OutcomeKind.FAILED] <= 8 + 7) == (True, True)


@pytest.mark.parametrize("kind", OUTAGES)
def test_a_token_that_is_gone_after_an_outage(kind: str) -> None:
    """Its refusals, not the outage, stop the run, less than a minute after the first of them."""
    refused_at = list[float]()

    def draw(_: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        if now < 0.1:
            return Reply(201), 0.005, True
        if now < 30:
            return OUTAGES[kind](luck)
        refused_at.append(now)
        return Reply(401), 0.005, False

    found = simulate(300, draw)
    assert (found.stop.code if found.stop else None) == "token-refused"
    assert found.seconds - refused_at[0] < 60


@pytest.mark.parametrize("kind", ["process down", "502", "503", "429"])
def test_a_token_that_is_gone_while_the_service_often_fails(kind: str) -> None:
    """Failures are no sign that it is accepted again: few rows are sent until the run stops."""

    def draw(_: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        if now < 0.1:
            return Reply(201), 0.005, True
        return OUTAGES[kind](luck) if luck.random() < 0.5 else (Reply(401), 0.005, False)

    for seed in range(3):
        found = simulate(300, draw, seed)
        assert (found.stop.code if found.stop else None) == "token-refused"
        assert (found.seconds < 180, found.kinds[OutcomeKind.NOT_SENT] > 100) == (True, True)


def test_an_outage_after_odd_answers_is_waited_for() -> None:
    """The minute for odd answers is no limit for it, and its rows are not sent again and again."""

    def draw(_: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        if 0.1 <= now < 8:
            return Reply(401), 0.005, False
        return (Reply(502), 0.005, False) if 8 <= now < 400 else (Reply(201), 0.005, True)

    found = simulate(300, draw)
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 300}, None)
    assert found.requests < 360


def test_a_closed_target_that_still_checks_rows() -> None:
    """Rows that it rejects are no sign that it is open again: the run stops, and no other row is rejected."""

    def draw(row: int, now: float, _: random.Random) -> tuple[Answer, float, bool]:
        if row % 3 == 0:
            return Reply(400, f"phone of {row}"), 0.005, False
        return (Reply(201), 0.005, True) if now < 0.1 else (Reply(403), 0.005, False)

    found = simulate(300, draw)
    assert (found.stop.code if found.stop else None) == "target-forbidden"
    assert (found.seconds < 60, found.kinds[OutcomeKind.FAILED] <= 8 + 7) == (True, True)


def test_a_redirected_row_is_not_sent_again_if_none_is() -> None:
    """It may have been accepted, and the user has chosen that such rows are never sent again."""
    found = simulate(200, _only(50, Reply(302)), options=LoadOptions(resend_unconfirmed="never"))
    assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 199, OutcomeKind.UNCONFIRMED: 1}, None)
    assert found.requests == 200


def test_one_node_of_three_refuses_the_token() -> None:
    """Rows that it gets are sent again to others: every row is created in one run."""

    def draw(row: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        is_refused = now > 0.1 and luck.random() < 1 / 3
        return (Reply(401), 0.005, False) if is_refused else (Reply(201), 0.005, True)

    for seed in range(5):
        found = simulate(200, draw, seed)
        assert (found.kinds, found.stop) == ({OutcomeKind.CREATED: 200}, None)


def test_a_refused_token_before_any_row_was_accepted() -> None:
    """The run stops at the first response."""
    found = simulate(200, at_random(1, lambda _: (Reply(401), 0.005, False)))
    assert (found.requests, found.kinds) == (1, {OutcomeKind.FAILED: 1, OutcomeKind.NOT_SENT: 199})
