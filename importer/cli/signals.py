"""SIGINT and SIGTERM: the first asks the run to finish what is in flight and report, the second stops now."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

from importer.app.orders import RunControl

_STOPPING = b"\nStopping: no new rows are sent; finishing those in flight, then the report. Once more to stop now.\n"
_STOPPED = b"\nStopped. The next run settles what was in flight: run the same command again.\n"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopped_by_signals(control: RunControl) -> Iterator[RunControl]:
    """While this is open, the first signal stops the run that is steered, the second ends the process.

    Where no rows are sent yet there is nothing to finish, and a signal does what it always does.
    """
    before = {int(number): signal.getsignal(number) for number in _SIGNALS}

    def catch(number: int, _frame: FrameType | None) -> None:
        if not control.is_sending:
            if before[number] is signal.SIG_IGN:
                return
            signal.signal(number, before[number])
            signal.raise_signal(number)
            signal.signal(number, catch)  # it has not ended the process
            return
        if control.signal is not None:
            # The ledger is written to be cut anywhere: what is in flight will be settled by the next run.
            _tell(_STOPPED)
            os._exit(128 + number)
        control.stop(number)
        _tell(_STOPPING)

    for number in _SIGNALS:
        signal.signal(number, catch)
    try:
        yield control
    finally:
        for number in _SIGNALS:
            signal.signal(number, before[number])


def _tell(line: bytes) -> None:
    # Not through sys.stderr: the signal may have come in the middle of a line that is being printed there.
    with contextlib.suppress(OSError):
        os.write(2, line)
