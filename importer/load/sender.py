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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Final, NamedTuple, Protocol

from importer.ledger import Answered, Attempt, Intent, LedgerStore, LedgerUnwritable, NotAllowed, State
from importer.load.attempts import AttemptResult, Job, PriorAttempt, not_sent_again
from importer.load.cancellation import Cancellation, Wakeup
from importer.load.explanations import Stop, ledger_lost
from importer.load.next_step import TINY, Conditions, Next, RunState, after_answer
from importer.load.options import LoadOptions
from importer.load.rate_limiter import RateLimiter
from importer.load.waiting_rows import ReadyRows, WaitingRows
from importer.models import Operation, Target
from importer.service import NoReply, OnAnswer, Reply

IDLE: Final = 1.0  # seconds: the longest wait where nothing is known to come


class Service(Protocol):
    """Where requests go: starts to send one body once, and reports its answer; raises for nothing the service does."""

    def start(self, target: Target, body: bytes, on_done: OnAnswer) -> None: ...


class Waiting(NamedTuple):
    """Nothing is sent for so many seconds, and why. `gives_up_in`: seconds until the run ends if nothing changes.

    rows: those that wait to be sent again.
    """

    reason: str
    seconds: float
    rows: int
    gives_up_in: float


@dataclass(frozen=True, slots=True)
class SenderContext:
    """What rows of a run are sent with. probe: asks a question that changes nothing, and says whether it was answered.

    on_waiting: called in the caller's thread with what is waited for, and with None when sending goes on.
    """

    service: Service
    ledger: LedgerStore
    run: str
    target: Target
    options: LoadOptions
    cancellation: Cancellation
    probe: Callable[[], bool]
    on_waiting: Callable[[Waiting | None], None]


