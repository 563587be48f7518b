"""How fast requests may go."""

from __future__ import annotations

import threading

import pytest

from importer.load import Halt
from importer.load.pace import NotNow, Pace
from importer.service import NoReply, Reply
from importer.service.replies import Phase
from tests.load.given import CREATED, SILENT, Time


def answered(pace: Pace, time: Time, answer: Reply | NoReply = CREATED) -> float:
    """One request that is answered at once; gives the time at which it went, counted from the start."""
    entered = pace.enter()
    assert entered is not None
    pace.leave(entered, answer)
    return entered - 1000.0


def test_a_rate_is_spread_evenly() -> None:
    """Four a second are one each quarter of a second, without a burst at the start or after an idle time."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8, rate=4)
    assert [answered(pace, time) for _ in range(4)] == [0, 0.25, 0.5, 0.75]
    time.now += 10
    assert [answered(pace, time) for _ in range(3)] == [10.75, 11, 11.25]


def test_without_a_rate_nobody_waits() -> None:
    """The service's own speed is the pace."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    assert [answered(pace, time) for _ in range(100)] == [0] * 100
    assert time.waits == []


def test_clean_answers_raise_the_number_in_flight_to_its_ceiling() -> None:
    """It begins with two and rises with each clean answer, to what was allowed and no further."""
    time = Time()
    pace = Pace(time.halt(), in_flight=5)
    ceilings = [pace.ceiling]
    for _ in range(5):
        answered(pace, time)
        ceilings.append(pace.ceiling)
    assert ceilings == [2, 3, 4, 5, 5, 5]


@pytest.mark.parametrize("allowed", [1, 2])
def test_the_ceiling_is_never_above_what_was_allowed(allowed: int) -> None:
    """--in-flight 1 is one at a time from the start."""
    assert Pace(Time().halt(), in_flight=allowed).ceiling == allowed


@pytest.mark.parametrize(
    "answer",
    [Reply(503), SILENT, NoReply("connection refused", Phase.CONNECTING)],
    ids=["503", "time-out", "refused"],
)
def test_trouble_halves_the_number_in_flight(answer: Reply | NoReply) -> None:
    """Eight become four, two, one, and never none."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    for _ in range(6):
        answered(pace, time)
    ceilings = [pace.ceiling]
    for _ in range(4):
        time.now += 1
        answered(pace, time, answer)
        ceilings.append(pace.ceiling)
    assert ceilings == [8, 4, 2, 1, 1]


def test_a_429_halves_the_number_in_flight_once() -> None:
    """From then on it is the learned rate that gives way."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    for _ in range(6):
        answered(pace, time)
    seen = []
    for _ in range(3):
        time.now += 1
        answered(pace, time)
        answered(pace, time, Reply(429))
        seen.append(pace.ceiling)
    assert seen == [4, 4, 4]
    assert pace.learned_rate is not None
    assert pace.learned_rate < 7.5


@pytest.mark.parametrize("status", [400, 404, 409, 500])
def test_other_answers_do_not_slow_it_down(status: int) -> None:
    """A refused row says nothing about speed."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    answered(pace, time, Reply(status))
    assert pace.ceiling == 3


def test_answers_to_the_old_number_halve_only_once() -> None:
    """Eight requests that are all told 429 are one reason to slow down, not eight."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    for _ in range(6):
        answered(pace, time)
    entered = [pace.enter() for _ in range(8)]
    time.now += 1
    for at in entered:
        assert at is not None
        pace.leave(at, Reply(429))
    assert pace.ceiling == 4


def test_it_rises_slowly_after_trouble() -> None:
    """After a halving a whole round of clean answers makes one more."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    for _ in range(6):
        answered(pace, time)
    time.now += 1
    answered(pace, time, Reply(429))
    ceilings = []
    for _ in range(10):
        answered(pace, time)
        ceilings.append(pace.ceiling)
    assert ceilings == [4, 4, 4, 4, 5, 5, 5, 5, 5, 6]


def test_a_retry_after_holds_every_sender() -> None:
    """Nobody sends before it is over, not even who was let in for another reason."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    answered(pace, time, Reply(429, retry_after=30))
    assert answered(pace, time) == 30


