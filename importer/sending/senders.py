"""The threads that send: each takes a row, waits for its turn, sends, and tells the loop what the service said.

What is proven not processed (429, no connection) is sent again by the same thread after a short wait. For a long one,
or after five, it gives the row back: the loop no longer counts it as sent, but keeps its place, so that when all are
refused, all wait.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

import tenacity

from importer.ledger import State
from importer.problems import StoppedEarly
from importer.sending.answers import PendingRow, classify
from importer.sending.options import Cancellation
from importer.sending.pace import Pace
from importer.service import NoReply, Reply

_TRIES: Final = 5  # one shortly after the other, then the loop decides
LONG_WAIT: Final = 1.5  # seconds: from here on a waiting row is written as not accepted
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0  # seconds; each next one is twice as long
TOO_MANY: Final = frozenset({425, 429})  # the service asks for fewer requests


class Replied(NamedTuple):
    """A response that the loop judges, after so many seconds."""

    pending: PendingRow
    answer: Reply | NoReply
    seconds: float


class Refused(NamedTuple):
    """A request that was not processed, after so many seconds; the sender sends it again shortly."""

    pending: PendingRow
    answer: Reply | NoReply
    seconds: float


class Waits(NamedTuple):
    """The row comes back for so long. answer: to a request that was not processed; None: its turn is far."""

    pending: PendingRow
    answer: Reply | NoReply | None
    seconds: float
    wait: float


class Unsent(NamedTuple):
    """The row comes back: the run has paused or ended."""

    pending: PendingRow


class Probed(NamedTuple):
    """Whether the service responds to a harmless request."""

    is_healthy: bool


class Broken(NamedTuple):
    """A bug of ours. pending: the row whose response is unknown now; None: it was a probe."""

    bug: BaseException
    pending: PendingRow | None


Told = Replied | Refused | Waits | Unsent | Probed | Broken


class Senders:
    """Threads that send, and what they tell.

    send: sends one body once. probe: makes a harmless request.
    """

    def __init__(
        self,
        number: int,
        send: Callable[[bytes], Reply | NoReply],
        probe: Callable[[], bool],
        pace: Pace,
        cancellation: Cancellation,
    ) -> None:
        self.told: queue.Queue[Told] = queue.Queue()  # no SimpleQueue: see `Cancellation.collect`
        self._send = send
        self._probe = probe
        self._pace = pace
        self._clock = cancellation
        self._rows: queue.SimpleQueue[PendingRow | bool] = queue.SimpleQueue()  # True: a probe; False: the end
        self._number = number
        self._threads = 0
        self._has_ended = threading.Event()

    def begin(self) -> None:
        """Start the first thread, before there is an intent. Raises StoppedEarly: the system starts none."""
        if not self._starts():
            reason = "this system starts no more threads, so nothing is sent"
            raise StoppedEarly(f"{reason}; end other programs, then run the same command again")

    def send(self, pending: PendingRow) -> None:
        """Queue a row, whose intent is on disk."""
        self._put(pending)

    def probe(self) -> None:
        self._put(True)

    def waiting(self) -> int:
        """How many rows no thread has taken yet."""
        return self._rows.qsize()

    def take_back(self) -> list[PendingRow]:
        """The rows that no thread has taken yet."""
        rows: list[PendingRow] = []
        is_probing = False
        with suppress(queue.Empty):
            while not self._has_ended.is_set():
                row = self._rows.get_nowait()
                if isinstance(row, PendingRow):
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

    def _put(self, row: PendingRow | bool) -> None:
        if self._threads < self._number and not self._starts():
            self._number = self._threads
        self._rows.put(row)

    def _starts(self) -> bool:
        """Start one more thread; False if the system does not."""
        try:
            # Daemon threads: an interrupted process does not wait for pending responses.
            threading.Thread(target=self._work, name=f"sender {self._threads + 1}", daemon=True).start()
        except RuntimeError:
            return False
        self._threads += 1
        return True

    # --- on a thread of its own ---

    def _work(self) -> None:
        while row := self._rows.get():
            try:
                self.told.put(Probed(self._probe()) if row is True else self._deliver(row))
            except BaseException as bug:  # noqa: BLE001 - raised again by the loop
                self.told.put(Broken(bug, None if row is True else row))

    def _deliver(self, pending: PendingRow) -> Told:
        """Send a row until the service has processed it, or it must wait for long."""
        first = self._attempt(pending)
        refusals = pending.refusals  # of earlier times: the loop counts those of this time
        if not _is_not_processed(first):
            return first
        found = [first]
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(_is_not_processed),
            wait=lambda state: wait_after(_result(state).answer, refusals + state.attempt_number),
            stop=lambda state: (
                self._has_ended.is_set() or state.attempt_number == _TRIES or state.upcoming_sleep > LONG_WAIT
            ),
            sleep=lambda seconds: self._clock.sleep(self._has_ended, seconds),
            before_sleep=lambda state: self.told.put(Refused(*_result(state))),
            retry_error_callback=lambda state: Waits(*_result(state), state.upcoming_sleep),
        )
        last: Told = retrying(lambda: found.pop() if found else self._attempt(pending))
        return last

    def _attempt(self, pending: PendingRow) -> Told:
        """Send a row once, when its turn has come."""
        now = self._clock.now()
        turn = self._pace.next_turn(now, pending.turn)
        pending.turn = turn if turn - now > LONG_WAIT else None
        if pending.turn is not None:
            return Waits(pending, None, 0.0, turn - now)
        if turn > now:
            self._clock.sleep(self._has_ended, turn - now)
        began = self._clock.now()
        if self._has_ended.is_set() or self._clock.is_paused:
            return Unsent(pending)
        answer = self._send(pending.body)
        now = self._clock.now()
        self._pace.answered(now, is_refused=isinstance(answer, Reply) and answer.status in TOO_MANY)
        return Replied(pending, answer, now - began)


def _is_not_processed(told: Told) -> bool:
    return isinstance(told, Replied) and classify(told.answer).state is State.PLANNED


def _result(state: tenacity.RetryCallState) -> Replied:
    assert state.outcome is not None  # tenacity calls this only after an attempt
    found: Replied = state.outcome.result()
    return found


def wait_after(answer: Reply | NoReply, refusals: int) -> float:
    """Seconds: Retry-After, or a backoff."""
    if isinstance(answer, Reply) and answer.retry_after is not None:
        return answer.retry_after
    return min(_FIRST_WAIT * 2.0 ** min(refusals - 1, 10), _LONGEST_WAIT) + random.random() / 4
