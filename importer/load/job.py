"""A row on its way to the service, and what was found out about it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from importer.ledger import Known, LedgerUnwritable, State
from importer.load.classify import Doubt, Verdict
from importer.service import NoReply, Reply


class Job(NamedTuple):
    """One row to be sent.

    `attempts` is the number of requests sent for it in this run so far, `settlings` how often it was set aside.
    `due` is the time, on the halt's clock, before which it must not be sent. `last` is the last answer to it in this
    run. `earlier` is what the ledger knew of the identity before this run. `intended`: the intent of its first
    request is on disk.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    doubt: Doubt = Doubt.NONE
    attempts: int = 0
    settlings: int = 0
    due: float = float("-inf")
    last: Reply | NoReply | None = None
    earlier: Known | None = None
    intended: bool = False

    @property
    def may_leave(self) -> bool:
        """Whether its next request is its first one, whose intent is on disk."""
        return self.intended and not self.attempts


class Hindrance(StrEnum):
    """Why a request that was due was not sent."""

    HALTED = "halted"
    LEDGER = "ledger"  # its intent could not be written
    BUDGET = "budget"  # it would have been a repetition, and the run has used up those that it may send
    TWIN = "twin"  # its identity is in flight or done: another row of this run has the same e-mail


class Finding(NamedTuple):
    """What became of a job: the state it is left in (None: no request was ever sent), and by which verdict.

    `job.last` is that answer and `verdict` what it meant, None where sending it brought no answer this time;
    `hindrance` says why no further request was sent where one was due; `twin` is the row that has the same e-mail.
    """

    job: Job
    state: State | None
    verdict: Verdict | None = None
    hindrance: Hindrance | None = None
    trouble: LedgerUnwritable | None = None
    twin: int | None = None

    @property
    def status(self) -> int | None:
        return self.job.last.status if isinstance(self.job.last, Reply) else None
