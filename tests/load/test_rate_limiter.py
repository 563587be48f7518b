"""The concurrency and the rate of requests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from importer.load.rate_limiter import RateLimiter, ThroughputProbe
from importer.service import NoReply, Reply
from tests.load.given import CREATED, REFUSED, SILENT

TOO_MANY = Reply(429)


class Sender:
    """Sends when allowed, on a simulated clock, with immediate responses."""

    def __init__(self, concurrency: int = 8, rate: float | None = None) -> None:
        self.limiter = RateLimiter(concurrency, rate)
        self.now = 1000.0

    def sends(self, answer: Reply | NoReply = CREATED) -> float:
        """When the request was sent, in seconds from the start."""
        self.now = max(self.now, self.limiter.next_request_at(self.now))
        self.limiter.request_sent(self.now)
        self.limiter.answered(self.now, self.now, answer, waited=True)
        return self.now - 1000

    def ceilings(self, *answers: Reply | NoReply) -> list[int]:
        """How many may be in flight after each answer, a second apart."""
        found = []
        for answer in answers:
            self.now += 1
            self.sends(answer)
            found.append(self.limiter.ceiling)
        return found


def test_a_rate_is_spread_evenly() -> None:
    """Four per second are one each 0.25 seconds; only one missed request is made up for."""
    sender = Sender(rate=4)
    assert [sender.sends() for _ in range(4)] == [0, 0, 0.25, 0.5]
    sender.now += 10
    assert [sender.sends() for _ in range(3)] == [10.5, 10.5, 10.75]


def test_without_a_rate_there_is_no_wait() -> None:
    """The service limits the speed."""
    sender = Sender()
    assert [sender.sends() for _ in range(100)] == [0] * 100


def test_clean_answers_raise_the_number_in_flight_to_its_ceiling() -> None:
    """It starts with two and rises with each clean response up to the limit."""
    sender = Sender(concurrency=5)
    assert sender.limiter.ceiling == 2
    assert sender.ceilings(*[CREATED] * 5) == [3, 4, 5, 5, 5]


@pytest.mark.parametrize("allowed", [1, 2])
def test_the_ceiling_is_never_above_what_was_allowed(allowed: int) -> None:
    """--concurrency 1 is one at a time from the start."""
    assert Sender(concurrency=allowed).limiter.ceiling == allowed


@pytest.mark.parametrize("answer", [Reply(503), SILENT, REFUSED], ids=["503", "time-out", "refused"])
def test_errors_reduce_concurrency(answer: Reply | NoReply) -> None:
    """If half of the responses are errors: eight become four, two, one; single errors change nothing."""
    sender = Sender()
    sender.ceilings(*[CREATED] * 6)
    assert sender.ceilings(*[answer, CREATED, CREATED] * 10) == [8] * 30
    observed = sender.ceilings(*[answer] * 20)
    assert sorted(set(observed), reverse=True) == [8, 4, 2, 1]


def test_answers_to_the_old_number_halve_only_once() -> None:
    """Errors of eight simultaneous requests reduce the concurrency once."""
    sender = Sender()
    sender.ceilings(*[CREATED] * 6)
    limiter, went = sender.limiter, sender.now + 1
    for number in range(20):
        limiter.answered(went + number / 10, went, SILENT, waited=True)
    assert limiter.ceiling == 4


def test_it_rises_slowly_after_errors() -> None:
    """After a reduction, each round of clean responses adds one."""
    sender = Sender()
    sender.ceilings(*[CREATED] * 6)
    while sender.limiter.ceiling > 4:
        sender.ceilings(SILENT)
    assert sender.ceilings(*[CREATED] * 10) == [4, 4, 4, 4, 5, 5, 5, 5, 5, 6]


def test_after_a_suspension_it_starts_slowly() -> None:
    """As at the start."""
    sender = Sender()
    sender.ceilings(*[CREATED] * 6)
    sender.limiter.slow_start()
    assert sender.limiter.ceiling == 2


@pytest.mark.parametrize("status", [400, 404, 409, 429, 500])
def test_other_answers_do_not_mean_fewer_at_once(status: int) -> None:
    """A rejected row does not affect concurrency, and a 429 affects only the rate."""
    sender = Sender()
    sender.ceilings(*[CREATED] * 6)
    assert sender.ceilings(*[Reply(status)] * 20) == [8] * 20


def test_single_refusals_do_not_slow_it_down() -> None:
    """Only `cut` does, which is called after too many refusals."""
    sender = Sender()
    for _ in range(20):
        sender.sends(TOO_MANY)
    assert sender.sends() == 0


def test_after_a_cut_requests_are_spread_at_a_lower_rate() -> None:
    """Slightly below what was accepted in the last second."""
    sender = Sender(rate=200)
    for _ in range(20):
        sender.now += 0.1
        sender.sends()
    sender.limiter.cut(sender.now, sender.now)
    went = [sender.sends() for _ in range(20)]
    assert 0.09 < (went[-1] - went[1]) / 18 < 0.12


def test_refusals_of_what_went_before_a_cut_are_not_counted() -> None:
    """They say nothing about the current rate, so the trial does not fail."""
    sender = Sender()
    for _ in range(20):
        sender.now += 0.1
        sender.sends()
    before = sender.now
    sender.limiter.cut(sender.now, sender.now)
    for _ in range(20):
        sender.limiter.answered(sender.now + 0.1, before, TOO_MANY, waited=True)
    went = [sender.sends() for _ in range(20)]
    assert 0.09 < (went[-1] - went[1]) / 18 < 0.12


# --- more in flight only where the service responded with more a second ---


def rise(throughput: Callable[[float], float], most: float, answers: int) -> list[float]:
    """The concurrency over time for a service with this throughput."""
    probe, now, concurrency, observed = ThroughputProbe(), 0.0, 2.0, []
    for _ in range(answers):
        now += 1 / throughput(concurrency)
        concurrency = probe.answered(now, concurrency)
        if probe.may_rise:
            concurrency = min(most, concurrency + 1)
        observed.append(concurrency)
    return observed


def test_a_service_with_a_delay_is_given_every_one_more() -> None:
    """If each response takes 20 ms, throughput doubles with concurrency: the limit is used."""
    assert rise(lambda concurrency: concurrency / 0.02, 32, 60)[-1] == 32


def test_concurrency_does_not_rise_without_a_gain() -> None:
    """If throughput stays the same, concurrency falls back, and is rarely tried again."""
    observed = rise(lambda _: 100.0, 64, 400)
    assert sum(observed[200:]) / 200 < 24


def test_a_service_that_serves_ten_at_once_gets_about_ten() -> None:
    """More are tried from time to time, but not kept."""
    observed = rise(lambda concurrency: min(concurrency, 10) / 0.02, 64, 2_000)
    assert 8 <= sum(observed[1_000:]) / 1_000 <= 26
