"""The threads that send: each takes a row, waits for its turn, sends, and tells the loop what the service said.

What is proven not processed (429, no connection) is sent again by the same thread, which waits with its row: when all
are refused, all wait. Before a long wait the thread tells the loop, which no longer counts the row as sent, and asks
again before it sends.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

import tenacity

from importer.sending.answers import Disposition, Job, classify
from importer.sending.options import Cancellation
from importer.sending.pace import Pace
from importer.service import NoReply, Reply

LONG_WAIT: Final = 2.0  # seconds: from here on a waiting row is written as not accepted
_OLDEST_INTENT: Final = 5.0  # seconds: a process that was suspended for longer may have lost its target to another run
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds; each next one is twice as long
_REFUSALS: Final = frozenset({425, 429})


class Replied(NamedTuple):
    """A response that the loop judges, after so many seconds."""

    job: Job
    answer: Reply | NoReply
    seconds: float


class Waits(NamedTuple):
    """The sender waits with the row for so long. answer: to a request that was not processed; None: its turn is far."""

    job: Job
    answer: Reply | NoReply | None
    seconds: float
    wait: float


class Asks(NamedTuple):
    """After a long wait: may the row be sent now? The loop answers in `job.may_go`."""

    job: Job


class Unsent(NamedTuple):
    """The row comes back: the run has paused or ended, or the intent is too old."""

    job: Job


class Probed(NamedTuple):
    """Whether the service responds to a harmless request."""

    is_healthy: bool


class Broken(NamedTuple):
    """A bug of ours. job: the row whose response is unknown now; None: it was a probe."""

    bug: BaseException
    job: Job | None


Told = Replied | Waits | Asks | Unsent | Probed | Broken


class Senders:
    """Threads that send, and what they tell.

    send: sends one body once. probe: makes a harmless request. patience: seconds after which a row that is refused
    again and again is given back with its last answer.
    """

    def __init__(
        self,
        number: int,
        send: Callable[[bytes], Reply | NoReply],
        probe: Callable[[], bool],
        pace: Pace,
        cancellation: Cancellation,
        patience: float,
    ) -> None:
        self.told: queue.Queue[Told] = queue.Queue()  # no SimpleQueue: see `Cancellation.collect`
        self._send = send
        self._probe = probe
        self._pace = pace
        self._clock = cancellation
        self._patience = patience
        self._rows: queue.SimpleQueue[Job | bool] = queue.SimpleQueue()  # True: a probe; False: the end
        self._number = number
        self._threads = 0
        self._has_ended = threading.Event()

    def send(self, job: Job) -> None:
        """Queue a row, whose intent is on disk."""
        self._put(job)

    def probe(self) -> None:
        self._put(True)

    def waiting(self) -> int:
        """How many rows no thread has taken yet."""
        return self._rows.qsize()

    def take_back(self) -> list[Job]:
        """The rows that no thread has taken yet."""
        rows: list[Job] = []
        is_probing = False
        with suppress(queue.Empty):
            while not self._has_ended.is_set():
                row = self._rows.get_nowait()
                if isinstance(row, Job):
                    rows.append(row)
                else:
                    is_probing = True
        if is_probing:
            self._put(True)
        return rows

    def end(self) -> None:
        """Send nothing new. Requests under way finish; waiting threads give their rows back."""
        if self._has_ended.is_set():
            return
        self._has_ended.set()
        for _ in range(self._threads):
            self._rows.put(False)

    def _put(self, row: Job | bool) -> None:
        if self._threads < self._number:
            self._threads += 1
            # Daemon threads: an interrupted process does not wait for pending responses.
            threading.Thread(target=self._work, name=f"sender {self._threads}", daemon=True).start()
        self._rows.put(row)

    # --- on a thread of its own ---

    def _work(self) -> None:
        while row := self._rows.get():
            try:
                self.told.put(Probed(self._probe()) if row is True else self._deliver(row))
            except BaseException as bug:  # noqa: BLE001 - raised again by the loop
                self.told.put(Broken(bug, None if row is True else row))

    def _deliver(self, job: Job) -> Replied | Unsent:
        """Send a row until the service has processed it, or patience is over."""
        answered = self._attempt(job, must_ask=False)
        if not _is_not_processed(answered):
            return answered
        found, since = [answered], self._clock.now()
        must_ask = [False]

        def tell(state: tenacity.RetryCallState) -> None:
            told, wait = _result(state), state.upcoming_sleep
            if isinstance(told, Replied):
                self.told.put(Waits(job, told.answer, told.seconds, wait))
            must_ask[0] = wait > LONG_WAIT

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(_is_not_processed),
            wait=_wait,
            stop=lambda _: self._has_ended.is_set() or self._clock.now() - since >= self._patience,
            sleep=lambda seconds: self._clock.sleep(self._has_ended, seconds),
            before_sleep=tell,
            retry_error_callback=_result,
        )
        last: Replied | Unsent = retrying(lambda: found.pop() if found else self._attempt(job, must_ask=must_ask[0]))
        return last

    def _attempt(self, job: Job, *, must_ask: bool) -> Replied | Unsent:
        """Send a row once, when its turn has come."""
        now = self._clock.now()
        turn = self._pace.next_turn(now)
        if turn - now > LONG_WAIT and not must_ask:
            self.told.put(Waits(job, None, 0.0, turn - now))
            must_ask = True
        if turn > now:
            self._clock.sleep(self._has_ended, turn - now)
        if must_ask and not self._has_ended.is_set():
            self.told.put(Asks(job))
            if not job.may_go.get():
                return Unsent(job)
        began = self._clock.now()
        if self._has_ended.is_set() or self._clock.is_paused or self._clock.uptime() - job.intended_at > _OLDEST_INTENT:
            return Unsent(job)
        answer = self._send(job.body)
        now = self._clock.now()
        self._pace.answered(now, is_refused=isinstance(answer, Reply) and answer.status in _REFUSALS)
        return Replied(job, answer, now - began)


def _is_not_processed(told: Replied | Unsent) -> bool:
    return isinstance(told, Replied) and classify(told.answer) is Disposition.AGAIN


def _result(state: tenacity.RetryCallState) -> Replied | Unsent:
    assert state.outcome is not None  # tenacity calls this only after an attempt
    found: Replied | Unsent = state.outcome.result()
    return found


_backoff = tenacity.wait_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT) + tenacity.wait_random(0, 0.25)


def _wait(state: tenacity.RetryCallState) -> float:
    """Retry-After, or a backoff. A token that was replaced meanwhile needs no wait."""
    told = _result(state)
    answer = told.answer if isinstance(told, Replied) else None
    if isinstance(answer, Reply):
        if answer.is_outdated:
            return 0.0
        if answer.retry_after is not None:
            return answer.retry_after
    return _backoff(state)
