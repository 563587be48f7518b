"""SIGINT and SIGTERM: the first asks the run to finish what is in flight and report, the second stops now."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_STOPPING = b"\nStopping: no new rows are sent; finishing those in flight, then the report. Once more to stop now.\n"
_STOPPED = b"\nStopped. The next run settles what was in flight: run the same command again.\n"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Which signal asked the run to end, None while none has."""

    def __init__(self, halt: Callable[[], None]) -> None:
        self._halt = halt
        self.signal: int | None = None

    def catch(self, number: int, _frame: FrameType | None) -> None:
        if self.signal is not None:
            # The ledger is written to be cut anywhere: what is in flight will be settled by the next run.
            _tell(_STOPPED)
            os._exit(128 + number)
        self.signal = number
        self._halt()
        _tell(_STOPPING)


def _tell(line: bytes) -> None:
    # Not through sys.stderr: the signal may have come in the middle of a line that is being printed there.
    with contextlib.suppress(OSError):
        os.write(2, line)


@contextlib.contextmanager
def interruption(halt: Callable[[], None]) -> Iterator[Interruption]:
    """While this is open, the first signal calls `halt`, the second ends the process."""
    caught = Interruption(halt)
    before = {number: signal.signal(number, caught.catch) for number in _SIGNALS}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
