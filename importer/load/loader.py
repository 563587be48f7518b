"""Sends the rows of one target: what the ledger says of each, in which order they go, and what is said in the end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator

from importer.ledger import DONE, Known, LedgerStore, LedgerUnwritable, RunRecord, State
from importer.load.batches import growing_batches
from importer.load.classify import Doubt
from importer.load.halt import Halt
from importer.load.job import Finding, Job
from importer.load.options import LoadOptions
from importer.load.outcomes import done_before, outcome_of, rejected_before, twin_of, unclear_before, untouched
from importer.load.sending import SenderContext, Sending, Waiting
from importer.load.stops import Stop, ledger_lost
from importer.load.threads import SenderThreads, Submits
from importer.models import Outcome, ReadyCandidate
from importer.service import SubmitThen


def _always_well() -> bool:
    return True


def _forgotten(_run: str, _row: int) -> Outcome | None:
    return None


def _nobody_listens(_: Waiting | None) -> None:
    pass


class Loader:
    """Loads the submissions of one run into its target, so that nobody is entered twice (design, section 7).

    service: whatever sends one body once. submit_then: the same for many at once, where the service knows how.
    ledger, run: a run that was begun in that ledger, under its target's lock.
    probe: tells whether the service is well, when its answers are not clear.
    has_answered: whether the service has answered at this address before: another one is not waited for.
    earlier: the outcome that a row had in an earlier run, if that is still known.
    told: called with what is waited for, and with None when sending goes on.
    halt: ends sending early.
    """

    def __init__(
        self,
        service: Submits,
        ledger: LedgerStore,
        run: RunRecord,
        *,
        submit_then: SubmitThen | None = None,
        options: LoadOptions | None = None,
        probe: Callable[[], bool] = _always_well,
        has_answered: bool = True,
        earlier: Callable[[str, int], Outcome | None] = _forgotten,
        told: Callable[[Waiting | None], None] = _nobody_listens,
        halt: Halt | None = None,
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._options = options or LoadOptions()
        self._earlier = earlier
        self._threads = SenderThreads(service, self._options.in_flight)
        context = SenderContext(
            submit_then or self._threads.start,
            ledger,
            run.run,
            run.scope.target,
            self._options,
            halt or Halt(),
            probe,
            told,
        )
        self._sending = Sending(context, has_answered=has_answered)

    @property
    def stop(self) -> Stop | None:
        """Why sending ended early; None while it goes on, and when every row had its turn."""
        return self._sending.stop

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service let through, where it refused more (429)."""
        return self._sending.learned_rate

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """One outcome for each candidate, in the order in which they become final.

        `candidates` is read from the calling thread only, and not much faster than rows are sent.
        """
        sending = self._sending
        try:
            for item in self._plan(candidates):
                if isinstance(item, Outcome):
                    yield item
                    continue
                yield from self._outcomes_until(sending.has_room)
                if sending.stop is not None:
                    yield self._not_started(item)
                else:
                    sending.intend(item)
            sending.no_more()
            yield from self._outcomes_until(sending.is_over)
        finally:
            sending.close()
            self._threads.close()

    def _outcomes_until(self, is_so: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes that there are, and those that come until something is so."""
        sending = self._sending
        while True:
            sending.go_on()
            is_reached = is_so()
            for finding in sending.collect():
                yield self._outcome(finding)
            if is_reached:
                return
            sending.idle()

    def _outcome(self, finding: Finding) -> Outcome:
        job = finding.job
        if job.earlier is not None and job.attempts == 0 and finding.state is State.UNCLEAR:
            return unclear_before(job.row, job.earlier)
        return outcome_of(finding, self.stop)

    def _not_started(self, job: Job) -> Outcome:
        if job.earlier is not None:
            return unclear_before(job.row, job.earlier)
        return untouched(job.row, self.stop)

    # --- what is to be done about each row ---

    def _plan(self, candidates: Iterable[ReadyCandidate]) -> Iterator[Outcome | Job]:
        for batch in growing_batches(candidates):
            named = [(one, self._ledger.fingerprints.identity(self._run.scope, one.email)) for one in batch]
            known = self._look_up([identity for _, identity in named])
            for candidate, identity in named:
                yield self._plan_row(candidate, identity, known.get(identity))

    def _look_up(self, identities: list[bytes]) -> dict[bytes, Known]:
        try:
            return self._ledger.look_up(identities)
        except LedgerUnwritable as error:
            self._sending.end(ledger_lost(error))
            return {}

    def _plan_row(self, candidate: ReadyCandidate, identity: bytes, known: Known | None) -> Outcome | Job:
        if known is not None and known.run == self._run.run:
            return twin_of(candidate.row, known)
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
            return job._replace(doubt=Doubt.SAME_BYTES if is_unchanged else Doubt.OTHER_BYTES, earlier=known)
        return job
