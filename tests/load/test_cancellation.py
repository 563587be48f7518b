"""The switch that ends sending early."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from importer.load import Cancellation
from importer.load.cancellation import Wakeup


@pytest.fixture
def halted_by_alarm() -> Iterator[Cancellation]:
    cancellation = Cancellation()
    before = signal.signal(signal.SIGALRM, lambda *_: cancellation.set())
    try:
        yield cancellation
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_whoever_waits_looks_at_it_often(halted_by_alarm: Cancellation) -> None:
    """A wait of minutes is a row of short ones, so that a signal in the middle of it is noticed."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    wakeup = Wakeup()
    until = time.monotonic() + 10
    while not halted_by_alarm.is_set() and time.monotonic() < until:
        halted_by_alarm.wait(wakeup, 600, is_busy=False)
    assert halted_by_alarm.is_set()


def test_a_signal_near_the_end_of_a_wait_does_not_make_it_endless(halted_by_alarm: Cancellation) -> None:
    """However long its handler takes: a queue would then wait for ever, and Ctrl-C in a pause end nothing."""
    wakeup = Wakeup()
    signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.1))  # longer than what is left of the wait
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    rescue = threading.Timer(5, wakeup.wake)
    rescue.start()
    before = time.monotonic()
    halted_by_alarm.wait(wakeup, 600, is_busy=False)
    rescue.cancel()
    assert time.monotonic() - before < 4


def test_a_wait_ends_when_somebody_wakes_it() -> None:
    """Nobody waits longer than there is nothing to do."""
    wakeup = Wakeup()
    wakeup.wake()
    before = time.monotonic()
    Cancellation().wait(wakeup, 600, is_busy=True)
    assert time.monotonic() - before < 0.04
