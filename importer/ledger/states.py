"""What a ledger stores: the states of identities, the allowed transitions, and what a group of writes changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from importer.models import Target
from importer.problems import StoppedEarly


class State(StrEnum):
    """What the ledger knows of one identity (operation, base URL, target, e-mail).

    An identity that is not in the ledger was never sent, so `not_sent` is not a state.
    """

    PLANNED = "planned"  # every request so far was proven not processed; another one is due
    IN_FLIGHT = "in_flight"  # the intent is on disk, the answer is not
    UNCONFIRMED = "unconfirmed"  # a request may have arrived
    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    REJECTED = "rejected"
    FAILED = "failed"  # proven not accepted, and not retried in this run


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed step; `before` None: the identity is not in the ledger yet."""

    before: State | None
    after: State
    when: str


TRANSITIONS: Final = (
    Transition(None, State.IN_FLIGHT, "first intent"),
    Transition(State.PLANNED, State.IN_FLIGHT, "sent again after a wait, in this run or a later one"),
    Transition(State.FAILED, State.IN_FLIGHT, "sent again by a later run"),
    Transition(State.UNCONFIRMED, State.IN_FLIGHT, "sent again to confirm it"),
    Transition(State.REJECTED, State.IN_FLIGHT, "the row's content changed, or --resend-rejected"),
    Transition(State.IN_FLIGHT, State.PLANNED, "proven not processed, no earlier request unconfirmed"),
    Transition(State.IN_FLIGHT, State.UNCONFIRMED, "inconclusive answer, or the run was killed before it was recorded"),
    Transition(State.IN_FLIGHT, State.CREATED, "201"),
    Transition(State.IN_FLIGHT, State.ALREADY_EXISTS, "409"),
    Transition(State.IN_FLIGHT, State.REJECTED, "the service refused this row"),
    Transition(
        State.IN_FLIGHT, State.FAILED, "not accepted: the target, the token or the request's form, or no connection"
    ),
    Transition(State.PLANNED, State.FAILED, "not sent again by this run"),
    Transition(State.UNCONFIRMED, State.CREATED, "a person found the candidate in the service; or as the next ones"),
    Transition(State.UNCONFIRMED, State.ALREADY_EXISTS, "409, which only the table of the killed run has"),
    Transition(State.UNCONFIRMED, State.REJECTED, "refused, as only the table of the killed run says"),
    Transition(State.UNCONFIRMED, State.FAILED, "a person found that the candidate is not in the service"),
)

DONE: Final = frozenset({State.CREATED, State.ALREADY_EXISTS})
"""Final states: the candidate is in the service, and the row is never sent again."""

_ALLOWED: Final = frozenset((step.before, step.after) for step in TRANSITIONS)


# --- values ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scope:
    """A target at a service, which is named by its base URL (or "sandbox")."""

    base: str
    target: Target

    def __str__(self) -> str:
        return f"{self.target} at {self.base}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run, and where it sends to. `ended_at` None: it is running, or was killed."""

    run: str
    scope: Scope
    started_at: datetime
    ended_at: datetime | None = None


class Known(NamedTuple):
    """The record of an identity: its state, the last status received, and the run and row that led to it.

    `body_digest` is that of the last request body; if unconfirmed, that of the first unconfirmed one, until a 201
    shows that it had not arrived. `origin`: the row that it was first, see `Fingerprints.origin`.
    `after_unconfirmed`: an earlier request may have been accepted when the row was last intended.
    """

    state: State
    status: int | None
    body_digest: bytes
    run: str
    row: int
    origin: bytes = b""
    after_unconfirmed: bool = False


class Sent(NamedTuple):
    """An identity with its record, and the target that it was sent to."""

    identity: bytes
    known: Known
    scope: Scope


class Attempt(NamedTuple):
    """A row of a run on its way; `number` of its requests so far, with the next one before it is sent."""

    identity: bytes
    run: str
    row: int
    number: int


class Intent(NamedTuple):
    """What is written to disk before a row is sent; requests that are proven not processed are repeated under it."""

    attempt: Attempt
    body_digest: bytes
    origin: bytes = b""


class Answered(NamedTuple):
    """The result of an attempt: the state of its identity after it, and the status if one was received.

    body_digest: that of the body which the service has now, if the response proves it: a 201 does.
    """

    attempt: Attempt
    state: State
    status: int | None = None
    body_digest: bytes = b""


Write = Intent | Answered


class RowState(NamedTuple):
    """One row of one run: its state, the last status received, and how many requests were sent or begun.

    An intent without an answer is UNCONFIRMED. `after_unconfirmed`: as of `Known`.
    """

    row: int
    state: State
    status: int | None
    attempts: int
    after_unconfirmed: bool = False


# --- writing --------------------------------------------------------------------------------------


class LedgerUnwritable(StoppedEarly):
    """The ledger cannot be written, or read, any more, so nothing more may be sent."""

    def __init__(self, name: str, reason: str, remedy: str, used: str = "written") -> None:
        self.reason = f"the ledger {name} cannot be {used} ({reason})"
        self.hint = f"{remedy}, then run the same command again"
        super().__init__(f"{self.reason}, so nothing more is sent; {self.hint}")


class NotAllowed(RuntimeError):
    """A transition that is not allowed: another row or run has the candidate. Of its group, answers were written."""

    hint: Final = "run the same command again; if it stops again, please report it"

    @property
    def reason(self) -> str:
        return f"the ledger says that a candidate is with another row or run already ({self})"


Changes = dict[bytes, tuple[Known, int]]
"""The record of each identity after a group of writes, with its requests in that run."""


def plan_group(known: Mapping[bytes, Known], group: Iterable[Write]) -> Changes:
    """What a group of writes changes, in order. `known`: the records of its identities. Raises NotAllowed."""
    changes: Changes = {}
    for write in group:
        identity, run, row, number = write.attempt
        now = changes[identity][0] if identity in changes else known.get(identity)
        before = now.state if now else None
        after = State.IN_FLIGHT if isinstance(write, Intent) else write.state
        is_of_other_row = isinstance(write, Intent) and now is not None and now.run == run and now.row != row
        if is_of_other_row or (before, after) not in _ALLOWED:
            raise NotAllowed(f"no step from {before or 'nothing'} to {after}")
        if isinstance(write, Intent):
            is_unconfirmed = before is State.UNCONFIRMED
            # While an earlier request is unconfirmed, a rejection must be compared with its body.
            digest = now.body_digest if now is not None and is_unconfirmed else write.body_digest
            status = now.status if now else None
            changes[identity] = Known(after, status, digest, run, row, write.origin, is_unconfirmed), number
        else:
            assert now is not None  # no answer is allowed without an intent
            status = now.status if write.status is None else write.status
            digest = write.body_digest or now.body_digest
            changes[identity] = now._replace(state=after, status=status, body_digest=digest), number
    return changes
