"""Sends the rows of one target: in which order, how many at a time, and until when."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from threading import Lock

from importer.ledger import DONE, Known, Ledger, LedgerUnwritable, RunRecord, State
from importer.load.batches import growing_batches
from importer.load.budget import RetryBudget
from importer.load.classify import Doubt, Verdict
from importer.load.crew import Crew, Report, Senders, SenderThreads
from importer.load.dispatcher import Dispatcher
from importer.load.halt import Halt
from importer.load.job import Finding, Job
from importer.load.options import LoadOptions
from importer.load.outcomes import done_before, outcome_of, rejected_before, twin_of, unclear_before, untouched
from importer.load.pace import Pace
from importer.load.sender import Means, Submits, intend, send
from importer.load.stops import Stop, Stops, is_error
from importer.models import Outcome, ReadyCandidate
from importer.service import Patience, SubmitThen

_MOST_SET_ASIDE = 1000  # rows that wait to be settled, with their bodies in memory


def _always_well() -> bool:
    return True


def _forgotten(_run: str, _row: int) -> Outcome | None:
    return None


class Loader:
    """Loads the submissions of one run into its target, so that nobody is entered twice (design, section 7).

    service: whatever sends one body once. submit_then: the same for many at once, where the service knows how.
    ledger, run: a run that was begun in that ledger, under its target's lock.
    patience: how often and how long a request that was proven not processed is tried again; its `sleep` is replaced
        by the halt's, so that a stop ends the waiting.
    probe: tells whether the service is well, when its answers are not clear.
    earlier: the outcome that a row had in an earlier run, if that is still known.
    halt: ends sending early.
    """

    def __init__(
        self,
        service: Submits,
        ledger: Ledger,
        run: RunRecord,
        *,
        submit_then: SubmitThen | None = None,
        options: LoadOptions | None = None,
        patience: Patience | None = None,
        probe: Callable[[], bool] = _always_well,
        earlier: Callable[[str, int], Outcome | None] = _forgotten,
        halt: Halt | None = None,
    ) -> None:
        self._ledger = ledger
        self._run = run
        self._options = options or LoadOptions()
        self._probe = probe
        self._earlier = earlier
        self._halted_from_outside = halt or Halt()
        self._halt = self._halted_from_outside.dependent()
        self._stops = Stops(run.scope.target, self._options.max_errors)
        self._set_aside: deque[Job] = deque()
        self._judging = Lock()
        pace = Pace(self._halt, self._options.in_flight, self._options.rate)
        patience = replace(patience or Patience(), sleep=self._halt.sleep)
        budget = RetryBudget(self._options.retry_budget)
        self._means = Means(
            service, submit_then, ledger, run.run, run.scope.target, patience, pace, self._halt, budget, self._judge
        )

    @property
    def stop(self) -> Stop | None:
        """Why sending ended early; None while it goes on, and when every row had its turn."""
        return self._stops.stop

    @property
    def learned_rate(self) -> float | None:
        """How many requests a second the service let through, where it refused more (429)."""
        return self._means.pace.learned_rate

    def load(self, candidates: Iterable[ReadyCandidate]) -> Generator[Outcome, None, None]:
        """One outcome for each candidate, in the order in which they become final.

        `candidates` is read from the calling thread only, and not much faster than rows are sent.
        """
        hurry = self._ledger.hurry
        crew = Crew(self._senders, self._at_once, hurry=hurry, dismiss=self._dismiss)
        with crew:
            for item in self._plan(candidates):
                if isinstance(item, Outcome):
                    yield item
                    continue
                while self._must_settle_now():
                    yield from self._start(self._set_aside.popleft(), crew)
                yield from self._start(item, crew)
            while crew.busy:
                yield from self._collect(crew)
            while crew.busy or self._set_aside:
                if self._set_aside:
                    yield from self._start(self._set_aside.popleft(), crew)
                else:
                    yield from self._collect(crew)

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
        except LedgerUnwritable as trouble:
            self._stops.lose_ledger(trouble)
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
            if self._options.settle == "never" or self._has_ended():
                return unclear_before(job.row, known)
            return job._replace(doubt=Doubt.SAME_BYTES if is_unchanged else Doubt.OTHER_BYTES, earlier=known)
        return job

    # --- sending ---

    def _senders(self, report: Report) -> Senders:
        most = self._options.in_flight
        if self._means.submit_then is None:
            return SenderThreads(self._live, most, report)
        return Dispatcher(self._means, self._live, most, report)

    def _start(self, job: Job, crew: Crew) -> Iterator[Outcome]:
        while crew.busy >= self._most_under_way() and not self._has_ended():
            yield from self._collect(crew)
        if self._stops.wants_pause and not self._has_ended():
            while crew.busy:
                yield from self._collect(crew)
            self._pause()
        if self._has_ended():
            yield self._leave(job)
        else:
            self._send(job, crew)
        while crew.has_finding():
            yield from self._collect(crew)

    def _send(self, job: Job, crew: Crew) -> None:
        crew.expect()
        if job.attempts or job.due > self._halt.now():
            crew.hand_over(job)  # it waits first, and its intent with it
        else:
            intend(job, self._means, crew)

    def _most_under_way(self) -> int:
        if self._stops.singly or self._stops.wants_pause:
            return 1
        # As many again as may be sent, whose intents are written while the others are on their way, many in a commit.
        return 2 * self._at_once()

    def _at_once(self) -> int:
        return min(self._means.pace.ceiling, self._options.in_flight)

    def _pause(self) -> None:
        self._halt.sleep(self._options.pause)
        if not self._halt.is_set():
            self._stops.paused(service_is_well=self._probe())

    def _leave(self, job: Job) -> Outcome:
        """The outcome of a job that is not started any more."""
        if job.doubt is Doubt.NONE:
            return untouched(job.row, self.stop)
        if job.earlier is not None and job.attempts == 0:
            return unclear_before(job.row, job.earlier)
        return outcome_of(Finding(job, State.UNCLEAR))

    def _collect(self, crew: Crew) -> Iterator[Outcome]:
        finding = crew.next()
        if finding.trouble is not None:
            self._stops.lose_ledger(finding.trouble)
        self._note_end()
        if self._is_to_be_settled(finding):
            self._set_aside.append(self._to_settle(finding.job))
        else:
            yield outcome_of(finding, self.stop)

    def _live(self, job: Job, so_far: Finding | None = None) -> Finding:
        """Live a row's life, in a sender's thread."""
        return send(job, self._means, so_far)

    def _judge(self, finding: Finding) -> None:
        """Judged where it is found, and not where it is collected: no row made ready goes on after a stop."""
        with self._judging:
            self._stops.saw(finding)
            if finding.verdict is not None and not self._is_to_be_settled(finding):
                self._stops.ended(is_error(finding.state))
            if self.stop is not None:
                self._halt.set()

    def _is_to_be_settled(self, finding: Finding) -> bool:
        return (
            finding.verdict is Verdict.AMBIGUOUS
            and self._options.settle != "never"
            and finding.job.settlings < self._options.settle_tries
        )

    def _to_settle(self, job: Job) -> Job:
        delay = self._options.settle_after if self._options.settle == "later" else 0.0
        doubt = Doubt.SAME_BYTES if job.doubt is Doubt.NONE else job.doubt
        return job._replace(doubt=doubt, settlings=job.settlings + 1, due=self._halt.now() + delay)

    def _must_settle_now(self) -> bool:
        return bool(self._set_aside) and (self._options.settle == "now" or len(self._set_aside) >= _MOST_SET_ASIDE)

    # --- the end ---

    def _has_ended(self) -> bool:
        self._note_end()
        return self.stop is not None

    def _note_end(self) -> None:
        """Stop where somebody asks for it from outside; and where there is a reason to stop, have all waiting end."""
        if self._halted_from_outside.is_set():
            self._stops.interrupt()
        if self.stop is not None:
            self._halt.set()

    def _dismiss(self) -> None:
        """Send nothing new, and return when every intent has reached the crew and every answer the disk."""
        self._halt.set()
        try:
            self._ledger.flush()
        except LedgerUnwritable as trouble:
            self._stops.lose_ledger(trouble)
