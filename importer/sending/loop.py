"""Sends the rows of one target, each only once: one loop owns the ledger, plain threads send.

Each turn of the loop:

1. it takes what the senders tell: responses are judged (`health`), and become outcomes or wait to be sent again;
2. it takes as many rows as may be on their way: those that wait and are due, then new ones, looked up in the ledger;
3. the caller gets the outcomes, and keeps them;
4. ONE transaction writes the responses and the intents of these rows; then the senders get the rows.

An intent is for a row, not for a request: its sender repeats what was proven not processed. A row whose response was
lost or inconclusive is unconfirmed, and intended again at the end. A process that is killed leaves intents, which the
next run reads as unconfirmed, never as new.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import count
from typing import Final, NamedTuple, Protocol

from importer.ledger import Answered, Attempt, Intent, Known, Ledger, LedgerUnwritable, NotAllowed, RunRecord, State
from importer.models import Operation, Outcome, ReadyCandidate, Stop, Target
from importer.sending.answers import NOT_PROCESSED, PendingRow, classify, state_after
from importer.sending.explanations import INTERRUPTED, ledger_lost, outcome_of, refusal_of, window_over
from importer.sending.health import Health
from importer.sending.known import Earlier, planned, unknown
from importer.sending.options import Cancellation, LoadOptions
from importer.sending.pace import Pace
from importer.sending.senders import Broken, Probed, Refused, Replied, Senders, Told, Unsent, Waits
from importer.service import NoReply, Reply

_IDLE: Final = 1.0  # seconds: the longest wait if nothing is due
_LINGER: Final = 0.003  # seconds in which more responses come, to share one transaction
_WORTH_REPORTING: Final = 1.5  # seconds
_MOST_OF_A_TURN: Final = 200  # rows
_MOST_BYTES: Final = 32 * 1024 * 1024  # of bodies in memory that wait to be sent again


_Due = tuple[float, int, PendingRow]  # when; for the order of equal times


class Service(Protocol):
    """Sends one body once, and waits for the response; never raises for what the service does."""

    def send(self, target: Target, body: bytes) -> Reply | NoReply: ...


class Paused(NamedTuple):
    """Sending pauses for some seconds, with the reason. rows: how many wait to be sent again.

    gives_up_in: seconds until the run stops if no row is completed; with is_window in any case.
    """

    reason: str
    seconds: float
    rows: int
    gives_up_in: float
    is_window: bool = False


class RequestAnswered(NamedTuple):
    """A request of a row whose response was received or lost. status: None if lost. is_settled: it is not repeated."""

    row: int
    attempt: int
    status: int | None
    seconds: float
    is_settled: bool


class Loader:
    """Sends the candidates of one run to its target, so that each is created only once.

    service: sends one body once, and returns the response.
    ledger, run: a run that was begun in this ledger, under its target's lock.
    probe: makes a read-only request and returns whether it succeeded, while responses are inconclusive.
    has_answered: whether the service has ever responded at this address; if not, the run waits for it only briefly.
    earlier: returns the outcome of a row in an earlier run, if that is still known.
    on_waiting: called with what the run waits for, and with None when sending continues.
    on_answer: called with each request whose response was received or lost.
    cancellation: stops or pauses sending.
    """

    def __init__(
        self,
        service: Service,
        ledger: Ledger,
        run: RunRecord,
        *,
        options: LoadOptions | None = None,
        probe: Callable[[], bool] = lambda: True,
        has_answered: bool = True,
        earlier: Earlier = unknown,
        on_waiting: Callable[[Paused | None], None] = lambda _: None,
        on_answer: Callable[[RequestAnswered], None] = lambda _: None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._target = target = run.scope.target
        self._options = options = options or LoadOptions()
        self._earlier = earlier
        self._on_waiting = on_waiting
        self._on_answer = on_answer
        self._clock = clock = cancellation or Cancellation()
        self._pace = Pace(options.rate)
        self._health = Health(target, options, clock.now(), has_answered=has_answered)
        self._senders = Senders(options.concurrency, lambda body: service.send(target, body), probe, self._pace, clock)
        self._exists_words = options.pool_exists if target.operation is Operation.ADD_TO_POOL else ""
        self._on_way = 0  # rows that the senders have
        self._new: deque[PendingRow] = deque()  # looked up, and not sent yet
        self._waiting: list[_Due] = []  # a heap of rows that were not processed, each with the place of a sender
        self._unconfirmed: list[_Due] = []  # a heap of rows to be sent again, by when they are due
        self._odd: list[_Due] = []  # the same of rows that were refused as if token, target or address were wrong
        self._bytes = 0  # of the bodies of these two
        self._order = count()
        self._is_last = False  # no new row comes
        self._outcomes: list[Outcome] = []
        self._writes: list[Intent | Answered] = []
        self._intended: list[PendingRow] = []  # whose intents are among the writes
        self._paused_at: float | None = None
        self._resumed_at = -math.inf  # patience with a row begins anew
        self._reported: str | None = None  # what the run waits for, as last reported

    @property
    def stop(self) -> Stop | None:
        """Why sending stopped early, if it did."""
        return self._health.stop

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[list[Outcome], None, None]:
        """One outcome for each candidate, in the order in which they become final: those of each turn at once.

        The caller has kept them when it asks for the next ones: then the ledger gets the responses. `candidates` is
        read on the calling thread only, and not far ahead of sending.
        """
        self._senders.begin()
        prints = self._ledger.fingerprints
        source = planned(iter(candidates), prints, self._look_up, self._run, self._earlier, self._options)
        try:
            while not self._is_over():
                self._turn(source)
                outcomes, self._outcomes = self._outcomes, []
                if outcomes:
                    yield outcomes
                self._write()
        except (Exception, GeneratorExit):
            self._close()
            raise
        finally:  # a second Ctrl-C does not wait for responses
            self._senders.end()

    def _is_over(self) -> bool:
        return self._is_last and not (self._on_way or self._has_rows or self._outcomes or self._writes)

    @property
    def _has_rows(self) -> bool:
        """Whether rows wait to be sent, or to be sent again."""
        return bool(self._new or self._waiting or self._unconfirmed or self._odd)

    def _turn(self, source: Iterator[Outcome | PendingRow]) -> None:
        self._look_at_the_clock()
        for told in self._what_senders_tell():
            self._take(told)
        self._choose_rows(source)

    def _close(self) -> None:
        """Send nothing new, and return when every response has come and is written."""
        self._health.stop = self._health.stop or INTERRUPTED
        self._on_way -= len(self._intended)  # no sender has them
        self._intended.clear()
        self._writes = [write for write in self._writes if isinstance(write, Answered)]
        self._take_back()
        self._senders.end()
        while self._on_way:
            told = self._clock.collect(self._senders.told, _IDLE)
            if isinstance(told, Broken):  # another error is raised already
                self._on_way -= told.pending is not None
            elif told is not None:
                self._take(told)
        self._write()

    # --- 1. what the senders tell ---

    def _what_senders_tell(self) -> Iterator[Told]:
        """What they have told, at least one thing unless a row may be sent now or something else is due."""
        told = self._senders.told
        wait = self._seconds_to_wait()
        first = self._clock.collect(told, wait)
        if first is None:
            return
        yield first
        if wait and self._senders.waiting() > self._options.concurrency // 4:
            time.sleep(_LINGER)
        for _ in range(told.qsize()):
            yield told.get()

    def _take(self, told: Told) -> None:
        now = self._clock.now()
        match told:
            case Replied(pending, answer, seconds):
                self._on_way -= 1
                self._judge(pending, answer, seconds, now)
            case Refused(pending, answer, seconds):
                self._not_processed(pending, answer, seconds, now)
            case Waits(pending, answer, seconds, wait):
                self._on_way -= 1
                if answer is not None:
                    self._not_processed(pending, answer, seconds, now)
                since = now if pending.refused_since is None else max(pending.refused_since, self._resumed_at)
                if (answer is not None and self._health.stop) or now - since >= self._options.stall_timeout:
                    state, _ = self._health.judge(pending, NOT_PROCESSED, pending.state_if_waiting, now)
                    self._settle(pending, state)
                    return
                self._record(pending, pending.state_if_waiting)
                heapq.heappush(self._waiting, (now + wait, next(self._order), pending))
            case Unsent(pending):
                self._on_way -= 1
                self._put_back(pending)
            case Probed(is_healthy):
                self._health.probed(now, is_healthy=is_healthy)
            case Broken(bug, pending):
                self._on_way -= pending is not None
                raise bug

    def _not_processed(self, pending: PendingRow, answer: Reply | NoReply, seconds: float, now: float) -> None:
        pending.attempts, pending.last, pending.refusals = pending.attempts + 1, answer, pending.refusals + 1
        pending.refused_since = now if pending.refused_since is None else pending.refused_since
        self._on_answer(RequestAnswered(pending.row, pending.attempts, pending.status, seconds, is_settled=False))
        self._health.not_processed(answer, now)

    def _judge(self, pending: PendingRow, answer: Reply | NoReply, seconds: float, now: float) -> None:
        rule = classify(answer, self._exists_words)
        state = state_after(self._target.operation, rule.state, pending)
        pending.attempts, pending.last = pending.attempts + 1, answer
        pending.refusals, pending.refused_since = 0, None
        state, due = self._health.judge(pending, rule, state, now)
        self._on_answer(RequestAnswered(pending.row, pending.attempts, pending.status, seconds, due is None))
        if due is None:
            self._settle(pending, state)
        else:
            self._record(pending, state)
            heapq.heappush(
                self._odd if pending.odd is not None else self._unconfirmed, (due, next(self._order), pending)
            )
            self._bytes += len(pending.body)

    def _settle(self, pending: PendingRow, state: State) -> None:
        self._record(pending, state)
        self._goes_on()
        self._outcomes.append(
            outcome_of(pending, state, self._health.stop, self._options, may_exist=self._health.may_exist)
        )

    def _put_back(self, pending: PendingRow) -> None:
        """A row was not sent although it was intended."""
        self._record(pending, pending.state_if_waiting)
        self._new.appendleft(pending)

    def _take_back(self) -> None:
        """Take back the rows that no sender has begun with."""
        for pending in reversed(self._senders.take_back()):
            self._on_way -= 1
            self._put_back(pending)

    # --- 2. the rows that may be on their way ---

    def _look_at_the_clock(self) -> None:
        """Stop or pause, if it is time; otherwise begin the probe that is due."""
        now, health, window = self._clock.now(), self._health, self._options.window
        if self._clock.is_set():
            health.stop = health.stop or INTERRUPTED
        if window is not None and self._time_left() <= 0 and (self._on_way or self._has_rows):
            health.stop = health.stop or window_over(window.set_by)
        if self._clock.is_paused:
            self._paused_at = now if self._paused_at is None else self._paused_at
        elif self._paused_at is not None:
            health.skip(self._paused_at, now)
            self._paused_at, self._resumed_at = None, now
        if not (self._on_way or self._has_rows or health.hold):
            health.progress_at = now  # reading rows takes time, too
        if self._paused_at is None:
            health.time_passes(now)
        if health.stop is not None:
            self._end_rows()
            return
        if self._on_way > self._most(now):
            self._take_back()
        if self._paused_at is None and health.begins_probe(now):
            self._senders.probe()

    def _end_rows(self) -> None:
        """After a stop: give an outcome to each row that waits."""
        self._take_back()
        self._senders.end()
        rows = [*self._new, *(pending for *_, pending in (*self._waiting, *self._unconfirmed, *self._odd))]
        for waiting in (self._new, self._waiting, self._unconfirmed, self._odd):
            waiting.clear()
        for pending in rows:
            self._end(pending)

    def _end(self, pending: PendingRow) -> None:
        """Give an outcome to a row that is not sent any more."""
        state = pending.state_if_not_sent
        if state is State.FAILED:
            self._record(pending, state)
        self._outcomes.append(outcome_of(pending, state, self._health.stop, self._options))

    def _most(self, now: float) -> float:
        """How many rows may be on their way."""
        is_over = self._health.stop is not None or self._paused_at is not None
        return 0 if is_over else self._health.most_rows(now)

    def _has_room(self, now: float) -> bool:
        """Whether one more row may be on its way.

        Usually half as many again as there are senders, so that intents are written ahead, and not more than have their
        turn soon. Rows that wait count, too: when all are refused, all wait.
        """
        limit, places = self._pace.limit(now), self._options.concurrency
        places += places // 2 if limit is None else min(places // 2, math.ceil(limit))
        if self._health.is_starting:
            places = 1
        return self._on_way < self._most(now) and self._on_way + len(self._waiting) < places

    def _choose_rows(self, source: Iterator[Outcome | PendingRow]) -> None:
        """Intend the rows that may be on their way; after a stop, the rows that are left get their outcome."""
        now, health = self._clock.now(), self._health
        for _ in range(_MOST_OF_A_TURN):
            if health.stop is not None:
                if self._is_last:
                    return
                pending = self._next_new(source)
                if pending is not None:
                    self._end(pending)
                continue
            pending = self._waited(now)
            if pending is None and not self._has_room(now):
                return
            # Rows that were not tried yet come first in a probe: others may always be inconclusive.
            pending = pending or (health.hold is None and self._due(now)) or self._next_new(source) or self._due(now)
            if pending is None:
                return
            if self._options.window is not None and self._time_left() <= 0:
                self._new.appendleft(pending)
                return
            self._on_way += 1
            if health.hold is not None:
                health.hold.rows.add(pending.row)
            self._intend(pending)

    def _waited(self, now: float) -> PendingRow | None:
        """A row that was not processed and has waited; it has its place already."""
        is_due = self._waiting and self._waiting[0][0] <= now and self._on_way < self._most(now)
        return heapq.heappop(self._waiting)[2] if is_due else None

    def _due(self, now: float) -> PendingRow | None:
        """A row to be sent again: in a probe any, others when they are due; unconfirmed ones at the end."""
        may_confirm = self._is_last or self._options.resend_unconfirmed == "now" or self._bytes >= _MOST_BYTES
        for waiting, may_go in ((self._odd, True), (self._unconfirmed, may_confirm)):
            if waiting and (self._health.hold is not None or (may_go and waiting[0][0] <= now)):
                pending = heapq.heappop(waiting)[2]
                self._bytes -= len(pending.body)
                return pending
        return None

    def _next_new(self, source: Iterator[Outcome | PendingRow]) -> PendingRow | None:
        """The next row that must be sent; the outcomes of others are taken on the way."""
        if self._new:
            return self._new.popleft()
        while len(self._outcomes) < _MOST_OF_A_TURN:
            found = next(source, None)
            if found is None:
                self._is_last = True
                return None
            if isinstance(found, PendingRow):
                return found
            self._outcomes.append(found)
        return None

    def _look_up(self, identities: list[bytes]) -> dict[bytes, Known]:
        try:
            return self._ledger.look_up(identities)
        except LedgerUnwritable as error:
            self._health.stop = self._health.stop or ledger_lost(error)
            return {}

    # --- 4. one transaction ---

    def _intend(self, pending: PendingRow) -> None:
        attempt = Attempt(pending.identity, self._run.run, pending.row, pending.attempts + 1)
        self._intended.append(pending)
        self._writes.append(Intent(attempt, pending.body_digest, pending.origin))

    def _record(self, pending: PendingRow, state: State) -> None:
        if pending.state is not None and pending.state is not state:
            attempt = Attempt(pending.identity, self._run.run, pending.row, pending.attempts)
            digest = pending.body_digest if state is State.CREATED else b""
            self._writes.append(Answered(attempt, state, pending.status, digest))
            pending.state = state

    def _write(self) -> None:
        """Write what this turn has found out and intends; then the senders get the intended rows."""
        writes, intended = self._writes, self._intended
        if not writes:
            return
        try:
            self._ledger.write(writes)
        except (LedgerUnwritable, NotAllowed) as error:
            self._health.stop = self._health.stop or ledger_lost(error)
            self._on_way -= len(intended)
            self._new.extendleft(intended)
            intended = []
        self._writes, self._intended = [], []
        for pending in intended:
            pending.state = State.IN_FLIGHT
            self._senders.send(pending)

    # --- waiting ---

    def _seconds_to_wait(self) -> float:
        """How long to wait for the senders; 0 if there is something to do without them."""
        now, health = self._clock.now(), self._health
        if self._writes or self._outcomes or (health.stop is not None and not self._is_last):
            return 0.0
        if health.stop is not None or self._paused_at is not None:
            return _IDLE
        has_room = self._has_room(now)
        if has_room and (self._new or not self._is_last):
            return 0.0
        times = [health.stalls_at, now + self._time_left()]
        if self._waiting and self._on_way < self._most(now):
            times.append(self._waiting[0][0])
        if health.hold is not None and not (health.hold.is_asked or health.hold.left):
            times.append(health.hold.until)
        elif has_room:
            times += (waiting[0][0] for waiting in (self._odd, self._unconfirmed) if waiting)
        seconds = max(0.0, min(min(times) - now, _IDLE))
        self._report_waiting(now)
        return seconds

    def _time_left(self) -> float:
        window = self._options.window
        return math.inf if window is None else window.ends_at - self._clock.time()

    def _report_waiting(self, now: float) -> None:
        """Report what the run waits for, once for each reason and time."""
        hold = self._health.hold
        if hold is not None:
            reason, until = hold.reason, hold.until
        elif self._on_way:
            return
        elif self._waiting:
            until, _, pending = self._waiting[0]
            if pending.last is None or pending.turn is not None:  # it waits for its turn
                return
            reason = refusal_of(pending.last)
        elif self._odd:
            until, _, first = self._odd[0]
            reason = f"rows that the service refused ({first.status}) are sent again"
        elif self._unconfirmed:
            until, reason = self._unconfirmed[0][0], "unconfirmed rows are sent again after a delay"
        else:
            return
        seconds, reported = until - now, f"{reason} {until:.0f}"
        if seconds < _WORTH_REPORTING or self._reported == reported:
            return
        self._reported = reported
        gives_up_in, time_left = self._health.gives_up_in(now), self._time_left()
        rows = len(self._unconfirmed) + len(self._odd) + len(self._waiting)
        self._on_waiting(Paused(reason, seconds, rows, min(gives_up_in, time_left), time_left < gives_up_in))

    def _goes_on(self) -> None:
        if self._reported is not None:
            self._reported = None
            if self._health.stop is None:
                self._on_waiting(None)
