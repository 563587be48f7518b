"""The switch that ends sending early."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from importer.load import Halt
from importer.load.halt import Wakeup


@pytest.fixture
def halted_by_alarm() -> Iterator[Halt]:
    halt = Halt()
    before = signal.signal(signal.SIGALRM, lambda *_: halt.set())
    try:
        yield halt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_whoever_waits_looks_at_it_often(halted_by_alarm: Halt) -> None:
    """A wait of minutes is a row of short ones, so that a signal in the middle of it is noticed."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    wakeup: Wakeup = SimpleQueue()
    until = time.monotonic() + 10
    while not halted_by_alarm.is_set() and time.monotonic() < until:
        halted_by_alarm.wait(wakeup, 600, is_busy=False)
    assert halted_by_alarm.is_set()


def test_a_wait_ends_when_somebody_wakes_it() -> None:
    """Nobody waits longer than there is nothing to do."""
    wakeup: Wakeup = SimpleQueue()
    wakeup.put(None)
    before = time.monotonic()
    Halt().wait(wakeup, 600, is_busy=True)
    assert time.monotonic() - before < 0.04
