"""The switch that ends or pauses sending, from any thread, and the clock of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

_LONGEST_WAIT: Final = 0.05  # seconds: whoever sets the switch need not wake anybody


class Wakeup:
    """Ends one wait, the current one or the next.

    No SimpleQueue: its `get` with a timeout waits for ever (CPython 3.11, 3.12) where a signal comes shortly before it
    is over.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def wake(self) -> None:
        with suppress(RuntimeError):  # it was woken already
            self._lock.release()

    def wait(self, seconds: float) -> None:
        self._lock.acquire(timeout=seconds)


class Cancellation:
    """Ends, pauses and resumes sending, from any thread or a signal handler. It takes effect within a moment.

    now: seconds on a clock that only goes forward.
    sleep: lets that many seconds pass on it, where it is another clock than that of the machine; then time passes only
        while nothing is on its way.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] | None = None) -> None:
        self.now = now
        self._sleep = sleep
        self._is_set = False
        self._is_paused = False

    def set(self) -> None:
        """End sending, paused or not: no new request starts, what is in flight finishes, waiting ends."""
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def pause(self) -> None:
        """Start no new request until `resume`; what is in flight finishes. A paused run does not give up."""
        self._is_paused = True

    def resume(self) -> None:
        """Go on after a `pause`. Where there was none: nothing."""
        self._is_paused = False

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def wait(self, wakeup: Wakeup, seconds: float, *, is_busy: bool) -> None:
        """Return when it is woken, or when the seconds are over, or a little sooner."""
        if self._sleep is not None and not is_busy:
            self._sleep(seconds)
            return
        wakeup.wait(min(seconds, _LONGEST_WAIT))
