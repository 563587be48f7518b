"""The values that go into the ledger and come out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from importer.ledger.states import State
from importer.models import Target


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

    `body_digest` is that of the request body last sent; of an unclear one that of the first in doubt.
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

    `attempts` is the number of requests intended for it. A request that was intended and not answered is UNCLEAR.
    `after_doubt`: when the last of them was intended, an earlier one may have been accepted.
    """

    row: int
    state: State
    status: int | None
    attempts: int
    after_doubt: bool = False
