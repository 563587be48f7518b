"""Sends the rows of one target: what the ledger says of each, in which order they go, and what is said in the end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice

from importer.ledger import DONE, Known, LedgerStore, LedgerUnwritable, RunRecord, Scope, State
from importer.load.attempts import AttemptResult, Job, PriorAttempt
from importer.load.cancellation import Cancellation
from importer.load.explanations import (
    Stop,
    done_before,
    duplicate_of,
    ledger_lost,
    not_started,
    outcome_of,
    rejected_before,
    unclear_before,
)
from importer.load.options import LoadOptions
from importer.load.schedule import Schedule
from importer.load.sender import Sender, SenderContext, Service, Waiting
from importer.models import Outcome, OutcomeKind, ReadyCandidate

_LARGEST_BATCH = 32  # making them ready takes a few milliseconds, in which no new row is sent


def _always_well() -> bool:
    return True


def _forgotten(_run: str, _row: int) -> Outcome | None:
    return None


def _ignore_waiting(_: Waiting | None) -> None:
    pass


class Loader:
    """Loads the submissions of one run into its target, so that nobody is entered twice (design, section 7).

    service: whatever starts to send one body once, and reports its answer.
    ledger, run: a run that was begun in that ledger, under its target's lock.
    probe: tells whether the service is well, when its answers are not clear.
    has_answered: whether the service has answered at this address before: another one is not waited for.
    earlier: the outcome that a row had in an earlier run, if that is still known.
    on_waiting: called with what is waited for, and with None when sending goes on.
    cancellation: ends or pauses sending.
    """

    def __init__(
        self,
        service: Service,
        ledger: LedgerStore,
        run: RunRecord,
        *,
        options: LoadOptions | None = None,
        probe: Callable[[], bool] = _always_well,
        has_answered: bool = True,
        earlier: Callable[[str, int], Outcome | None] = _forgotten,
        on_waiting: Callable[[Waiting | None], None] = _ignore_waiting,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._options = options or LoadOptions()
        self._earlier = earlier
        target, switch = run.scope.target, cancellation or Cancellation()
        context = SenderContext(service, ledger, run.run, target, self._options, switch, probe, on_waiting)
        self._sender = Sender(context, has_answered=has_answered)
        self._schedule = Schedule(context, self._sender)

    @property
    def stop(self) -> Stop | None:
        """Why sending ended early; None while it goes on, and when every row had its turn."""
        return self._sender.state.stop

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service let through, where it refused more (429)."""
        return self._sender.limiter.learned_rate

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """One outcome for each candidate, in the order in which they become final.

        `candidates` is read from the calling thread only, and not much faster than rows are sent.
        """
        sender, schedule = self._sender, self._schedule
        try:
            for item in self._plan(candidates):
                if isinstance(item, Outcome):
                    yield item
                    continue
                yield from self._outcomes_until(schedule.has_room)
                if self.stop is not None:
                    yield self._not_started(item)
                else:
                    sender.intend(item)
            schedule.no_more()
            yield from self._outcomes_until(schedule.is_over)
        finally:
            sender.close()

    def _outcomes_until(self, is_so: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes that there are, and those that come until something is so."""
        while True:
            self._schedule.go_on()
            is_reached = is_so()
            for result in self._sender.collect():
                yield self._outcome(result)
            if is_reached:
                return
            self._schedule.idle()

    def _outcome(self, result: AttemptResult) -> Outcome:
        job = result.job
        if job.earlier is not None and job.attempts == 0 and result.state is State.UNCLEAR:
            return unclear_before(job.row, job.earlier)
        return outcome_of(result, self.stop)

    def _not_started(self, job: Job) -> Outcome:
        if job.earlier is not None:
            return unclear_before(job.row, job.earlier)
        return not_started(job.row, self.stop)

    # --- what is to be done about each row ---

    def _plan(self, candidates: Iterable[ReadyCandidate]) -> Iterator[Outcome | Job]:
        for batch in _growing_batches(candidates):
            named = [(one, self._ledger.fingerprints.identity(self._run.scope, one.email)) for one in batch]
            known = self._look_up([identity for _, identity in named])
            for candidate, identity in named:
                yield self._plan_row(candidate, identity, known.get(identity))

    def _look_up(self, identities: list[bytes]) -> dict[bytes, Known]:
        try:
            return self._ledger.look_up(identities)
        except LedgerUnwritable as error:
            self._sender.end(ledger_lost(error))
            return {}

    def _plan_row(self, candidate: ReadyCandidate, identity: bytes, known: Known | None) -> Outcome | Job:
        if known is not None and known.run == self._run.run:
            return duplicate_of(candidate.row, known)
        job = Job(candidate.row, identity, candidate.body, self._ledger.fingerprints.body_digest(candidate.body))
        if known is None:
            return job
        if known.state in DONE:
            return done_before(job.row, known, job.body_digest)
        is_unchanged = known.body_digest == job.body_digest
        if known.state is State.REJECTED and is_unchanged and not self._options.again:
            return rejected_before(job.row, known, self._earlier(known.run, known.row))
        if known.state in (State.UNCLEAR, State.IN_FLIGHT):
            if self._options.settle == "never":
                return unclear_before(job.row, known)
            prior = PriorAttempt.SAME_BYTES if is_unchanged else PriorAttempt.OTHER_BYTES
            return job._replace(prior=prior, earlier=known)
        return job


class DryLoader:
    """The shape of a Loader that sends nothing. `ledger` is None where there is none yet; it never stops by itself."""

    stop: None = None
    learned_rate: None = None

    def __init__(self, ledger: LedgerStore | None, scope: Scope) -> None:
        self._ledger = ledger
        self._scope = scope

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """`done_before` for what the ledger knows as done, `not_sent` without a problem for the rest."""
        for batch in _growing_batches(candidates):
            done = self._done(batch)
            for candidate in batch:
                yield done.get(candidate.row) or Outcome(candidate.row, OutcomeKind.NOT_SENT)

    def _done(self, batch: list[ReadyCandidate]) -> dict[int, Outcome]:
        ledger = self._ledger
        if ledger is None:
            return {}
        prints = ledger.fingerprints
        named = [(each, prints.identity(self._scope, each.email)) for each in batch]
        known = ledger.look_up([identity for _, identity in named])
        return {
            each.row: done_before(each.row, known[identity], prints.body_digest(each.body))
            for each, identity in named
            if identity in known and known[identity].state in DONE
        }


def _growing_batches(candidates: Iterable[ReadyCandidate]) -> Iterator[list[ReadyCandidate]]:
    """Batches of 1, 2, 4, ... 32, 32, ...: the first row does not wait for a whole one. Reads no further than that."""
    stream = iter(candidates)
    size = 1
    while batch := list(islice(stream, size)):
        yield batch
        size = min(size * 2, _LARGEST_BATCH)
