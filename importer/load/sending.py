"""Rows on their way: from the intent on disk to the answer, and again where an answer asks for it.

Three stages and two queues. The caller plans: it has intents written (`intend`), and the ledger's thread puts each job
that is on disk into *ready*. Whoever has just made room sends (`_send_those_ready`): the pace and the state of the run
say whether the next one may go. The thread that brings an answer records it, asks `next_step` what comes next, and puts
what is known of the row into *done*, or the row aside until it is due; the caller collects.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from queue import SimpleQueue
from typing import Final, NamedTuple

from importer.ledger import Answered, Attempt, Intent, LedgerStore, LedgerUnwritable, NotAllowed, State
from importer.load.classify import Doubt
from importer.load.halt import Halt, Wakeup
from importer.load.job import Finding, Job
from importer.load.next_step import TINY, Given, RunState, Then, after_answer, after_question, after_time
from importer.load.options import LoadOptions
from importer.load.pace import Pace
from importer.load.stops import INTERRUPTED, Stop, ledger_lost
from importer.models import Operation, Target
from importer.service import NoReply, Reply, SubmitThen

_MOST_BYTES_ASIDE: Final = 32 * 1024 * 1024  # of bodies that wait in memory to be sent again
_WORTH_TELLING: Final = 1.5  # seconds of waiting
_RESENDS: Final = "rows whose answers were lost or inconclusive are sent again after a delay"
_ASKED: Final = "the service asked to wait"
_IDLE: Final = 1.0  # seconds: the longest wait where nothing is known to come


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

    told: called in the caller's thread with what is waited for, and with None when sending goes on.
    """

    start: SubmitThen
    ledger: LedgerStore
    run: str
    target: Target
    options: LoadOptions
    halt: Halt
    probe: Callable[[], bool]
    told: Callable[[Waiting | None], None]


