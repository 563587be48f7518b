"""How fast requests may go: one pace for all senders."""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum, auto

from importer.load.halt import Halt
from importer.load.learned_rate import LearnedRate
from importer.load.reward import Reward
from importer.service import NoReply, Reply

_LONGEST_HOLD = 900.0  # seconds
_BEGINS_WITH = 2  # in flight
_TOO_MANY = 429
_SLOW_DOWN = frozenset({_TOO_MANY, 503})


class NotNow(Enum):
    """Why nobody is let in at once."""

    FULL = auto()  # as many as may be are in flight, or others have waited longer
    LATER = auto()  # at a time that is known, for which one has to wait
    HALTED = auto()


def _nobody_asked() -> None:
    pass


class Pace:
    """Lets requests through: a number in flight that the service's answers move, and a rate without bursts.

    The number doubles from 2 while answers come clean and more of them a second, is halved by a 429, a 503 or no
    answer, and from then on rises by one for each round of clean answers. The rate is what a person allows and what
    429s have taught. A Retry-After holds every sender, for at most 15 minutes.
    """

    def __init__(self, halt: Halt, in_flight: int, rate: float | None = None) -> None:
        self._halt = halt
        self._most = in_flight
        self._rate = rate
        self._learned = LearnedRate()
        self._reward = Reward()
        self._ceiling = float(min(_BEGINS_WITH, in_flight))
        self._slowed_at: float | None = None
        self._active = 0
        self._waiting = 0
        self._next_turn = float("-inf")
        self._held_until = float("-inf")
        self._freed = threading.Condition()
        self._when_free = _nobody_asked

    def call_when_free(self, then: Callable[[], None]) -> None:
        """Have `then` called each time after somebody has left, on his thread: `enter_at_once` may let one in."""
        self._when_free = then

    @property
    def ceiling(self) -> int:
        """How many requests may be in flight now."""
        return int(self._ceiling)

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service lets through, as far as its refusals have told."""
        return self._learned.at(self._halt.now())

    def enter(self) -> float | None:
        """Wait for leave to send one request; gives the time it came, or None when the run is halted.

        Whoever was let in calls `leave`.
        """
        with self._freed:
            # No time-out: a halt lets those who are in leave, and each that leaves wakes one who waits.
            self._waiting += 1
            while self._active >= self.ceiling and not self._halt.is_set():
                self._freed.wait()
            self._waiting -= 1
            self._active += 1
        turn = self._take_turn()
        while not self._halt.is_set():
            now = self._halt.now()
            if turn < self._held_until:
                turn = self._take_turn()  # the hold came since, and those held do not all go at its end
            elif turn <= now:
                return now
            else:
                self._halt.sleep(turn - now)
        with self._freed:
            self._vacate()
        self._when_free()
        return None

    def enter_at_once(self) -> float | NotNow:
        """The same for one who does not wait."""
        if self._active >= self.ceiling:  # a look without the lock: whoever leaves has this asked again
            return NotNow.FULL
        with self._freed:
            if self._halt.is_set():
                return NotNow.HALTED
            if self._active + self._waiting >= self.ceiling:
                return NotNow.FULL
            now = self._halt.now()
            if max(self._next_turn, self._held_until) > now:
                return NotNow.LATER
            self._active += 1
            self._next_turn = now + self._interval(now)
            return now

    def leave(self, entered: float, answer: Reply | NoReply | None) -> None:
        """The request let in at `entered` is over, with that answer; None where it was not sent after all."""
        with self._freed:
            if answer is not None:
                self._learn(entered, answer)
            self._vacate()
        self._when_free()

    def _take_turn(self) -> float:
        with self._freed:
            now = self._halt.now()
            turn = max(now, self._next_turn, self._held_until)
            self._next_turn = turn + self._interval(turn)
            return turn

    def _interval(self, now: float) -> float:
        learned = self._learned.at(now)
        rates = [rate for rate in (self._rate, learned) if rate]
        return 1 / min(rates) if rates else 0.0

    def _learn(self, entered: float, answer: Reply | NoReply) -> None:
        now = self._halt.now()
        if isinstance(answer, Reply) and answer.retry_after is not None:
            self._held_until = max(self._held_until, now + min(answer.retry_after, _LONGEST_HOLD))
        if isinstance(answer, NoReply) or answer.status in _SLOW_DOWN:
            # Those that went before the last halving are answers to the old number, and no reason for another one.
            if self._slowed_at is None or entered > self._slowed_at:
                self._slow_down(now, is_refusal=isinstance(answer, Reply) and answer.status == _TOO_MANY)
        else:
            self._speed_up(now)

    def _slow_down(self, now: float, *, is_refusal: bool) -> None:
        # Where a rate was learned before, it is the rate that was too high, and not the number in flight.
        if not is_refusal or self._learned.at(now) is None:
            self._ceiling = max(1.0, self._ceiling / 2)
        self._slowed_at = now
        if is_refusal:
            self._learned.refused(now, self._held_until)
            # Those who wait for a turn got it at the old rate: held until the last of these, they take another one.
            self._held_until = max(self._held_until, self._next_turn, now + self._interval(now))

    def _speed_up(self, now: float) -> None:
        self._learned.accepted(now)
        if self._rate is None and self._learned.at(now) is None:  # else answers come at the rate, whatever is in flight
            self._ceiling = self._reward.answered(now, self._ceiling)
        if self._reward.may_rise:
            step = 1.0 if self._slowed_at is None else 1 / self._ceiling
            self._ceiling = min(float(self._most), self._ceiling + step)

    def _vacate(self) -> None:
        self._active -= 1
        if self._waiting and (self._active < self.ceiling or self._halt.is_set()):
            self._freed.notify_all()
