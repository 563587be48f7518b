"""A switch that ends sending early, and the clock of a run."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

Wakeup = SimpleQueue[None]
_LONGEST_WAIT: Final = 0.05  # seconds: whoever sets the switch need not wake anybody


class Halt:
    """Set it from any thread, or from a signal handler: no new row is sent, what is in flight finishes, waiting ends.

    now: seconds on a clock that only goes forward.
    sleep: lets that many seconds pass on it, where it is another clock than that of the machine; then time passes only
        while nothing is on its way.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] | None = None) -> None:
        self.now = now
        self._sleep = sleep
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, wakeup: Wakeup, seconds: float, *, is_busy: bool) -> None:
        """Return when something comes into the queue, or when the seconds are over, or a little sooner."""
        if self._sleep is not None and not is_busy:
            self._sleep(seconds)
            return
        with suppress(Empty):
            wakeup.get(timeout=min(seconds, _LONGEST_WAIT))
