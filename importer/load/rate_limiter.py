"""The number of requests in flight and the request rate, both adapted to the service's responses."""

from __future__ import annotations

import math
from collections import deque
from typing import Final, NamedTuple

from importer.service import NoReply, Reply

_INITIAL_CONCURRENCY: Final = 2
_REFUSALS: Final = frozenset({425, 429})
_MEMORY: Final = 0.95  # weight of the past in the share of errors
_ERROR_LIMIT: Final = 0.5  # share of errors above which concurrency is halved
_SHORTEST_ROUND: Final = 8  # responses in a round at least: fewer are not meaningful
_MIN_GAIN: Final = 0.2  # share of a concurrency increase by which throughput must rise
_IDLE_ROUNDS: Final = 8  # rounds until the next try, after an increase without a gain

# For the learned rate.
_SPAN: Final = 1.0  # seconds over which the accepted rate is measured
_SHORTEST: Final = 0.36  # seconds: shortest time for which the accepted rate is computed
_NEXT_CUT_AFTER: Final = 0.25  # seconds between two cuts while the limit is not known
_SHORTEST_SAMPLE: Final = 0.02  # seconds after the first refusal from which accepted requests are meaningful
_CUT: Final = 0.96  # new rate after a refusal, as a share of the accepted rate
_TOP: Final = 0.99  # highest rate without probing, as a share of the accepted rate
_DEEPEST_CUT: Final = 0.5
_SLOWEST: Final = 0.2  # a second
_UNKNOWN: Final = 2.0  # a second, at most: if nothing was accepted before a cut, which shows no rate
# Growth per second, as a share of the rate.
_SEARCHING: Final = 0.25  # while the limit is not known
_STEADY: Final = 0.01
_PROBING: Final = 0.1  # after a long time without refusals: the limit may have been lifted
_PROBING_AFTER: Final = 25.0  # seconds
_TRIAL: Final = 50  # responses
_TRIALS: Final = 6  # each slower than the one before
_FAILS_AT: Final = 4  # refusals in a trial
_NO_CUT_AFTER_FAILURE: Final = 30.0  # seconds without a cut, after cuts that did not help
_EXCESS_REFUSALS: Final = 3  # refusals soon after a cut, which show that it was too small
_TOO_MANY: Final = 8  # refusals in as many responses as a trial has, although the rate was cut each time


class RateLimiter:
    """Decides when the next request may be sent. Times in seconds on a monotonic clock; not thread-safe.

    Concurrency doubles from 2 while responses are clean and throughput rises. If half of the responses are a 503 or
    missing, it is halved, and then rises by one for each round of clean responses. The rate is limited by the user's
    setting and by what was learned from 429s, without bursts.
    """

    def __init__(self, concurrency: int, rate: float | None = None) -> None:
        self._most = concurrency
        self._rate = rate
        self.learned = LearnedRate()
        self._throughput = ThroughputProbe()
        self._ceiling = float(min(_INITIAL_CONCURRENCY, concurrency))
        self._slowed_at: float | None = None
        self._cut_at = float("-inf")
        self._error_share = 0.0
        self._next_at = float("-inf")

    @property
    def ceiling(self) -> int:
        """The maximum number of requests in flight now."""
        return int(self._ceiling)

    @property
    def learned_rate(self) -> float | None:
        """Requests per second that the service accepted, if it refused more."""
        return self.learned.measured

    def next_request_at(self, now: float) -> float:
        """When the next request may be sent."""
        return self._next_at

    def request_sent(self, now: float) -> None:
        """A request is sent now."""
        limit = self.limit(now)
        if limit is not None:
            interval = 1 / limit
            # A small delay is made up for, idle time is not.
            self._next_at = max(self._next_at, now - interval) + interval

    def answered(self, now: float, sent_at: float, answer: Reply | NoReply, *, waited: bool) -> None:
        """The request that was sent at `sent_at` is done. `waited`: another one is ready to be sent."""
        if self.is_refusal(answer):
            if sent_at > self._cut_at:  # if sent before the last cut, it says nothing about the current rate
                self._cut_at = now if self.learned.refused(now) else self._cut_at
            return
        is_error = isinstance(answer, NoReply) or answer.status == 503
        self._error_share = self._error_share * _MEMORY + is_error * (1 - _MEMORY)
        if not is_error:
            self._speed_up(now, waited)
        elif self._error_share > _ERROR_LIMIT and (self._slowed_at is None or sent_at > self._slowed_at):
            self._ceiling = max(1.0, self._ceiling / 2)
            self._slowed_at = now

    @staticmethod
    def is_refusal(answer: Reply | NoReply) -> bool:
        """Whether the service asks for a lower rate."""
        return isinstance(answer, Reply) and answer.status in _REFUSALS

    def cut(self, now: float, goes_on_at: float) -> None:
        """Too many of the last responses were refusals: try a lower rate when sending continues."""
        self.learned.cut(now, goes_on_at)
        self._cut_at = now

    def slow_start(self) -> None:
        """After a suspension: start again with low concurrency."""
        self._ceiling = float(min(_INITIAL_CONCURRENCY, self._most))
        self._error_share = 0.0

    def limit(self, now: float) -> float | None:
        """The most requests per second now."""
        return min((rate for rate in (self._rate, self.learned.at(now)) if rate), default=None)

    def _speed_up(self, now: float, waited: bool) -> None:
        self.learned.accepted(now, waited=waited)
        if self._rate is None and self.learned.at(now) is None:  # else the rate limits throughput, not concurrency
            self._ceiling = self._throughput.answered(now, self._ceiling)
        if self._throughput.may_rise:
            step = 1.0 if self._slowed_at is None else 1 / self._ceiling
            self._ceiling = min(float(self._most), self._ceiling + step)


