"""How many requests of a run may be repetitions: a service in trouble is not buried under them."""

from __future__ import annotations

import threading

_TO_BEGIN_WITH = 100


class RetryBudget:
    """Allows `share` repetitions for each row that was sent, and 100 to begin with. Safe to use from many threads."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._left = float(_TO_BEGIN_WITH)
        self._lock = threading.Lock()

    def earn(self) -> None:
        """A row is sent for the first time in this run."""
        with self._lock:
            self._left += self._share

    def spend(self) -> bool:
        """Take one repetition; false where none is left."""
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True
