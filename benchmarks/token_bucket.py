"""The rate limit of a service: a bucket that fills at a steady rate and holds a burst."""

from __future__ import annotations


class TokenBucket:
    """Allows `rate` a second, and up to `burst` at once after an idle time. `now` in seconds, never decreasing."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._tokens = burst
        self._filled_at = now

    def take(self, now: float) -> bool:
        """Whether one more is allowed now; if so, it counts."""
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
