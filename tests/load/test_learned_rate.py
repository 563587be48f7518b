"""A service that lets through so many a second: its limit is found, used and kept, whatever way it counts."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import pytest

from importer.load import Halt
from importer.load.learned_rate import LearnedRate
from importer.load.pace import Pace
from importer.service import Reply

ALLOWED = 50.0  # requests a second
ROWS = 4_000


@dataclass
class Bucket:
    """Lets through what it has tokens for; they come at ALLOWED a second, and it holds `size` of them."""

    size: int
    tokens: float = 0.0
    last: float = 0.0

    def takes(self, now: float) -> bool:
        self.tokens = min(self.size, self.tokens + (now - self.last) * ALLOWED)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


@dataclass
class Clock:
    now: float = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def rehearse(size: int, latency: float, retry_after: float | None) -> tuple[float, float]:
    """The share of the limit that was used and of requests that were refused, for ROWS rows, on a clock of its own.

    The pace is asked as senders ask it: each takes a turn, and another one where it is held meanwhile.
    """
    clock = Clock()
    pace = Pace(Halt(lambda: clock.now, clock.sleep), in_flight=8)
    bucket = Bucket(size, float(size))
    events: list[tuple[float, int, Reply | None, float]] = []  # time, order, the answer or None for a turn, entered
    order = accepted = refused = active = 0
    while accepted < ROWS:
        while active < pace.ceiling:
            order, active = order + 1, active + 1
            heapq.heappush(events, (pace._take_turn(), order, None, 0.0))
        at, _, answer, entered = heapq.heappop(events)
        clock.now = max(clock.now, at)
        order += 1
        if answer is not None:
            active -= 1
            pace._learn(entered, answer)
        elif at < pace._held_until:
            heapq.heappush(events, (pace._take_turn(), order, None, 0.0))
        else:
            is_taken = bucket.takes(clock.now)
            accepted, refused = accepted + is_taken, refused + (not is_taken)
            reply = Reply(201) if is_taken else Reply(429, "", retry_after)
            heapq.heappush(events, (clock.now + latency, order, reply, clock.now))
    return (ROWS - size) / ALLOWED / clock.now, refused / (refused + accepted)


@pytest.mark.parametrize("retry_after", [None, 1.0], ids=["no Retry-After", "Retry-After 1"])
@pytest.mark.parametrize("latency", [0.001, 0.02, 0.1], ids=["1 ms", "20 ms", "100 ms"])
@pytest.mark.parametrize("size", [50, 100, 500])
def test_nearly_all_that_is_allowed_is_used_and_little_is_refused(
    size: int, latency: float, retry_after: float | None
) -> None:
    """At least 95 % of the limit, and at most 2 % refused."""
    used, refused = rehearse(size, latency, retry_after)
    assert used >= 0.95
    assert refused <= 0.02


@pytest.mark.parametrize("size", [5, 10])
def test_a_service_that_saves_nothing_up_is_used_too(size: int) -> None:
    """Where no tokens wait for the next second."""
    used, refused = rehearse(size, 0.02, None)
    assert used >= 0.95
    assert refused <= 0.02


def test_nothing_is_learned_as_long_as_nothing_is_refused() -> None:
    """Without a 429 there is no rate."""
    learned = LearnedRate()
    for tenth in range(100):
        learned.accepted(tenth / 10)
    assert learned.at(10) is None


def test_a_limit_that_was_lifted_is_found_out() -> None:
    """After a minute without a refusal the rate rises more quickly."""
    learned = LearnedRate()
    for moment in range(211):
        learned.accepted(moment / 50)
        if moment in (100, 110, 210):  # the second comes too soon to tell the limit, the third tells it
            learned.refused(moment / 50, 0.0)
    told, later, much_later = learned.at(4.2), learned.at(60.0), learned.at(100.0)
    assert told is not None
    assert later is not None
    assert much_later is not None
    assert later < told * 1.05
    assert much_later > later * 5


def test_a_service_that_refuses_for_other_reasons_is_not_waited_for_without_end() -> None:
    """Every other request is refused, however slow they come: halved each time, the next one would wait for minutes."""
    rate = LearnedRate()
    now, longest = 0.0, 0.0
    for _ in range(200):
        for answered in (rate.accepted, lambda at: rate.refused(at, at)):
            interval = 1 / (rate.at(now) or 50)
            now, longest = now + interval, max(longest, interval)
            answered(now)
    assert longest == pytest.approx(5)
