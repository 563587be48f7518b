"""The life of one row: intent on disk, request, verdict, answer recorded; again where it is proven not processed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from importer.ledger import Answered, Attempt, Intent, Ledger, LedgerUnwritable, NotAllowed, State
from importer.load.budget import RetryBudget
from importer.load.classify import Doubt, Verdict, classify, state_after
from importer.load.halt import Halt
from importer.load.job import Finding, Hindrance, Job
from importer.load.pace import Pace
from importer.models import Target
from importer.service import NoReply, Patience, Reply


class Submits(Protocol):
    """The narrow hole through which requests go: sends one body once, and raises for nothing the service does."""

    def submit(self, target: Target, body: bytes) -> Reply | NoReply: ...


@dataclass(frozen=True, slots=True)
class Means:
    """What every sender of a run works with."""

    service: Submits
    ledger: Ledger
    run: str
    target: Target
    patience: Patience
    pace: Pace
    halt: Halt
    budget: RetryBudget


def send(job: Job, means: Means) -> Finding:
    """Live one row's life to a finding. Waits until the job is due; safe to call from many threads."""
    means.halt.sleep(job.due - means.halt.now())
    life = _Life(job, means)
    finding = means.patience.run(life.attempt, again=_is_due_again, hint=_retry_after)
    if finding.state is not State.PLANNED:
        return finding
    # The attempts are used up, or the run ends while we wait for the next one.
    if finding.hindrance is not Hindrance.TWIN:
        life.give_up(finding)
    return replace(finding, state=State.FAILED)


class _Life:
    def __init__(self, job: Job, means: Means) -> None:
        self._job = job
        self._means = means
        self._so_far = Finding(job, _state_before(job.doubt))

    def attempt(self) -> Finding:
        if not self._is_affordable():
            return replace(self._so_far, hindrance=Hindrance.BUDGET)
        entered = self._means.pace.enter()
        if entered is None:
            return replace(self._so_far, hindrance=Hindrance.HALTED)
        answer: Reply | NoReply | None = None
        try:
            attempt = self._next_attempt()
            self._means.ledger.intend(Intent(attempt, self._job.body_digest))
            answer = self._means.service.submit(self._means.target, self._job.body)
        except LedgerUnwritable as trouble:
            return replace(self._so_far, hindrance=Hindrance.LEDGER, trouble=trouble)
        except NotAllowed:
            return replace(self._so_far, hindrance=Hindrance.TWIN)
        finally:
            self._means.pace.leave(entered, answer)
        return self._record(attempt, answer)

    def give_up(self, finding: Finding) -> None:
        last = finding.job.attempts
        attempt = Attempt(self._job.identity, self._means.run, self._job.row, last)
        self._means.ledger.record(Answered(attempt, State.FAILED, finding.status))

    def _is_affordable(self) -> bool:
        if self._so_far.job.attempts:
            return self._means.budget.spend()
        self._means.budget.earn()
        return True

    def _next_attempt(self) -> Attempt:
        number = self._so_far.job.attempts + 1
        return Attempt(self._job.identity, self._means.run, self._job.row, number)

    def _record(self, attempt: Attempt, answer: Reply | NoReply) -> Finding:
        verdict = classify(answer)
        state = state_after(self._means.target.operation, verdict, self._job.doubt)
        self._so_far = Finding(replace(self._job, attempts=attempt.number, last=answer), state, verdict)
        self._means.ledger.record(Answered(attempt, state, self._so_far.status))
        return self._so_far


def _state_before(doubt: Doubt) -> State | None:
    return None if doubt is Doubt.NONE else State.UNCLEAR


def _is_due_again(finding: Finding) -> bool:
    return finding.verdict is Verdict.AGAIN and finding.hindrance is None


def _retry_after(finding: Finding) -> float | None:
    last = finding.job.last
    return last.retry_after if isinstance(last, Reply) else None
