"""A row on its way to the service, and what was found out about it."""

from __future__ import annotations

from typing import NamedTuple

from importer.ledger import Known, State
from importer.load.classify import Doubt, Verdict
from importer.service import NoReply, Reply


class Job(NamedTuple):
    """One row to be sent.

    attempts: requests sent for it in this run. tries: those of them with an inconclusive answer that count as its own.
    refusals: refusals (429) that count as its own. last: the last answer to it in this run. earlier: what the ledger
    knew of the identity before this run. is_probe: its request is the one that is sent to see whether the service is
    well again.
    """

    row: int
    identity: bytes
    body: bytes
    body_digest: bytes
    doubt: Doubt = Doubt.NONE
    attempts: int = 0
    tries: int = 0
    refusals: int = 0
    last: Reply | NoReply | None = None
    earlier: Known | None = None
    is_probe: bool = False


class Finding(NamedTuple):
    """What is known of a job: the state it is left in (None: nothing was sent for it), and by which verdict.

    verdict: None where the last thing that happened was no answer. is_duplicate: its identity is in flight or done,
    since another row of this run has the same e-mail; `other_row` is that one, where it is known.
    """

    job: Job
    state: State | None
    verdict: Verdict | None = None
    is_duplicate: bool = False
    other_row: int | None = None

    @property
    def status(self) -> int | None:
        return self.job.last.status if isinstance(self.job.last, Reply) else None
