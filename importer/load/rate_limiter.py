"""How fast requests may go: a number in flight and a rate, both moved by the service's answers."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

from importer.service import NoReply, Reply

_BEGINS_WITH: Final = 2  # in flight
_REFUSALS: Final = frozenset({425, 429})
_MEMORY: Final = 0.95  # of the share of errors, from one answer to the next
_ERROR_LIMIT: Final = 0.5  # the share at which fewer go at once
_FEWEST: Final = 8  # answers of a round, at least: fewer say too little
_MIN_GAIN: Final = 0.2  # the share of a rise in flight by which throughput must rise with it
_IDLE_ROUNDS: Final = 8  # rounds until the next try, after one that brought nothing

# Of the rate that is learned.
_SPAN: Final = 1.0  # seconds over which a rate can be told from what was accepted
_SHORTEST: Final = 0.36  # seconds by which what was accepted is divided at least
_NEXT_CUT_AFTER: Final = 0.25  # seconds from a cut to the next, where it came too early to tell the limit
_SHORTEST_SAMPLE: Final = 0.02  # seconds in which what was accepted beside refusals says something
_CUT: Final = 0.96  # of what was accepted, after a refusal that told the limit
_TOP: Final = 0.99  # of the same: as near to the limit as it goes by itself
_DEEPEST_CUT: Final = 0.5
_SLOWEST: Final = 0.2  # a second
# By how much it rises in a second, as a share of itself.
_SEARCHING: Final = 0.25  # as long as no refusal has told the limit
_STEADY: Final = 0.01
_PROBING: Final = 0.1  # where nothing was refused for long: a limit may have been lifted
_PROBING_AFTER: Final = 25.0  # seconds
_TRIAL: Final = 50  # answers
_TRIALS: Final = 6  # each slower than the one before
_FAILS_AT: Final = 4  # refusals in a trial; a cut is made where there were five times as many
_NO_CUT_AFTER_FAILURE: Final = 30.0  # seconds without a cut, after one that changed nothing
_EXCESS_REFUSALS: Final = 3  # refusals soon after a cut, that say it was too small
_TOO_MANY: Final = 8  # of as many answers as a trial has: refused although the rate was cut each time


class RateLimiter:
    """Says when the next request may go. Times in seconds, never going back; for one thread at a time.

    The number in flight doubles from 2 while answers come clean and more of them a second; where half of the answers
    are a 503 or none it is halved, and then rises by one for each round of clean answers. The rate is what a person
    allows and what 429s have taught, without bursts.
    """

    def __init__(self, concurrency: int, rate: float | None = None) -> None:
        self._most = concurrency
        self._rate = rate
        self._learned = LearnedRate()
        self._throughput = ThroughputProbe()
        self._ceiling = float(min(_BEGINS_WITH, concurrency))
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
        if isinstance(answer, Reply) and answer.status in _REFUSALS:
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

    def slow_start(self) -> None:
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

    def answered(self, now: float, concurrency: float) -> float:
        """Take note of an answer; gives the number that should be in flight: less where a rise brought nothing."""
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
        self._round = self._answers_left = max(_FEWEST, round(concurrency))

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


class LearnedRate:
    """Requests a second that may be sent, None as long as no cut has helped. Times in seconds, never going back.

    A cut is a trial: it is kept where refusals fall with it. Where they do not, after a few of them, the service
    refuses for another reason (others who share its limit, or chance), and going slower would only cost time. Of a
    kept cut each further refusal says that the rate is too high, whatever way the service counts (a bucket of tokens,
    a window).
    """

    def __init__(self) -> None:
        self._rate: float | None = None
        self._as_of = 0.0  # when `_rate` was true
        self._goes_on_since = 0.0  # since when requests go without a break
        self._growth = 0.0
        self._kept_growth = _SEARCHING  # once the trial is over
        self._top = math.inf
        self._is_on_trial = False
        self._trials = 0
        self._excess = 0
        self._no_cut_until = -math.inf
        self._refused_since: float | None = None  # the first refusal since the last break
        self._accepted: deque[float] = deque()  # the times of those accepted in the last second
        self._lately: deque[bool] = deque(maxlen=_TRIAL)  # since the cut: whether an answer was a refusal
        self._measured: float | None = None

    @property
    def measured(self) -> float | None:
        """What was accepted in a second in which requests waited for their turn; None where no refusal told a limit."""
        return None if self._rate is None or self._is_on_trial else self._measured

    @property
    def is_kept(self) -> bool:
        return self._rate is not None and not self._is_on_trial

    def at(self, now: float) -> float | None:
        """The rate now."""
        if self._rate is None:
            return None
        unchanged = max(now - self._as_of, 0.0)
        steady = min(unchanged, _PROBING_AFTER)
        rate = min(self._rate * math.pow(1 + self._growth, steady), max(self._top, self._rate))
        rate *= math.pow(1 + _PROBING, min(unchanged - steady, _PROBING_AFTER))
        # A rate that nobody used has not been shown to be let through.
        return min(rate, max(self._rate, 2.0 * self._accepted_lately(now)))

    def accepted(self, now: float, *, waited: bool) -> None:
        """A request was let through; `waited`: another one waits for its turn."""
        self._accepted.append(now)
        lately = self._accepted_lately(now)
        if self._rate is None:
            return
        if waited and self._top < math.inf and now - self._as_of >= _SPAN:
            self._measured = lately / _SPAN
        self._note(now, is_refusal=False)

    def refused(self, now: float) -> bool:
        """A request was refused with 429, and it had been sent at the rate of now. Whether the rate is lower now."""
        if self._refused_since is None:
            self._refused_since = now
        before = self.at(now)
        if before is None:
            return False
        if self.is_kept and not self._cut_kept(now, before):
            return False
        self._note(now, is_refusal=True)
        return self.at(now) != before

    def cut(self, now: float, goes_on_at: float) -> None:
        """Too large a share of the last answers were refusals: try a lower rate, when sending goes on."""
        if now >= self._no_cut_until and not self._is_on_trial:
            self._kept_growth = _SEARCHING if self._rate is None else _STEADY
            self._rate = max(self._limit(now) * _CUT, _SLOWEST)
            self._top, self._growth, self._as_of = math.inf, 0.0, max(now, goes_on_at)
            self._is_on_trial, self._trials = True, 0
            self._lately.clear()
        self._refused_since = None
        self._goes_on_since = goes_on_at

    def _limit(self, now: float) -> float:
        """What the service lets through, as far as that can be told: a bucket may have had tokens saved up."""
        accepted = self._accepted_lately(now)
        limit = accepted / max(_SHORTEST, now - self._accepted[0]) if accepted else 0.0
        since = self._refused_since
        if since is not None and _SHORTEST_SAMPLE <= now - since < _SPAN:
            beside_refusals = sum(at >= since for at in self._accepted)
            if beside_refusals >= 2:
                return min(limit, beside_refusals / (now - since))
        return limit

    def _cut_kept(self, now: float, before: float) -> bool:
        if now - self._goes_on_since >= _SPAN:
            if now - self._as_of < _SPAN:
                return self._cut_too_small(now, before)
            self._excess = 0
            limit = min(before, self._accepted_lately(now) / _SPAN)
            self._rate, self._top, self._growth = max(limit * _CUT, before * _DEEPEST_CUT), limit * _TOP, _STEADY
        elif now - self._as_of >= _NEXT_CUT_AFTER:
            self._rate = before * _DEEPEST_CUT
        else:
            return False
        self._rate = max(self._rate, _SLOWEST)
        self._as_of = now
        return True

    def _cut_too_small(self, now: float, before: float) -> bool:
        """Soon after a cut: what was accepted before it may have been saved up, what comes beside refusals is not.

        A service that counts by the second refuses until that is over, however slow we go: so once, and not below half.
        """
        self._excess += 1
        since = now - self._as_of
        if self._excess != _EXCESS_REFUSALS or since < _NEXT_CUT_AFTER:
            return False
        limit = max(sum(at >= self._as_of for at in self._accepted) / since, before * _DEEPEST_CUT)
        self._rate, self._top, self._growth = limit * _CUT, limit * _TOP, _STEADY
        return True

    def _note(self, now: float, *, is_refusal: bool) -> None:
        self._lately.append(is_refusal)
        is_whole = len(self._lately) == _TRIAL
        if not is_refusal and not is_whole:
            return
        refused = sum(self._lately)
        if not self._is_on_trial:
            if refused >= _TOO_MANY:
                self._take_back(now)
        elif refused >= _FAILS_AT:
            self._try_slower(now)
        elif is_whole:
            self._is_on_trial, self._growth = False, self._kept_growth
            self._as_of = max(self._as_of, now - _SPAN)
            self._lately.clear()

    def _try_slower(self, now: float) -> None:
        before = self.at(now)
        self._trials += 1
        if before is None or self._trials == _TRIALS:
            self._take_back(now)
            return
        seconds = now - self._as_of
        # A trial that took long enough has told what is let through.
        observed = self._lately.count(False) / seconds * _CUT if seconds >= _SPAN else 0.0
        self._rate, self._as_of = max(min(observed, before), before * _DEEPEST_CUT, _SLOWEST), now
        self._lately.clear()

    def _take_back(self, now: float) -> None:
        self._rate = self._measured = None
        self._is_on_trial = False
        self._no_cut_until = now + _NO_CUT_AFTER_FAILURE

    def _accepted_lately(self, now: float) -> int:
        while self._accepted and self._accepted[0] < now - _SPAN:
            self._accepted.popleft()
        return len(self._accepted)
