"""Deals the candidates of a run to workers, and collects their outcomes: what a Loader is for one process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, Protocol

from importer.cluster.worker import ERRORS, Assignment, Progress, Task
from importer.ledger import Answered, Attempt, Known, LedgerStore, State
from importer.load import Cancellation, ErrorLimit, Loader, LoadOptions, RequestAnswered, Waiting
from importer.load.explanations import too_many_errors
from importer.models import Outcome, OutcomeKind, ReadyCandidate, Stop
from importer.problems import StoppedEarly, UnusableInput

_FEW, _MANY = 8, 512  # rows that a worker has to begin with, at least and at most
_ALONE: Final = 10  # answers: before that, one worker sends, since the mapping may be wrong for every row
_TICK: Final = 0.2  # seconds
_IN_VAIN: Final = 5  # workers that died without an outcome between them: the next one would die too
_LOOKED_UP: Final = 1_000  # rows at once
_WORTH_REPORTING: Final = 1.5  # seconds
_AGAIN_AFTER: Final = 2.0  # seconds: then a worker that could not be started is tried again

_NOTHING: Final = Progress()


class Worker(Protocol):
    """Answers tasks, in order. The answer is an EOFError or OSError if it has died."""

    def submit(self, task: Task, /) -> Future[Progress]: ...

    def close(self) -> None:
        """End it, dead or alive: when this returns, it writes no intent any more. What it had written before, it can
        send only for less than `LoadOptions.takeover_delay`.

        Raises:
            LedgerUnwritable: that cannot be achieved without the ledger.
        """


@dataclass(slots=True, eq=False)
class _Share:
    """What one worker has: its rows without an outcome, and how it stands. wanted: rows to begin with."""

    worker: Worker
    assignment: Assignment
    dealt: dict[int, ReadyCandidate] = field(default_factory=dict)
    answer: Future[Progress] | None = None
    asked_at: float = 0.0
    wanted: int = _FEW
    given: int = 0
    is_closed: bool = False
    progress: Progress = _NOTHING


class ClusterLoader:
    """A Loader that sends nothing itself: each worker sends its share, with a Loader of its own.

    start: starts a worker; raises OSError if that is not possible now. alone: a Loader in this process, for what is
    left if the workers die again and again, or if none of them can be started for `patience` seconds. ledger: the one
    of the run, under its target's lock. no_news: seconds without an answer, after which a worker counts as dead; it
    answers ten times a second. The rest: see Loader.
    """

    def __init__(
        self,
        start: Callable[[Assignment], Worker],
        assignments: Sequence[Assignment],
        ledger: LedgerStore,
        alone: Loader,
        *,
        max_errors: ErrorLimit | None = None,
        earlier: Callable[[str, int], Outcome | None] = lambda _run, _row: None,
        on_waiting: Callable[[Waiting | None], None] = lambda _: None,
        on_answer: Callable[[RequestAnswered], None] = lambda _: None,
        cancellation: Cancellation | None = None,
        no_news: float = 120.0,
        patience: float = 0.0,
    ) -> None:
        self._start, self._free = start, deque(assignments)
        self._run = assignments[0].run
        self._ledger, self._alone = ledger, alone
        self._max_errors, self._earlier = max_errors, earlier
        others = [one for one in ledger.runs() if one.scope == self._run.scope and one.run != self._run.run]
        self._has_earlier = bool(others)  # else nothing needs to be looked up here
        self._on_waiting, self._on_answer = on_waiting, on_answer
        self._cancellation, self._no_news = cancellation or Cancellation(), no_news
        self._patience, self._begins_at = patience, 0.0  # when the next worker is started, if one is missing
        self._shares: list[_Share] = []
        self._source: Iterator[ReadyCandidate] = iter(())
        self._again: deque[ReadyCandidate] = deque()  # of workers that died
        self._begun: set[int] = set()  # rows for which a worker that died had made a request
        self._is_read = self._is_closing = False
        self._in_vain = self._answered = self._errors = 0
        self._rates: list[float] = []
        self._count = len(assignments)
        self._reported: tuple[str, int] | None = None
        self._has_reported_suspension = False
        self.stop: Stop | None = None

    @property
    def learned_rate(self) -> float | None:
        """Requests per second that the service accepted of all workers, if it refused more (429)."""
        if not self._rates:
            return self._alone.learned_rate
        average = sum(self._rates) / len(self._rates)
        return average if self._ledger.shares_rate else average * self._count

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """One outcome for each candidate, in the order in which they become final. See `Loader.load`."""
        self._source = iter(candidates)
        while self._free and self._begin():
            pass
        try:
            while self._shares or self._begins_in_time():
                yield from self._turn()
            if self._again or not self._is_read:
                yield from self._send_alone()
        finally:
            self._is_closing = True
            while self._shares:  # requests in flight finish, and their responses are recorded
                for _ in self._turn():
                    pass

    def _turn(self) -> Iterator[Outcome]:
        """Ask every worker that has answered; then what those tell that have answered since."""
        if self._is_missing and time.monotonic() >= self._begins_at:
            self._begin()
        for share in self._shares:
            if share.answer is None and (self._may_have_rows(share) or self._is_over):
                task = self._task(share)
                share.answer, share.asked_at = share.worker.submit(task), time.monotonic()
        wait([share.answer for share in self._shares if share.answer], _TICK, FIRST_COMPLETED)
        for share in list(self._shares):
            if share.answer is not None and share.answer.done():
                yield from self._hear(share)
            elif share.answer is not None and time.monotonic() - share.asked_at > self._no_news:
                self._lose(share)
        self._report_waiting()

    # --- rows to the workers ---

    @property
    def _is_over(self) -> bool:
        """Whether no row is left to be dealt."""
        return self._is_closing or (self._is_read and not self._again)

    def _may_have_rows(self, share: _Share) -> bool:
        return self._answered >= _ALONE or share is self._shares[0]

    def _task(self, share: _Share) -> Task:
        rows: list[ReadyCandidate] = []
        if not (share.is_closed or self._is_over):
            wanted = share.wanted - share.progress.unread
            while self._again and len(rows) < wanted:
                rows.append(self._again.popleft())
            if (missing := wanted - len(rows)) > 0 and not self._is_read:
                rows += islice(self._source, missing)
                self._is_read = len(rows) < wanted
        share.dealt |= {one.row: one for one in rows}
        share.given = len(rows)
        share.is_closed = share.is_closed or self._is_over
        leader = next((one for one in self._shares if one.progress.is_suspended), share)
        return Task(
            tuple(rows),
            is_last=share.is_closed,
            is_paused=self._cancellation.is_paused or leader is not share,
            is_cancelled=self._cancellation.is_set() or self._is_closing,
            stop=self.stop,
            rejected=tuple(self._rejected_before(rows)),
        )

    def _rejected_before(self, rows: Sequence[ReadyCandidate]) -> Iterator[tuple[tuple[str, int], Outcome]]:
        """The outcomes of rows that an earlier run sent in vain: they are in its folder, which workers do not have."""
        for known, _ in self._known(rows) if self._has_earlier else ():
            before = (known.run, known.row)
            if known.state is State.REJECTED and known.run != self._run.run and (outcome := self._earlier(*before)):
                yield before, outcome

    # --- what the workers tell ---

    def _hear(self, share: _Share) -> Iterator[Outcome]:
        assert share.answer is not None
        try:
            progress = share.answer.result()
        except (EOFError, OSError):
            self._lose(share)
            return
        begun = share.progress.unread + share.given - progress.unread
        if self._answered < _ALONE:  # what one worker has, no other one can send
            begun = sum(not outcome.attempts for outcome in progress.outcomes)
        share.wanted = min(max(2 * begun, _FEW), _MANY)
        share.answer, share.progress = None, progress
        self.stop = self.stop or progress.stop
        for request in progress.answered:
            self._on_answer(request)
        for outcome in progress.outcomes:
            del share.dealt[outcome.row]
            self._in_vain = 0
            if outcome.kind is OutcomeKind.NOT_SENT and outcome.row in self._begun:  # the ledger was asked in vain
                raise StoppedEarly(f"{self._ledger.name}: the ledger cannot be read; run the same command again")
            self._count_error(outcome)
            yield outcome
        if progress.has_ended:
            self._end(share)

    def _count_error(self, outcome: Outcome) -> None:
        """For --max-errors, which holds for the workers together. Rows that were not sent do not count."""
        self._answered += bool(outcome.attempts)
        self._errors += bool(outcome.attempts) and outcome.kind in ERRORS
        limit = self._max_errors
        if limit is not None and self.stop is None and limit.is_passed_by(self._errors, self._answered):
            self.stop = too_many_errors(self._errors, self._answered, limit)

    def _end(self, share: _Share) -> None:
        self._shares.remove(share)
        share.worker.close()
        if share.progress.learned_rate is not None:
            self._rates.append(share.progress.learned_rate)
        if self._is_closing:  # for an error that matters more
            return
        if share.progress.problems:
            raise UnusableInput(share.progress.problems)
        if share.progress.bug:
            raise RuntimeError(f"a worker failed:\n{share.progress.bug}")
        assert not share.dealt, "a worker has ended without the outcome of a row"

    # --- workers that died ---

    def _lose(self, share: _Share) -> None:
        """Deal the rows of a dead worker again, to another one. What it had in flight is unconfirmed."""
        place = self._shares.index(share)
        self._shares.remove(share)
        share.worker.close()
        if self._is_closing:
            return
        self._mark_unconfirmed(list(share.dealt.values()))
        self._again.extend(share.dealt.values())
        self._free.append(share.assignment)
        self._in_vain += 1
        if self._is_missing:
            self._begin(place)

    def _mark_unconfirmed(self, rows: Sequence[ReadyCandidate]) -> None:
        """Record the intents without an answer as unconfirmed: then another worker may continue the rows."""
        run = self._run.run
        for known, (identity, row) in self._known(rows):
            if (known.run, known.row) != (run, row):
                continue
            self._begun.add(row)
            if known.state is State.IN_FLIGHT:
                attempt = Attempt(identity, run, row, len(self._ledger.requests(run, row)))
                self._ledger.record(Answered(attempt, State.UNCONFIRMED))
        self._ledger.flush()

    def _known(self, rows: Sequence[ReadyCandidate]) -> Iterator[tuple[Known, tuple[bytes, int]]]:
        """What the ledger knows of rows, with their identities and numbers."""
        prints = self._ledger.fingerprints
        for start in range(0, len(rows), _LOOKED_UP):
            some = {prints.identity(self._run.scope, one.email): one.row for one in rows[start : start + _LOOKED_UP]}
            for identity, known in self._ledger.look_up(list(some)).items():
                yield known, (identity, some[identity])

    @property
    def _is_missing(self) -> bool:
        """Whether one more worker should be started."""
        is_useful = self.stop is None and not self._is_over and self._in_vain < _IN_VAIN
        return bool(self._free) and is_useful

    def _begins_in_time(self) -> bool:
        """Whether a worker can be started, now that none is left."""
        until = time.monotonic() + self._patience
        while self._is_missing and not self._begin() and not self._cancellation.is_set():
            if time.monotonic() >= until:
                return False
            time.sleep(_TICK)
        return bool(self._shares)

    def _begin(self, place: int | None = None) -> bool:
        """Start a worker; returns whether that was possible."""
        given = self._free.popleft()
        self._begins_at = time.monotonic() + _AGAIN_AFTER
        try:
            share = _Share(self._start(given), given)
        except OSError:
            self._free.append(given)
            return False
        self._shares.insert(len(self._shares) if place is None else place, share)
        return True

    def _send_alone(self) -> Iterator[Outcome]:
        """Send the rest in this process."""
        if self.stop is not None:
            self._alone.end(self.stop)
        yield from self._alone.load(chain(self._again, self._source))
        self.stop = self._alone.stop

    # --- waiting ---

    def _report_waiting(self) -> None:
        """Report what all workers wait for; the others pause while the service refuses one of them."""
        told = [share.progress for share in self._shares]
        suspended = [one for one in told if one.is_suspended]
        if self._has_reported_suspension and not suspended:
            self._has_reported_suspension = False
            self._on_waiting(None)
        is_quiet = self.stop is None and not self._cancellation.is_paused and not any(one.is_busy for one in told)
        found = [one.waiting for one in (suspended or (told if is_quiet else [])) if one.waiting is not None]
        if self.stop is not None or not found:
            return
        next_ = min(found, key=lambda one: one.seconds)
        ends = (next_.reason, round(self._cancellation.now() + next_.seconds))
        is_same = self._reported is not None and self._reported[0] == ends[0] and abs(self._reported[1] - ends[1]) <= 1
        if next_.seconds >= _WORTH_REPORTING and not is_same:
            self._reported, self._has_reported_suspension = ends, bool(suspended)
            rows = sum(one.waiting.rows for one in told if one.waiting is not None)
            self._on_waiting(next_._replace(rows=rows))


def shared_among(count: int, options: LoadOptions, *, is_rate_shared: bool) -> list[LoadOptions]:
    """The options of each worker: their concurrencies and rates are together those of the run.

    is_rate_shared: the ledger sees to it that they keep the rate together.
    Errors are counted by the run, and a number of them by each worker too. There are never more workers than requests
    at the same time.
    """
    count = min(count, options.concurrency)
    most = options.max_errors if options.max_errors is not None and not options.max_errors.is_percentage else None
    rate = options.rate / count if options.rate is not None and not is_rate_shared else options.rate
    concurrencies = [options.concurrency // count + (number < options.concurrency % count) for number in range(count)]
    return [replace(options, concurrency=one, rate=rate, max_errors=most) for one in concurrencies]
