"""The switch that stops or pauses sending."""

from __future__ import annotations

import queue
import signal
import threading
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from importer.models import OutcomeKind
from importer.sending import Cancellation, LoadOptions, Paused
from tests.ledger.given import problems_of
from tests.patience import PATIENCE
from tests.sending.given import (
    BROKEN,
    CREATED,
    REFUSED,
    Answer,
    Harness,
    Scripted,
    applications,
    by_outcome,
    by_row,
    email_of,
    in_turn,
)


@pytest.fixture
def cancelled_by_alarm() -> Iterator[Cancellation]:
    cancellation = Cancellation()
    before = signal.signal(signal.SIGALRM, lambda *_: cancellation.set())
    try:
        yield cancellation
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_whoever_waits_looks_at_it_often(cancelled_by_alarm: Cancellation) -> None:
    """A long wait consists of short ones, so that a signal is noticed."""
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    until = time.monotonic() + PATIENCE
    while not cancelled_by_alarm.is_set() and time.monotonic() < until:
        cancelled_by_alarm.collect(queue.Queue(), 600)
    assert cancelled_by_alarm.is_set()


def test_a_signal_near_the_end_of_a_wait_does_not_make_it_endless(cancelled_by_alarm: Cancellation) -> None:
    """However long its handler takes: a SimpleQueue would wait forever, and Ctrl-C would not end a pause."""
    told: queue.Queue[str] = queue.Queue()
    signal.signal(signal.SIGALRM, lambda *_: time.sleep(0.1))  # longer than what is left of the wait
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    rescue = threading.Timer(30, lambda: told.put("late"))
    rescue.start()
    assert cancelled_by_alarm.collect(told, 600) is None
    rescue.cancel()


# --- pausing, in the middle of a run ---

ONE = LoadOptions(concurrency=1)


def test_a_pause_lets_what_is_in_flight_finish_and_starts_no_more(tmp_path: Path) -> None:
    """From any thread; requests in flight get their outcomes, and `resume` continues with the others."""
    harness, cancellation = Harness(tmp_path), Cancellation()
    is_asked, may_answer, sixth_is_done, paused_long_enough = (threading.Event() for _ in range(4))

    def answer(email: str, _: int) -> Answer:
        if email == email_of(6):
            is_asked.set()
            assert may_answer.wait(PATIENCE)
        return CREATED

    service = Scripted(answer)
    sent_while_paused: list[int] = []

    def person() -> None:
        assert is_asked.wait(PATIENCE)
        cancellation.pause()
        may_answer.set()
        assert sixth_is_done.wait(PATIENCE)
        time.sleep(0.3)
        sent_while_paused.append(len(service.emails))
        paused_long_enough.set()
        cancellation.resume()

    thread = threading.Thread(target=person)
    thread.start()
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, cancellation=cancellation)
        found = {}
        for outcome in chain.from_iterable(loader.load(applications(range(2, 12)))):
            found[outcome.row] = (outcome.kind, paused_long_enough.is_set())
            if outcome.row == 6:
                sixth_is_done.set()
        assert problems_of(ledger) == []
    thread.join()
    assert loader.stop is None
    assert sent_while_paused == [5]
    assert found == {row: (OutcomeKind.CREATED, row > 6) for row in range(2, 12)}


def pause_from_to(harness: Harness, begin: float, end: float) -> None:
    """The run is paused at that many seconds of its clock, and resumed at that many."""
    if begin:
        harness.time.later(begin, harness.time.pause)
    else:
        harness.time.pause()
    harness.time.later(end, harness.time.resume)


def test_a_paused_run_does_not_give_up(tmp_path: Path) -> None:
    """A pause of an hour, although a run gives up after 15 minutes without progress."""
    harness, service = Harness(tmp_path), Scripted(in_turn(CREATED))
    pause_from_to(harness, 0, 3600)
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE)
        outcomes = by_outcome(loader.load(applications(range(2, 12))))
    assert loader.stop is None
    assert {outcome.kind for outcome in outcomes.values()} == {OutcomeKind.CREATED}
    assert harness.time.elapsed >= 3600


def test_the_time_of_a_pause_is_no_lack_of_progress(tmp_path: Path) -> None:
    """The run waits 15 minutes for a service that is down, not counting the pause."""
    harness, service = Harness(tmp_path), Scripted(in_turn(REFUSED))
    pause_from_to(harness, 300, 3900)
    reported: list[Paused | None] = []
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, on_waiting=reported.append)
        by_outcome(loader.load(applications(range(2, 12))))
    assert loader.stop is not None
    assert loader.stop.code == "run-stalled"
    assert 3600 + 900 - 75 <= harness.time.elapsed < 3600 + 900 + 120
    assert all(waiting is None or waiting.gives_up_in <= 900 for waiting in reported)


def test_the_time_of_a_pause_is_no_lack_of_a_connection(tmp_path: Path) -> None:
    """An address that has never answered has its half minute without the pause."""
    harness = Harness(tmp_path)
    pause_from_to(harness, 5, 65)
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, Scripted(in_turn(REFUSED)), ONE, has_answered=False)
        by_outcome(loader.load(applications(range(2, 12))))
    assert (loader.stop and loader.stop.code) == "service-unreachable"
    assert 90 <= harness.time.elapsed < 95


def test_an_end_in_a_pause_ends(tmp_path: Path) -> None:
    """A paused run can be stopped without resuming it."""
    harness, cancellation = Harness(tmp_path), Cancellation()
    cancellation.pause()
    timer = threading.Timer(0.2, cancellation.set)
    timer.start()
    service = Scripted(in_turn(CREATED))
    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, cancellation=cancellation)
        outcomes = by_outcome(loader.load(applications(range(2, 12))))
        assert list(ledger.row_states("run-1")) == []  # no intent was written either
    assert loader.stop is not None
    assert loader.stop.code == "run-interrupted"
    assert {outcome.kind for outcome in outcomes.values()} == {OutcomeKind.NOT_SENT}
    assert service.emails == []


def test_a_pause_begins_no_probe_of_a_service_that_is_unwell(tmp_path: Path) -> None:
    """While the run is paused, neither a row nor a probe is sent."""
    harness = Harness(tmp_path)
    service = Scripted(by_row(dict.fromkeys(range(10, 20), (BROKEN, CREATED))))
    pause_from_to(harness, 1, 600)
    probed_at: list[float] = []

    def probe() -> bool:
        probed_at.append(harness.time.elapsed)
        return True

    with harness.ledger() as ledger:
        loader = harness.loader(ledger, service, ONE, probe=probe)
        outcomes = by_outcome(loader.load(applications(range(2, 32))))
    assert (loader.stop, {outcome.kind for outcome in outcomes.values()}) == (None, {OutcomeKind.CREATED})
    assert all(at >= 600 for at in probed_at)
