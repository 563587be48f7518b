"""The one retry policy, a value: how often, how long, and how waiting is done. What is tried again, the caller says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import tenacity

T = TypeVar("T")


def _no_hint(_: object) -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class Patience:
    """Tries an attempt again, with a growing wait that is spread by chance so that senders do not march in step.

    attempts: how many times in all, at least 1.
    first_wait, longest_wait: seconds; the wait doubles from the one up to the other.
    sleep: how waiting is done, in seconds; tests and a halted run wait otherwise.
    """

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def run(
        self,
        attempt: Callable[[], T],
        again: Callable[[T], bool],
        hint: Callable[[T], float | None] = _no_hint,
        first: T | None = None,
    ) -> T:
        """Call `attempt` until `again` is false of its result, or the attempts are used up; give the last result.

        `hint` reads a wait in seconds off a result (a Retry-After); it takes the place of our own wait.
        `first` is the result of the first attempt, where it was made already.
        """
        if first is None:
            first = attempt()
        if self.attempts == 1 or not again(first):
            return first  # nearly always so, and tenacity's bookkeeping costs more than all the rest of a row's life
        import tenacity  # nor does a run whose every request is answered wait for it to load

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

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=wait,
            retry=tenacity.retry_if_result(again),
            sleep=self.sleep,
            retry_error_callback=last_result,
        )
        return retrying(lambda: made.pop() if made else attempt())
