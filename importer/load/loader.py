"""Sends the rows of one target: looks each up in the ledger, and does what is due, on the caller's thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from importer.ledger import DONE, Fingerprints, Known, LedgerStore, LedgerUnwritable, RunRecord, Scope, State
from importer.load.explanations import (
    INTERRUPTED,
    already_imported,
    duplicate_of,
    ledger_lost,
    outcome_of,
    rejected_before,
    unconfirmed_before,
    window_over,
)
from importer.load.jobs import TINY, Job, Next, PriorAttempt
from importer.load.next_step import LONGEST_ODD_TIME, after_pause, after_question_probe, after_time
from importer.load.options import Cancellation, LoadOptions
from importer.load.sender import IDLE, RequestAnswered, Sender, Service
from importer.models import Operation, Outcome, OutcomeKind, ReadyCandidate, Stop

_LARGEST_BATCH: Final = 32  # rows: planning a batch takes a few milliseconds, and no row is sent meanwhile
_WORTH_REPORTING: Final = 1.5  # seconds
Earlier = Callable[[str, int], Outcome | None]


def _unknown(_run: str, _row: int) -> Outcome | None:
    return None


class Waiting(NamedTuple):
    """Why nothing is sent for so many seconds. `gives_up_in`: seconds until the run ends without progress.

    rows: how many wait to be sent again. is_window: it ends then in any case.
    """

    reason: str
    seconds: float
    rows: int
    gives_up_in: float
    is_window: bool = False


class Loader:
    """Sends the candidates of one run to its target, so that each is created only once (design, section 7).

    service: sends one body once, and reports the response.
    ledger, run: a run that was begun in this ledger, under its target's lock.
    probe: makes a read-only request and returns whether it succeeded, while responses are inconclusive.
    has_answered: whether the service has ever responded at this address; if not, the run does not wait for it.
    earlier: returns the outcome of a row in an earlier run, if that is still known.
    on_waiting: called with what the run waits for, and with None when sending continues.
    on_answer: called with each request whose response was received or lost, on the thread of the transport.
    cancellation: stops or pauses sending.
    """

    def __init__(
        self,
        service: Service,
        ledger: LedgerStore,
        run: RunRecord,
        *,
        options: LoadOptions | None = None,
        probe: Callable[[], bool] = lambda: True,
        has_answered: bool = True,
        earlier: Earlier = _unknown,
        on_waiting: Callable[[Waiting | None], None] = lambda _: None,
        on_answer: Callable[[RequestAnswered], None] = lambda _: None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._options = options or LoadOptions()
        self._ask = probe
        self._earlier = earlier
        self._on_waiting = on_waiting
        self._cancellation = cancellation or Cancellation()
        options, sending = self._options, self._cancellation
        self._sender = Sender(service, ledger, run, options, sending, has_answered=has_answered, on_answer=on_answer)
        self._is_last = False  # no new job comes: unconfirmed rows are sent again when they are due
        self._paused_at: float | None = None
        self._reported: str | None = None  # what the run waits for, as last reported
        self._has_reported_suspension = False

    @property
    def stop(self) -> Stop | None:
        """Why sending stopped early, if it did."""
        return self._sender.state.stop

    @property
    def learned_rate(self) -> float | None:
        """Requests per second that the service accepted, if it refused more (429)."""
        return self._sender.limiter.learned_rate

    def load(self, candidates: Iterable[ReadyCandidate | None]) -> Generator[Outcome, None, None]:
        """One outcome for each candidate, in the order in which they become final.

        `candidates` is read on the calling thread only, and not far ahead of sending. None: there are no more yet.
        """
        try:
            for item in self._plan(candidates):
                if isinstance(item, Outcome):
                    yield item
                    continue
                if item is None:
                    self._do_what_is_due()
                    yield from self._sender.outcomes()
                    self._wait()
                    continue
                yield from self._outcomes_until(self._has_room)
                if self.stop is not None:
                    yield outcome_of(item, item.state_if_not_sent, self.stop)
                else:
                    self._sender.intend(item)
            self._is_last = True
            yield from self._outcomes_until(self._is_over)
        finally:
            self._sender.close()

    # --- look up each row in the ledger ---

    def _plan(self, candidates: Iterable[ReadyCandidate | None]) -> Iterator[Outcome | Job | None]:
        prints = self._ledger.fingerprints
        for found in _with_known(candidates, prints, self._run.scope, self._look_up):
            if found is None:
                yield None
                continue
            candidate, identity, known = found
            if known is not None and known.run == self._run.run:
                yield duplicate_of(candidate.row, known.row)
                continue
            job = Job(candidate.row, identity, candidate.body, prints.body_digest(candidate.body))
            yield job if known is None else self._plan_known(job, known)

    def _look_up(self, identities: list[bytes]) -> dict[bytes, Known]:
        try:
            return self._ledger.look_up(identities)
        except LedgerUnwritable as error:
            self._sender.end(ledger_lost(error))
            return {}

    def _plan_known(self, job: Job, known: Known) -> Outcome | Job:
        settled = _settled(job.row, known, job.body_digest, self._earlier, self._options.resend_rejected)
        if settled is not None:
            return settled
        is_unchanged = known.body_digest == job.body_digest
        if known.state in (State.UNCONFIRMED, State.IN_FLIGHT):
            if self._options.resend_unconfirmed == "never":
                return unconfirmed_before(job.row, known)
            prior = PriorAttempt.SAME_BYTES if is_unchanged else PriorAttempt.OTHER_BYTES
            return job._replace(prior=prior, earlier=known)
        return job

    # --- what is due ---

    def _outcomes_until(self, condition: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes so far, and those until the condition is met."""
        while True:
            self._do_what_is_due()
            is_met = condition()
            yield from self._sender.outcomes()
            if is_met:
                return
            self._wait()

    def _has_room(self) -> bool:
        """Whether one more job may be added: enough to keep sending, and not many more."""
        sender = self._sender
        is_free = not self._cancellation.is_paused and sender.has_capacity and not sender.waiting.is_full
        return is_free or sender.state.stop is not None

    def _is_over(self) -> bool:
        """Whether every job has its outcome."""
        with self._sender.lock:
            return not self._sender.has_work()

    def _do_what_is_due(self) -> None:
        """Start the resends and probes that are due, or give up; does not wait."""
        sender, now = self._sender, self._cancellation.now()
        if self._cancellation.is_set():
            sender.end(INTERRUPTED)
        self._end_in_time()
        is_paused = self._note_pause(now)
        if not is_paused:
            self._give_up_in_time(now)
        if sender.state.stop is not None:
            sender.release_unsent()
            return
        if is_paused:
            return
        if sender.ready and not self._ledger.is_lock_proven():
            self._prove_lock()
        if sender.waiting.has(Next.LAST_PASS):
            self._begin_last_pass(now)
        if sender.state.suspension is not None:
            self._probe(now)
        else:
            while sender.has_capacity and sender.intend_next(self._resendable(), now):
                pass
        sender.send_ready()
        if self._has_reported_suspension and sender.state.suspension is None:
            self._has_reported_suspension = False
            self._on_waiting(None)

    def _prove_lock(self) -> None:
        """Rows wait to be sent: make sure that no other run has taken the target meanwhile."""
        try:
            self._ledger.prove_lock()
        except LedgerUnwritable as error:
            self._sender.end(ledger_lost(error))

    def _note_pause(self, now: float) -> bool:
        """Whether a person has paused the run. The time of a pause does not count."""
        is_paused = self._cancellation.is_paused
        if is_paused and self._paused_at is None:
            self._paused_at = now
        elif not is_paused and self._paused_at is not None:
            with self._sender.lock:
                self._sender.change(after_pause(self._sender.state, self._paused_at, now))
            self._paused_at = None
        return is_paused

    def _give_up_in_time(self, now: float) -> None:
        sender, timeout = self._sender, self._options.stall_timeout
        if after_time(sender.state, timeout, now).stop is not None:  # rare, and the lock is mostly held by others
            with sender.lock:
                if sender.has_work():
                    sender.change(after_time(sender.state, timeout, now))

    def _end_in_time(self) -> None:
        """Stop when the time for sending is over."""
        sender, window = self._sender, self._options.window
        if window is not None and self._time_left() <= 0:
            with sender.lock:
                is_needed = sender.has_work()
            if is_needed:
                sender.end(window_over(window.set_by))

    def _time_left(self) -> float:
        window = self._options.window
        return math.inf if window is None else window.ends_at - self._cancellation.time()

    def _begin_last_pass(self, now: float) -> None:
        """Once all other rows are done, or no more can wait in memory."""
        sender = self._sender
        with sender.lock:
            if (self._is_last or sender.waiting.is_full) and not (sender.busy or sender.waiting.has(Next.RETRY)):
                sender.waiting.begin_last_pass(now)

    def _resendable(self) -> tuple[Next, ...]:
        """Which kinds of waiting rows may be sent now: unconfirmed ones at the end, as probes, or to free memory."""
        sender, suspension = self._sender, self._sender.state.suspension
        if self._is_last or sender.waiting.is_full or self._options.resend_unconfirmed == "now":
            return (Next.RETRY, Next.RESEND)
        is_inconclusive = suspension is not None and suspension.kind == "inconclusive"
        return (Next.RETRY, Next.RESEND) if is_inconclusive else (Next.RETRY,)

    def _probe(self, now: float) -> None:
        """During a suspension: send a probe when it is due."""
        sender, suspension = self._sender, self._sender.state.suspension
        if suspension is None or sender.is_probing or sender.intending or suspension.until > now + TINY:
            return
        if suspension.kind == "inconclusive":
            if self._has_unconfirmed_ready() or sender.intend_next((Next.RESEND,), now):
                return
            if self._run.scope.target.operation is Operation.APPLY:
                self._probe_questions()
                return
        if not sender.ready:
            sender.intend_next(self._resendable(), now)

    def _has_unconfirmed_ready(self) -> bool:
        with self._sender.lock:
            return self._sender.ready.first_unconfirmed() is not None

    def _probe_questions(self) -> None:
        sender = self._sender
        succeeded = self._ask()
        with sender.lock:
            now = self._cancellation.now()
            sender.change(after_question_probe(sender.state, succeeded, sender.conditions(now)))
        self._probe(self._cancellation.now())  # after a clear response the next probe is due at once

    # --- waiting ---

    def _wait(self) -> None:
        """Wait until there is something to do: an outcome, capacity, or something that is due."""
        sender, now = self._sender, self._cancellation.now()
        if len(sender.ready) <= sender.limiter.ceiling // 4:
            self._ledger.flush_soon()
        with sender.lock:
            is_busy = bool(sender.intending or sender.in_flight)
            seconds = self._seconds_to_wait(now, is_busy=is_busy)
        self._report_waiting(now, seconds)
        sender.wait(seconds, is_busy=is_busy)

    def _seconds_to_wait(self, now: float, *, is_busy: bool) -> float:
        """Under the lock. is_busy: an intent or a response is pending, which ends the wait."""
        if self._cancellation.is_paused:
            return IDLE
        ends_at = min(self._sender.state.progress_at + self._options.stall_timeout, now + self._time_left())
        times = [*self._times_of_rows(now), ends_at]
        if not is_busy and min(times) <= now + TINY:
            return 0.0  # the last response has just arrived, and something is due
        return min((time - now for time in times if now + TINY < time < math.inf), default=IDLE)

    def _times_of_rows(self, now: float) -> list[float]:
        """When the next rows can be sent. Under the lock."""
        sender, suspension = self._sender, self._sender.state.suspension
        if suspension is None:
            times = [sender.limiter.next_request_at(now)] if sender.ready else []
            return times + (sender.waiting.due_times(self._resendable()) if sender.has_capacity else [])
        if sender.is_probing:
            return []
        if sender.ready or suspension.until > now + TINY:
            return [suspension.until]
        return sender.waiting.due_times(self._resendable())

    def _report_waiting(self, now: float, seconds: float) -> None:
        """Report what the run waits for, once for each reason and time."""
        sender = self._sender
        state, waiting = sender.state, sender.waiting
        if state.stop is not None or self._cancellation.is_paused:
            return
        if state.suspension is not None:  # its probe may be in flight
            reason, seconds = state.suspension.reason, state.suspension.until - now
        elif sender.busy or not waiting:
            return
        elif waiting.has(Next.RESEND):
            reason = "unconfirmed rows are sent again after a delay"
        elif (first := waiting.first(Next.RETRY)) is not None and first.odd:
            reason = f"rows that the service refused ({first.status}) are sent once more"
        else:
            reason = "the service asked to wait"
        reported = f"{reason} {now + seconds:.0f}"
        if seconds < _WORTH_REPORTING or self._reported == reported:
            return
        self._reported, self._has_reported_suspension = reported, state.suspension is not None
        gives_up_in, time_left = state.progress_at + self._options.stall_timeout - now, self._time_left()
        if state.suspension is not None and state.suspension.kind == "odd":
            gives_up_in = min(gives_up_in, LONGEST_ODD_TIME)
        is_window = time_left < gives_up_in
        self._on_waiting(Waiting(reason, seconds, len(waiting), min(gives_up_in, time_left), is_window))


