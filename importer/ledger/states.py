"""The states of an identity and the ways between them: the one table that code, tests and docs share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What the ledger knows of one identity (operation, base URL, target, e-mail).

    An identity that the ledger does not hold has never been sent. `not_sent` is therefore no state.
    """

    PLANNED = "planned"  # every request so far was proven not processed; another one is due
    IN_FLIGHT = "in_flight"  # the intent is on disk, the answer is not
    UNCLEAR = "unclear"  # a request may have arrived
    CREATED = "created"
    ALREADY_THERE = "already_there"
    REJECTED = "rejected"
    FAILED = "failed"  # proven not accepted, and given up for this run


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed step; `before` None is an identity that the ledger does not hold yet."""

    before: State | None
    after: State
    when: str


TRANSITIONS: tuple[Transition, ...] = (
    Transition(None, State.IN_FLIGHT, "first intent"),
    Transition(State.PLANNED, State.IN_FLIGHT, "sent again after a wait, in this run or a later one"),
    Transition(State.FAILED, State.IN_FLIGHT, "sent again by a later run"),
    Transition(State.UNCLEAR, State.IN_FLIGHT, "settling: the same identity is sent again"),
    Transition(State.REJECTED, State.IN_FLIGHT, "the row's content changed, or --again"),
    Transition(State.IN_FLIGHT, State.PLANNED, "proven not processed, no earlier request in doubt"),
    Transition(State.IN_FLIGHT, State.UNCLEAR, "ambiguous answer, or the run died before one was recorded"),
    Transition(State.IN_FLIGHT, State.CREATED, "201"),
    Transition(State.IN_FLIGHT, State.ALREADY_THERE, "409"),
    Transition(State.IN_FLIGHT, State.REJECTED, "400, 413 or 422"),
    Transition(State.IN_FLIGHT, State.FAILED, "the service refused the target, the token or the request's form"),
    Transition(State.PLANNED, State.FAILED, "the last allowed attempt was used up"),
    Transition(State.UNCLEAR, State.CREATED, "a person found the candidate there"),
    Transition(State.UNCLEAR, State.FAILED, "a person found that the candidate is not there"),
)

DONE = frozenset({State.CREATED, State.ALREADY_THERE})
"""States that no request ever leaves: the candidate is where the row wants it."""

_ALLOWED = frozenset((step.before, step.after) for step in TRANSITIONS)


def allowed(before: State | None, after: State) -> bool:
    """Whether the table has a step from `before` to `after`."""
    return (before, after) in _ALLOWED
