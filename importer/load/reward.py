"""Whether the service rewards more requests in flight with more answers a second."""

from __future__ import annotations

_FEWEST = 8  # answers of a round, at least: fewer say too little
_WANTED = 0.2  # the share of a rise in flight by which throughput must rise with it
_RESTS = 8  # rounds until the next try, after one that was not rewarded


class Reward:
    """Compares each round of answers with the one before. Times in seconds, never going back."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._answers_left = 0
        self._round = 0  # answers in it
        self._before: tuple[float, float] | None = None  # in flight and throughput of the round before
        self._resting = 0

    @property
    def may_rise(self) -> bool:
        """Whether more in flight is worth a try."""
        return not self._resting

    def answered(self, now: float, in_flight: float) -> float:
        """Take note of an answer; gives the number that should be in flight: less where a rise brought nothing."""
        if self._began is None:
            self._begin_round(now, in_flight)
            return in_flight
        self._answers_left -= 1
        if self._answers_left:
            return in_flight
        elapsed = now - self._began
        throughput = self._round / elapsed if elapsed else float("inf")
        best = self._judge(in_flight, throughput)
        self._before = (best, throughput)
        self._begin_round(now, best)
        return best

    def _begin_round(self, now: float, in_flight: float) -> None:
        self._began = now
        self._round = self._answers_left = max(_FEWEST, round(in_flight))

    def _judge(self, in_flight: float, throughput: float) -> float:
        if self._resting:
            self._resting -= 1
            return in_flight
        if self._before is None:
            return in_flight
        in_flight_before, throughput_before = self._before
        rise = in_flight / in_flight_before - 1
        if rise > 0 and throughput < throughput_before * (1 + _WANTED * rise):
            self._resting = _RESTS
            return in_flight_before
        return in_flight
