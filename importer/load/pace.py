"""How fast requests may go: a number in flight and a rate, both moved by the service's answers."""

from __future__ import annotations

from typing import Final

from importer.load.learned_rate import LearnedRate
from importer.load.reward import Reward
from importer.service import NoReply, Reply

_BEGINS_WITH: Final = 2  # in flight
_TOO_MANY: Final = frozenset({425, 429})
_MEMORY: Final = 0.95  # of the share of troubled answers, from one answer to the next
_TROUBLED: Final = 0.5  # the share at which fewer go at once


class Pace:
    """Says when the next request may go. Times in seconds, never going back; for one thread at a time.

    The number in flight doubles from 2 while answers come clean and more of them a second; where half of the answers
    are a 503 or none it is halved, and then rises by one for each round of clean answers. The rate is what a person
    allows and what 429s have taught, without bursts.
    """

    def __init__(self, in_flight: int, rate: float | None = None) -> None:
        self._most = in_flight
        self._rate = rate
        self._learned = LearnedRate()
        self._reward = Reward()
        self._ceiling = float(min(_BEGINS_WITH, in_flight))
        self._slowed_at: float | None = None
        self._cut_at = float("-inf")
        self._trouble = 0.0
        self._next_turn = float("-inf")

    @property
    def ceiling(self) -> int:
        """How many requests may be in flight now."""
        return int(self._ceiling)

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service was seen to let through, where it refused more."""
        return self._learned.measured

    def turn(self) -> float:
        """When the next request may go."""
        return self._next_turn

    def goes(self, now: float) -> None:
        """A request goes now."""
        rates = [rate for rate in (self._rate, self._learned.at(now)) if rate]
        if rates:
            interval = 1 / min(rates)
            # A turn that was missed by a little is made up for, an idle time is not.
            self._next_turn = max(self._next_turn, now - interval) + interval

    def answered(self, now: float, went: float, answer: Reply | NoReply, *, waited: bool) -> None:
        """The request that went then is over. `waited`: another one waits for its turn."""
        if isinstance(answer, Reply) and answer.status in _TOO_MANY:
            if went > self._cut_at:  # sent before the last cut, it says nothing about the rate of now
                self._cut_at = now if self._learned.refused(now) else self._cut_at
            return
        is_troubled = isinstance(answer, NoReply) or answer.status == 503
        self._trouble = self._trouble * _MEMORY + is_troubled * (1 - _MEMORY)
        if not is_troubled:
            self._speed_up(now, waited)
        elif self._trouble > _TROUBLED and (self._slowed_at is None or went > self._slowed_at):
            self._ceiling = max(1.0, self._ceiling / 2)
            self._slowed_at = now

    def cut(self, now: float, goes_on_at: float) -> None:
        """Too large a share of the last answers were refusals: go slower when sending goes on, as a trial."""
        self._learned.cut(now, goes_on_at)
        self._cut_at = now

    def begin_slowly(self) -> None:
        """After a break: few at once, as at the beginning."""
        self._ceiling = float(min(_BEGINS_WITH, self._most))
        self._trouble = 0.0

    def _speed_up(self, now: float, waited: bool) -> None:
        self._learned.accepted(now, waited=waited)
        if self._rate is None and self._learned.at(now) is None:  # else answers come at the rate, whatever is in flight
            self._ceiling = self._reward.answered(now, self._ceiling)
        if self._reward.may_rise:
            step = 1.0 if self._slowed_at is None else 1 / self._ceiling
            self._ceiling = min(float(self._most), self._ceiling + step)