class ThroughputProbe:
    """Finds out whether more requests in flight increase throughput, by comparing each round of responses with the one
    before. Times in seconds on a monotonic clock.
    """

    def __init__(self) -> None:
        self._began: float | None = None
        self._answers_left = 0
        self._round = 0  # its number of responses
        self._before: tuple[float, float] | None = None  # concurrency and throughput of the round before
        self._idle_rounds = 0

    @property
    def may_rise(self) -> bool:
        """Whether to try a higher concurrency."""
        return not self._idle_rounds

    def answered(self, now: float, concurrency: float) -> float:
        """Count a response; returns the concurrency to use: lower if the last increase brought no gain."""
        if self._began is None:
            self._begin_round(now, concurrency)
            return concurrency
        self._answers_left -= 1
        if self._answers_left:
            return concurrency
        elapsed = now - self._began
        throughput = self._round / elapsed if elapsed else float("inf")
        best = self._judge(concurrency, throughput)
        self._before = (best, throughput)
        self._begin_round(now, best)
        return best

    def _begin_round(self, now: float, concurrency: float) -> None:
        self._began = now
        self._round = self._answers_left = max(_SHORTEST_ROUND, round(concurrency))

    def _judge(self, concurrency: float, throughput: float) -> float:
        if self._idle_rounds:
            self._idle_rounds -= 1
            return concurrency
        if self._before is None:
            return concurrency
        in_flight_before, throughput_before = self._before
        rise = concurrency / in_flight_before - 1
        if rise > 0 and throughput < throughput_before * (1 + _MIN_GAIN * rise):
            self._idle_rounds = _IDLE_ROUNDS
            return in_flight_before
        return concurrency


class GrowingRate(NamedTuple):
    """A rate per second that was set at `since` and grows from then on, by a share of it per second, up to `top`."""

    value: float
    since: float
    growth: float = 0.0
    top: float = math.inf

    def at(self, now: float) -> float:
        unchanged = max(now - self.since, 0.0)
        steady = min(unchanged, _PROBING_AFTER)
        rate = min(self.value * math.pow(1 + self.growth, steady), max(self.top, self.value))
        return rate * math.pow(1 + _PROBING, min(unchanged - steady, _PROBING_AFTER))