class Sender:
    """Sends jobs that its caller hands in, one caller's thread at a time, and gives a result for each.

    `state`, `limiter`, `ready` and `waiting` change only under `lock`.
    """

    def __init__(self, context: SenderContext, *, has_answered: bool) -> None:
        self._context = context
        self._cancellation = context.cancellation
        self.lock = threading.Lock()
        self.state = RunState(progress_at=context.cancellation.now(), has_answered=has_answered)
        self.limiter = RateLimiter(context.options.in_flight, context.options.rate)
        self.ready = ReadyRows()
        self.waiting = WaitingRows()
        self.intending = 0
        self.in_flight = 0
        self.is_probing = False
        self._is_closed = False
        self._done: SimpleQueue[AttemptResult | BaseException] = SimpleQueue()
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
        context = self._context
        attempt = Attempt(job.identity, context.run, job.row, job.attempts + 1)

        def on_done(refusal: Exception | None) -> None:
            self._intended(job, refusal)

        context.ledger.intend_then(Intent(attempt, job.body_digest), on_done)

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
                self._done.put(AttemptResult(job, None, is_duplicate=True, other_row=refusal.row))
            elif isinstance(refusal, (LedgerUnwritable, NotAllowed)):
                self._done.put(not_sent_again(job))
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

        def on_done(answer: Reply | NoReply | BaseException) -> None:
            self._answered(job, now, answer)

        try:
            self._context.service.start(self._context.target, job.body, on_done)
        except BaseException as bug:  # noqa: BLE001 - raised again where the results are collected
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
        if not self.ready or self.in_flight >= (1 if state.goes_singly else self.limiter.ceiling):
            return None
        next_at = self.limiter.next_request_at()
        if next_at > now + TINY:
            idle_until = self._idle_until
            if idle_until is not None and next_at < idle_until:
                self._wakeup.wake()  # the caller is to wait for this time
            return None
        return self.ready.take()

    def _take_probe(self, *, needs_unconfirmed: bool) -> Job | None:
        """After inconclusive answers one that is unconfirmed already; of a pool, where none is due, a new one."""
        if not needs_unconfirmed:
            return self.ready.take() if self.ready else None
        probe = self.ready.take_unconfirmed()
        if probe is None and self._context.target.operation is Operation.ADD_TO_POOL:
            probe = self.ready.take_new_first()
        return probe

    # --- recording: an answer is written down, and says what comes next ---

    def _answered(self, job: Job, sent_at: float, answer: Reply | NoReply | BaseException) -> None:
        """In the thread that brought the answer."""
        bug: BaseException | None = answer if isinstance(answer, BaseException) else None
        with self.lock:
            self.in_flight -= 1
            if job.is_probe:
                self.is_probing = False
            if not isinstance(answer, BaseException):
                try:
                    self._record_answer(job, sent_at, answer)
                except BaseException as ours:  # noqa: BLE001 - raised again where the results are collected
                    bug = ours
            if bug is not None:
                self._done.put(bug)
        self.send_ready()
        self._wake_caller()

    def _record_answer(self, job: Job, sent_at: float, answer: Reply | NoReply) -> None:
        """Record an answer, and do with its row and the run what comes next. Under the lock."""
        now = self._cancellation.now()
        step = after_answer(self.state, job, answer, self.conditions(now))
        result = step.result
        if step.next is Next.END and result.state is State.PLANNED:
            result = result._replace(state=State.FAILED)
        assert result.state is not None
        self._record(job, job.attempts + 1, result.state, result.status)
        self.limiter.answered(now, sent_at, answer, waited=bool(self.ready))
        suspension = step.run.suspension
        if self.state.suspension is None and suspension is not None and suspension.kind == "refused":
            self.limiter.cut(now, suspension.until)
        self.change(step.run)
        if step.next is Next.END:
            self._done.put(result)
        else:
            self.waiting.add(result.job._replace(is_probe=False), step.next, step.due)

    def _record(self, job: Job, attempt: int, state: State, status: int | None) -> None:
        self._context.ledger.record(Answered(Attempt(job.identity, self._context.run, job.row, attempt), state, status))

    def change(self, state: RunState) -> None:
        """Set the state of the run. Under the lock."""
        before = self.state.suspension
        self.state = state
        if (before is None) != (state.suspension is None):
            if before is not None and before.kind != "refused":
                self.limiter.begin_slowly()
            self._wakeup.wake()

    # --- the caller's thread: results, waiting, the end ---

    def collect(self) -> Iterator[AttemptResult]:
        """The results that are there. Raises what broke a thread: a bug of ours."""
        while not self._done.empty():
            result = self._done.get()
            if isinstance(result, BaseException):
                raise result
            yield result

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
            self._context.ledger.flush()
        except LedgerUnwritable as error:
            self.end(ledger_lost(error))
        while self.in_flight:
            self._cancellation.wait(self._wakeup, IDLE, is_busy=True)
        self.give_back()

    def give_back(self) -> None:
        """A result for each job that is not sent any more; of those whose intent is on disk, that it never left."""
        with self.lock:
            ready, waiting = self.ready.take_all(), self.waiting.take_all()
        for job in ready:
            left = not_sent_again(job)
            self._record(job, job.attempts + 1, left.state or State.PLANNED, None)
            self._done.put(left)
        for job in waiting:
            left = not_sent_again(job)
            if left.state is State.FAILED:
                self._record(job, job.attempts, State.FAILED, left.status)
            self._done.put(left)

    def _wake_caller(self) -> None:
        """Have the caller go on, where it waits and has something to do."""
        if self._idle_until is not None and (self._has_enough_done() or not self.busy or self.state.stop is not None):
            self._wakeup.wake()

    # --- how many ---

    @property
    def busy(self) -> int:
        """Rows that have been handed in, and do not wait to be sent again."""
        return self.intending + len(self.ready) + self.in_flight

    def most_busy(self) -> int:
        """As many again as may be sent, whose intents are written while the others are on their way."""
        is_single = self.state.goes_singly or self.state.suspension is not None
        return 1 if is_single else 2 * self.limiter.ceiling

    def has_work(self) -> bool:
        """Whether a job that was handed in has no result yet. Under the lock, in which a job changes its place."""
        return bool(self.busy or self.waiting)

    def _has_enough_done(self) -> bool:
        """Whether there are enough results to collect, or no others come.

        Waking a thread costs more than the work for one row, so results are collected in batches.
        """
        done = self._done.qsize()
        is_last = not (self.intending or self.ready)
        return done >= (self.limiter.ceiling + 1) // 2 or (done > 0 and is_last)

    def conditions(self, now: float) -> Conditions:
        return Conditions(self._context.target, self._context.options, now, random.random())


class _ThisThread(threading.local):
    sends = False
