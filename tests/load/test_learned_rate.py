"""The rate limit of a service is found, used and respected, however it counts."""

from __future__ import annotations

import random

import pytest

from importer.load.rate_limiter import LearnedRate
from importer.models import OutcomeKind
from importer.service import Reply
from tests.load.simulation import Answer, Limiter, simulate

CREATED = OutcomeKind.CREATED


def answered(rate: LearnedRate, now: float, *answers: bool, waited: bool = True) -> float:
    """Send requests at the learned rate or 50 per second; returns when the last one was sent."""
    for is_accepted in answers:
        now += 1 / (rate.at(now) or 50)
        if is_accepted:
            rate.accepted(now, waited=waited)
        else:
            rate.refused(now)
    return now


LIMITS = [  # requests a second, how many can be saved up, Retry-After
    pytest.param(50, 5.0, None, id="50 a second, 5 saved up"),
    pytest.param(50, 10.0, 1.0, id="50 a second, 10 saved up, Retry-After 1"),
    pytest.param(50, 50.0, None, id="50 a second, 50 saved up"),
    pytest.param(50, 500.0, 1.0, id="50 a second, 500 saved up, Retry-After 1"),
    pytest.param(10, 5.0, 1.0, id="10 a second, 5 saved up, Retry-After 1"),
    pytest.param(10, 10.0, None, id="10 a second, 10 saved up"),
    pytest.param(10, 50.0, 1.0, id="10 a second, 50 saved up, Retry-After 1"),
    pytest.param(3, 3.0, None, id="3 a second, 3 saved up"),
    pytest.param(3, 5.0, 1.0, id="3 a second, 5 saved up, Retry-After 1"),
    pytest.param(10, None, None, id="10 in each second"),
    pytest.param(3, None, 1.0, id="3 in each second, Retry-After 1"),
]


@pytest.mark.parametrize(("allowed", "size", "retry_after"), LIMITS)
def test_nearly_all_that_is_allowed_is_used(allowed: int, size: float | None, retry_after: float | None) -> None:
    """At least 95 % of a limit over two minutes; at 50 per second at most 2 % are refused."""
    rows = 120 * allowed
    found = simulate(rows, Limiter(allowed, size, retry_after))
    assert found.kinds == {CREATED: rows}
    assert (rows - (size or 0)) / allowed / found.seconds >= 0.95
    assert found.refused / found.requests <= (0.02 if allowed == 50 else 0.1)
    assert found.rate == pytest.approx(allowed, rel=0.3)


@pytest.mark.parametrize(
    ("share", "seconds"), [(0.01, 5), (0.05, 10), (0.1, 30), (0.3, 180)], ids=["1 %", "5 %", "10 %", "30 %"]
)
def test_refusals_by_chance_cost_little(share: float, seconds: float) -> None:
    """For a thousand rows with Retry-After 1: a lower rate does not help and is not kept."""

    def draw(_: int, __: float, luck: random.Random) -> tuple[Answer, float, bool]:
        return (Reply(429, "", 1.0), 0.002, False) if luck.random() < share else (Reply(201), 0.02, True)

    undisturbed = simulate(1000, lambda *_: (Reply(201), 0.02, True))
    for seed in range(3):
        found = simulate(1000, draw, seed)
        assert found.kinds == {CREATED: 1000}
        assert found.seconds <= undisturbed.seconds + seconds


def test_nothing_is_learned_without_a_cut() -> None:
    """Single refusals are not a limit."""
    rate = LearnedRate()
    now = answered(rate, 0.0, *[True, True, True, False] * 50)
    assert (rate.at(now), rate.measured) == (None, None)


def test_a_cut_that_helps_is_kept() -> None:
    """Refusals decrease: the rate is kept, and rises slowly."""
    rate = LearnedRate()
    now = answered(rate, 0.0, *[True] * 60)
    rate.cut(now, now)
    assert rate.at(now) == pytest.approx(48, rel=0.03)
    assert not rate.is_kept
    now = answered(rate, now, *[True] * 50)
    assert rate.is_kept
    found = rate.at(now + 1)
    assert found is not None
    assert found > 48


def test_a_cut_that_changes_nothing_is_taken_back() -> None:
    """Refusals do not depend on the rate: it is not limited for thirty seconds."""
    rate = LearnedRate()
    now = answered(rate, 0.0, *[True] * 60)
    rate.cut(now, now)
    for _ in range(30):
        now = answered(rate, now, True, False)
        if rate.at(now) is None:
            break
    assert (rate.at(now), rate.measured) == (None, None)
    rate.cut(now + 29, now + 29)
    assert rate.at(now + 29) is None
    now = answered(rate, now + 29, *[True] * 60)
    rate.cut(now, now)
    assert rate.at(now) is not None


def test_the_slowest_is_one_in_five_seconds() -> None:
    """Even if very little is accepted."""
    rate = LearnedRate()
    rate.cut(100.0, 100.0)
    now = answered(rate, 100.0, *[False] * 4 * 4)
    assert rate.at(now) == pytest.approx(0.2)


@pytest.mark.parametrize("seconds", [1, 10])
def test_a_service_that_refuses_everything_at_first(seconds: float) -> None:
    """That shows no limit: a thousand rows take a minute longer, and not as long as at the slowest rate."""
    found = simulate(1000, lambda _, now, __: (Reply(429 if now < seconds else 201), 0.005, now >= seconds))
    assert found.kinds == {CREATED: 1000}
    assert found.seconds < seconds + 90


def test_the_rate_that_is_reported_was_measured_while_requests_waited() -> None:
    """None before the limit is known, nor while too few requests were sent to reach it."""
    rate = LearnedRate()
    now = answered(rate, 0.0, *[True] * 60)
    rate.cut(now, now)
    assert rate.measured is None
    now = answered(rate, now, *[True] * 110)
    now = answered(rate, now, False)
    assert rate.measured is None
    now = answered(rate, now, *[True] * 110)
    assert rate.measured is not None
    assert 40 <= rate.measured <= 70
    before = rate.measured
    for _ in range(20):
        now += 10
        rate.accepted(now, waited=False)
    assert rate.measured == before


def test_after_idle_time_the_rate_is_limited() -> None:
    """A rate that was not used is not proven."""
    rate = LearnedRate()
    now = answered(rate, 0.0, *[True] * 60)
    rate.cut(now, now)
    now = answered(rate, now, *[True] * 110)
    later = rate.at(now + 100_000)
    assert later is not None
    assert later < 120


def test_a_limit_that_was_lifted_is_found_out() -> None:
    """Without refusals for a long time, the rate rises faster."""
    limits = Limiter(5, None, None)

    def draw(row: int, now: float, luck: random.Random) -> tuple[Answer, float, bool]:
        return limits(row, now, luck) if now < 30 else (Reply(201), 0.02, True)

    found = simulate(3000, draw)
    assert found.kinds == {CREATED: 3000}
    assert found.seconds < 150