class LearnedRate:
    """The request rate per second, None until a cut has helped. Times in seconds on a monotonic clock.

    A cut is a trial: it is kept if refusals decrease. If they do not after a few trials, the service refuses for
    another reason (other clients, or chance), and a lower rate would only cost time. After a kept cut, each refusal
    means that the rate is too high, however the service counts (a token bucket, a window).
    """

    def __init__(self) -> None:
        self._rate: GrowingRate | None = None
        self._goes_on_since = 0.0  # since when requests are sent without a break
        self._kept_growth = _SEARCHING  # once the trial is over
        self._is_on_trial = False
        self._trials = 0
        self._excess = 0
        self._no_cut_until = -math.inf
        self._refused_since: float | None = None  # the first refusal since the last break
        self._accepted: deque[float] = deque()  # times of the requests accepted in the last second
        self._lately: deque[bool] = deque(maxlen=_TRIAL)  # since the cut: whether each response was a refusal
        self._measured: float | None = None

    @property
    def measured(self) -> float | None:
        """The accepted rate while requests were waiting; None if the limit is not known."""
        return self._measured if self.is_kept else None

    @property
    def is_kept(self) -> bool:
        return self._rate is not None and not self._is_on_trial

    def at(self, now: float) -> float | None:
        """The rate now: at most twice the rate that was used, since a higher one is not proven."""
        if self._rate is None:
            return None
        return min(self._rate.at(now), max(self._rate.value, 2.0 * self._accepted_lately(now)))

    def accepted(self, now: float, *, waited: bool) -> None:
        """A request was accepted; `waited`: another one is ready to be sent."""
        self._accepted.append(now)
        lately = self._accepted_lately(now)
        if self._rate is None:
            return
        if waited and self._rate.top < math.inf and now - self._rate.since >= _SPAN:
            self._measured = lately / _SPAN
        self._note(now, self._rate, is_refusal=False)

    def refused(self, now: float) -> bool:
        """A request at the current rate was refused (429). Returns whether the rate was lowered."""
        if self._refused_since is None:
            self._refused_since = now
        before = self.at(now)
        if self._rate is None or before is None:
            return False
        if self.is_kept:
            lower = self._lower(now, self._rate, before)
            if lower is None:
                return False
            self._rate = lower
        self._note(now, self._rate, is_refusal=True)
        return self.at(now) != before

    def cut(self, now: float, goes_on_at: float) -> None:
        """Too many of the last responses were refusals: try a lower rate when sending continues."""
        if now >= self._no_cut_until and not self._is_on_trial:
            self._kept_growth = _SEARCHING if self._rate is None else _STEADY
            unproven = min(self.at(now) or _UNKNOWN, _UNKNOWN)
            value = self._limit(now) * _CUT if self._accepted_lately(now) else unproven
            self._rate = GrowingRate(max(value, _SLOWEST), max(now, goes_on_at))
            self._is_on_trial, self._trials = True, 0
            self._lately.clear()
        self._refused_since = None
        self._goes_on_since = goes_on_at

    def _limit(self, now: float) -> float:
        """The estimated limit of the service; a token bucket may have had tokens left."""
        accepted = self._accepted_lately(now)
        limit = accepted / max(_SHORTEST, now - self._accepted[0]) if accepted else 0.0
        since = self._refused_since
        if since is not None and _SHORTEST_SAMPLE <= now - since < _SPAN:
            during_refusals = sum(at >= since for at in self._accepted)
            if during_refusals >= 2:
                return min(limit, during_refusals / (now - since))
        return limit

    # --- after a kept cut ---

    def _lower(self, now: float, rate: GrowingRate, before: float) -> GrowingRate | None:
        """The rate after a refusal at the rate `before`; None: it stays."""
        if now - self._goes_on_since < _SPAN:  # too soon to know the limit
            if now - rate.since < _NEXT_CUT_AFTER:
                return None
            return rate._replace(value=max(before * _DEEPEST_CUT, _SLOWEST), since=now)
        if now - rate.since < _SPAN:
            return self._lower_again(now, rate, before)
        self._excess = 0
        limit = min(before, self._accepted_lately(now) / _SPAN)
        return GrowingRate(max(limit * _CUT, before * _DEEPEST_CUT, _SLOWEST), now, _STEADY, limit * _TOP)

    def _lower_again(self, now: float, rate: GrowingRate, before: float) -> GrowingRate | None:
        """Soon after a cut: requests accepted before it may have used saved tokens, those since have not.

        A service that counts by the second refuses until the second is over at any rate: so only once, and by half at
        most.
        """
        self._excess += 1
        seconds = now - rate.since
        if self._excess != _EXCESS_REFUSALS or seconds < _NEXT_CUT_AFTER:
            return None
        limit = max(sum(at >= rate.since for at in self._accepted) / seconds, before * _DEEPEST_CUT)
        return GrowingRate(limit * _CUT, rate.since, _STEADY, limit * _TOP)

    # --- whether a cut helps ---

    def _note(self, now: float, rate: GrowingRate, *, is_refusal: bool) -> None:
        self._lately.append(is_refusal)
        is_whole = len(self._lately) == _TRIAL
        if not is_refusal and not is_whole:
            return
        refused = sum(self._lately)
        if not self._is_on_trial:
            if refused >= _TOO_MANY:
                self._take_back(now)
        elif refused >= _FAILS_AT:
            self._try_slower(now, rate)
        elif is_whole:
            self._is_on_trial = False
            self._rate = rate._replace(growth=self._kept_growth, since=max(rate.since, now - _SPAN))
            self._lately.clear()

    def _try_slower(self, now: float, rate: GrowingRate) -> None:
        before = self.at(now) or 0.0
        self._trials += 1
        if self._trials == _TRIALS:
            self._take_back(now)
            return
        seconds = now - rate.since
        # A trial that was long enough shows the accepted rate.
        observed = self._lately.count(False) / seconds * _CUT if seconds >= _SPAN else 0.0
        self._rate = rate._replace(value=max(min(observed, before), before * _DEEPEST_CUT, _SLOWEST), since=now)
        self._lately.clear()

    def _take_back(self, now: float) -> None:
        self._rate = self._measured = None
        self._is_on_trial = False
        self._no_cut_until = now + _NO_CUT_AFTER_FAILURE

    def _accepted_lately(self, now: float) -> int:
        while self._accepted and self._accepted[0] < now - _SPAN:
            self._accepted.popleft()
        return len(self._accepted)
