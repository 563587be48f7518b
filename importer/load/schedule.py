"""What becomes due as time passes: rows that are sent again, probes, pauses, giving up. For the caller's thread."""

from __future__ import annotations

from importer.load.cancellation import Cancellation
from importer.load.explanations import INTERRUPTED
from importer.load.next_step import TINY, Next, after_pause, after_question, after_time
from importer.load.sender import IDLE, Sender, SenderContext, Waiting
from importer.models import Operation

_WORTH_REPORTING = 1.5  # seconds of waiting
_RESENDS = "rows whose answers were lost or inconclusive are sent again after a delay"
_ASKED = "the service asked to wait"
_PROBES_WHEN_INCONCLUSIVE = (Next.RESEND, Next.RETRY)


class Schedule:
    """Has the sender do what is due, and waits for what comes next."""

    def __init__(self, context: SenderContext, sender: Sender) -> None:
        self._context = context
        self._sender = sender
        self._cancellation: Cancellation = context.cancellation
        self._is_last = False
        self._paused_at: float | None = None
        self._reported: str | None = None  # what is waited for, as it was reported last
        self._has_reported_suspension = False

    def has_room(self) -> bool:
        """Whether one more job may be handed in: enough for those who send, and not much more."""
        sender = self._sender
        if sender.state.stop is not None:
            return True
        return not self._cancellation.is_paused and sender.busy < sender.most_busy() and not sender.waiting.is_full

    def is_over(self) -> bool:
        """Whether every job that was handed in has its result."""
        with self._sender.lock:
            return not self._sender.has_work()

    def no_more(self) -> None:
        """No new job is handed in: what was unconfirmed is sent again, when it is due."""
        self._is_last = True

    def go_on(self) -> None:
        """Do what is due by now, and nothing that waits."""
        sender, now = self._sender, self._cancellation.now()
        if self._cancellation.is_set():
            sender.end(INTERRUPTED)
        is_paused = self._note_pause(now)
        if not is_paused:
            self._give_up_in_time(now)
        if sender.state.stop is not None:
            sender.give_back()
            return
        if is_paused:
            return
        if sender.waiting.has(Next.LAST_PASS):
            self._begin_last_pass(now)
        if sender.state.suspension is not None:
            self._probe(now)
        else:
            while sender.busy < sender.most_busy() and sender.intend_next(self._sent_again(), now):
                pass
        sender.send_ready()
        if self._has_reported_suspension and sender.state.suspension is None:
            self._has_reported_suspension = False
            self._context.on_waiting(None)

    def idle(self) -> None:
        """Wait until there is something to do: a result, room, or a time that has come."""
        sender, now = self._sender, self._cancellation.now()
        if len(sender.ready) <= sender.limiter.ceiling // 4:
            self._context.ledger.flush_soon()
        is_busy = self._has_something_under_way(now)  # first: where nothing is, nothing changes what is waited for
        seconds = self._seconds_to_wait(now)
        self._report(seconds)
        sender.wait(seconds, is_busy=is_busy)

    # --- what is due ---

    def _note_pause(self, now: float) -> bool:
        """Whether a person has paused the run; after that, the time of the pause does not count."""
        is_paused = self._cancellation.is_paused
        if is_paused and self._paused_at is None:
            self._paused_at = now
        elif not is_paused and self._paused_at is not None:
            with self._sender.lock:
                state = self._sender.state
                self._sender.change(after_pause(state, self._paused_at, self._sender.conditions(now)))
            self._paused_at = None
        return is_paused

    def _give_up_in_time(self, now: float) -> None:
        sender = self._sender
        conditions = sender.conditions(now)
        if after_time(sender.state, conditions).stop is not None:  # seldom: the lock is others' most of the time
            with sender.lock:
                if sender.has_work():
                    sender.change(after_time(sender.state, conditions))

    def _begin_last_pass(self, now: float) -> None:
        """When all others are done, or no more can wait in memory."""
        sender = self._sender
        with sender.lock:
            if (self._is_last or sender.waiting.is_full) and not (sender.busy or sender.waiting.has(Next.RETRY)):
                sender.waiting.begin_last_pass(now)

    def _sent_again(self) -> tuple[Next, ...]:
        """Which of the waiting rows are sent again when they are due."""
        is_now = self._is_last or self._context.options.settle == "now" or self._sender.waiting.is_full
        return (Next.RETRY, Next.RESEND) if is_now else (Next.RETRY,)

    def _probe(self, now: float) -> None:
        """In a suspension: have one probe sent when its time has come."""
        sender, suspension = self._sender, self._sender.state.suspension
        if suspension is None or sender.is_probing or sender.intending or suspension.until > now + TINY:
            return
        if suspension.kind != "inconclusive":
            if not sender.ready:
                sender.intend_next(self._sent_again(), now)
        elif self._has_unconfirmed_ready() or sender.intend_next((Next.RESEND,), now):
            pass
        elif self._context.target.operation is Operation.APPLY:
            is_well = self._context.probe()
            with sender.lock:
                now = self._cancellation.now()
                sender.change(after_question(sender.state, is_well, sender.conditions(now)))
            self._probe(self._cancellation.now())  # after a clear answer the next one at once
        elif not sender.ready:
            sender.intend_next((Next.RETRY,), now)

    def _has_unconfirmed_ready(self) -> bool:
        with self._sender.lock:
            return self._sender.ready.has_unconfirmed()

    # --- what is waited for ---

    def _has_something_under_way(self, now: float) -> bool:
        """Whether something comes without time passing: an intent, an answer, or one that is just being sent."""
        sender = self._sender
        with sender.lock:
            suspension = sender.state.suspension
            goes_at = sender.limiter.next_request_at() if suspension is None else suspension.until
            may_go = sender.state.stop is None and not self._cancellation.is_paused
            is_sending = bool(sender.ready) and goes_at <= now + TINY and may_go
            return bool(sender.intending or sender.in_flight or is_sending)

    def _seconds_to_wait(self, now: float) -> float:
        if self._cancellation.is_paused:
            return IDLE
        sender = self._sender
        with sender.lock:
            times = [*self._times_of_rows(now), sender.state.progress_at + self._context.options.patience]
            is_due = any(time <= now + TINY for time in times)
            if is_due and not (sender.intending or sender.in_flight):
                return 0.0  # the last answer has just come, and what waited for it may go
        # What else is due waits for an answer or for the disk, which wake us.
        return min((time - now for time in times if time > now + TINY), default=IDLE)

    def _times_of_rows(self, now: float) -> list[float]:
        """When the next rows may be sent. Under the lock."""
        sender, suspension = self._sender, self._sender.state.suspension
        if suspension is not None:
            if sender.is_probing:
                return []
            if suspension.until > now + TINY:
                return [suspension.until]
            is_inconclusive = suspension.kind == "inconclusive"
            kinds = _PROBES_WHEN_INCONCLUSIVE if is_inconclusive else self._sent_again()
            return [] if sender.ready else sender.waiting.due_times(kinds)
        times = [sender.limiter.next_request_at()] if sender.ready else []
        if sender.busy < sender.most_busy():
            times += sender.waiting.due_times(self._sent_again())
        return times

    def _report(self, seconds: float) -> None:
        """Report what is waited for, once for each reason and time."""
        sender, now = self._sender, self._cancellation.now()
        suspension = sender.state.suspension
        if sender.state.stop is not None or self._cancellation.is_paused:
            return
        if suspension is not None:  # its probe may be on its way
            reason, seconds = suspension.reason, suspension.until - now
        elif not sender.busy and sender.waiting:
            reason = _RESENDS if sender.waiting.has(Next.RESEND) else _ASKED
        else:
            return
        reported = f"{reason} {now + seconds:.0f}"
        if seconds < _WORTH_REPORTING or self._reported == reported:
            return
        self._reported, self._has_reported_suspension = reported, suspension is not None
        gives_up_in = sender.state.progress_at + self._context.options.patience - now
        self._context.on_waiting(Waiting(reason, seconds, len(sender.waiting), gives_up_in))
