"""What one response means for its row: one table.

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
for talent pools it shows 201 only. So both operations share one table; only the response to a resend of an
unconfirmed row is read differently: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from importer.ledger import DONE, Known, State
from importer.models import Operation
from importer.service import NoReply, Reply


@dataclass(slots=True, eq=False)
class PendingRow:
    """One row on its way. Only the loop changes it; `turn` its sender.

    may_exist: an earlier request may have been accepted; earlier: of such a one in an earlier run. state: as the ledger
    has it from this run. attempts: requests sent for it. last: the last response to them. tries: responses that did not
    settle it, since another row that was sent again was settled (`settled`: how many these were). odd: the status of
    such a response, if it was odd, when so many rows were `accepted`. refusals: requests that were not processed, one
    after the other, since `refused_since`. turn: of its next request, if it has one. run: that sends it.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    origin: bytes = b""
    may_exist: bool = False
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
    def has_changed(self) -> bool:
        """Whether the earlier request that may have been accepted had another body."""
        return self.earlier is not None and self.earlier.body_digest != self.body_digest

    @property
    def state_if_waiting(self) -> State:
        """Its state while no request is under way that may have been accepted."""
        return State.UNCONFIRMED if self.may_exist else State.PLANNED

    @property
    def state_if_not_sent(self) -> State | None:
        """Its state if it is not sent any more; None: nothing was sent for it."""
        if self.may_exist:
            return State.UNCONFIRMED
        return State.FAILED if self.attempts else None


OF_THE_ROW: Final = frozenset({403, 404, 415, 423, 451})
"""Odd statuses that the service may mean for one row, if it accepts the others."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Responses with the same meaning: the state of a row that was sent once. The first rule for a status applies.

    is_odd: as if token, target or address were wrong; if others were accepted, it may be one row's fate, or one odd
    second.
    """

    statuses: Iterable[int]
    state: State
    why: str
    is_odd: bool = False


RULES: tuple[Rule, ...] = (
    Rule((201,), State.CREATED, "the only status that means created"),
    Rule((409,), State.ALREADY_EXISTS, "the candidate exists already"),
    Rule((400, 413, 422), State.REJECTED, "the service rejects this row"),
    Rule((425, 429), State.PLANNED, "not processed, try again later"),
    Rule((401,), State.FAILED, "the token is refused", is_odd=True),
    Rule((403, 404, 410, 423), State.FAILED, "the target is closed to us", is_odd=True),
    Rule((408,), State.UNCONFIRMED, "a timeout, perhaps of a proxy after the service accepted it"),
    Rule(range(400, 500), State.FAILED, "the form of the request is refused, the same for all rows", is_odd=True),
    Rule(
        (302, 303), State.UNCONFIRMED, "may also follow an accepted request; redirects are never followed", is_odd=True
    ),
    Rule(range(300, 400), State.FAILED, "the address is wrong; redirects are never followed", is_odd=True),
    Rule(range(500, 600), State.UNCONFIRMED, "may have failed before or after accepting"),
    Rule(range(100, 300), State.UNCONFIRMED, "neither refused nor confirmed as created"),
)
NOT_PROCESSED: Final = Rule((), State.PLANNED, "nothing of the body left this machine")
NO_CLEAR_ANSWER: Final = Rule((), State.UNCONFIRMED, "may have arrived; or a status that is not known")

_BY_STATUS: Final = {status: rule for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply, exists_words: str = "") -> Rule:
    """What one response means for a row that was sent once. An unknown status is unclear.

    exists_words: by these a rejection says that the candidate exists; "": a rejection never does.
    """
    if isinstance(answer, NoReply):
        return NO_CLEAR_ANSWER if answer.may_have_arrived else NOT_PROCESSED
    found = _BY_STATUS.get(answer.status, NO_CLEAR_ANSWER)
    if found.state is State.REJECTED and exists_words and exists_words.casefold() in answer.message.casefold():
        return _BY_STATUS[409]
    return found


def is_odd(status: int | None) -> bool:
    """Whether a status is one of those as if token, target or address were wrong."""
    return _BY_STATUS.get(status or 0, NO_CLEAR_ANSWER).is_odd


def state_after(operation: Operation, answered: State, pending: PendingRow) -> State:
    """The state of an identity after a response.

    If an earlier request may have arrived, only a response about the candidate confirms the row: 201 and 409 do. A
    rejection does if the service would respond with 409 to a second application (4.2) and the body is the same as that
    of the first request. Its response to a second addition to a pool is not shown (4.3) and may be the same 400.
    """
    if not pending.may_exist or answered in DONE:
        return answered
    if answered is State.REJECTED and operation is Operation.APPLY and not pending.has_changed:
        return answered
    return State.UNCONFIRMED