def test_a_hold_reaches_who_waits_for_a_turn() -> None:
    """A sender that has its turn soon, and not before another one is told to wait, waits too."""
    time = Time()
    entered: list[float] = []

    def sleep(seconds: float) -> None:
        if not time.waits:
            pace.leave(entered[0], Reply(429, retry_after=30))
        time.sleep(seconds)

    pace = Pace(Halt(lambda: time.now, sleep), in_flight=8, rate=1)
    for _ in range(2):
        at = pace.enter()
        assert at is not None
        entered.append(at)
    assert entered == [1000, 1030]


def test_a_shorter_retry_after_does_not_end_a_longer_one() -> None:
    """The longest hold counts."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    first, second = pace.enter(), pace.enter()
    assert first is not None
    assert second is not None
    pace.leave(first, Reply(429, retry_after=30))
    pace.leave(second, Reply(429, retry_after=5))
    assert answered(pace, time) == 30


def test_a_retry_after_is_capped() -> None:
    """A service that asks for a day gets a quarter of an hour."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8)
    answered(pace, time, Reply(503, retry_after=86_400))
    assert answered(pace, time) == 900


def test_after_a_hold_the_rate_is_kept() -> None:
    """Those who were held do not all go at once."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8, rate=2)
    answered(pace, time, Reply(503, retry_after=30))
    assert [answered(pace, time) for _ in range(3)] == [30, 30.5, 31]


def test_no_more_are_in_flight_than_the_ceiling_says() -> None:
    """A third request waits until one of two is answered."""
    time = Time()
    pace = Pace(time.halt(), in_flight=2)
    first = pace.enter()
    pace.enter()
    third_is_in = threading.Event()
    thread = threading.Thread(target=lambda: (pace.enter(), third_is_in.set()))
    thread.start()
    assert not third_is_in.wait(0.05)
    assert first is not None
    pace.leave(first, CREATED)
    assert third_is_in.wait(5)
    thread.join()


def test_a_halt_lets_nobody_in() -> None:
    """Whoever asks after the halt is turned away, and does not count as in flight."""
    time = Time()
    halt = time.halt()
    pace = Pace(halt, in_flight=1)
    halt.set()
    assert [pace.enter(), pace.enter()] == [None, None]


def test_who_does_not_wait_is_let_in_where_nobody_is() -> None:
    """As many as may be in flight; then each that leaves calls for the next one."""
    time = Time()
    pace = Pace(time.halt(), in_flight=2)
    calls: list[int] = []
    pace.call_when_free(lambda: calls.append(1))
    first, second = pace.enter_at_once(), pace.enter_at_once()
    assert first == second == 1000.0
    assert pace.enter_at_once() is NotNow.FULL
    assert calls == []
    pace.leave(1000.0, CREATED)
    assert calls == [1]
    assert pace.enter_at_once() == 1000.0


def test_who_does_not_wait_is_told_of_a_later_turn() -> None:
    """Under a rate, and after a Retry-After, a turn has a time, and nobody is let in before it or twice in it."""
    time = Time()
    pace = Pace(time.halt(), in_flight=8, rate=4)
    assert pace.enter_at_once() == 1000.0
    assert pace.enter_at_once() is NotNow.LATER
    pace.leave(1000.0, CREATED)
    time.now += 0.25
    assert pace.enter_at_once() == 1000.25
    pace.leave(1000.25, Reply(503, "", 10.0))
    time.now += 9.5
    assert pace.enter_at_once() is NotNow.LATER
    time.now += 0.5
    assert pace.enter_at_once() == time.now


def test_who_does_not_wait_is_not_let_in_after_a_halt() -> None:
    """Not even where there is room."""
    halt = Time().halt()
    pace = Pace(halt, in_flight=8)
    halt.set()
    assert pace.enter_at_once() is NotNow.HALTED


def test_who_has_waited_goes_before_who_does_not_wait() -> None:
    """A row that is tried again waits in a thread: new rows, which take each free place at once, do not keep it out."""
    pace = Pace(Time().halt(), in_flight=1)
    assert pace.enter_at_once() == 1000.0
    entered = threading.Event()

    def wait() -> None:
        pace.enter()
        entered.set()

    def refused() -> bool:
        pace.leave(1000.0, None)
        return pace.enter_at_once() is NotNow.FULL

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    while not pace._waiting:
        threading.Event().wait(0.001)
    assert refused()
    assert entered.wait(5)
    thread.join(5)
