"""What a ledger knows: identities without personal data, the table of their states, and the values kept of them."""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from importer.models import Target

_PIECE = 2000  # bytes; for more at once Python lets other threads in, and waiting for them takes longer than the hash


# --- the states of an identity and the ways between them ------------------------------------------


class State(StrEnum):
    """What the ledger knows of one identity (operation, base URL, target, e-mail).

    An identity that the ledger does not hold has never been sent. `not_sent` is therefore no state.
    """

    PLANNED = "planned"  # every request so far was proven not processed; another one is due
    IN_FLIGHT = "in_flight"  # the intent is on disk, the answer is not
    UNCONFIRMED = "unconfirmed"  # a request may have arrived
    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
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
    Transition(State.UNCONFIRMED, State.IN_FLIGHT, "settling: the same identity is sent again"),
    Transition(State.REJECTED, State.IN_FLIGHT, "the row's content changed, or --resend-rejected"),
    Transition(State.IN_FLIGHT, State.PLANNED, "proven not processed, no earlier request in doubt"),
    Transition(State.IN_FLIGHT, State.UNCONFIRMED, "ambiguous answer, or the run died before one was recorded"),
    Transition(State.IN_FLIGHT, State.CREATED, "201"),
    Transition(State.IN_FLIGHT, State.ALREADY_EXISTS, "409"),
    Transition(State.IN_FLIGHT, State.REJECTED, "400, 413 or 422"),
    Transition(State.IN_FLIGHT, State.FAILED, "the service refused the target, the token or the request's form"),
    Transition(State.PLANNED, State.FAILED, "the last allowed attempt was used up"),
    Transition(State.UNCONFIRMED, State.CREATED, "a person found the candidate there"),
    Transition(State.UNCONFIRMED, State.FAILED, "a person found that the candidate is not there"),
)

DONE = frozenset({State.CREATED, State.ALREADY_EXISTS})
"""States that no request ever leaves: the candidate is where the row wants it."""

_ALLOWED = frozenset((step.before, step.after) for step in TRANSITIONS)


def allowed(before: State | None, after: State) -> bool:
    """Whether the table has a step from `before` to `after`."""
    return (before, after) in _ALLOWED


# --- what goes into the ledger and comes out of it ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scope:
    """Where rows go: the service by its base URL (or the name "sandbox"), and the target there."""

    base: str
    target: Target

    def __str__(self) -> str:
        return f"{self.target} at {self.base}"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run: where it sends to, what it reads, and how it ended.

    `source` is the name of the source file and `sha256` the hash of the copy that was read; `mapping` and `folder`
    are paths as they were given. `ended_at` None: it goes on, or it was killed. `purged_at`: since then `source`,
    `sha256`, `mapping` and `folder` are empty.
    """

    run: str
    scope: Scope
    source: str
    sha256: str
    mapping: str
    folder: str
    started_at: datetime
    ended_at: datetime | None = None
    exit_code: int | None = None
    purged_at: datetime | None = None


class Known(NamedTuple):
    """What the ledger knows of an identity: its state, the last status read, and the run and row that got it there.

    `body_digest` is that of the request body last sent; of an unconfirmed one that of the first in doubt.
    """

    state: State
    status: int | None
    body_digest: bytes
    run: str
    row: int


class Attempt(NamedTuple):
    """One request for one row of one run; `number` counts from 1 within the run."""

    identity: bytes
    run: str
    row: int
    number: int


class Intent(NamedTuple):
    """What must be on disk before the request of an attempt is sent."""

    attempt: Attempt
    body_digest: bytes


class Answered(NamedTuple):
    """What an attempt came to: the state that it leaves its identity in, and the status where one was read."""

    attempt: Attempt
    state: State
    status: int | None = None


@dataclass(frozen=True, slots=True)
class RowState:
    """How far the life of one row of one run came: the state that its last attempt left, and the last status.

    `attempts` is the number of requests intended for it. A request that was intended and not answered is UNCONFIRMED.
    `after_doubt`: when the last of them was intended, an earlier one may have been accepted.
    """

    row: int
    state: State
    status: int | None
    attempts: int
    after_doubt: bool = False


# --- identities and body digests: keyed hashes ----------------------------------------------------


def normalized_email(email: str) -> str:
    """The same text for all spellings of one address."""
    return unicodedata.normalize("NFC", email.strip()).casefold()


class Fingerprints:
    """Makes identities and body digests with HMAC-SHA256 over one secret key.

    Service description, part 8: a user applies to a job post only once, an e-mail is unique within a pool. So
    operation, service, target and e-mail together are one identity, whatever row or run it comes from.
    """

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")

    def identity(self, scope: Scope, email: str) -> bytes:
        """32 bytes for one candidate at one target. Case and Unicode form of the e-mail make no difference."""
        address = normalized_email(email)
        return self._digest_of("identity", scope.base, scope.target.operation, scope.target.id, address)

    def body_digest(self, body: bytes) -> bytes:
        """32 bytes that tell whether a row's request body changed."""
        return self._digest(b"body\0" + body)

    def key_check(self) -> bytes:
        """32 bytes by which a ledger knows that it is opened with the key it was written with."""
        return self._digest_of("key check")

    def _digest_of(self, *parts: str) -> bytes:
        return self._digest("\0".join(parts).encode())

    def _digest(self, message: bytes) -> bytes:
        mac = self._keyed.copy()
        for begin in range(0, len(message), _PIECE):
            mac.update(message[begin : begin + _PIECE])
        return mac.digest()


