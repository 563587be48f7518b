"""The rate that a service lets through, learned from its 429s."""

from __future__ import annotations

import math
from collections import deque

_SPAN = 1.0  # seconds over which a rate can be told from what was accepted
_SHORTEST = 0.25  # seconds by which the first acceptances are divided at least: what went at once was saved up before
_CUT = 0.96  # of what was accepted, after a refusal that told the limit
_TOP = 0.99  # of the same: as near to the limit as it goes by itself
_DEEPEST_CUT = 0.5
_SLOWEST = 0.2  # a second: a service that refuses even that does so for another reason, and halving would never end
# By how much it rises in a second, as a share of itself.
_SEARCHING = 1.0  # before it was found too high
_FINDING = 0.1  # after it was, so soon that the limit was not told
_KEEPING = 0.01
_HOPEFUL = 0.1  # where nothing was refused for long: a limit may have been lifted, or others who shared it be gone
_HOPEFUL_AFTER = 60.0  # seconds


class LearnedRate:
    """Requests a second that may be sent, None as long as nothing was refused. Times in seconds, never going back.

    Whatever way the service counts (a bucket of tokens, a window, others who share its limit), a refusal says that the
    rate is too high. Sent evenly for a second or more, what was accepted in that second is the limit. Sooner, it may
    have been saved up, or asked for too fast, and the rate is halved at most.
    """

    def __init__(self) -> None:
        self._rate: float | None = None
        self._as_of = 0.0  # when `_rate` was true, and sending began at it
        self._growth = _SEARCHING
        self._top = math.inf
        self._began: float | None = None  # the time from which `_since` counts: the last refusal
        self._since = 0
        self._lately: deque[float] = deque()  # the times of those accepted in the last second

    def at(self, now: float) -> float | None:
        """The rate now."""
        if self._rate is None:
            return None
        quiet = max(now - self._as_of, 0.0)
        patient = min(quiet, _HOPEFUL_AFTER)
        rate = min(self._rate * math.pow(1 + self._growth, patient), max(self._top, self._rate))
        return rate * math.pow(1 + _HOPEFUL, min(quiet - patient, _HOPEFUL_AFTER))

    def accepted(self, now: float) -> None:
        """A request was let through."""
        if self._began is None:
            self._began = self._as_of = now
        self._since += 1
        self._lately.append(now)
        while self._lately[0] < now - _SPAN:
            self._lately.popleft()

    def refused(self, now: float, held_until: float) -> None:
        """A request was refused with 429, and it had been sent at the rate of now; until then nothing is sent."""
        if not self._since:
            return  # a service that takes nothing at all says nothing about a rate
        before = self.at(now)
        began = now if self._began is None else self._began
        if before is None:
            self._rate = max(self._since / max(now - began, _SHORTEST), 1.0)
        elif now - self._as_of >= _SPAN and self._growth != _SEARCHING:
            limit = min(before, sum(accepted >= now - _SPAN for accepted in self._lately) / _SPAN)
            self._rate, self._top, self._growth = max(limit * _CUT, before * _DEEPEST_CUT), limit * _TOP, _KEEPING
        else:
            self._rate = max(before * _DEEPEST_CUT, self._since / max(now - began, _SHORTEST))
            self._rate, self._top, self._growth = min(self._rate, before * _CUT), math.inf, _FINDING
        self._rate = max(self._rate, _SLOWEST)
        self._as_of = max(now, held_until)
        self._began = now
        self._since = 0