class DryLoader:
    """A Loader that sends nothing and never stops early. `ledger`: None if it does not exist yet. earlier,
    resend_rejected: as for a Loader."""

    stop: None = None
    learned_rate: None = None

    def __init__(
        self, ledger: LedgerStore | None, scope: Scope, earlier: Earlier = _unknown, *, resend_rejected: bool = False
    ) -> None:
        self._ledger, self._scope, self._earlier, self._resend_rejected = ledger, scope, earlier, resend_rejected

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """The outcome of a row that a run would not send; `not_sent` without a problem for one that it would."""
        if self._ledger is None:
            yield from (Outcome(candidate.row, OutcomeKind.NOT_SENT) for candidate in candidates)
            return
        prints = self._ledger.fingerprints
        for found in filter(None, _with_known(candidates, prints, self._scope, self._ledger.look_up)):
            candidate, _, known = found
            settled = None
            if known is not None:
                # Without a body, a run that began during this check has sent it.
                digest = prints.body_digest(candidate.body) if candidate.body else known.body_digest
                settled = _settled(candidate.row, known, digest, self._earlier, self._resend_rejected)
            yield settled or Outcome(candidate.row, OutcomeKind.NOT_SENT)


def _settled(row: int, known: Known, digest: bytes, earlier: Earlier, resend_rejected: bool) -> Outcome | None:
    """The outcome of a row that is not sent: it is imported, or was rejected and has not changed; else None."""
    if known.state in DONE:
        return already_imported(row, known, digest)
    if known.state is State.REJECTED and known.body_digest == digest and not resend_rejected:
        return rejected_before(row, known, earlier(known.run, known.row))
    return None


def _with_known(
    candidates: Iterable[ReadyCandidate | None],
    prints: Fingerprints,
    scope: Scope,
    look_up: Callable[[list[bytes]], dict[bytes, Known]],
) -> Iterator[tuple[ReadyCandidate, bytes, Known | None] | None]:
    """Each candidate with its identity and the ledger's record; looks up in batches, the first row on its own.

    None if there are no more candidates yet.
    """
    stream, size = iter(candidates), 1
    while batch := list(islice(stream, size)):
        ready = [candidate for candidate in batch if candidate is not None]
        identities = [prints.identity(scope, candidate.email) for candidate in ready]
        known = look_up(identities) if ready else {}
        for candidate, identity in zip(ready, identities, strict=True):
            yield candidate, identity, known.get(identity)
        if len(ready) < len(batch):
            yield None
        size = min(size * 2, _LARGEST_BATCH)
