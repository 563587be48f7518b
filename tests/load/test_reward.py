"""More in flight only where the service answers more a second."""

from __future__ import annotations

from collections.abc import Callable

from importer.load.reward import Reward


def rise(throughput: Callable[[float], float], most: float, answers: int) -> list[float]:
    """The numbers in flight of a sender that rises by one with each answer, where `throughput` of them is answered."""
    reward, now, in_flight, seen = Reward(), 0.0, 2.0, []
    for _ in range(answers):
        now += 1 / throughput(in_flight)
        in_flight = reward.answered(now, in_flight)
        if reward.may_rise:
            in_flight = min(most, in_flight + 1)
        seen.append(in_flight)
    return seen


def test_a_service_with_a_delay_rewards_every_one_more() -> None:
    """Where each answer takes 20 ms, twice as many in flight are twice as many a second: all are used."""
    assert rise(lambda in_flight: in_flight / 0.02, 32, 60)[-1] == 32


def test_a_service_that_works_on_one_at_a_time_is_not_crowded() -> None:
    """Where throughput stays the same, the number falls back to what it was, and few tries are made."""
    seen = rise(lambda _: 100.0, 64, 400)
    assert sum(seen[200:]) / 200 < 24


def test_a_service_that_serves_ten_at_once_gets_about_ten() -> None:
    """Beyond what it rewards it is tried again and again, and not kept there."""
    seen = rise(lambda in_flight: min(in_flight, 10) / 0.02, 64, 2_000)
    assert 8 <= sum(seen[1_000:]) / 1_000 <= 26
