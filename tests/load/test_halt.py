"""The switch that ends sending early."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from importer.load import Halt


def test_it_ends_a_wait_at_once() -> None:
    """Nobody who waits for minutes is waited for."""
    halt = Halt()
    done = threading.Event()
    thread = threading.Thread(target=lambda: (halt.sleep(600), done.set()))
    thread.start()
    assert not done.wait(0.05)
    halt.set()
    assert done.wait(5)
    thread.join()


def test_after_it_nobody_waits() -> None:
    """A wait that begins after the halt is none."""
    halt = Halt()
    halt.set()
    before = time.monotonic()
    halt.sleep(600)
    assert time.monotonic() - before < 5


def test_it_reaches_those_that_depend_on_it() -> None:
    """One signal ends the loads of all targets, and one target's stop ends no other's."""
    halt = Halt()
    one, other = halt.dependent(), halt.dependent()
    one.set()
    assert (halt.is_set(), other.is_set()) == (False, False)
    halt.set()
    assert other.is_set()
    assert halt.dependent().is_set()


@pytest.fixture
def halted_by_alarm() -> Iterator[Halt]:
    halt = Halt()
    before = signal.signal(signal.SIGALRM, lambda *_: halt.set())
    try:
        yield halt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_signal_handler_may_set_it(halted_by_alarm: Halt) -> None:
    """A signal that arrives while this very thread waits ends the wait."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    halted_by_alarm.sleep(30)
    assert halted_by_alarm.is_set()


def test_a_signal_may_come_in_the_middle_of_a_set(halted_by_alarm: Halt) -> None:
    """A handler that sets it while this thread is setting it does not block for ever."""
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        halted_by_alarm.set()
    assert halted_by_alarm.is_set()
