"""A switch that ends sending early, and the waiting that it cuts short."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Halt:
    """Set it from any thread, or from a signal handler: no new row is sent, what is in flight finishes, waiting ends.

    All waiting of a load (Retry-After, backoff, settling delay) goes through `sleep`, all its time through `now`.

    now: seconds on a clock that only goes forward.
    sleep: waits that many seconds where it is given; else a real wait that `set` ends.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] | None = None) -> None:
        self.now = now
        self._sleep = sleep
        self._set = False
        self._dependents: list[Halt] = []
        # On a re-entrant lock, as an Event is not: a signal handler may call `set` in the middle of another `set`.
        self._changed = threading.Condition(threading.RLock())

    def set(self) -> None:
        with self._changed:
            self._set = True
            self._changed.notify_all()
        for dependent in self._dependents:
            dependent.set()

    def is_set(self) -> bool:
        return self._set

    def sleep(self, seconds: float) -> None:
        """Wait, or return at once when the switch is set or there is nothing to wait for."""
        if seconds <= 0 or self._set:
            return
        if self._sleep is not None:
            self._sleep(seconds)
            return
        with self._changed:
            self._changed.wait_for(self.is_set, seconds)

    def dependent(self) -> Halt:
        """A switch that is set with this one, but not the other way round."""
        halt = Halt(self.now, self._sleep)
        self._dependents.append(halt)
        if self._set:
            halt.set()
        return halt
