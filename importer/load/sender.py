"""The life of one row: intent on disk, request, verdict, answer recorded; again where it is proven not processed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from importer.ledger import Answered, Attempt, Intent, Ledger, LedgerUnwritable, NotAllowed, State
from importer.load.budget import RetryBudget
from importer.load.classify import Doubt, Verdict, classify, state_after
from importer.load.crew import Crew
from importer.load.halt import Halt
from importer.load.job import Finding, Hindrance, Job
from importer.load.pace import Pace
from importer.models import Target
from importer.service import NoReply, Patience, Reply, SubmitThen


class Submits(Protocol):
    """The narrow hole through which requests go: sends one body once, and raises for nothing the service does."""

    def submit(self, target: Target, body: bytes) -> Reply | NoReply: ...


@dataclass(frozen=True, slots=True)
class Means:
    """What every sender of a run works with.

    submit_then: None where the service needs a thread for each request. judge: told of each finding that a row is left
    with, before the next row is let in: what stops the run is to do so at once.
    """

    service: Submits
    submit_then: SubmitThen | None
    ledger: Ledger
    run: str
    target: Target
    patience: Patience
    pace: Pace
    halt: Halt
    budget: RetryBudget
    judge: Callable[[Finding], None]


def send(job: Job, means: Means, so_far: Finding | None = None) -> Finding:
    """Live one row's life to a finding, or on from its first attempt, which came to `so_far`.

    Waits until the job is due; safe to call from many threads.
    """
    means.halt.sleep(job.due - means.halt.now())
    life = _Life(job, means, so_far)
    finding = means.patience.run(life.attempt, again=asks_for_another, hint=_retry_after, first=so_far)
    if finding.state is State.PLANNED:
        # The attempts are used up, or the run ends while we wait for the next one.
        if finding.hindrance is not Hindrance.TWIN:
            life.give_up(finding)
        finding = finding._replace(state=State.FAILED)
    if not life.is_judged:
        means.judge(finding)
    return finding


def begin(job: Job, means: Means, entered: float, then: Callable[[Finding | BaseException], None]) -> None:
    """Make the first attempt at a job whose intent is on disk, without waiting; the pace has let it in.

    `then` is called with what it came to, or with a bug of ours, on the service's thread.
    """
    assert means.submit_then is not None
    life = _Life(job, means)

    def answered(answer: Reply | NoReply | BaseException) -> None:
        found: Finding | BaseException
        try:
            found = answer if isinstance(answer, BaseException) else life.found(life.next_attempt(), answer)
        except BaseException as bug:  # noqa: BLE001 - raised again where the findings are collected
            found = bug
        means.pace.leave(entered, None if isinstance(answer, BaseException) else answer)
        then(found)

    means.budget.earn()
    try:
        means.submit_then(means.target, job.body, answered)
    except BaseException:
        means.pace.leave(entered, None)
        raise


def withdraw(job: Job, means: Means) -> Finding:
    """The run has ended between a job's intent and its request."""
    life = _Life(job, means)
    life.withdraw(life.next_attempt())
    finding = _nothing_yet(job)._replace(hindrance=Hindrance.HALTED)
    means.judge(finding)
    return finding


def intend(job: Job, means: Means, crew: Crew) -> None:
    """Have the intent of a job's first request written, and the job handed to the crew when it is on disk.

    So no sender waits for the disk: while one row's answer is awaited, the next row's intent is written.
    """

    def then(refusal: Exception | None) -> None:
        if refusal is None:
            crew.hand_over(job._replace(intended=True))
        elif isinstance(refusal, (LedgerUnwritable, NotAllowed)):
            crew.hold_back(_hindered(_nothing_yet(job), refusal))
        else:
            crew.hold_back(refusal)  # a bug of ours

    attempt = Attempt(job.identity, means.run, job.row, 1)
    means.ledger.intend_then(Intent(attempt, job.body_digest), then)


def _nothing_yet(job: Job) -> Finding:
    """What is known of a job before its first request of this run."""
    return Finding(job, None if job.doubt is Doubt.NONE else State.UNCLEAR)


def _hindered(so_far: Finding, refusal: LedgerUnwritable | NotAllowed) -> Finding:
    """The finding where the ledger did not take an intent."""
    if isinstance(refusal, LedgerUnwritable):
        return so_far._replace(hindrance=Hindrance.LEDGER, trouble=refusal)
    return so_far._replace(hindrance=Hindrance.TWIN, twin=refusal.row)


class _Life:
    def __init__(self, job: Job, means: Means, so_far: Finding | None = None) -> None:
        self._job = job
        self._means = means
        self._so_far = so_far or _nothing_yet(job)
        self.is_judged = False

    def attempt(self) -> Finding:
        attempt = self.next_attempt()
        is_intended = self._so_far.job.may_leave
        if not self._is_affordable():
            return self._so_far._replace(hindrance=Hindrance.BUDGET)
        entered = self._means.pace.enter()
        if entered is None:
            if is_intended:
                self.withdraw(attempt)
            return self._so_far._replace(hindrance=Hindrance.HALTED)
        answer: Reply | NoReply | None = None
        try:
            if not is_intended:
                self._means.ledger.intend(Intent(attempt, self._job.body_digest))
            answer = self._means.service.submit(self._means.target, self._job.body)
            return self.found(attempt, answer)
        except (LedgerUnwritable, NotAllowed) as refusal:
            return _hindered(self._so_far, refusal)
        finally:
            self._means.pace.leave(entered, answer)

    def withdraw(self, attempt: Attempt) -> None:
        """The run ended between the intent and its request: proven not processed, since it never left."""
        state = State.PLANNED if self._job.doubt is Doubt.NONE else State.UNCLEAR
        self._means.ledger.record(Answered(attempt, state))

    def give_up(self, finding: Finding) -> None:
        last = finding.job.attempts
        attempt = Attempt(self._job.identity, self._means.run, self._job.row, last)
        self._means.ledger.record(Answered(attempt, State.FAILED, finding.status))

    def _is_affordable(self) -> bool:
        if self._so_far.job.attempts:
            return self._means.budget.spend()
        self._means.budget.earn()
        return True

    def next_attempt(self) -> Attempt:
        number = self._so_far.job.attempts + 1
        return Attempt(self._job.identity, self._means.run, self._job.row, number)

    def found(self, attempt: Attempt, answer: Reply | NoReply) -> Finding:
        """What an answer makes of the row: recorded, and judged if it leaves it so."""
        verdict = classify(answer)
        state = state_after(self._means.target.operation, verdict, self._job.doubt)
        self._so_far = Finding(self._job._replace(attempts=attempt.number, last=answer), state, verdict)
        self._means.ledger.record(Answered(attempt, state, self._so_far.status))
        if not asks_for_another(self._so_far):
            self._means.judge(self._so_far)
            self.is_judged = True
        return self._so_far


def asks_for_another(finding: Finding) -> bool:
    """Whether an attempt is to be followed by another one, if there may be one: `send` goes on from there."""
    return finding.verdict is Verdict.AGAIN and finding.hindrance is None


def _retry_after(finding: Finding) -> float | None:
    last = finding.job.last
    return last.retry_after if isinstance(last, Reply) else None