# --- what a group of intents and answers does: decided here, written by each store ----------------

Write = Intent | Answered


class NotAllowed(RuntimeError):
    """The ledger refuses a step that the table of states does not have. Nothing was written of it.

    `row` is the one that brought the identity into the state that it is in, None where there is none.
    """

    def __init__(self, before: State | None, after: State, row: int | None) -> None:
        self.before = before
        self.after = after
        self.row = row
        super().__init__(f"no step from {before or 'nothing'} to {after}")


class Begun(NamedTuple):
    """An attempt that is begun, and what is known of its identity from then on.

    after_doubt: an earlier request for the same identity was in doubt when this one was intended.
    """

    attempt: Attempt
    known: Known
    after_doubt: bool


@dataclass(slots=True)
class GroupPlan:
    """What is to be written of a group: `answers` first, then `begun`, all in one transaction; and what is refused.

    The answer to an attempt never shares a group with its own intent, which was waited for; but the next intent of the
    same identity may share one with it. answers: the last of each identity, since an attempt may be given up as soon
    as it ended; refused: by the index in the group.
    """

    answers: dict[bytes, Answered] = field(default_factory=dict)
    begun: list[Begun] = field(default_factory=list)
    refused: dict[int, NotAllowed] = field(default_factory=dict)


def plan_group(known: dict[bytes, Known], group: Iterable[Write]) -> GroupPlan:
    """What the table of states allows of a group, in its order. `known`: of all its identities; brought up to date."""
    plan = GroupPlan()
    for index, write in enumerate(group):
        attempt = write.attempt
        now = known.get(attempt.identity)
        before = now.state if now else None
        after = State.IN_FLIGHT if isinstance(write, Intent) else write.state
        if not allowed(before, after):
            plan.refused[index] = NotAllowed(before, after, now.row if now else None)
        elif isinstance(write, Intent):
            status, digest = now.status if now else None, write.body_digest
            if now is not None and before is State.UNCONFIRMED:
                digest = now.body_digest  # while that one is in doubt, a refusal must be compared with it
            begun = Begun(attempt, Known(after, status, digest, attempt.run, attempt.row), before is State.UNCONFIRMED)
            known[attempt.identity] = begun.known
            plan.begun.append(begun)
        elif now is not None:
            known[attempt.identity] = now._replace(state=after, status=write.status)
            plan.answers[attempt.identity] = write
    return plan
