"""What an answer means for its row: every status and every missing answer, as one table (design, section 7).

The service description (part 7) shows 201, 400, 404 and 409 and lists 403, 423, 429 and 500 without their meaning;
of talent pools it shows 201 only. So the table is the same for both operations, and only what may follow after a
doubt differs: see `state_after`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from importer.ledger import State
from importer.models import Operation
from importer.service import NoReply, Reply


class Verdict(StrEnum):
    """What to do about a row after one answer."""

    CREATED = "created"
    ALREADY_THERE = "already_there"
    REJECTED = "rejected"
    AGAIN = "again"  # proven not processed: sent again after a wait
    AMBIGUOUS = "ambiguous"  # it may have been accepted: settled later with the same bytes
    STOP_TARGET = "stop_target"  # proven not accepted, and the same will happen to every row of this target
    STOP_RUN = "stop_run"  # the same, for every target
    LED_AWAY = "led_away"  # it may have been accepted, and every row of every target would be led away


@dataclass(frozen=True, slots=True)
class Rule:
    """Statuses that mean the same. Of several rules for a status the first counts."""

    statuses: Iterable[int]
    verdict: Verdict
    why: str


RULES: tuple[Rule, ...] = (
    Rule((201,), Verdict.CREATED, "the only status that says created"),
    Rule((409,), Verdict.ALREADY_THERE, "the candidate is there"),
    Rule((400, 413, 422), Verdict.REJECTED, "the service refuses this row"),
    Rule((425, 429), Verdict.AGAIN, "not now, and nothing was done"),
    Rule((401,), Verdict.STOP_RUN, "the token is refused"),
    Rule((403, 404, 410, 423), Verdict.STOP_TARGET, "the target is closed to us"),
    Rule((408,), Verdict.AMBIGUOUS, "something gave up waiting, perhaps not the one that works"),
    Rule(range(400, 500), Verdict.STOP_TARGET, "the form of our request is refused, and all rows have that form"),
    Rule((302, 303), Verdict.LED_AWAY, "said after what was accepted, too; a redirect is never followed"),
    Rule(range(300, 400), Verdict.STOP_RUN, "the address is wrong; a redirect is never followed"),
    Rule(range(500, 600), Verdict.AMBIGUOUS, "it may have broken before or after accepting"),
    Rule(range(100, 300), Verdict.AMBIGUOUS, "not refused, and not said to be created"),
)

_BY_STATUS = {status: rule.verdict for rule in reversed(RULES) for status in rule.statuses}


def classify(answer: Reply | NoReply) -> Verdict:
    """The verdict on one answer. A status that no standard knows is ambiguous."""
    if isinstance(answer, NoReply):
        return Verdict.AMBIGUOUS if answer.may_have_arrived else Verdict.AGAIN
    return _BY_STATUS.get(answer.status, Verdict.AMBIGUOUS)


class Doubt(StrEnum):
    """Whether an earlier request for the same identity may have been accepted."""

    NONE = "none"
    SAME_BYTES = "same_bytes"  # it had the same body as the one to be sent now
    OTHER_BYTES = "other_bytes"  # the row was changed since


_WITHOUT_DOUBT = {
    Verdict.CREATED: State.CREATED,
    Verdict.ALREADY_THERE: State.ALREADY_THERE,
    Verdict.REJECTED: State.REJECTED,
    Verdict.AGAIN: State.PLANNED,
    Verdict.AMBIGUOUS: State.UNCLEAR,
    Verdict.STOP_TARGET: State.FAILED,
    Verdict.STOP_RUN: State.FAILED,
    Verdict.LED_AWAY: State.UNCLEAR,
}


def state_after(operation: Operation, verdict: Verdict, doubt: Doubt) -> State:
    """The state that a verdict leaves an identity in.

    After a doubt only an answer about the candidate settles it: 201 and 409 do. A refusal of the row does where the
    service would have said 409 to a second application (4.2) and the refused bytes are those of the first request;
    what it says to a second addition to a pool is not shown (4.3) and may be that same 400.
    """
    after = _WITHOUT_DOUBT[verdict]
    if doubt is Doubt.NONE or verdict in (Verdict.CREATED, Verdict.ALREADY_THERE):
        return after
    if verdict is Verdict.REJECTED and operation is Operation.APPLY and doubt is Doubt.SAME_BYTES:
        return after
    return State.UNCLEAR