class Sending:
    """Sends jobs that its caller hands in, one caller's thread at a time, and gives a finding for each.

    `state` and `pace` change only under the lock; what is aside belongs to the caller's thread but for `_put_aside`.
    """

    def __init__(self, context: SenderContext, *, has_answered: bool) -> None:
        self._context = context
        self._pace = Pace(context.options.in_flight, context.options.rate)
        self._halt = context.halt
        self.state = RunState(progress_at=self._halt.now(), has_answered=has_answered)
        self._lock = threading.Lock()
        self._fresh: deque[Job] = deque()  # ready, and sent for the first time
        self._again: deque[Job] = deque()  # ready, and sent before
        self._refused: list[tuple[float, int, Job]] = []  # heaps, by when they are due
        self._unconfirmed: list[tuple[float, int, Job]] = []
        self._last_pass: deque[Job] = deque()
        self._bytes_aside = 0
        self._order = count()
        self._intending = 0
        self._in_flight = 0
        self._is_probing = False
        self._is_last = False
        self._is_closed = False
        self._done: SimpleQueue[Finding | BaseException] = SimpleQueue()
        self._wakeup = Wakeup()
        self._is_idle = False
        self._idle_until = 0.0
        self._told: str | None = None  # what is waited for, as it was told last
        self._told_break = False
        self._this_thread = _ThisThread()

    # --- for the caller's thread ---

    @property
    def stop(self) -> Stop | None:
        return self.state.stop

    @property
    def learned_rate(self) -> float | None:
        return self._pace.learned_rate

    def has_room(self) -> bool:
        """Whether one more job may be handed in: enough for those who send, and not much more."""
        if self.stop is not None:
            return True
        return self._busy < self._most_busy() and not self._is_full

    def is_over(self) -> bool:
        """Whether every job that was handed in has its finding."""
        with self._lock:  # in which a job gives up its place and gets its finding
            return not self._has_work()

    def no_more(self) -> None:
        """No new job is handed in: what was unconfirmed is sent again, when it is due."""
        self._is_last = True

    def intend(self, job: Job) -> None:
        """Have the intent of a job's next request written; when it is on disk, the job is ready."""
        with self._lock:
            if not (job.attempts or self._has_work()):
                self.state = self.state._replace(progress_at=self._halt.now())
            self._intending += 1
        context = self._context
        attempt = Attempt(job.identity, context.run, job.row, job.attempts + 1)

        def then(refusal: Exception | None) -> None:
            self._intended(job, refusal)

        context.ledger.intend_then(Intent(attempt, job.body_digest), then)

    def collect(self) -> Iterator[Finding]:
        """The findings that are there. Raises what broke a thread: a bug of ours."""
        while not self._done.empty():
            finding = self._done.get()
            if isinstance(finding, BaseException):
                raise finding
            yield finding

    def go_on(self) -> None:
        """Do what is due by now, and nothing that waits."""
        now = self._halt.now()
        if self._halt.is_set():
            self.end(INTERRUPTED)
        given = self._given(now)
        if after_time(self.state, given).stop is not None:  # seldom: the lock is others' most of the time
            with self._lock:
                if self._has_work():
                    self.state = after_time(self.state, given)
        if self.stop is not None:
            self._give_back()
            return
        if self._last_pass:
            self._begin_last_pass(now)
        if self.state.interruption is not None:
            self._see_whether_it_is_well(now)
        else:
            self._intend_those_due(now)
        self._send_those_ready()
        if self._told_break and self.state.interruption is None:
            self._told_break = False
            self._context.told(None)

    def idle(self) -> None:
        """Wait until there is something to do: a finding, room, or a time that has come."""
        now = self._halt.now()
        if len(self._fresh) + len(self._again) <= self._at_once() // 4:
            self._context.ledger.flush_soon()
        is_busy = self._has_something_under_way(now)  # first: where nothing is, nothing changes what is waited for
        seconds = self._seconds_to_wait(now)
        self._tell(seconds)
        self._idle_until = now + seconds
        self._is_idle = True
        if seconds and not self._has_enough_done():
            self._halt.wait(self._wakeup, seconds, is_busy=is_busy)
        self._is_idle = False

    def end(self, stop: Stop) -> None:
        """Send nothing new."""
        with self._lock:
            if self.state.stop is None:
                self.state = self.state._replace(stop=stop)

    def close(self) -> None:
        """Send nothing new, and return when every answer is on its way to the disk."""
        self._is_closed = True
        try:
            self._context.ledger.flush()
        except LedgerUnwritable as error:
            self.end(ledger_lost(error))
        while self._in_flight:
            self._halt.wait(self._wakeup, _IDLE, is_busy=True)
        self._give_back()

    # --- what is due ---

    def _see_whether_it_is_well(self, now: float) -> None:
        """In a break: have one probe sent when its time has come."""
        found = self.state.interruption
        if found is None or self._is_probing or self._intending or found.until > now + TINY:
            return
        if found.kind != "pause":
            if not (self._fresh or self._again):
                self._intend_next_of(self._to_send_again(), now)
        elif self._has_doubtful_ready() or self._intend_next_of((self._unconfirmed,), now):
            pass
        elif self._context.target.operation is Operation.APPLY:
            is_well = self._context.probe()
            with self._lock:
                self._change(after_question(self.state, is_well, self._given(self._halt.now())))
            self._see_whether_it_is_well(self._halt.now())  # after a clear answer the next one at once
        elif not (self._fresh or self._again):
            self._intend_next_of((self._refused,), now)

    def _has_doubtful_ready(self) -> bool:
        with self._lock:
            return any(job.doubt is not Doubt.NONE for job in self._again)

    def _intend_those_due(self, now: float) -> None:
        while self._busy < self._most_busy() and self._intend_next_of(self._to_send_again(), now):
            pass

    def _begin_last_pass(self, now: float) -> None:
        """When all others are done, or no more can wait in memory: what was refused too often has another try."""
        with self._lock:
            if (self._is_last or self._is_full) and self._last_pass and not (self._busy or self._refused):
                for job in self._last_pass:
                    heappush(self._refused, (now, next(self._order), job))
                self._last_pass.clear()

    def _to_send_again(self) -> tuple[list[tuple[float, int, Job]], ...]:
        is_now = self._is_last or self._context.options.settle == "now" or self._is_full
        return (self._refused, self._unconfirmed) if is_now else (self._refused,)

    def _intend_next_of(self, heaps: tuple[list[tuple[float, int, Job]], ...], now: float) -> bool:
        """Take the first that is due out of the first heap that has one."""
        if not any(heaps):
            return False
        with self._lock:
            heap = next((heap for heap in heaps if heap and heap[0][0] <= now + TINY), None)
            if heap is None:
                return False
            job = heappop(heap)[2]
            self._bytes_aside -= len(job.body)
        self.intend(job)
        return True

    def _seconds_to_wait(self, now: float) -> float:
        with self._lock:
            state = self.state
            gives_up_at = state.progress_at + self._context.options.patience
            found, heaps = state.interruption, self._to_send_again()
            times = []
            if found is not None and found.until > now + TINY:
                heaps, times = (), [] if self._is_probing else [found.until]
            elif found is not None:
                probes = self._to_send_again() if found.kind != "pause" else (self._unconfirmed, self._refused)
                heaps = () if self._is_probing or self._fresh or self._again else probes
            elif self._busy >= self._most_busy():
                heaps = ()
            if found is None and (self._fresh or self._again):
                times.append(self._pace.turn())
            times += [heap[0][0] for heap in heaps if heap]
            times.append(gives_up_at)
            is_due = any(time <= now + TINY for time in times)
            if is_due and not (self._intending or self._in_flight):
                return 0.0  # the last answer has just come, and what waited for it may go
        # What else is due waits for an answer or for the disk, which wake us.
        return min((time - now for time in times if time > now + TINY), default=_IDLE)

    def _tell(self, seconds: float) -> None:
        """Say what is waited for, once for each reason and time."""
        if self.stop is not None:
            return
        found = self.state.interruption
        rows = len(self._refused) + len(self._unconfirmed) + len(self._last_pass)
        if found is not None:  # its probe may be on its way
            reason, seconds = found.reason, found.until - self._halt.now()
        elif found is None and not self._busy and rows:
            reason = _RESENDS if self._unconfirmed else _ASKED
        else:
            return
        if seconds < _WORTH_TELLING or self._told == (told := f"{reason} {self._halt.now() + seconds:.0f}"):
            return
        self._told, self._told_break = told, found is not None
        gives_up_in = self.state.progress_at + self._context.options.patience - self._halt.now()
        self._context.told(Waiting(reason, seconds, rows, gives_up_in))

    # --- sending ---

    def _intended(self, job: Job, refusal: Exception | None) -> None:
        """In the ledger's thread: the job is on disk, or was refused there."""
        if isinstance(refusal, LedgerUnwritable):
            self.end(ledger_lost(refusal))
        with self._lock:
            self._intending -= 1
            if refusal is None:
                (self._again if job.attempts else self._fresh).append(job)
            elif isinstance(refusal, NotAllowed) and job.doubt is Doubt.NONE:
                self._done.put(Finding(job, None, is_duplicate=True, other_row=refusal.row))
            elif isinstance(refusal, (LedgerUnwritable, NotAllowed)):
                self._done.put(_left(job))
            else:
                self._done.put(refusal)  # a bug of ours
        self._send_those_ready()
        self._wake()

    def _send_those_ready(self) -> None:
        """Called whenever a job has become ready or may go: from any thread."""
        if self._this_thread.sends:
            return  # an answer that came at once: whoever sends goes on by himself
        self._this_thread.sends = True
        try:
            while (self._fresh or self._again) and self._may_have_room() and self._send_next():
                pass
        finally:
            self._this_thread.sends = False

    def _may_have_room(self) -> bool:
        """A look without the lock, which others hold often: whoever makes room sends after that."""
        return self._in_flight < self._at_once() or self.state.interruption is not None

    def _send_next(self) -> bool:
        with self._lock:
            now = self._halt.now()
            job = self._take_next(now)
            if job is None:
                return False
            self._pace.goes(now)
            self._in_flight += 1

        def on_done(answer: Reply | NoReply | BaseException) -> None:
            self._answered(job, now, answer)

        try:
            self._context.start(self._context.target, job.body, on_done)
        except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
            on_done(bug)
        return True

    def _take_next(self, now: float) -> Job | None:
        """The job that may go now. Under the lock."""
        state = self.state
        if state.stop is not None or self._is_closed or self._halt.is_set():
            return None
        if state.interruption is not None:
            if self._is_probing or state.interruption.until > now + TINY:
                return None
            probe = self._take_probe(is_hold=state.interruption.kind != "pause")
            self._is_probing = probe is not None
            return probe._replace(is_probe=True) if probe is not None else None
        if not (self._fresh or self._again) or self._in_flight >= (1 if state.goes_singly else self._at_once()):
            return None
        turn = self._pace.turn()
        if turn > now + TINY:
            if self._is_idle and turn < self._idle_until:
                self._wakeup.wake()  # who waits is to wait for this turn
            return None
        return (self._again or self._fresh).popleft()

    def _take_probe(self, *, is_hold: bool) -> Job | None:
        """After inconclusive answers one that is in doubt already; of a pool, where none is due, a new one."""
        for job in self._again:
            if is_hold or job.doubt is not Doubt.NONE:
                self._again.remove(job)
                return job
        if is_hold or self._context.target.operation is Operation.ADD_TO_POOL:
            ready = self._fresh or self._again
            return ready.popleft() if ready else None
        return None

    def _answered(self, job: Job, went: float, answer: Reply | NoReply | BaseException) -> None:
        """In the thread that brought the answer."""
        bug: BaseException | None = answer if isinstance(answer, BaseException) else None
        with self._lock:
            self._in_flight -= 1
            if job.is_probe:
                self._is_probing = False
            if not isinstance(answer, BaseException):
                try:
                    self._learn(job, went, answer)
                except BaseException as ours:  # noqa: BLE001 - raised again where the findings are collected
                    bug = ours
            if bug is not None:
                self._done.put(bug)
        self._send_those_ready()
        self._wake()

    def _learn(self, job: Job, went: float, answer: Reply | NoReply) -> None:
        """Record an answer, and do with its row and the run what comes next. Under the lock."""
        now = self._halt.now()
        step = after_answer(self.state, job, answer, self._given(now))
        finding = step.finding
        if step.then is Then.END and finding.state is State.PLANNED:
            finding = finding._replace(state=State.FAILED)
        assert finding.state is not None
        self._record(job, job.attempts + 1, finding.state, finding.status)
        self._pace.answered(now, went, answer, waited=bool(self._fresh or self._again))
        found = step.run.interruption
        if self.state.interruption is None and found is not None and found.kind == "refused":
            self._pace.cut(now, found.until)
        self._change(step.run)
        again = finding.job._replace(is_probe=False)
        if step.then is Then.END:
            self._done.put(finding)
        elif step.then is Then.WAIT:
            self._push(self._refused, step.due, again)
        elif step.then is Then.RESEND:
            self._push(self._unconfirmed, step.due, again)
        else:
            self._last_pass.append(again)
            self._bytes_aside += len(again.body)

    def _change(self, state: RunState) -> None:
        before = self.state.interruption
        self.state = state
        if (before is None) != (state.interruption is None):
            if before is not None and before.kind != "refused":
                self._pace.begin_slowly()
            self._wakeup.wake()

    def _push(self, heap: list[tuple[float, int, Job]], due: float, job: Job) -> None:
        heappush(heap, (due, next(self._order), job))
        self._bytes_aside += len(job.body)

    # --- the end ---

    def _give_back(self) -> None:
        """A finding for each job that is not sent any more; of those whose intent is on disk, that it never left."""
        with self._lock:
            ready = [*self._fresh, *self._again]
            aside = [*(job for *_, job in (*self._refused, *self._unconfirmed)), *self._last_pass]
            for each in (self._fresh, self._again, self._refused, self._unconfirmed, self._last_pass):
                each.clear()
            self._bytes_aside = 0
        for job in ready:
            left = _left(job)
            self._record(job, job.attempts + 1, left.state or State.PLANNED, None)
            self._done.put(left)
        for job in aside:
            left = _left(job)
            if left.state is State.FAILED:
                self._record(job, job.attempts, State.FAILED, left.status)
            self._done.put(left)

    def _record(self, job: Job, attempt: int, state: State, status: int | None) -> None:
        self._context.ledger.record(Answered(Attempt(job.identity, self._context.run, job.row, attempt), state, status))

    # --- how many ---

    def _has_something_under_way(self, now: float) -> bool:
        """Whether something comes without time passing: an intent, an answer, or one that is just being sent."""
        with self._lock:
            found = self.state.interruption
            goes_at = self._pace.turn() if found is None else found.until
            is_ready = bool(self._fresh or self._again) and goes_at <= now + TINY and self.stop is None
            return bool(self._intending or self._in_flight or is_ready)

    def _has_work(self) -> bool:
        return bool(self._busy or self._refused or self._unconfirmed or self._last_pass)

    @property
    def _is_full(self) -> bool:
        return self._bytes_aside >= _MOST_BYTES_ASIDE

    @property
    def _busy(self) -> int:
        return self._intending + len(self._fresh) + len(self._again) + self._in_flight

    def _at_once(self) -> int:
        return self._pace.ceiling

    def _most_busy(self) -> int:
        """As many again as may be sent, whose intents are written while the others are on their way."""
        is_single = self.state.goes_singly or self.state.interruption is not None
        return 1 if is_single else 2 * self._at_once()

    def _has_enough_done(self) -> bool:
        """Whether there are enough findings to collect, or no others come.

        Waking a thread costs more than the work for one row, so findings are collected in batches.
        """
        done = self._done.qsize()
        is_last = not (self._intending or self._fresh or self._again)
        return done >= (self._at_once() + 1) // 2 or (done > 0 and is_last)

    def _wake(self) -> None:
        """Have the caller go on, where it waits and has something to do."""
        if self._is_idle and (self._has_enough_done() or not self._busy or self.stop is not None):
            self._wakeup.wake()

    def _given(self, now: float) -> Given:
        return Given(self._context.target, self._context.options, now, random.random())


def _left(job: Job) -> Finding:
    """What is known of a job that is not sent any more."""
    if job.doubt is not Doubt.NONE:
        return Finding(job, State.UNCLEAR)
    return Finding(job, State.FAILED if job.attempts else None)


class _ThisThread(threading.local):
    sends = False
