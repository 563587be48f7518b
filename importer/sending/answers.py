"""What one response means for its row: one table.

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
for talent pools it shows 201 only. So both operations share one table; only the response to a resend of an
unconfirmed row is read differently: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from importer.ledger import Known, State
from importer.models import Operation
from importer.service import NoReply, Reply


class PriorAttempt(StrEnum):
    """Whether an earlier request for the same identity may have been accepted."""

    NONE = "none"
    SAME_BYTES = "same_bytes"  # yes, with the same body as now
    OTHER_BYTES = "other_bytes"  # yes, but the row has changed since


@dataclass(slots=True, eq=False)
class PendingRow:
    """One row on its way. Only the loop changes it; `turn` its sender.

    prior, earlier: of before this run, see `Known`. state: as the ledger has it from this run. attempts: requests sent
    for it. last: the last response to them. tries: responses that did not settle it, since another row that was sent
    again was settled (`settled`: how many these were). odd: the status of such a response, if it was odd, when so many
    rows were `accepted`. refusals: requests that were not processed, one after the other, since `refused_since`. turn:
    of its next request, if it has one. run: that sends it.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    origin: bytes = b""
    prior: PriorAttempt = PriorAttempt.NONE
    earlier: Known | None = None
    state: State | None = None
    attempts: int = 0
    last: Reply | NoReply | None = None
    tries: int = 0
    settled: int = 0
    odd: int | None = None
    accepted: int = 0
    refusals: int = 0
    refused_since: float | None = None
    turn: float | None = None
    run: str = ""

    @property
    def status(self) -> int | None:
        """The status of the last response, if there was one."""
        return self.last.status if isinstance(self.last, Reply) else None

    @property
    def state_if_waiting(self) -> State:
        """Its state while no request is under way that may have been accepted."""
        return State.PLANNED if self.prior is PriorAttempt.NONE else State.UNCONFIRMED

    @property
    def state_if_not_sent(self) -> State | None:
        """Its state if it is not sent any more; None: nothing was sent for it."""
        if self.prior is not PriorAttempt.NONE:
            return State.UNCONFIRMED
        return State.FAILED if self.attempts else None


class Disposition(StrEnum):
    """What one response means for its row."""

    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    REJECTED = "rejected"
    AGAIN = "again"  # proven not processed: sent again after a wait
    AMBIGUOUS = "ambiguous"  # may have been accepted: sent again later with the same body
    STOP_TARGET = "stop_target"  # proven not accepted, and so for every row of this target
    STOP_RUN = "stop_run"  # so for every target
    REDIRECTED = "redirected"  # may have been accepted, and every row of every target would be redirected


ODD: Final = frozenset({Disposition.STOP_TARGET, Disposition.STOP_RUN, Disposition.REDIRECTED})
"""As if token, target or address were wrong; if others were accepted, it may be one row's fate, or one odd second."""

OF_THE_ROW: Final = frozenset({403, 404, 415, 423, 451})
"""Odd statuses that the service may mean for one row, if it accepts the others."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Statuses with the same meaning. The first rule for a status applies."""

    statuses: Iterable[int]
    disposition: Disposition
    why: str


RULES: tuple[Rule, ...] = (
    Rule((201,), Disposition.CREATED, "the only status that means created"),
    Rule((409,), Disposition.ALREADY_EXISTS, "the candidate exists already"),
    Rule((400, 413, 422), Disposition.REJECTED, "the service rejects this row"),
    Rule((425, 429), Disposition.AGAIN, "not processed, try again later"),
    Rule((401,), Disposition.STOP_RUN, "the token is refused"),
    Rule((403, 404, 410, 423), Disposition.STOP_TARGET, "the target is closed to us"),
    Rule((408,), Disposition.AMBIGUOUS, "a timeout, perhaps of a proxy after the service accepted it"),
    Rule(
        range(400, 500), Disposition.STOP_TARGET, "the form of the request is refused, and it is the same for all rows"
    ),
    Rule((302, 303), Disposition.REDIRECTED, "may also follow an accepted request; redirects are never followed"),
    Rule(range(300, 400), Disposition.STOP_RUN, "the address is wrong; redirects are never followed"),
    Rule(range(500, 600), Disposition.AMBIGUOUS, "may have failed before or after accepting"),
    Rule(range(100, 300), Disposition.AMBIGUOUS, "neither refused nor confirmed as created"),
)

_BY_STATUS = {status: rule.disposition for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply, exists_words: str = "") -> Disposition:
    """The disposition of one response. An unknown status is ambiguous.

    exists_words: by these a rejection says that the candidate exists; "": a rejection never does.
    """
    if isinstance(answer, NoReply):
        return Disposition.AMBIGUOUS if answer.may_have_arrived else Disposition.AGAIN
    found = _BY_STATUS.get(answer.status, Disposition.AMBIGUOUS)
    if found is Disposition.REJECTED and exists_words and exists_words.casefold() in answer.message.casefold():
        return Disposition.ALREADY_EXISTS
    return found


def is_odd(status: int | None) -> bool:
    """Whether a status is one of those as if token, target or address were wrong."""
    return _BY_STATUS.get(status or 0) in ODD


_AFTER_FIRST_ATTEMPT = {
    Disposition.CREATED: State.CREATED,
    Disposition.ALREADY_EXISTS: State.ALREADY_EXISTS,
    Disposition.REJECTED: State.REJECTED,
    Disposition.AGAIN: State.PLANNED,
    Disposition.AMBIGUOUS: State.UNCONFIRMED,
    Disposition.STOP_TARGET: State.FAILED,
    Disposition.STOP_RUN: State.FAILED,
    Disposition.REDIRECTED: State.UNCONFIRMED,
}


def state_after(operation: Operation, disposition: Disposition, prior: PriorAttempt) -> State:
    """The state of an identity after a response.

    If an earlier request may have arrived, only a response about the candidate confirms the row: 201 and 409 do. A
    rejection does if the service would respond with 409 to a second application (4.2) and the body is the same as that
    of the first request. Its response to a second addition to a pool is not shown (4.3) and may be the same 400.
    """
    after = _AFTER_FIRST_ATTEMPT[disposition]
    if prior is PriorAttempt.NONE or disposition in (Disposition.CREATED, Disposition.ALREADY_EXISTS):
        return after
    if disposition is Disposition.REJECTED and operation is Operation.APPLY and prior is PriorAttempt.SAME_BYTES:
        return after
    return State.UNCONFIRMED
