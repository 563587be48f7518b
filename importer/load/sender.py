"""Sends rows in three stages, connected by two queues.

    intend -> (the ledger writes the intent) -> _intended
        ready
    send_ready -> _send_next -> (the service responds)
    _answered -> _record_answer: `next_step` decides what follows
        done, or waiting until it is due: then `intend` again, since each request has its own intent

It has no thread of its own: `_intended` runs on the ledger's thread, `_answered` on the transport's, and the thread
that frees capacity sends the next request.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Final, NamedTuple, Protocol

from importer.ledger import Answered, Attempt, Intent, LedgerStore, LedgerUnwritable, NotAllowed, RunRecord, State
from importer.load.explanations import duplicate_of, ledger_lost, outcome_of
from importer.load.jobs import TINY, Job, Next, PriorAttempt, ReadyRows, WaitingRows
from importer.load.next_step import Conditions, RunState, after_answer
from importer.load.options import Cancellation, LoadOptions, Wakeup
from importer.load.rate_limiter import RateLimiter
from importer.models import Operation, Outcome, Stop, Target
from importer.service import NoReply, OnAnswer, Reply

IDLE: Final = 1.0  # seconds: the longest wait if nothing is due


class Service(Protocol):
    """Sends one body once and reports the response; never raises for what the service does."""

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None: ...


class RequestAnswered(NamedTuple):
    """A request of a row whose response was received or lost. status: None if lost. is_settled: it is not repeated."""

    row: int
    attempt: int
    status: int | None
    seconds: float
    is_settled: bool


class Sender:
    """Sends the caller's jobs and returns an outcome for each. The caller uses one thread at a time.

    on_answer: called with each request on the thread of the transport; it must be quick.
    `state`, `limiter`, `ready`, `waiting` and the counts change only under `lock`.
    """

    def __init__(
        self,
        service: Service,
        ledger: LedgerStore,
        run: RunRecord,
        options: LoadOptions,
        cancellation: Cancellation,
        *,
        has_answered: bool,
        on_answer: Callable[[RequestAnswered], None],
    ) -> None:
        self._service = service
        self._ledger = ledger
        self._run = run
        self._target = run.scope.target
        self._options = options
        self._cancellation = cancellation
        self._on_answer = on_answer
        self.lock = threading.Lock()
        self.state = RunState(progress_at=cancellation.now(), has_answered=has_answered)
        self.ready = ReadyRows()
        self.waiting = WaitingRows()
        self.intending = 0
        self.in_flight = 0
        self.is_probing = False
        self._is_closed = False
        self._done: SimpleQueue[Outcome | BaseException] = SimpleQueue()
        self._wakeup = Wakeup()
        self._idle_until: float | None = None  # until when the caller waits, if it does
        self._this_thread = _ThisThread()
        self.limiter = RateLimiter(options.concurrency, options.rate)

    # --- planning: write the intent of a row ---

    def intend(self, job: Job) -> None:
        """Queue the intent of a job's next request; once it is on disk, the job is ready."""
        with self.lock:
            if not (job.attempts or self.has_work()):
                self.state = self.state._replace(progress_at=self._cancellation.now())
            self.intending += 1
        intent = Intent(self._attempt(job, job.attempts + 1), job.body_digest)
        on_done = partial(self._intended, job)
        self._ledger.write_intent(intent, on_done)

    def intend_next(self, kinds: Sequence[Next], now: float) -> bool:
        """Queue the intent of the first due row of these kinds; returns whether there was one."""
        if not self.waiting:
            return False
        with self.lock:
            job = self.waiting.take_due(kinds, now)
        if job is not None:
            self.intend(job)
        return job is not None

    def _intended(self, job: Job, refusal: Exception | None) -> None:
        """On the ledger's thread: the intent is on disk, or was refused."""
        if isinstance(refusal, LedgerUnwritable):
            self.end(ledger_lost(refusal))
        with self.lock:
            self.intending -= 1
            if refusal is None:
                self.ready.add(job)
            elif isinstance(refusal, NotAllowed) and job.prior is PriorAttempt.NONE:
                self._done.put(duplicate_of(job.row, refusal.row))
            elif isinstance(refusal, (LedgerUnwritable, NotAllowed)):
                self._done.put(outcome_of(job, job.state_if_not_sent, self.state.stop))
            else:
                self._done.put(refusal)  # a bug of ours
        self.send_ready()
        self._wake_caller()

    # --- sending: a ready row is sent when run and rate allow ---

    def send_ready(self) -> None:
        """Send what can be sent; called on any thread when a job is ready or capacity is free."""
        if self._this_thread.sends:
            return  # called from within `start`: the loop below continues anyway
        self._this_thread.sends = True
        try:
            while self.ready and self._may_have_capacity() and self._send_next():
                pass
        finally:
            self._this_thread.sends = False

    def _may_have_capacity(self) -> bool:
        """Checked without the lock, which is often held. The thread that frees capacity calls `send_ready` again."""
        return self.in_flight < self.limiter.ceiling or self.state.suspension is not None

    def _send_next(self) -> bool:
        with self.lock:
            now = self._cancellation.now()
            job = self._take_next(now)
            if job is None:
                return False
            self.limiter.request_sent(now)
            self.in_flight += 1
        on_done = partial(self._answered, job, now)
        try:
            self._service.start(self._target, job.body, on_done)
        except BaseException as bug:  # noqa: BLE001 - raised again in `outcomes`
            on_done(bug)
        return True

    def _take_next(self, now: float) -> Job | None:
        """The job to send now, if any. Under the lock."""
        state = self.state
        if state.stop is not None or self._is_closed or self._cancellation.is_set() or self._cancellation.is_paused:
            return None
        if not self._ledger.is_lock_proven():
            if self._idle_until is not None:
                self._wakeup.wake()  # the caller asks the ledger
            return None
        if state.suspension is not None:
            if self.is_probing or state.suspension.until > now + TINY:
                return None
            probe = self._take_probe(needs_unconfirmed=state.suspension.kind == "inconclusive")
            self.is_probing = probe is not None
            return probe._replace(is_probe=True) if probe is not None else None
        if not self.ready or self.in_flight >= (1 if state.is_sequential else self.limiter.ceiling):
            return None
        next_at = self.limiter.next_request_at(now)
        if next_at > now + TINY:
            if self._idle_until is not None and next_at < self._idle_until:
                self._wakeup.wake()  # the caller must wait until then
            return None
        return self.ready.take()

    def _take_probe(self, *, needs_unconfirmed: bool) -> Job | None:
        """A row to probe with: an unconfirmed one if required; for a pool without any, a new one."""
        if needs_unconfirmed:
            probe = self.ready.take_unconfirmed()
            if probe is not None or self._target.operation is Operation.APPLY:
                return probe
        return self.ready.take() if self.ready else None

    # --- recording: write the response and decide what follows ---

    def _answered(self, job: Job, sent_at: float, answer: Reply | NoReply | BaseException) -> None:
        """On the thread of the transport."""
        with self.lock:
            self.in_flight -= 1
            if job.is_probe:
                self.is_probing = False
            try:
                if isinstance(answer, BaseException):
                    raise answer
                self._record_answer(job, sent_at, answer)
            except BaseException as bug:  # noqa: BLE001 - raised again in `outcomes`
                self._done.put(bug)
        self.send_ready()
        self._wake_caller()

    def _record_answer(self, job: Job, sent_at: float, answer: Reply | NoReply) -> None:
        """Record a response and apply what follows for its row and the run. Under the lock."""
        now = self._cancellation.now()
        step = after_answer(self.state, job, answer, self.conditions(now))
        self._record(step.job, step.job.attempts, step.state)
        self.limiter.answered(now, sent_at, answer, waited=bool(self.ready))
        suspension = step.run.suspension
        if self.state.suspension is None and suspension is not None and suspension.kind == "refused":
            self.limiter.cut(now, suspension.until)
        self.change(step.run)
        if step.next is Next.END:
            self._done.put(outcome_of(step.job, step.state, step.run.stop))
        else:
            self.waiting.add(step.job._replace(is_probe=False), step.next, step.due)
        is_settled = step.next is Next.END
        self._on_answer(RequestAnswered(job.row, step.job.attempts, step.job.status, now - sent_at, is_settled))

    def _record(self, job: Job, attempt: int, state: State) -> None:
        status = job.status if attempt == job.attempts else None
        self._ledger.record(Answered(self._attempt(job, attempt), state, status, is_sent=attempt == job.attempts))

    def _attempt(self, job: Job, number: int) -> Attempt:
        return Attempt(job.identity, self._run.run, job.row, number)

    def change(self, state: RunState) -> None:
        """Set the state of the run. Under the lock."""
        before = self.state.suspension
        self.state = state
        if (before is None) != (state.suspension is None):
            if before is not None and before.kind != "refused":
                self.limiter.slow_start()
            self._wakeup.wake()

    # --- on the caller's thread: outcomes, waiting, the end ---

    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes so far. Raises a bug of ours that occurred on another thread."""
        while not self._done.empty():
            outcome = self._done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome

    def wait(self, seconds: float, *, is_busy: bool) -> None:
        """Return when there is something to do, or after so many seconds. is_busy: a request or intent is pending."""
        self._idle_until = self._cancellation.now() + seconds
        if seconds and not self._has_enough_done():
            self._cancellation.wait(self._wakeup, seconds, is_busy=is_busy)
        self._idle_until = None

    def end(self, stop: Stop) -> None:
        """Send nothing new."""
        with self.lock:
            if self.state.stop is None:
                self.state = self.state._replace(stop=stop)

    def close(self) -> None:
        """Send nothing new, and return when every response has arrived and is queued to be written."""
        self._is_closed = True
        try:
            self._ledger.flush()
        except LedgerUnwritable as error:
            self.end(ledger_lost(error))
        while self.in_flight:
            self._cancellation.wait(self._wakeup, IDLE, is_busy=True)
        self.release_unsent()

    def release_unsent(self) -> None:
        """Give an outcome to each job that is not sent any more; record unused intents as such."""
        with self.lock:
            ready, waiting = self.ready.take_all(), self.waiting.take_all()
        for job in ready:
            self._record(job, job.attempts + 1, job.state_if_not_sent or State.PLANNED)
        for job in waiting:
            if job.state_if_not_sent is State.FAILED:
                self._record(job, job.attempts, State.FAILED)
        for job in (*ready, *waiting):
            self._done.put(outcome_of(job, job.state_if_not_sent, self.state.stop))

    def _wake_caller(self) -> None:
        """Wake the caller if it waits and has something to do."""
        if self._idle_until is not None and (self._has_enough_done() or not self.busy or self.state.stop is not None):
            self._wakeup.wake()

    # --- how many ---

    @property
    def busy(self) -> int:
        """The number of rows without an outcome that do not wait to be sent again."""
        return self.intending + len(self.ready) + self.in_flight

    @property
    def has_capacity(self) -> bool:
        """Whether one more row may be planned: up to twice the concurrency, so that intents are written ahead."""
        is_single = self.state.is_sequential or self.state.suspension is not None
        return self.busy < (1 if is_single else 2 * self.limiter.ceiling)

    def has_work(self) -> bool:
        """Whether any job has no outcome yet. Under the lock, since jobs move between queues."""
        return bool(self.busy or self.waiting)

    def _has_enough_done(self) -> bool:
        """Whether there are enough outcomes to collect, or no more are expected.

        Waking a thread costs more than the work for one row, so outcomes are collected in batches.
        """
        done = self._done.qsize()
        is_last = not (self.intending or self.ready)
        return done >= (self.limiter.ceiling + 1) // 2 or (done > 0 and is_last)

    def conditions(self, now: float) -> Conditions:
        return Conditions(self._target, self._options, now, random.random())


class _ThisThread(threading.local):
    sends = False
