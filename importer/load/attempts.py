"""A row on its way, and what an answer means for it: every status and every missing answer, as one table.

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
of talent pools it shows 201 only. So the table is the same for both operations, and only what may follow after a
request that may have arrived differs: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from importer.ledger import Known, State
from importer.models import Operation
from importer.service import NoReply, Reply


class Disposition(StrEnum):
    """What one answer says about its row."""

    CREATED = "created"
    ALREADY_THERE = "already_there"
    REJECTED = "rejected"
    AGAIN = "again"  # proven not processed: sent again after a wait
    AMBIGUOUS = "ambiguous"  # it may have been accepted: settled later with the same bytes
    STOP_TARGET = "stop_target"  # proven not accepted, and the same will happen to every row of this target
    STOP_RUN = "stop_run"  # the same, for every target
    REDIRECTED = "redirected"  # it may have been accepted, and every row of every target would be redirected


@dataclass(frozen=True, slots=True)
class Rule:
    """Statuses that mean the same. Of several rules for a status the first counts."""

    statuses: Iterable[int]
    disposition: Disposition
    why: str


RULES: tuple[Rule, ...] = (
    Rule((201,), Disposition.CREATED, "the only status that says created"),
    Rule((409,), Disposition.ALREADY_THERE, "the candidate is there"),
    Rule((400, 413, 422), Disposition.REJECTED, "the service refuses this row"),
    Rule((425, 429), Disposition.AGAIN, "not now, and nothing was done"),
    Rule((401,), Disposition.STOP_RUN, "the token is refused"),
    Rule((403, 404, 410, 423), Disposition.STOP_TARGET, "the target is closed to us"),
    Rule((408,), Disposition.AMBIGUOUS, "something gave up waiting, perhaps not the one that works"),
    Rule(range(400, 500), Disposition.STOP_TARGET, "the form of our request is refused, and all rows have that form"),
    Rule((302, 303), Disposition.REDIRECTED, "said after what was accepted, too; a redirect is never followed"),
    Rule(range(300, 400), Disposition.STOP_RUN, "the address is wrong; a redirect is never followed"),
    Rule(range(500, 600), Disposition.AMBIGUOUS, "it may have broken before or after accepting"),
    Rule(range(100, 300), Disposition.AMBIGUOUS, "not refused, and not said to be created"),
)

_BY_STATUS = {status: rule.disposition for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply) -> Disposition:
    """What one answer says about its row. A status that no standard knows is ambiguous."""
    if isinstance(answer, NoReply):
        return Disposition.AMBIGUOUS if answer.may_have_arrived else Disposition.AGAIN
    return _BY_STATUS.get(answer.status, Disposition.AMBIGUOUS)


class PriorAttempt(StrEnum):
    """Whether an earlier request for the same identity may have been accepted."""

    NONE = "none"
    SAME_BYTES = "same_bytes"  # one may have been, with the same body as the one to be sent now
    OTHER_BYTES = "other_bytes"  # one may have been, and the row was changed since


_AFTER_FIRST_ATTEMPT = {
    Disposition.CREATED: State.CREATED,
    Disposition.ALREADY_THERE: State.ALREADY_THERE,
    Disposition.REJECTED: State.REJECTED,
    Disposition.AGAIN: State.PLANNED,
    Disposition.AMBIGUOUS: State.UNCLEAR,
    Disposition.STOP_TARGET: State.FAILED,
    Disposition.STOP_RUN: State.FAILED,
    Disposition.REDIRECTED: State.UNCLEAR,
}


def state_after(operation: Operation, disposition: Disposition, prior: PriorAttempt) -> State:
    """The state that an answer leaves an identity in.

    After a request that may have arrived only an answer about the candidate settles it: 201 and 409 do. A refusal of
    the row does where the service would have said 409 to a second application (4.2) and the refused bytes are those of
    the first request; what it says to a second addition to a pool is not shown (4.3) and may be that same 400.
    """
    after = _AFTER_FIRST_ATTEMPT[disposition]
    if prior is PriorAttempt.NONE or disposition in (Disposition.CREATED, Disposition.ALREADY_THERE):
        return after
    if disposition is Disposition.REJECTED and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:
        return after
    return State.UNCLEAR


class Job(NamedTuple):
    """One row to be sent.

    prior: whether an earlier request for it may have been accepted. attempts: requests sent for it in this run. tries:
    those of them with an inconclusive answer that count as its own. refusals: refusals (429) that count as its own.
    last: the last answer to it in this run. earlier: what the ledger knew of the identity before this run. is_probe:
    its request is the one that is sent to see whether the service is well again.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    prior: PriorAttempt = PriorAttempt.NONE
    attempts: int = 0
    tries: int = 0
    refusals: int = 0
    last: Reply | NoReply | None = None
    earlier: Known | None = None
    is_probe: bool = False


class AttemptResult(NamedTuple):
    """What is known of a job: the state it is left in (None: nothing was sent for it), and what its answer said.

    disposition: None where the last thing that happened was no answer. is_duplicate: its identity is in flight or done,
    since another row of this run has the same e-mail; `other_row` is that one, where it is known.
    """

    job: Job
    state: State | None
    disposition: Disposition | None = None
    is_duplicate: bool = False
    other_row: int | None = None

    @property
    def status(self) -> int | None:
        return self.job.last.status if isinstance(self.job.last, Reply) else None


def not_sent_again(job: Job) -> AttemptResult:
    """What is known of a job that is not sent any more."""
    if job.prior is not PriorAttempt.NONE:
        return AttemptResult(job, State.UNCLEAR)
    return AttemptResult(job, State.FAILED if job.attempts else None)
