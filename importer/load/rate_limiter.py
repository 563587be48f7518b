"""How fast requests may go: a number in flight and a rate, both moved by the service's answers."""

from __future__ import annotations

from typing import Final

from importer.load.learned_rate import LearnedRate
from importer.service import NoReply, Reply

_BEGINS_WITH: Final = 2  # in flight
_TOO_MANY: Final = frozenset({425, 429})
_MEMORY: Final = 0.95  # of the share of errors, from one answer to the next
_ERROR_LIMIT: Final = 0.5  # the share at which fewer go at once
_FEWEST: Final = 8  # answers of a round, at least: fewer say too little
_WANTED: Final = 0.2  # the share of a rise in flight by which throughput must rise with it
_IDLE_ROUNDS: Final = 8  # rounds until the next try, after one that brought nothing


class RateLimiter:
    """Says when the next request may go. Times in seconds, never going back; for one thread at a time.

    The number in flight doubles from 2 while answers come clean and more of them a second; where half of the answers
    are a 503 or none it is halved, and then rises by one for each round of clean answers. The rate is what a person
    allows and what 429s have taught, without bursts.
    """

    def __init__(self, in_flight: int, rate: float | None = None) -> None:
        self._most = in_flight
        self._rate = rate
        self._learned = LearnedRate()
        self._throughput = ThroughputProbe()
        self._ceiling = float(min(_BEGINS_WITH, in_flight))
        self._slowed_at: float | None = None
        self._cut_at = float("-inf")
        self._error_share = 0.0
        self._next_at = float("-inf")

    @property
    def ceiling(self) -> int:
        """How many requests may be in flight now."""
        return int(self._ceiling)

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service was seen to let through, where it refused more."""
        return self._learned.measured

    def next_request_at(self) -> float:
        """When the next request may go."""
        return self._next_at

    def request_sent(self, now: float) -> None:
        """A request is sent now."""
        rates = [rate for rate in (self._rate, self._learned.at(now)) if rate]
        if rates:
            interval = 1 / min(rates)
            # A turn that was missed by a little is made up for, an idle time is not.
            self._next_at = max(self._next_at, now - interval) + interval

    def answered(self, now: float, sent_at: float, answer: Reply | NoReply, *, waited: bool) -> None:
        """The request that was sent then is over. `waited`: another one waits for its turn."""
        if isinstance(answer, Reply) and answer.status in _TOO_MANY:
            if sent_at > self._cut_at:  # sent before the last cut, it says nothing about the rate of now
                self._cut_at = now if self._learned.refused(now) else self._cut_at
            return
        is_error = isinstance(answer, NoReply) or answer.status == 503
        self._error_share = self._error_share * _MEMORY + is_error * (1 - _MEMORY)
        if not is_error:
            self._speed_up(now, waited)
        elif self._error_share > _ERROR_LIMIT and (self._slowed_at is None or sent_at > self._slowed_at):
            self._ceiling = max(1.0, self._ceiling / 2)
            self._slowed_at = now

    def cut(self, now: float, goes_on_at: float) -> None:
        """Too large a share of the last answers were refusals: go slower when sending goes on, as a trial."""
        self._learned.cut(now, goes_on_at)
        self._cut_at = now

    def begin_slowly(self) -> None:
        """After a suspension: few at once, as at the beginning."""
        self._ceiling = float(min(_BEGINS_WITH, self._most))
        self._error_share = 0.0

    def _speed_up(self, now: float, waited: bool) -> None:
        self._learned.accepted(now, waited=waited)
        if self._rate is None and self._learned.at(now) is None:  # else answers come at the rate, whatever is in flight
            self._ceiling = self._throughput.answered(now, self._ceiling)
        if self._throughput.may_rise:
            step = 1.0 if self._slowed_at is None else 1 / self._ceiling
            self._ceiling = min(float(self._most), self._ceiling + step)


class ThroughputProbe:
    """Whether more requests in flight bring more answers a second: each round of answers is compared with the one
    before. Times in seconds, never going back.
    """

    def __init__(self) -> None:
        self._began: float | None = None
        self._answers_left = 0
        self._round = 0  # answers in it
        self._before: tuple[float, float] | None = None  # in flight and throughput of the round before
        self._idle_rounds = 0

    @property
    def may_rise(self) -> bool:
        """Whether more in flight is worth a try."""
        return not self._idle_rounds

    def answered(self, now: float, in_flight: float) -> float:
        """Take note of an answer; gives the number that should be in flight: less where a rise brought nothing."""
        if self._began is None:
            self._begin_round(now, in_flight)
            return in_flight
        self._answers_left -= 1
        if self._answers_left:
            return in_flight
        elapsed = now - self._began
        throughput = self._round / elapsed if elapsed else float("inf")
        best = self._judge(in_flight, throughput)
        self._before = (best, throughput)
        self._begin_round(now, best)
        return best

    def _begin_round(self, now: float, in_flight: float) -> None:
        self._began = now
        self._round = self._answers_left = max(_FEWEST, round(in_flight))

    def _judge(self, in_flight: float, throughput: float) -> float:
        if self._idle_rounds:
            self._idle_rounds -= 1
            return in_flight
        if self._before is None:
            return in_flight
        in_flight_before, throughput_before = self._before
        rise = in_flight / in_flight_before - 1
        if rise > 0 and throughput < throughput_before * (1 + _WANTED * rise):
            self._idle_rounds = _IDLE_ROUNDS
            return in_flight_before
        return in_flight
