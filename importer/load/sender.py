"""A row on its way through three stages, which two queues join.

    intend -> (the ledger writes its intent) -> _intended
        ready
    send_ready -> _send_next -> (the service answers)
    _answered -> _record_answer: what comes next, by `next_step`
        done, or waiting until it is due: then `intend` once more, since each request has an intent of its own

It needs no thread of its own: `_intended` runs on the ledger's thread, `_answered` on the transport's, and whoever has
just made room sends the next request.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Final, Protocol

from importer.ledger import Answered, Attempt, Intent, LedgerStore, LedgerUnwritable, NotAllowed, RunRecord, State
from importer.load.explanations import Stop, duplicate_of, ledger_lost, outcome_of
from importer.load.jobs import TINY, Job, Next, PriorAttempt, ReadyRows, WaitingRows
from importer.load.next_step import Conditions, RunState, after_answer
from importer.load.options import Cancellation, LoadOptions, Wakeup
from importer.load.rate_limiter import RateLimiter
from importer.models import Operation, Outcome, Target
from importer.service import NoReply, OnAnswer, Reply

IDLE: Final = 1.0  # seconds: the longest wait where nothing is known to come


class Service(Protocol):
    """Where requests go: starts to send one body once, and reports its answer; raises for nothing the service does."""

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None: ...


class Sender:
    """Sends jobs that its caller hands in, one caller's thread at a time, and gives an outcome for each.

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
    ) -> None:
        self._service = service
        self._ledger = ledger
        self._run = run.run
        self._target = run.scope.target
        self._options = options
        self._cancellation = cancellation
        self.lock = threading.Lock()
        self.state = RunState(progress_at=cancellation.now(), has_answered=has_answered)
        self.limiter = RateLimiter(options.concurrency, options.rate)
        self.ready = ReadyRows()
        self.waiting = WaitingRows()
        self.intending = 0
        self.in_flight = 0
        self.is_probing = False
        self._is_closed = False
        self._done: SimpleQueue[Outcome | BaseException] = SimpleQueue()
        self._wakeup = Wakeup()
        self._idle_until: float | None = None  # until when the caller waits; None: it does not wait
        self._this_thread = _ThisThread()

    # --- planning: a row gets its intent ---

    def intend(self, job: Job) -> None:
        """Have the intent of a job's next request written; when it is on disk, the job is ready."""
        with self.lock:
            if not (job.attempts or self.has_work()):
                self.state = self.state._replace(progress_at=self._cancellation.now())
            self.intending += 1
        intent = Intent(self._attempt(job, job.attempts + 1), job.body_digest)
        on_done = partial(self._intended, job)
        self._ledger.write_intent(intent, on_done)

    def intend_next(self, kinds: Sequence[Next], now: float) -> bool:
        """Take up the first row of these kinds that is due to be sent again; whether there was one."""
        if not self.waiting:
            return False
        with self.lock:
            job = self.waiting.take_due(kinds, now)
        if job is not None:
            self.intend(job)
        return job is not None

    def _intended(self, job: Job, refusal: Exception | None) -> None:
        """In the ledger's thread: the intent is on disk, or was refused there."""
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

    # --- sending: a row that is ready goes out when the run and its rate allow ---

    def send_ready(self) -> None:
        """Called whenever a job has become ready or may go: from any thread."""
        if self._this_thread.sends:
            return  # an answer that came at once: whoever sends goes on by itself
        self._this_thread.sends = True
        try:
            while self.ready and self._may_have_room() and self._send_next():
                pass
        finally:
            self._this_thread.sends = False

    def _may_have_room(self) -> bool:
        """A look without the lock, which others hold often: whoever makes room sends after that."""
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
        except BaseException as bug:  # noqa: BLE001 - raised again where the outcomes are collected
            on_done(bug)
        return True

    def _take_next(self, now: float) -> Job | None:
        """The job that may go now. Under the lock."""
        state = self.state
        if state.stop is not None or self._is_closed or self._cancellation.is_set() or self._cancellation.is_paused:
            return None
        if state.suspension is not None:
            if self.is_probing or state.suspension.until > now + TINY:
                return None
            probe = self._take_probe(needs_unconfirmed=state.suspension.kind == "inconclusive")
            self.is_probing = probe is not None
            return probe._replace(is_probe=True) if probe is not None else None
        if not self.ready or self.in_flight >= (1 if state.is_sequential else self.limiter.ceiling):
            return None
        next_at = self.limiter.next_request_at()
        if next_at > now + TINY:
            if self._idle_until is not None and next_at < self._idle_until:
                self._wakeup.wake()  # the caller is to wait for this time
            return None
        return self.ready.take()

    def _take_probe(self, *, needs_unconfirmed: bool) -> Job | None:
        """After inconclusive answers one that is unconfirmed already; of a pool, where none is due, any."""
        if needs_unconfirmed:
            probe = self.ready.take_unconfirmed()
            if probe is not None or self._target.operation is Operation.APPLY:
                return probe
        return self.ready.take() if self.ready else None

    # --- recording: an answer is written down, and says what comes next ---

    def _answered(self, job: Job, sent_at: float, answer: Reply | NoReply | BaseException) -> None:
        """In the thread that brought the answer."""
        with self.lock:
            self.in_flight -= 1
            if job.is_probe:
                self.is_probing = False
            try:
                if isinstance(answer, BaseException):
                    raise answer
                self._record_answer(job, sent_at, answer)
            except BaseException as bug:  # noqa: BLE001 - raised again where the outcomes are collected
                self._done.put(bug)
        self.send_ready()
        self._wake_caller()

    def _record_answer(self, job: Job, sent_at: float, answer: Reply | NoReply) -> None:
        """Record an answer, and do with its row and the run what comes next. Under the lock."""
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

    def _record(self, job: Job, attempt: int, state: State) -> None:
        status = job.status if attempt == job.attempts else None
        self._ledger.record(Answered(self._attempt(job, attempt), state, status))

    def _attempt(self, job: Job, number: int) -> Attempt:
        return Attempt(job.identity, self._run, job.row, number)

    def change(self, state: RunState) -> None:
        """Set the state of the run. Under the lock."""
        before = self.state.suspension
        self.state = state
        if (before is None) != (state.suspension is None):
            if before is not None and before.kind != "refused":
                self.limiter.slow_start()
            self._wakeup.wake()

    # --- the caller's thread: outcomes, waiting, the end ---

    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes that there are. Raises what broke a thread: a bug of ours."""
        while not self._done.empty():
            outcome = self._done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome

    def wait(self, seconds: float, *, is_busy: bool) -> None:
        """Return when there is something to do, or when the seconds are over. is_busy: something is on its way."""
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
        """Send nothing new, and return when every answer is on its way to the disk."""
        self._is_closed = True
        try:
            self._ledger.flush()
        except LedgerUnwritable as error:
            self.end(ledger_lost(error))
        while self.in_flight:
            self._cancellation.wait(self._wakeup, IDLE, is_busy=True)
        self.release_unsent()

    def release_unsent(self) -> None:
        """An outcome for each job that is not sent any more; of those whose intent is on disk, that it never left."""
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
        """Have the caller go on, where it waits and has something to do."""
        if self._idle_until is not None and (self._has_enough_done() or not self.busy or self.state.stop is not None):
            self._wakeup.wake()

    # --- how many ---

    @property
    def busy(self) -> int:
        """Rows that have been handed in, and do not wait to be sent again."""
        return self.intending + len(self.ready) + self.in_flight

    @property
    def has_capacity(self) -> bool:
        """Whether one more row may be on its way: as many again as may be sent, whose intents are written meanwhile."""
        is_single = self.state.is_sequential or self.state.suspension is not None
        return self.busy < (1 if is_single else 2 * self.limiter.ceiling)

    def has_work(self) -> bool:
        """Whether a job that was handed in has no outcome yet. Under the lock, in which a job changes its place."""
        return bool(self.busy or self.waiting)

    def _has_enough_done(self) -> bool:
        """Whether there are enough outcomes to collect, or no others come.

        Waking a thread costs more than the work for one row, so outcomes are collected in batches.
        """
        done = self._done.qsize()
        is_last = not (self.intending or self.ready)
        return done >= (self.limiter.ceiling + 1) // 2 or (done > 0 and is_last)

    def conditions(self, now: float) -> Conditions:
        return Conditions(self._target, self._options, now, random.random())


class _ThisThread(threading.local):
    sends = False
