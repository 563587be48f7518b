"""Runs that share a ledger keep the rate of their service together. Times are simulated."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, pairwise
from queue import SimpleQueue

import pytest

from importer.ledger import RateNews, RateReport, SharedLimit
from importer.load.shared_rate import RateExchange, SharedRateLimiter
from importer.service import Reply
from tests.patience import PATIENCE

AHEAD = 1000.0  # seconds by which the ledger's clock differs


@dataclass
class Board:
    """The ledger's part, in memory."""

    tat: float = 0.0
    held_until: float = 0.0
    accepted: int = 0
    version: int = 0
    limit: SharedLimit = field(default_factory=SharedLimit)
    set_at: float = 0.0

    def exchange(self, report: RateReport, at: float) -> RateNews:
        now = at + AHEAD
        self.held_until = max(self.held_until, now + report.hold)
        first = max(self.tat, now, self.held_until)
        if report.turns:
            self.tat = first + report.turns * report.interval
        self.accepted += report.accepted
        if report.limit is not None:
            self.limit, self.set_at, self.version = report.limit, now - report.limit.age, self.version + 1
        limit = self.limit._replace(age=now - self.set_at)
        return RateNews(first - now, max(0.0, self.held_until - now), self.accepted, self.version, limit)


class Runs:
    """Several runs, always with rows to send, at a service that accepts everything."""

    def __init__(self, rates: list[float | None], latency: float = 0.003) -> None:
        self.limiters = [SharedRateLimiter(8, rate) for rate in rates]
        self.sent: list[tuple[float, int]] = []  # when, by which run
        self.now = 0.0
        self.idle: set[int] = set()
        self.dead: set[int] = set()  # the ledger does not respond to these
        self._latency, self._board, self._order = latency, Board(), count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def until(self, end: float) -> Runs:
        while self.now < end:
            self.now = round(self.now + 0.001, 6)
            while self._events and self._events[0][0] <= self.now:
                heapq.heappop(self._events)[2]()
            for number, limiter in enumerate(self.limiters):
                self._step(number, limiter)
        return self

    def times(self, *numbers: int) -> list[float]:
        return [at for at, number in self.sent if not numbers or number in numbers]

    def _step(self, number: int, limiter: SharedRateLimiter) -> None:
        is_ready = number not in self.idle
        if is_ready and limiter.next_request_at(self.now) <= self.now:
            limiter.request_sent(self.now)
            self.sent.append((self.now, number))
            sent_at = self.now
            self._later(0.02, lambda: limiter.answered(self.now, sent_at, Reply(201), waited=True))
        report = limiter.report(self.now, has_ready=is_ready)
        if report is not None:
            news = None if number in self.dead else self._board.exchange(report, self.now)
            self._later(self._latency, lambda: limiter.heard(report, news, self.now))

    def _later(self, seconds: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), happens))


def most_in_a_second(times: list[float]) -> int:
    """The most requests in any second."""
    first, most = 0, 0
    for index, at in enumerate(times):
        while times[first] <= at - 1:
            first += 1
        most = max(most, index - first + 1)
    return most


@pytest.mark.parametrize("latency", [0.001, 0.02])
@pytest.mark.parametrize("runs", [1, 4, 10])
def test_together_they_use_the_rate_and_never_more(runs: int, latency: float) -> None:
    """At least 95 % of 50 per second in a minute, and never more than one above it in any second."""
    found = Runs([50.0] * runs, latency).until(60).times()
    assert len(found) >= 0.95 * 50 * 60
    assert most_in_a_second(found) <= 51


def test_a_high_rate_takes_several_turns_at_once() -> None:
    """Four runs use 500 per second, although the ledger is asked at most about a hundred times."""
    found = Runs([500.0] * 4).until(10).times()
    assert len(found) >= 0.95 * 500 * 10
    assert most_in_a_second(found) <= 520


def test_a_run_without_rows_leaves_its_turns_to_the_others() -> None:
    """One of two has nothing to send for a while; afterwards it makes up for nothing."""
    runs = Runs([50.0, 50.0])
    runs.idle = {1}
    runs.until(10)
    assert len(runs.times(0)) >= 0.95 * 50 * 10
    runs.idle = set()
    runs.until(20)
    assert most_in_a_second(runs.times()) <= 51


@pytest.mark.parametrize("rate", [50.0, None])
def test_a_met_limit_holds_every_run(rate: float | None) -> None:
    """One run is told to wait five seconds: the others stop too, as soon as they have heard of it."""
    runs = Runs([rate] * 4).until(10)
    runs.limiters[2].cut(runs.now, runs.now + 5)
    runs.idle = {2}  # its own run waits
    heard_at = runs.now + 0.3
    runs.until(20)
    assert not [at for at in runs.times() if heard_at < at < 15]
    assert len([at for at in runs.times() if 15 <= at < 16]) >= 40


def test_what_one_run_learned_limits_all() -> None:
    """A cut counts the accepted requests of all runs: together they send 4 % less than before, then more."""
    runs = Runs([None] * 4)
    for limiter in runs.limiters:
        limiter._rate = 100.0  # together at most 100 per second
    runs.until(5)
    for limiter in runs.limiters:
        limiter._rate = None
    runs.limiters[0].cut(runs.now, runs.now)
    runs.until(7)
    found = [number for at, number in runs.sent if 5.4 <= at < 5.9]
    assert 42 <= len(found) <= 60
    assert set(found) == {0, 1, 2, 3}


def test_a_new_run_learns_what_is_known() -> None:
    """Before its first request."""
    runs = Runs([20.0])
    runs.until(5)
    runs.limiters[0].cut(runs.now, runs.now)
    runs.until(6)
    runs.limiters.append(SharedRateLimiter(8))
    runs.until(8)
    assert 15 <= len([at for at in runs.times() if 7 <= at < 8]) <= 21


def test_without_the_ledger_a_limited_run_sends_nothing() -> None:
    """Its turns are used up, and nobody deals others; what it had to say is said later."""
    runs = Runs([50.0, 50.0]).until(5)
    runs.dead = {0}
    runs.until(10)
    assert not [at for at in runs.times(0) if at > 5.2]
    before = runs._board.accepted
    runs.dead = set()
    runs.until(12)
    assert runs._board.accepted - before >= 0.9 * 50 * 2
    assert runs._board.accepted == pytest.approx(len(runs.sent), abs=20)


def test_turns_are_evenly_spaced() -> None:
    """Two runs share them in turn."""
    found = Runs([10.0, 10.0]).until(10).times()
    assert all(0.09 <= later - before <= 0.12 for before, later in pairwise(found[5:]))


def test_an_error_of_the_exchange_is_passed_on() -> None:
    """Else a run would wait for turns that no one takes."""

    class Broken:
        def exchange(self, _: RateReport) -> RateNews:
            raise RuntimeError("a bug")

        def close(self) -> None:
            pass

    bugs = SimpleQueue[BaseException]()
    limiter = SharedRateLimiter(8, 50.0)
    exchange = RateExchange(Broken(), limiter, threading.Lock(), time.monotonic, lambda: True, lambda: None, bugs.put)
    assert str(bugs.get(timeout=PATIENCE)) == "a bug"
    exchange.close()
