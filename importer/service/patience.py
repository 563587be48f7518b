"""The one retry policy, a value: how often, how long, and how waiting is done. What is tried again, the caller says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")


_LONGEST: Final = 30.0  # seconds, for a service that nobody knows to be there


def _no_hint(_: object) -> float | None:
    return None


def _ignore_wait(_: float) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries an attempt again, with a growing wait that is spread by chance so that senders do not march in step.

    attempts: how many times in all, at least 1, and none after 30 seconds.
    goes_on_for: asked once, when the first attempt failed: seconds for which it is tried however often, 0 for none.
    on_wait: called before each wait, with its seconds.
    first_wait, longest_wait: seconds; the wait doubles from the one up to the other.
    sleep: how waiting is done, in seconds; tests and a halted run wait otherwise.
    """

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    goes_on_for: Callable[[], float] = float
    on_wait: Callable[[float], None] = _ignore_wait

    def run(
        self,
        attempt: Callable[[], T],
        again: Callable[[T], bool],
        hint: Callable[[T], float | None] = _no_hint,
    ) -> T:
        """Call `attempt` until `again` is false of its result, or the attempts are used up; give the last result.

        `hint` reads a wait in seconds off a result (a Retry-After); it takes the place of our own wait.
        """
        first = attempt()
        if not again(first):
            return first
        import tenacity  # a run whose every question is answered does not wait for it to load

        made = [first]
        backoff = tenacity.wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)

        def wait(state: tenacity.RetryCallState) -> float:
            assert state.outcome is not None  # tenacity asks only after an attempt
            asked = hint(state.outcome.result())
            return backoff(state) if asked is None else asked

        def last_result(state: tenacity.RetryCallState) -> T:
            assert state.outcome is not None
            result: T = state.outcome.result()
            return result

        patience = self.goes_on_for()
        few = tenacity.stop_after_attempt(self.attempts) | tenacity.stop_after_delay(_LONGEST)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_delay(patience) if patience else few,
            wait=wait,
            retry=tenacity.retry_if_result(again),
            sleep=self.sleep,
            before_sleep=lambda state: self.on_wait(state.upcoming_sleep),
            retry_error_callback=last_result,
        )
        return retrying(lambda: made.pop() if made else attempt())
