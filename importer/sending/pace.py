"""When the next request may start: the user's rate, and a lower one while the service refuses too many (429)."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final

_REFUSED_OF_LAST: Final = (3, 14)  # refusals among so many responses, from which the pace falls
_CUT: Final = 0.9  # of what was accepted in the last second
_RISE: Final = 0.1  # a second, as a share of the pace
_SECOND: Final = 1.0
_LATE: Final = 0.5  # seconds


class Pace:
    """Gives each request its turn. Thread-safe; times in seconds on the run's clock.

    rate: the most requests a second, spread evenly; None: no limit.
    """

    def __init__(self, rate: float | None) -> None:
        self._rate = rate
        self._learned: tuple[float, float] | None = None  # a pace, and since when it rises
        self._next_at = 0.0
        self._last: deque[bool] = deque(maxlen=_REFUSED_OF_LAST[1])  # whether each of them was refused
        self._accepted: deque[float] = deque()  # when, in the last second
        self._lock = threading.Lock()

    def limit(self, now: float) -> float | None:
        """The most requests a second now."""
        learned = None
        if self._learned is not None:
            value, since = self._learned
            learned = value * (1 + _RISE) ** min(now - since, 300.0)
        return min((limit for limit in (self._rate, learned) if limit), default=None)

    def next_turn(self, now: float, taken: float | None = None) -> float:
        """Take the next turn; returns when it is. taken: an earlier one, which stays unless it has passed unused."""
        with self._lock:
            limit = self.limit(now)
            if limit is None:
                return now
            if taken is not None and taken > now - max(1 / limit, _LATE):
                return taken
            at = max(self._next_at, now)
            # A small delay is made up for, idle time is not.
            self._next_at = max(self._next_at, now - 1 / limit) + 1 / limit
            return at

    def answered(self, now: float, *, is_refused: bool) -> None:
        """A request was answered; is_refused: because the service asks for fewer."""
        with self._lock:
            self._last.append(is_refused)
            if not is_refused:
                self._accepted.append(now)
            while self._accepted and self._accepted[0] <= now - _SECOND:
                self._accepted.popleft()
            # If nothing was accepted, the waits of the refused rows are all that helps.
            if is_refused and self._accepted and sum(self._last) >= _REFUSED_OF_LAST[0]:
                pace = _CUT * len(self._accepted) / _SECOND
                self._learned = (min(pace, self.limit(now) or pace), now)
                self._last.clear()
