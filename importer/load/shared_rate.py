"""A rate limiter for runs that share one ledger: together they keep the rate of a service.

A turn is a moment at which one request may start. The ledger deals turns to all runs on its own clock, so that the
clocks of their machines do not matter; each run fetches a few ahead, so that it does not wait for the ledger.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from importer.ledger import LedgerUnwritable, RateBoard, RateNews, RateReport, SharedLimit
from importer.load.rate_limiter import GrowingRate, RateLimiter
from importer.service import NoReply, Reply

_EXCHANGES: Final = 100  # a second, of all runs together; at higher rates, several turns are fetched at once
_AHEAD: Final = 2  # handfuls of turns in stock, so that the ledger's response is not waited for
_LATE: Final = 0.05  # seconds for which a missed turn may still be used
_MARGIN: Final = 0.98  # of the rate: requests of several machines arrive less evenly than they are sent
_HEARTBEAT: Final = 0.25  # seconds after which a run asks for news, so that it soon knows that nobody may send
_RETRY: Final = 0.5  # seconds until the next try, if the ledger cannot be reached
_MOST_NEWS: Final = 1_000  # accepted requests of other runs that are counted at once


class SharedRateLimiter(RateLimiter):
    """As RateLimiter; what other runs have learned of the rate, and how long nobody may send, holds for this one too.

    `report` says what the ledger needs to know, `heard` takes over its response.
    """

    def __init__(self, concurrency: int, rate: float | None = None) -> None:
        super().__init__(concurrency, rate)
        self._turns: deque[float] = deque()
        self._held_until = -math.inf
        self._reported_at = -math.inf
        self._accepted = self._refused = 0  # since the last report
        self._hold_until: float | None = None  # to be reported
        self._reported: GrowingRate | None = None  # the learned rate, as the others know it
        self._version: int | None = None  # of the learned rate
        self._total: int | None = None  # requests of all runs that were accepted, as far as known

    def next_request_at(self, now: float) -> float:
        """When the next request may be sent; `inf` if there is a limit, and no turn is left."""
        if self.limit(now) is None:
            return self._held_until
        while self._turns and self._turns[0] < now - _LATE:
            self._turns.popleft()
        return self._turns[0] if self._turns else math.inf

    def request_sent(self, now: float) -> None:
        if self._turns:
            self._turns.popleft()

    def is_short_of_turns(self, now: float) -> bool:
        """Whether the next request may have to wait for a turn that is not fetched yet."""
        limit = self.limit(now)
        return limit is not None and len(self._turns) < _AHEAD * _handful(limit)

    def answered(self, now: float, sent_at: float, answer: Reply | NoReply, *, waited: bool) -> None:
        is_refusal = self.is_refusal(answer)
        self._refused += is_refusal
        self._accepted += not is_refusal
        super().answered(now, sent_at, answer, waited=waited)

    def cut(self, now: float, goes_on_at: float) -> None:
        super().cut(now, goes_on_at)
        self._hold_until = goes_on_at

    def report(self, now: float, *, has_ready: bool) -> RateReport | None:
        """What the others need to know now, and how many turns are needed; None if that can wait."""
        turns, interval, limit, learned = 0, 0.0, self.limit(now), self.learned.rate
        if limit is not None:
            interval = 1 / (limit * _MARGIN)
            turns = _handful(limit) if has_ready and self.is_short_of_turns(now) else 0
        is_news = learned is not self._reported or self._hold_until is not None
        if not (turns or is_news) and now < self._reported_at + _HEARTBEAT:
            return None
        hold = max(0.0, self._hold_until - now) if self._hold_until is not None else 0.0
        changed = None if learned is self._reported else _shared(learned, now)
        report = RateReport(turns, interval, self._accepted, self._refused, hold, changed)
        self._reported_at, self._reported, self._hold_until = now, learned, None
        self._accepted = self._refused = 0
        return report

    def heard(self, report: RateReport, news: RateNews | None, now: float) -> None:
        """The ledger's response to a report, received now; None if it did not get the report."""
        if news is None:
            self._report_again(report, now)
            return
        others = 0 if self._total is None else news.accepted - self._total - report.accepted
        self._total = news.accepted
        for _ in range(min(others, _MOST_NEWS)):
            self.learned.accepted(now, waited=False)
        if news.hold:
            self._held_until = now + news.hold
            self._turns = deque(turn for turn in self._turns if turn >= self._held_until)
        self._turns.extend(now + news.wait + turn * report.interval for turn in range(report.turns))
        if report.limit is None and news.version != self._version:
            self._reported = None if math.isinf(news.limit.value) else _own(news.limit, now)
            self.learned.adopt(self._reported)
        self._version = news.version

    def _report_again(self, report: RateReport, now: float) -> None:
        self._accepted += report.accepted
        self._refused += report.refused
        if report.hold:
            self._hold_until = max(self._hold_until or now, now + report.hold)
        if report.limit is not None:
            self._reported = None


def _handful(limit: float) -> int:
    """How many turns are fetched at once."""
    return math.ceil(limit / _EXCHANGES)


def _shared(learned: GrowingRate | None, now: float) -> SharedLimit:
    if learned is None:
        return SharedLimit()
    return SharedLimit(learned.value, now - learned.since, learned.growth, learned.top)


def _own(limit: SharedLimit, now: float) -> GrowingRate:
    return GrowingRate(limit.value, now - limit.age, limit.growth, limit.top)


class RateExchange:
    """A thread that tells the ledger what the limiter reports, and the limiter what the ledger knows, until `close`.

    lock: of the limiter. now: seconds on the limiter's clock. has_ready: whether a request waits for its turn.
    on_news: called after each response of the ledger. on_bug: called with what ended the thread.
    """

    def __init__(
        self,
        board: RateBoard,
        limiter: SharedRateLimiter,
        lock: threading.Lock,
        now: Callable[[], float],
        has_ready: Callable[[], bool],
        on_news: Callable[[], None],
        on_bug: Callable[[BaseException], None],
    ) -> None:
        self._board, self._limiter, self._lock = board, limiter, lock
        self._now, self._has_ready, self._on_news = now, has_ready, on_news
        self._on_bug = on_bug
        self._wakeup = threading.Event()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="rate", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There may be something to report."""
        self._wakeup.set()

    def close(self) -> None:
        """End: this run sends no more."""
        self._is_closed = True
        self._wakeup.set()
        self._thread.join()
        self._board.close()

    def _work(self) -> None:
        try:
            self._exchange_reports()
        except BaseException as bug:  # noqa: BLE001 - raised again by the run, which would wait for its turns
            self._on_bug(bug)

    def _exchange_reports(self) -> None:
        while not self._is_closed:
            self._wakeup.clear()
            with self._lock:
                report = self._limiter.report(self._now(), has_ready=self._has_ready())
            if report is None:
                self._wakeup.wait(_HEARTBEAT)
                continue
            news = self._exchange(report)
            with self._lock:
                self._limiter.heard(report, news, self._now())
            self._on_news()
            if news is None:
                self._wakeup.wait(_RETRY)

    def _exchange(self, report: RateReport) -> RateNews | None:
        try:
            return self._board.exchange(report)
        except LedgerUnwritable:  # the next intent reports it
            return None
